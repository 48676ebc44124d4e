"""Steps as text: the grid of requests and steps, and the side-by-side of a difference."""

from __future__ import annotations

from serq.oracle.compare import RULES, Difference, Outcome
from serq.oracle.recorded import Step

_COLUMNS = 24


def step_grid(o: Outcome, first: int = 0, columns: int = _COLUMNS) -> str:
    """Requests down, steps across, tokens in the cells; `+` admitted, `!` preempted, `.` waiting.

    A cell shows one number where both sides agree, else `recorded|program`.
    """
    recorded = {s.step: s for s in o.recorded}
    program = {s.step: s for s in o.program}
    steps = [n for n in sorted(recorded) if n >= first][:columns]
    requests = sorted({r for s in o.recorded for r in (*s.running, *s.waiting)})
    rows = [["step", *(str(n) for n in steps)]]
    for r in requests:
        rows.append([f"request {r}", *(_cell(r, recorded.get(n), program.get(n)) for n in steps)])
    rows.append(["free", *(_both(str(recorded[n].free), _free(program.get(n))) for n in steps)])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [
        "  ".join(c.rjust(w) if k else c.ljust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def _cell(request: int, recorded: Step | None, program: Step | None) -> str:
    return _both(_tokens(request, recorded), _tokens(request, program))


def _both(recorded: str, program: str) -> str:
    return recorded if recorded == program or program == "" else f"{recorded}|{program}"


def _free(step: Step | None) -> str:
    return "" if step is None else str(step.free)


def _tokens(request: int, step: Step | None) -> str:
    if step is None:
        return ""
    tokens = dict(step.scheduled).get(request)
    if request in step.preempted:
        return "!"
    if tokens is None:
        return "." if request in step.waiting else ""
    return f"+{tokens}" if request in (*step.admitted, *step.resumed) else str(tokens)


def difference_text(o: Outcome) -> str:
    """The first difference of a comparison: the mode, both values, the steps around it."""
    d = o.difference
    assert d is not None
    lines = [
        f"{o.name}: step {d.step} differs in {d.mode}",
        f"  vLLM {o.version:<9} {d.recorded}",
        f"  {'program':<14} {d.program}",
        f"  decided by     {RULES[d.mode]}",
        "",
        *_side_by_side(o, d),
        "",
        step_grid(o, max(0, d.step - 4), 12),
    ]
    return "\n".join(lines)


def _side_by_side(o: Outcome, d: Difference) -> list[str]:
    rows = [("", f"vLLM {o.version}", "program")]
    before = next((s for s in reversed(o.recorded) if s.step < d.step), None)
    ours = next((s for s in reversed(o.program) if s.step < d.step), None)
    rows += [
        ("before", _state(before), _state(ours)),
    ]
    for name in ("scheduled", "admitted", "resumed", "preempted", "hits", "running", "waiting", "free"):
        rows.append((name, _field(d.recorded_step, name), _field(d.program_step, name)))
    width = max(len(r[1]) for r in rows)
    return [f"  {a:<10} {b:<{width}}  {c}" for a, b, c in rows]


def _state(step: Step | None) -> str:
    if step is None:
        return "-"
    running = " ".join(str(r) for r in step.running_end) or "-"
    return f"running {running}, free {step.free_end}"


def _field(step: Step | None, name: str) -> str:
    if step is None:
        return "-"
    value = getattr(step, name)
    if name in ("scheduled", "hits"):
        return " ".join(f"{r}:{n}" for r, n in value) or "-"
    if isinstance(value, tuple):
        return " ".join(str(v) for v in value) or "-"
    return str(value)
