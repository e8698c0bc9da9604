"""``python -m unifyarr``: what is installed. ``python -m unifyarr check [BACKEND]``: a self-test."""

from __future__ import annotations

import argparse
import sys


def main(arguments: list[str] | None = None) -> int:
    """Read the command's arguments and run it; return the exit status, 1 where a check failed."""
    parser = argparse.ArgumentParser(prog="python -m unifyarr", description="Show what is installed, or check it.")
    parser.add_argument("--json", action="store_true", help="show it as JSON")
    commands = parser.add_subparsers(dest="command")
    check = commands.add_parser("check", help="compare what backends compute with NumPy, in at most two minutes each")
    check.add_argument("backend", nargs="*", help="the backends to check; all that are installed if none is named")
    check.add_argument("--seconds", type=float, default=90.0, help="the time for each backend, 90 if not given")
    options = parser.parse_args(arguments)
    if options.command is None:
        from ._versions import show_versions

        show_versions(as_json=options.json)
        return 0
    from .errors import BackendNotFoundError
    from .testing.selftest import check_backends

    try:
        return check_backends(options.backend, options.seconds)
    except BackendNotFoundError as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
