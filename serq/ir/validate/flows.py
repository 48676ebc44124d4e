"""Runs over several stages at once, and how they share them (004 *Stages and flows*; api.md §10.7)."""

from __future__ import annotations

from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.validate.facts import Facts, Located


def flows(facts: Facts) -> None:
    """Each family once, constant capacities, and a policy exactly when there is such a run."""
    runs = [x for x in facts.statements_of(st.Run) if isinstance(x.stmt, st.Run) and x.stmt.also]
    for located in runs:
        if isinstance(located.stmt, st.Run):
            _flow(facts, located, located.stmt)
    if runs and facts.program.share is None:
        facts.add(
            "SQ617",
            "a run holds several stages, and the program does not say how they are shared",
            runs[0].path,
            "add `share maxmin;` or `share bottleneck;`",
        )
    if facts.program.share is not None and not runs:
        hint = "remove `share`, or run several stages at once"
        facts.add("SQ617", "the program shares stages, but no run holds several", ("share",), hint)


def _flow(facts: Facts, located: Located, run: st.Run) -> None:
    seen: set[tuple[int, int]] = set()
    paths = [located.at("stage"), *(located.at("also", i) for i in range(len(run.also)))]
    for ref, path in zip((run.stage, *run.also), paths, strict=True):
        if (ref.base, ref.count) in seen:
            facts.add(
                "SQ615",
                f"one run names `{facts.names.stages(ref)}` twice",
                path,
                "name each family of stages once: its index is known only when the run starts",
            )
        seen.add((ref.base, ref.count))
        for stage in facts.stages_of(ref):
            if not _constant_ps(stage):
                facts.add(
                    "SQ616",
                    f"a run shares stage `{stage.label}`, which is not ps of a constant capacity above 0",
                    path,
                    f"declare `{stage.name}` as `ps` of a positive number, or run it by itself",
                )
                break


def _constant_ps(stage: pr.Stage) -> bool:
    kind = stage.kind
    return isinstance(kind, pr.Ps) and isinstance(kind.capacity, ex.Num) and kind.capacity.value > 0


RULES = (flows,)
