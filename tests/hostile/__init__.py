"""Public functions called with arguments that they were not made for; CONTRIBUTING.md names the command."""
