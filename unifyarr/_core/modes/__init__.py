"""What changes inside a trace, a transformation or ``debug()``."""
