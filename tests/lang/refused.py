"""Programs that must be refused, and what is said about them where.

A case is a program, the code of what is wrong and the piece of the text it points at; several
findings are several pairs, in the order of the text.
"""

from __future__ import annotations

from serq.diagnostics import Diagnostic, SerqError, Span
from serq.lang.compile import compile_text
from serq.lang.settings import Settings

RESOURCES = "pool p { cap 9; } pool q { cap 9; } pool a[2] { cap 5; } stage s : fifo; stage t[2] : fifo;"
WORKLOAD = "workload { arrive batch(1); turn { set n = 3; set o = 2; } }"
HIDDEN = WORKLOAD.replace("arrive", "hidden o; arrive")
SCHEDULE = "schedule { advance running; admit waiting while (running.preempted == 0); }"

Case = tuple[str, ...]


def server(statements: str, declarations: str = "", workload: str = WORKLOAD) -> str:
    """A program with these statements in its server."""
    return f"fn main() {{ {RESOURCES} {declarations} {workload} server {{ {statements} }} }}"


def main(declarations: str, statements: str = "") -> str:
    """A program with these declarations."""
    return server(statements, declarations)


def session(statements: str) -> str:
    """A workload with these statements in its session."""
    return f"{WORKLOAD[:-1]}session {{ {statements} }} }}"


def engine(
    *,
    size: str = "",
    device: str = "kv cap 9;",
    devices: str = "",
    on: str = "gpu",
    caps: str = "r cap 3;",
    tokens: str = "tokens cap 4;",
    items: str = "",
    schedule: str = SCHEDULE,
    execute: str = "execute (1);",
    pools: str = "pool kv on gpu { } pool r on E { }",
    more: str = "",
) -> str:
    """The engine `E` on the device `gpu`, with its pools."""
    clauses = f"{caps} {tokens} {items} {schedule} {execute}"
    return f"device gpu{devices} {{ {device} }} engine E{size} on {on} {{ {clauses} }} {pools} {more}"


def request(
    body: str = "prefill (x) growing kv;",
    taking: str = "taking r (1), kv (x)",
    *,
    before: str = "",
    parameters: str = "x",
    items: str = "",
) -> str:
    """The engine `E` with a request."""
    admit = f"admit waiting while (running.preempted == 0) {taking};"
    return engine(
        items=f"{items} request ({parameters}) {{ {before} {body} }}",
        schedule=f"schedule {{ advance running; {admit} }}",
    )


def queue(
    entry: str = "decode (k) { run (cost(L, k)); }",
    *,
    roles: str = "decode",
    members: str = "pool kv { cap 5; } serve fifo;",
    size: str = "",
) -> str:
    """The queue `L`."""
    return f"queue L{size} : {roles} {{ {members} {entry} }}"


def entry(statements: str) -> str:
    """The queue `L` with an entry that starts with these statements."""
    return queue(f"decode (k) {{ {statements} run (cost(L, k)); }}")


def pod(engine_of: str, items: str = "") -> str:
    """The queue `L` with an engine, declared with this name."""
    clauses = f"tokens cap 1; {items} schedule {{ advance running; }} execute (1);"
    members = f"device g {{ }} engine {engine_of} on g {{ {clauses} }}"
    return queue("decode (k) { run L decode (cost(L, k)); }", members=members)


SOURCE = (
    "queue P : prefill { pool kv { cap 5; } serve fifo; nic ps(2); "
    "prefill (k) { hold kv (cost(kv, 1)) { run (cost(P, k)); } lease kv (inf) } }"
)
READS = "P.prefill (n); D.decode (n) from P;"


def reader(statements: str = "") -> str:
    """The queue `D`, which reads from `P`."""
    read = "hold kv (cost(kv, 1)) { transfer (k) from P to kv (1); " + statements + " }"
    return f"queue D : decode {{ pool kv {{ cap 5; }} nic ps(2); decode (k) from P {{ {read} }} }}"


def findings(text: str) -> tuple[Diagnostic, ...]:
    """What compiling a text finds; nothing when it compiles."""
    try:
        compile_text(text, settings=Settings(horizon=10.0))
    except SerqError as error:
        return error.diagnostics
    return ()


def pointed_at(text: str, span: Span | None) -> str:
    """The piece of a text a span covers."""
    if span is None:
        return ""
    lines = text.split("\n")[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)


def check(case: Case) -> None:
    """The case is refused with exactly its findings, each with something to say."""
    text, *pairs = case
    expected = list(zip(pairs[::2], pairs[1::2], strict=True))
    found = findings(text)
    assert [(d.code, pointed_at(text, d.place.span)) for d in found] == expected, text
    for diagnostic in found:
        assert diagnostic.message
        assert "\0" not in diagnostic.message
