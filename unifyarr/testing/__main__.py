"""``python -m unifyarr.testing new NAME``: make the skeleton of a backend's package."""

from __future__ import annotations

import argparse

from .skeleton import SkeletonError, new


def main() -> None:
    """Read the command's arguments and make the package."""
    parser = argparse.ArgumentParser(prog="python -m unifyarr.testing")
    commands = parser.add_subparsers(required=True, dest="command")
    make = commands.add_parser("new", help="make a package with a backend to fill in")
    make.add_argument("name", help="the name of the engine's module")
    make.add_argument("--folder", default=".", help="where to make it")
    options = parser.parse_args()
    try:
        root = new(options.name, options.folder)
    except SkeletonError as error:
        parser.error(str(error))
    print(f"made {root}: cd {root}; pip install -e .[test]; pytest")


if __name__ == "__main__":
    main()
