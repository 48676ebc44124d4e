"""Reduce a program two interpreters disagree on: `python -m tests.peer.reduce SEED [FAMILY]` prints it.

Every candidate runs in a process of its own, which has two seconds of computing and bounded memory:
a smaller program may have sessions that take no time and never end.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys

from serq.ir.decode import from_data
from serq.ir.encode import dumps, program_data
from serq.ir.program import Program
from tests.generators.ir import random_program
from tests.generators.shrink import Data, shrink
from tests.peer.compare import Disagreement, disagreement, ours, peer
from tests.peer.differences import declared_number

_SECONDS = 2
_MEMORY = 2 << 30


def finding(program: Program) -> str | None:
    """What is wrong with how a program runs: a kind of undeclared disagreement or a crash, or None."""
    there = peer(program)
    try:
        here = ours(program)
    except Exception as error:  # whatever a run raises that is no error of the program
        return f"{type(error).__name__}: {error}"
    found = disagreement(here, there)
    return None if found is None or declared_number(program) is not None else _kind(found)


def _kind(found: Disagreement) -> str:
    if found.path == "error":
        return "error here alone" if found.peer is None else "error at the peer alone"
    return "difference"


def reduce(program: Program, attempts: int = 3000) -> Program:
    """The smallest program found with the same kind of finding."""
    kind = finding(program)
    if kind is None:
        raise ValueError("the interpreters agree on this program")

    def holds(data: Data) -> bool:
        found = _apart(data)
        return bool(found) and _alike(found, kind)

    return from_data(shrink(program_data(program), holds, attempts))


def _apart(data: Data) -> str:
    """The finding on a candidate, from a child process; nothing when it is invalid or takes too long."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            os.write(writer, (finding(from_data(data)) or "").encode()[:4000])
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        found = stream.read().decode()
    os.waitpid(child, 0)
    return found


def _alike(one: str, other: str) -> bool:
    return re.sub(r"\d+", "", one) == re.sub(r"\d+", "", other)


def main(arguments: list[str]) -> None:
    """Reduce the program of a seed, or of a JSON file."""
    source, *family = arguments
    if source.isdigit():
        program = random_program(int(source), *family)
    else:
        with open(source) as file:
            program = from_data(json.load(file))
    smaller = reduce(program)
    print(dumps(smaller), end="")
    print(disagreement(ours(smaller), peer(smaller)), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
