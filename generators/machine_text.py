"""Machines of the model as Lean text: what a piece of a run starts from and what it leaves.

Positions in the program and clauses of open holds are written once, as constants that the machines of a
run share.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from serq.generators.lean_text import LeanText
from serq.generators.machine.code import FINISH, Code
from serq.generators.machine.state import (
    Again,
    AtEngine,
    Delay,
    Ended,
    Entry,
    Frame,
    Grant,
    Header,
    HoldFrame,
    InDelay,
    Iteration,
    Job,
    Loop,
    Machine,
    Observation,
    Open,
    Pool,
    Queued,
    Ready,
    Rest,
    Running,
    Session,
    Share,
    State,
    Status,
)


class MachineText:
    """Writes the machines of one program's run."""

    def __init__(self, text: LeanText, machines: Iterable[Machine]) -> None:
        self._text = text
        self._codes: dict[Code, str] = {}
        self._headers: dict[Header, str] = {}
        self.machines = [self._machine(machine) for machine in machines]

    @property
    def constants(self) -> list[str]:
        """The constants that the machines share, a definition each."""
        text = self._text
        headers = [
            f"def {name} : Header :=\n{text.header(h.needs, h.reuse, h.cache)}"
            for h, name in self._headers.items()
        ]
        return headers + [f"def {name} : Code :=\n{text.block(c.block)}" for c, name in self._codes.items()]

    def _machine(self, machine: Machine) -> list[str]:
        """The fields of a machine, one a line."""
        state = machine.state
        fields = [f"now := {machine.now}", "state := {", *(f"  {x}" for x in self._state(state))]
        fields[-1] += " }"
        if machine.running is not None:
            fields.append(f"running := some {_running(machine.running)}")
        return [*fields, f"served := {machine.served}", f"log := {_listed(map(_iteration, machine.log))}"]

    def _state(self, st: State) -> list[str]:
        sessions = [self._session(s) for s in st.sessions]
        fields = ["sessions := [", *(f"  {s}," for s in sessions[:-1]), *(f"  {s}]" for s in sessions[-1:])]
        if not sessions:
            fields = ["sessions := []"]
        fields.append(f"pools := {_listed(map(_pool, st.pools))}")
        lists = {
            "jobs": map(_job, st.jobs),
            "ready": map(str, st.ready),
            "delays": map(_delay, st.delays),
            "observations": map(_observation, st.observations),
            "admitted": map(str, st.admitted),
            "resumed": map(str, st.resumed),
            "preempted": map(str, st.preempted),
            "finished": map(str, st.finished),
        }
        fields += [f"{name} := {_listed(values)}" for name, values in lists.items() if getattr(st, name)]
        counters = {name: getattr(st, name) for name in ("preemptions", "admissions", "releases", "events")}
        return [*fields, *(f"{name} := {n}" for name, n in counters.items() if n)]

    def _session(self, s: Session) -> str:
        frames = _listed(self._frame(f) for f in s.frames)
        admission = "none" if s.admission is None else f"some {s.admission}"
        parts = (_numbers(s.attrs), str(s.cached), self._code(s.code), frames, _status(s.status), admission)
        return f"⟨{', '.join(parts)}, {s.turn}⟩"

    def _code(self, code: Code) -> str:
        if code == FINISH:
            return ".finish"
        return self._codes.setdefault(code, f"place{len(self._codes) + 1}")

    def _frame(self, f: Frame) -> str:
        match f:
            case Rest(next=after):
                return f".rest {self._code(after)}"
            case Loop(body=body):
                return f".loop {self._code(body)}"
            case Again(test=test, body=body, next=after):
                return f".again {self._text.atom(test)} {self._code(body)} {self._code(after)}"
            case HoldFrame(open=held, next=after):
                return f".hold {self._open(held)} {self._code(after)}"

    def _open(self, h: Open) -> str:
        header = self._headers.setdefault(h.header, f"clauses{len(self._headers) + 1}")
        return f"⟨{header}, {self._code(h.body)}, {_listed(map(_share, h.shares))}, {_truth(h.advanced)}⟩"


def _status(status: Status) -> str:
    match status:
        case Ready():
            return ".ready"
        case Queued(pool=pool, resumed=resumed):
            return f".queued {pool} {_truth(resumed)}"
        case AtEngine():
            return ".engine"
        case InDelay(until=until, number=number):
            return f".delay {until} {number}"
        case Ended():
            return ".ended"


def _pool(p: Pool) -> str:
    parts = (str(p.allocated), _listed(map(_entry, p.entries)), _numbers(p.holders), _numbers(p.queue))
    return f"⟨{', '.join(parts)}⟩"


def _entry(e: Entry) -> str:
    owner = "none" if e.owner is None else f"some {e.owner}"
    return f"⟨{owner}, {e.size}, {e.time}, {e.number}⟩"


def _share(s: Share) -> str:
    return f"⟨{s.pool}, {s.units}, {s.position}⟩"


def _job(j: Job) -> str:
    return f"⟨{j.owner}, {_truth(j.decode)}, {j.work}, {_truth(j.grows)}⟩"


def _delay(d: Delay) -> str:
    return f"⟨{d.time}, {d.number}, {d.owner}⟩"


def _observation(o: Observation) -> str:
    return f"⟨{o.name}, {o.session}, {o.time}, {o.value}⟩"


def _running(r: Running) -> str:
    return f"⟨{r.until}, {r.number}, {_listed(map(_grant, r.batch))}⟩"


def _grant(g: Grant) -> str:
    return f"⟨{g.owner}, {g.tokens}, {_truth(g.decode)}, {g.attention}⟩"


def _iteration(r: Iteration) -> str:
    counts = (r.tokens, r.prefilled, r.decoders, r.kv_decode, r.attention, r.residents, r.demand, r.arrived)
    lists = (r.queued, r.holders, r.allocated, r.cached, r.admitted, r.resumed, r.preempted, r.finished)
    head = (str(r.start), str(r.served), _listed(map(_grant, r.batch)))
    return f"⟨{', '.join((*head, *map(str, counts), *map(_numbers, lists)))}⟩"


def _truth(value: bool) -> str:
    return str(value).lower()


def _numbers(values: Sequence[int]) -> str:
    return _listed(map(str, values))


def _listed(texts: Iterable[str]) -> str:
    return f"[{', '.join(texts)}]"
