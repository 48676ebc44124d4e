"""Engines, the pools they admit and the runs they serve (004 *Stages (CStage, CStep)*; api.md §10.9)."""

from __future__ import annotations

from serq.diagnostics import IrPath
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.validate.constants import constant
from serq.ir.validate.facts import Facts, Located
from serq.ir.validate.names import number


def run_modes(facts: Facts) -> None:
    """Prefill and Decode exactly on engines, growing only there."""
    for located in facts.statements_of(st.Run):
        assert isinstance(located.stmt, st.Run)
        _run(facts, located, located.stmt)


def _run(facts: Facts, located: Located, run: st.Run) -> None:
    for ref in (run.stage, *run.also):
        for stage in facts.stages_of(ref):
            engine = isinstance(stage.kind, pr.Step)
            if engine == (run.mode == "Plain"):
                kind = "an engine" if engine else "not an engine"
                facts.add(
                    "SQ701",
                    f"a {run.mode.lower()} run at `{stage.label}`, which is {kind}",
                    located.at("mode"),
                    "runs at an engine are `prefill` or `decode`, runs at other stages neither",
                )
                return
    if run.growing is not None and not all(isinstance(s.kind, pr.Step) for s in facts.stages_of(run.stage)):
        facts.add(
            "SQ702",
            f"a run at `{facts.names.stages(run.stage)}` grows a hold, and it is not an engine",
            located.at("growing"),
            "only an engine computes tokens: use `grow` or `load` beside the run",
        )


def pools(facts: Facts) -> None:
    """A pool is admitted by an engine, and ordered by at least one key."""
    for i, pool in enumerate(facts.program.pools):
        via = pool.admit_via
        if via is not None and via < len(facts.program.stages):
            stage = facts.program.stages[via]
            if not isinstance(stage.kind, pr.Step):
                facts.add(
                    "SQ703",
                    f"pool `{pool.label}` is admitted by `{stage.label}`, which is not an engine",
                    ("pools", i, "admit_via"),
                    "name an engine, or null: only an engine's iterations admit",
                )
        if pool.queue == ():
            hint = "give keys, or null for first come first served"
            facts.add("SQ704", f"pool `{pool.label}` selects by no key", ("pools", i, "queue"), hint)
        if pool.preempt is not None and not pool.preempt.keys:
            hint = 'give keys, or "None" for a pool that does not preempt'
            where: IrPath = ("pools", i, "preempt", "By", "keys")
            facts.add("SQ704", f"pool `{pool.label}` preempts by no key", where, hint)


def engines(facts: Facts) -> None:
    """Granules, exclusive prefill and the paths of an iteration body."""
    for i, stage in enumerate(facts.program.stages):
        if isinstance(stage.kind, pr.Step):
            _engine(facts, stage, stage.kind, ("stages", i, "kind", "Step"))


def _engine(facts: Facts, stage: pr.Stage, step: pr.Step, path: IrPath) -> None:
    if step.granule is not None:
        _granule(facts, stage, step, step.granule, (*path, "granule"))
    if step.serve is None and step.iteration is not None:
        facts.add(
            "SQ706",
            f"engine `{stage.label}` has an iteration body and serves exclusive prefills",
            (*path, "iteration"),
            "leave the body out: exclusive prefill is a whole procedure",
        )
    if step.iteration is not None and not _schedules(step.iteration):
        facts.add(
            "SQ707",
            f"the iteration body of engine `{stage.label}` has a path that neither serves nor admits",
            (*path, "iteration"),
            "serve or admit on every path: an engine that schedules nothing waits for an event",
        )


def _granule(facts: Facts, stage: pr.Stage, step: pr.Step, granule: ex.Expr, path: IrPath) -> None:
    if not isinstance(granule, ex.Num) or not granule.value > 0:
        facts.add(
            "SQ705",
            f"the granule of engine `{stage.label}` is `{facts.names.expr(granule)}`",
            path,
            'write a number above 0, or "inf"',
        )
        return
    chunk = constant(step.chunk)
    if chunk is not None and 0 < chunk < granule.value:
        facts.add(
            "SQ705",
            f"engine `{stage.label}` has granule {number(granule.value)} above its chunk {number(chunk)}",
            path,
            "give a chunk of at least the granule: a longer prompt would never get a token",
        )
    if step.serve is None:
        facts.add(
            "SQ706",
            f"engine `{stage.label}` has a granule and serves exclusive prefills",
            path,
            "leave the granule out: a prefill it refuses would block every decode",
        )


def _schedules(body: tuple[pr.IterItem, ...]) -> bool:
    return any(_item_schedules(item) for item in body)


def _item_schedules(item: pr.IterItem) -> bool:
    if isinstance(item, pr.IterBranch):
        return _schedules(item.then) and _schedules(item.other)
    return isinstance(item, pr.Serve | pr.Admit)


RULES = (run_modes, pools, engines)
