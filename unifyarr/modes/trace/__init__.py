"""From a function of arrays to a graph.

``trace.py`` runs a function on natives that are variables of a graph. ``handle.py`` and ``engine.py`` are the backend
of such natives, and ``kernel_calls.py`` makes each call of a kernel a node. ``unifyarr/modes/README.md`` has the other
files.
"""

# The package of graphs imports this one. Whichever is asked for first, its modules are imported in the same order.
from ... import graph as graph
