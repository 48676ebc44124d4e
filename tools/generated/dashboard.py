"""`examples/README.md`: one row per program, every cell computed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from serq.check import run_checks
from serq.check.suppress import suppress
from serq.cli.load import Loaded
from serq.diagnostics import SerqError
from serq.generators.membership import membership
from serq.ir.corpus import read_corpus
from serq.ir.program import Program
from serq.ir.validate import validate
from serq.lang.suppressions import suppressions
from serq.sim import Report, run
from tools.examples import EXAMPLES, Example, examples
from tools.generated.file import Generated, header, table
from tools.published import REPLAY, REQUEST, recorded, replayed, scenarios, simulated

NOTHING = "–"
_COLUMNS = (
    "program",
    "parse",
    "validate",
    "lints",
    "run",
    "claims on the path",
    "Lean fragment",
    "oracle",
)

_INTRODUCTION = """\
# Example programs

Every program has a header that says what it models, its sources and what it cannot say; instances with
its settings and inputs under `instances/NAME/`; and its IR, with the default instance, under `ir/`.

```
serq run examples/multi-turn/vllm.sq --instance examples/multi-turn/instances/vllm/default.sq
```

The dashboard is computed with each program's default instance:

- **parse**: the text compiles. **validate**: the IR keeps the rules of [its reference](../docs/ir.md).
- **lints**: the [codes](../docs/codes.md) of what the static checks show can go wrong, in any run; a finding that
  the program [says it expects](../docs/checker.md#suppressions) is marked.
- **run**: the turns taken after the warm-up; or what stopped the run, or what of it was left undone.
- **claims on the path**: what the run found of the program's claims. A path that holds a claim is evidence,
  not a proof.
- **Lean fragment**: whether the program is one that the proofs speak of, or the codes of what it is not.
- **oracle**: how many of the published scenarios or turns of the real scheduler come out the same, to the step.
- – : the column says nothing about the program.

"""


def files() -> Iterator[Generated]:
    """The one page."""
    yield Generated(EXAMPLES / "README.md", _page)


def _page() -> str:
    found = list(examples())
    inputs = [p for e in found for p in (e.path, *e.instances.values())]
    rows = table(_COLUMNS, (_row(e) for e in found))
    instances = table(("instance", "what it shows"), (row for e in found for row in _instances(e)))
    return (
        header("the programs and instances beside it", inputs)
        + _INTRODUCTION
        + rows
        + "\n## Instances\n\n"
        + instances
    )


def _instances(example: Example) -> Iterator[tuple[str, str]]:
    for name, path in example.instances.items():
        link = f"[{example.path.stem} / {name}]({path.relative_to(EXAMPLES).as_posix()})"
        yield link, _comment(path)


def _comment(path: Path) -> str:
    """The comment an instance begins with."""
    lines = path.read_text(encoding="utf-8").splitlines()
    first = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return " ".join(line.removeprefix("//").strip() for line in lines[:first])


def _row(example: Example) -> tuple[str, ...]:
    link = f"[{example.name}]({example.path.relative_to(EXAMPLES).as_posix()})<br>{example.title}"
    try:
        loaded = example.load()
    except SerqError as error:
        return link, _count(len(error.diagnostics), "error"), *(NOTHING for _ in _COLUMNS[2:])
    wrong = validate(loaded.program)
    if wrong:
        return link, "yes", _count(len(wrong), "error"), *(NOTHING for _ in _COLUMNS[3:])
    program = loaded.program
    ran, claims = _run(program)
    return link, "yes", "yes", _lints(loaded), ran, claims, _fragment(program), _oracle(example)


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _lints(loaded: Loaded) -> str:
    """What the static checks refute. How often depends on the effort spent on each question, so it is not counted."""
    report = run_checks(loaded.program, timeout=0.5, overall=None)
    report, _ = suppress(report, suppressions(loaded.sources)[0], loaded.located, judge_unused=False)
    found = {d.code + (" (expected)" if d.suppressed else "") for d in report.diagnostics}
    return ", ".join(sorted(found)) or "none"


def _fragment(program: Program) -> str:
    """Whether the program is in the Lean fragment, or the rules that keep it out."""
    outside = sorted({d.code for d in membership(program)})
    return f"no: {', '.join(outside)}" if outside else "yes"


def _run(program: Program) -> tuple[str, str]:
    """The columns run and claims."""
    try:
        report = run(program, corpus=read_corpus(Path(program.trace)) if program.trace else None)
    except SerqError as error:
        return f"stops: {error.diagnostics[0].code}", NOTHING
    claims = "<br>".join(f"{c.name}: {c.result.replace('_', ' ')}" for c in report.claims)
    return _said(report), claims or NOTHING


def _said(report: Report) -> str:
    d = report.data
    undone = [f"{p['name']} stuck" for p in d["pools"] if p["stuck"]]
    undone += [f"{s['name']} idle with work" for s in d["stages"] if s["idle_with_work"]]
    return ", ".join([_count(d["turns"], "turn"), *undone])


def _oracle(example: Example) -> str:
    if example.path == REQUEST:
        agreeing = [recorded(name) == simulated(name) for name in scenarios()]
        return f"{sum(agreeing)} of {_count(len(agreeing), 'scenario')}"
    if example.path == REPLAY:
        same = [theirs == ours for _, theirs, ours in replayed()]
        return f"{sum(same)} of {_count(len(same), 'turn')}"
    return NOTHING
