"""`tools/regenerate.py [--check] [PATH...]`: write the generated files, or say which are not what their inputs give.

Exit status 0: nothing was, or is, out of date; with --check 1 when something is; 2: a wrong call.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from serq.cli.output import report_diagnostics
from serq.diagnostics import SerqError
from tools.generated import generated
from tools.generated.file import Generated


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(description="Write every generated file, or compare.")
    parser.add_argument("--check", action="store_true", help="write nothing; list what differs")
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="only these files, or those in a folder"
    )
    options = parser.parse_args(arguments)
    chosen = _chosen(generated(), [p.resolve() for p in options.paths], parser)
    differing = 0
    for file in chosen:
        text = file.text()
        if not file.differs(text):
            continue
        differing += 1
        if not options.check:
            file.write(text)
        print(f"{file.name}: {'out of date' if options.check else 'written'}")
    print(f"{len(chosen)} generated files, {differing} {'out of date' if options.check else 'written'}")
    return int(options.check and differing > 0)


def _chosen(files: list[Generated], paths: list[Path], parser: argparse.ArgumentParser) -> list[Generated]:
    if not paths:
        return files
    for path in paths:
        if not any(_below(f, path) for f in files):
            parser.error(f"{path} is no generated file, and holds none")
    return [f for f in files if any(_below(f, path) for path in paths)]


def _below(file: Generated, path: Path) -> bool:
    return path == file.path or path in file.path.parents


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SerqError as error:
        report_diagnostics(error.diagnostics, error.sources)
        sys.exit(1)
