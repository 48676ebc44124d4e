"""What can be refused from the tree alone: the shape of a program (api.md §10.3, §7.1).

Covered: the entry point and what may stand around it, settings, sessions, workload and server,
what each block may hold, inputs outside a `let`, empty schedules, owned pools with a size or a
capacity of their own, malformed `cost(...)`. Names, types and moments are judged elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from serq.diagnostics import Diagnostic, Place
from serq.lang import tree as t
from serq.lang.placement import check_placement
from serq.lang.walk import find


def check_structure(program: t.Program) -> list[Diagnostic]:
    """Every mistake in the shape of a program, in the order of its text; none raises."""
    main = program.main
    if main is None:
        return [_no_main(program)]
    findings = [
        *_around_main(program, main),
        *_inside_main(main),
        *_nameless_engines(main),
        *check_placement(main),
        *_details(program),
    ]
    return [d.at(Place(program.file, d.place.span)) for d in findings]


def _finding(code: str, node: t.Node, message: str, hint: str | None = None) -> Diagnostic:
    return Diagnostic(code, message, Place(span=node.span), hint=hint)


# The entry point


def _no_main(program: t.Program) -> Diagnostic:
    items = program.prelude
    if any(isinstance(i, t.Settings) for i in items) and all(
        isinstance(i, t.Let | t.Settings) for i in items
    ):
        message = "this is an instance, not a program: it holds settings and no `fn main()`"
        return Diagnostic("SQ216", message, Place(program.file), hint="name it with `--instance FILE`")
    hint = "a program is `fn main() { ... }`; definitions alone make a library, for another program's `use`"
    return Diagnostic("SQ201", "the program has no `fn main()`", Place(program.file), hint=hint)


def _around_main(program: t.Program, main: t.Fn) -> Iterator[Diagnostic]:
    if main.name.text != "main":
        hint = "reusable definitions are `def NAME(x) { ... }`"
        yield _finding("SQ202", main.name, f"the entry point is `main`, not `{main.name.text}`", hint)
    if main.parameters:
        hint = 'inputs are declared in it: `let x = args.number("x", 1);`'
        yield _finding("SQ203", main.parameters[0], "`fn main()` takes no parameters", hint)
    for item in program.prelude:
        if not isinstance(item, t.Let | t.ExprDef | t.BlockDef | t.Use):
            hint = "move it into `fn main() { ... }`"
            message = "only `use`, `def` and `let` stand before `fn main()`"
            yield _finding("SQ204", _head(item), message, hint)
    for item in program.rest:
        if isinstance(item, t.Fn):
            yield _second_function(item)
        else:
            hint = "move it into `fn main() { ... }`, or above it when it is a `use`, `def` or `let`"
            yield _finding("SQ205", _head(item), "nothing stands after `fn main()`", hint)


def _head(item: t.Item) -> t.Node:
    """What to point at: the name of a declaration, else all of it."""
    name = getattr(item, "name", None)
    return name if isinstance(name, t.Name) else item


def _second_function(item: t.Fn) -> Diagnostic:
    hint = "reusable definitions are `def NAME(x) { ... }`"
    return _finding("SQ202", item.name, "a program has one function, its `fn main()`", hint)


# What main holds


def _inside_main(main: t.Fn) -> Iterator[Diagnostic]:
    for item in main.items:
        if isinstance(item, t.Fn):
            yield _second_function(item)
        elif isinstance(item, t.Settings):
            hint = "give them with `--horizon T` and the like, or in a file named with `--instance`"
            yield _finding("SQ206", item, "execution settings are no part of a program", hint)
        elif isinstance(item, t.Session):
            hint = (
                "move it into `workload { ... }`; what a turn asks of the deployment is in `server { ... }`"
            )
            yield _finding("SQ207", item, "a session stands in the workload", hint)
    workloads = [i for i in main.items if isinstance(i, t.Workload)]
    servers = [i for i in main.items if isinstance(i, t.Server)]
    yield from _twice(workloads, "a program has one workload")
    yield from _twice(servers, "a program has one server")
    if workloads and not servers:
        hint = "add `server { ... }`: what every turn asks of the deployment"
        yield _finding("SQ208", workloads[0], "this workload has no server", hint)
    if servers and not workloads:
        hint = "add `workload { arrive poisson(1); }`: by default a session is one turn"
        yield _finding("SQ208", servers[0], "this server has no workload", hint)
    for workload in workloads:
        yield from _sessions(workload)


def _nameless_engines(main: t.Fn) -> Iterator[Diagnostic]:
    for item in main.items:
        if isinstance(item, t.Engine) and item.name is None:
            hint = (
                f"write `engine NAME on {item.device.text} {{ ... }}`; in a queue it is named after the queue"
            )
            yield _finding("SQ217", item.device, "an engine outside a queue has a name", hint)


def _twice(nodes: Iterable[t.Node], message: str) -> Iterator[Diagnostic]:
    first: t.Node | None = None
    for node in nodes:
        if first is not None:
            yield _finding("SQ209", node, message, f"the first is on line {first.span.line}")
        first = first or node


def _sessions(workload: t.Workload) -> Iterator[Diagnostic]:
    sessions = [i for i in workload.items if isinstance(i, t.Session)]
    yield from _twice(sessions, "a workload has one session")
    for session in sessions:
        if not any(find(session.body, t.Turn)):
            hint = "add `turn;`, or leave the session out: it is one turn then"
            yield _finding("SQ210", session, "this session has no `turn;`", hint)


# Details the grammar lets pass


def _details(program: t.Program) -> Iterator[Diagnostic]:
    whole = {id(let.value) for let in find(program, t.Let)}
    for node in find(program, t.Call, t.Input):
        if isinstance(node, t.Input) and id(node) not in whole:
            hint = 'write `let x = args.number("name", default);` and read `x`'
            yield _finding("SQ213", node, "an input is the whole value of a `let`", hint)
        elif isinstance(node, t.Call) and node.function.text == "cost":
            hint = "write the resources, then the amount: `cost(kv, n)`, `cost(a, b, n)`"
            yield _finding("SQ118", node, "`cost` takes resources and an amount", hint)
    for schedule in find(program, t.Schedule):
        if not schedule.statements:
            hint = "for example `advance running; admit waiting;`"
            yield _finding("SQ214", schedule, "a schedule says what each iteration does", hint)
    for pool in find(program, t.Pool):
        if pool.owner is not None:
            yield from _owned_pool(pool)


def _owned_pool(pool: t.Pool) -> Iterator[Diagnostic]:
    if pool.size is not None:
        hint = "its owner's size is its size; for N queues one engine admits write `NAME[N] cap c;` there"
        yield _finding("SQ215", pool.size, "a pool on a device or an engine has no size of its own", hint)
    for option in pool.options:
        if isinstance(option, t.Cap):
            hint = f"write `{pool.name.text} cap e;` in its owner"
            yield _finding(
                "SQ215", option, "a pool on a device or an engine takes its capacity from it", hint
            )
