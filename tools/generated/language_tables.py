"""The tables of `docs/language.md`, from the tables every part of serq keys on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from serq.ir.moments import ALL_MOMENTS, ATTRIBUTE_MOMENTS, DRAW_MOMENTS, REGISTER_MOMENTS, Moment
from serq.ir.tables import AGGREGATES, CONTEXT_VARIABLES, DISTRIBUTIONS, FUNCTIONS, OPERATORS, Function
from tools.examples import ROOT
from tools.generated.file import Generated, relative, table, with_part

PAGE = ROOT / "docs" / "language.md"
_TABLES = (ROOT / "serq" / "ir" / "tables.py", ROOT / "serq" / "ir" / "moments.py")

_POSITIONS = {
    Moment.SESSION: "statements, a run's work, a hold's `cache`, a lease's time",
    Moment.ADMIT: "a hold's units, `reserve`, `reuse`, `at admission`; an engine's `taking`",
    Moment.SELECT: "a pool's `queue by`",
    Moment.EVICT: "a pool's `evict by`, a spill's work and `when`",
    Moment.PS: "the capacity of a `ps` stage",
    Moment.BUDGET: "an engine's `tokens cap` and `each at most`",
    Moment.STEP: "an engine's `execute`",
    Moment.SERVE: "an engine's `advance running by`",
    Moment.ONLY: "an engine's `only`",
    Moment.VICTIM: "a pool's `preempt by`",
    Moment.PLAN: "a schedule's `branch`, `while` and `set`",
    Moment.GAUGE: "a gauge",
    Moment.GIVEN: "a claim's `given`",
    Moment.ITERATION: "a claim over iterations",
    Moment.END: "a claim at the end",
    Moment.RENEWAL: "the gap of `arrive renewal`",
    Moment.CONSTANT: "`let`, `cap`, `block`, counts, sizes",
}


def files() -> Iterator[Generated]:
    """The page with its tables written anew."""
    yield Generated(PAGE, page)


def page() -> str:
    """The page as it stands, with every table between its markers made of the tables of the code."""
    text = PAGE.read_text(encoding="utf-8")
    what = " and ".join(relative(p) for p in _TABLES)
    for name, part in _PARTS.items():
        text = with_part(text, name, what, _TABLES, part())
    return text


def _moments() -> str:
    return table(("moment", "what is read then"), ((m.value, _POSITIONS[m]) for m in Moment))


def _readable() -> str:
    columns = ("", *(m.value for m in Moment))
    rows: list[tuple[str, Iterable[Moment]]] = [
        ("numbers, operators, arithmetic", ALL_MOMENTS),
        ("attributes", ATTRIBUTE_MOMENTS),
        ("draws", DRAW_MOMENTS),
        ("registers", REGISTER_MOMENTS),
    ]
    rows += [(f"`{f.text}`", f.moments) for f in FUNCTIONS if f.moves]
    rows += [("aggregates of observations", AGGREGATES[0].moments)]
    return table(columns, ((name, *("✓" if m in at else "" for m in Moment)) for name, at in rows))


def _operators() -> str:
    rows = sorted(OPERATORS, key=lambda o: o.precedence)
    return table(
        ("binds", "operator", "value"),
        (
            (
                str(o.precedence),
                f"`{'x ' if o.arity == 2 else ''}{o.text}{' y' if o.arity == 2 else 'x'}`",
                o.meaning,
            )
            for o in rows
        ),
    )


def _functions() -> str:
    return table(("function", "value"), ((_call(f), f.meaning) for f in FUNCTIONS))


def _call(f: Function) -> str:
    return f"`{f.text}({', '.join(p.value for p in f.params)})`"


def _distributions() -> str:
    return table(
        ("draw", "value"), ((f"`~{d.text}({', '.join(d.params)})`", d.meaning) for d in DISTRIBUTIONS)
    )


def _context() -> str:
    rows = ((_spellings(v.text, v.dotted), _at(v.moments), v.meaning) for v in CONTEXT_VARIABLES)
    return table(("variable", "read at", "value"), rows)


def _spellings(bare: str, dotted: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in (bare, *dotted))


def _at(moments: frozenset[Moment]) -> str:
    if len(moments) > len(ALL_MOMENTS) // 2:
        return "all but " + ", ".join(m.value for m in Moment if m not in moments)
    return ", ".join(m.value for m in Moment if m in moments)


def _aggregates() -> str:
    return table(("aggregate", "value"), ((f"`{a.text}(o)`", a.meaning) for a in AGGREGATES))


_PARTS: dict[str, Callable[[], str]] = {
    "moments": _moments,
    "readable": _readable,
    "operators": _operators,
    "functions": _functions,
    "distributions": _distributions,
    "context": _context,
    "aggregates": _aggregates,
}
