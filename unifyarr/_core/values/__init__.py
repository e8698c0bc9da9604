"""What needs no backend: arguments, shapes, maps of views, and how classes and functions find each other."""
