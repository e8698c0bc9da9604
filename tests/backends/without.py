"""``python -m tests.backends.without ENGINE [NAME ...]``: a self-test without private names of an engine."""

from __future__ import annotations

import argparse
import sys

from unifyarr.backends import private


def main(arguments: list[str] | None = None) -> int:
    """Hide the names, run the self-test, and return 1 where it fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.backends.without", description=__doc__)
    parser.add_argument("engine")
    parser.add_argument("names", nargs="*", help="the names to hide; all of the engine if there are none")
    parser.add_argument("--seconds", type=float, default=60.0, help="the time for the self-test, 60 if not given")
    options = parser.parse_args(arguments)
    of_engine = [name for name in private.NAMES if private.engine_of(name) == options.engine]
    unknown = {*options.names} - {*of_engine}
    if unknown or not of_engine:
        parser.error(f"no private names of {options.engine}: {', '.join(sorted(unknown)) or options.engine}")
    private.HIDDEN.update(options.names or of_engine)
    # The names are looked up when the backend is loaded.
    from unifyarr.testing.selftest import check_backends

    status = check_backends([options.engine], options.seconds)
    print(f"without {', '.join(private.missing(options.engine))}")
    return status


if __name__ == "__main__":
    sys.exit(main())
