"""Running a program: the one entry point of the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from serq.ir.corpus import Corpus, read_corpus
from serq.ir.program import Program
from serq.sim.hooks import TraceHook
from serq.sim.machine import Machine
from serq.sim.report import Report, build_report


def run(
    program: Program,
    *,
    corpus: Corpus | None = None,
    detailed: bool = False,
    hook: TraceHook | None = None,
    self_check: bool = False,
    progress: Callable[[float], None] | None = None,
    on_machine: Callable[[Machine], None] | None = None,
) -> Report:
    """Run a valid program and report.

    `corpus` stands for the program's trace, which is read from its path otherwise;
    `detailed` keeps when and by whom samples were taken; `hook` is told what happens;
    `on_machine` receives the machine before it starts (its `stop_requested` ends the
    run early). Raises `RunError` when the program stops, `SerqError` when its trace
    cannot be read.
    """
    if corpus is None and program.trace is not None:
        corpus = read_corpus(Path(program.trace))
    machine = Machine(program, corpus, detailed=detailed, hook=hook)
    if self_check:
        from serq.sim.selfcheck import SelfCheck

        machine.linked.after_event = SelfCheck(machine).check
    if on_machine is not None:
        on_machine(machine)
    machine.run(progress)
    return build_report(machine)
