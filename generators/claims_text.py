"""The Lean text of a program's claims: what the template writes of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from serq.generators.claims import Claim, Claimed
from serq.generators.lean_text import LeanText, mangled
from serq.generators.model import Var
from serq.generators.propositions import lines, proposition
from serq.generators.render import render

# A run of an example takes every event up to here; it ends long before.
_HORIZON = 1_000_000_000


@dataclass(frozen=True)
class ClaimText:
    """One claim, part by part."""

    name: str
    kind: str
    of: str
    says: tuple[str, ...]
    may: str
    many: str
    clients: str
    belongs: str
    horizons: tuple[int, ...]


class ClaimsText(LeanText):
    """Writes the parts of a program that claims something."""

    def __init__(self, c: Claimed) -> None:
        super().__init__(c.program, c.given)
        self.c = c
        self.digest = c.program.digest
        self.names = {slot: f"{self.slots[slot].name.strip('«»')}_" for slot in c.given}

    @property
    def parameters(self) -> str:
        """The values a session starts with, as parameters."""
        return f" ({' '.join(self.names.values())} : Nat)" if self.names else ""

    @property
    def values(self) -> str:
        """The same as arguments."""
        return "".join(f" {name}" for name in self.names.values())

    @property
    def place(self) -> str:
        """The place of a session among all, where it matters."""
        return "i" if self.c.gap is not None else "_"

    @property
    def presets(self) -> str:
        """The values with their slots."""
        return ", ".join(f"(Slot.{self.slots[slot].name}, {name})" for slot, name in self.names.items())

    @property
    def computed(self) -> str:
        """The slot that preemption writes."""
        return self.slots[self.t.slots.computed].name

    @property
    def arrival(self) -> list[str]:
        """The slot of the time of arrival, if there is one."""
        return [self.slots[self.c.given[0]].name] if self.c.arrives else []

    @property
    def claims(self) -> list[ClaimText]:
        """The claims."""
        return [self._claim(claim) for claim in self.c.claims]

    def _claim(self, claim: Claim) -> ClaimText:
        of = "m" if claim.kind == "AtEnd" else "r"
        exact = claim.kind == "SomeIteration" and self.c.size is not None
        client = " ".join(["client", *map(str, claim.example)])
        one = f"({client})" if claim.example else client
        conditions = (self.c.gap is not None) + (claim.given is not None)
        parts = [*map(str, claim.example), "rfl", *["by decide"] * conditions]
        member = f"⟨{', '.join(parts)}⟩" if len(parts) > 1 else "rfl"
        size = self.c.size or 1
        return ClaimText(
            name=mangled(claim.name),
            kind=claim.kind,
            of=of,
            says=lines(claim.says, lambda v: self._read(v, of)),
            may=self._may(claim),
            many=f"= {size}" if exact else "≤ mostSessions",
            clients=f"List.replicate {size} {one}" if exact else f"[{client}]",
            belongs=f"equal_sessions_belong {size} (by decide) fun _ => {member}"
            if exact
            else f"one_session_belongs (by decide) {member}",
            horizons=(_HORIZON,) if claim.kind == "AtEnd" else (),
        )

    def _may(self, claim: Claim) -> str:
        """What is said of a session `c` of the family."""
        parts = [f"c = client{self.values}"]
        if self.c.gap is not None:
            parts.append(f"{self.names[self.c.given[0]]} = (i + 1) * {self.c.gap}")
        if claim.given is not None:
            parts.append(f"({proposition(claim.given, lambda v: self.names[v.index or 0])})")
        there_is = f"∃{self.values}, " if self.names else ""
        return there_is + " ∧ ".join(parts)

    def _read(self, v: Var, of: str) -> str:
        match v.name, v.index:
            case "total" | "count", int(name):
                return f"{of}.{v.name} Seen.{self.observes[name].name}"
            case "prefixTotal", int(name):
                return f"prefixTotal ({of}.values Seen.{self.observes[name].name})"
            case field, int(pool):
                return f"nth 0 Pools.{self.pools[pool].name} {of}.{field}"
            case field, _:
                return f"{of}.{field}"


@dataclass(frozen=True)
class Proved:
    """A claim that is proved: its program as part of a Lean name, and its own name."""

    program: str
    name: str


def lean_name(program: str) -> str:
    """A program as part of a Lean name: `bari_rad` is `BariRad`."""
    return "".join(w[:1].upper() + w[1:] for w in re.findall(r"[A-Za-z0-9]+", program))


def claims_module_name(program: str) -> str:
    """The last part of the module of a program's claims: `bari_rad` is `ClaimsBariRad`."""
    return f"Claims{lean_name(program)}"


def claims_module(source: str, claimed: Claimed) -> str:
    """The Lean text of a program's claims; `source` is the program's name."""
    return render("claims.lean", source=source, module=claims_module_name(source), text=ClaimsText(claimed))


def claim_theorems(source: str, claimed: Claimed) -> list[str]:
    """The full names of the theorems of that module."""
    space = f"Serq.Generated.{claims_module_name(source)}.Example"
    found = []
    for claim in claimed.claims:
        ends = ("ends",) if claim.kind == "AtEnd" else ()
        found += [f"{space}.{claim.name}_{x}" for x in ("belongs", "is_in_the_fragment", *ends)]
    return found


def proved_module(imports: Sequence[str], claims: Sequence[Proved]) -> str:
    """The Lean text in which every proved claim is what was generated."""
    return render("claims_proved.lean", imports=imports, claims=claims)


def proof_theorems(claims: Sequence[Proved]) -> list[str]:
    """The full names of the theorems of that module."""
    return [f"Serq.Generated.Proved.{c.program}.{c.name}" for c in claims]
