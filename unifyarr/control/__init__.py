"""Loops and branches that a compiled function keeps: scan, while_loop, fori_loop, map, cond, switch."""

from .associative import associative_scan
from .branches import cond, switch
from .counted import fori_loop, map
from .effects import check, debug_print
from .loops import scan, while_loop

__all__ = ["associative_scan", "check", "cond", "debug_print", "fori_loop", "map", "scan", "switch", "while_loop"]
