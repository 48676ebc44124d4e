"""The report as text (report.md §3): tables a person reads, and lines of remark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from serq.ir.expressions import Binary, Expr, Unary
from serq.ir.program import Program, label
from serq.ir.statements import Observe
from serq.ir.tables import BINARY, UNARY
from serq.sim.report import Report, format_number

_CONSTANT_SAMPLES = 40


def render(report: Report, program: Program) -> str:
    """The whole text, ending in a newline."""
    d = report.data
    parts = [_headline(d, report.interrupted)]
    parts += _table("observe", _METRIC, [(m.name, d["observes"][m.name]) for m in report.observes])
    parts += _constant_tests(report, program)
    parts += _table("client", _METRIC, [(n, s) for n, s in d["client"].items() if s["count"]])
    parts += _table("gauge", _GAUGE, list(d["gauges"].items()))
    parts += _table("claim", _CLAIM, [(c["name"], c) for c in d.get("claims", [])], left=True)
    parts += _table("stage", _STAGE, [(_label(s), s) for s in d["stages"]])
    parts += _table("step", _STEP, [(_label(s), s) for s in d["stages"] if s["iterations"]])
    parts += _table("pool", _POOL, [(_label(p), p) for p in d["pools"]])
    parts += _remarks(d)
    return "\n".join(parts) + "\n"


def _headline(d: dict[str, Any], interrupted: bool) -> str:
    text = (
        f"run: horizon {format_number(d['horizon'])} end {format_number(d['end'])} "
        f"warmup {format_number(d['warmup'])} seed {d['seed']} events {d['events']} "
        f"arrivals {d['arrivals']} ended {d['ended']} turns {d['turns']} mean live {_fixed(d['mean_live'], 3)}"
    )
    return text + ("  (interrupted: a partial report)" if interrupted else "")


def _fixed(x: float | None, decimals: int) -> str:
    if x is None or x != x:
        return "NaN"
    return format_number(x) if x - x != 0.0 else f"{x:.{decimals}f}"


Cell = Callable[[dict[str, Any]], str]


def _number(key: str, decimals: int) -> Cell:
    return lambda row: _fixed(row[key], decimals)


def _count(key: str) -> Cell:
    return lambda row: str(row[key])


def _interval(row: dict[str, Any]) -> str:
    ci = row["ci"]
    return "±inf" if ci is None else f"±{_fixed(ci, 4)}"


def _claim_result(c: dict[str, Any]) -> str:
    if c["result"] in ("not_evaluated", "out_of_scope"):
        return f"{c['result'].replace('_', ' ')}: {c['note']}"
    word = str(c["result"]).replace("_", " ")
    if c["kind"] == "at_end":
        return word
    if c["result"] == "fails":
        return f"fails at {_fixed(c['first'], 4)} ({c['failures']} of {c['checked']} iterations)"
    at = f" at {_fixed(c['first'], 4)}" if c["result"] == "witnessed" else ""
    return f"{word}{at} ({c['checked']} iterations)"


Columns = Sequence[tuple[str, Cell]]
_METRIC: Columns = (
    ("count", _count("count")),
    ("mean", _number("mean", 4)),
    ("95% CI", _interval),
    ("cv2", _number("cv2", 3)),
    ("p99", _number("p99", 4)),
)
_GAUGE: Columns = (
    ("mean", _number("mean", 4)),
    ("95% CI", _interval),
    ("min", _number("min", 4)),
    ("max", _number("max", 4)),
)
_CLAIM: Columns = (("kind", lambda c: str(c["kind"]).replace("_", " ")), ("result", _claim_result))
_STAGE: Columns = (
    ("number", _number("mean_number", 3)),
    ("util", _number("utilization", 3)),
    ("done", _count("completed")),
    ("thru", _number("throughput", 4)),
    ("wait", _number("mean_wait", 4)),
    ("service", _number("mean_service", 4)),
    ("iters", _count("iterations")),
)
_STEP: Columns = (
    ("prefill only", _number("prefill_only", 3)),
    ("decode only", _number("decode_only", 3)),
    ("mixed", _number("mixed", 3)),
    ("idle", lambda s: _fixed(1.0 - s["prefill_only"] - s["decode_only"] - s["mixed"], 3)),
    ("decodes", _number("mean_decodes", 3)),
    ("decode batch", _number("mean_decode_batch", 3)),
    ("decode step", _number("mean_decode_step", 6)),
    ("itl p50", _number("itl_p50", 6)),
    ("itl p99", _number("itl_p99", 6)),
)
_POOL: Columns = (
    ("used", _number("mean_used", 1)),
    ("cached", _number("mean_cached", 1)),
    ("queue", _number("mean_queue", 3)),
    ("holders", _number("mean_holders", 3)),
    ("wait", _number("mean_wait", 4)),
    ("admits", _count("admissions")),
    ("evict(n)", _count("evicted_entries")),
    ("evict(u)", _number("evicted_units", 0)),
    ("preempt", _count("preemptions")),
    ("spill", _count("spills")),
    ("rej", _count("rejected")),
    ("stuck", _count("stuck")),
)


def _label(row: dict[str, Any]) -> str:
    return label(row["name"], row["index"])


def _table(
    title: str, columns: Columns, rows: list[tuple[str, dict[str, Any]]], left: bool = False
) -> list[str]:
    if not rows:
        return []
    cells = [[title, *(name for name, _ in columns)]]
    cells += [[name, *(cell(row) for _, cell in columns)] for name, row in rows]
    widths = [max(len(line[k]) for line in cells) for k in range(len(cells[0]))]
    lines = [_line(line, widths, left) for line in cells]
    lines.insert(1, "  ".join("-" * w for w in widths))
    return ["", *lines]


def _line(cells: list[str], widths: list[int], left: bool) -> str:
    parts = [
        c.ljust(w) if left or k == 0 else c.rjust(w)
        for k, (c, w) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(parts).rstrip()


def _is_test(e: Expr) -> bool:
    return (isinstance(e, Binary) and BINARY[e.op].boolean) or (isinstance(e, Unary) and UNARY[e.op].boolean)


def _constant_tests(report: Report, program: Program) -> list[str]:
    tests = {
        s.observe for block in program.blocks for s in block if isinstance(s, Observe) and _is_test(s.value)
    }
    return [
        f"observe {m.name}: constant 0 over {m.count} samples"
        for k, m in enumerate(report.observes)
        if k in tests and m.count >= _CONSTANT_SAMPLES and not any(m.samples)
    ]


def _remarks(d: dict[str, Any]) -> list[str]:
    lines = []
    for p in d["pools"]:
        name = _label(p)
        if p["stuck"]:
            lines.append(f"stuck: {name}: {p['stuck']} sessions preempted again without getting further")
        if p["rejected"]:
            lines.append(f"rej: {name}: {p['rejected']} requests that can never fit were refused")
        if p["over_cap"]:
            over = p["over_cap"]
            lines.append(
                f"over: {name}: the head of {over['queue']} asks for {format_number(over['need'])}, "
                "more than the capacity"
            )
        if p["growing_at_end"]:
            stalled = "; every holder waits, so none will free room" if p["growing_stalled"] else ""
            lines.append(f"grow: {name}: {p['growing_at_end']} holds still wait to grow{stalled}")
    for s in d["stages"]:
        if s["idle_with_work"]:
            lines.append(f"idle: engine {_label(s)} ends with work its schedule did not take")
    return ["", *lines] if lines else []
