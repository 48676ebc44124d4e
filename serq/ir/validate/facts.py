"""What every rule starts from: the program's statements and expressions with their places, and its names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from serq.diagnostics import Diagnostic, IrPath, Place
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.moments import Moment
from serq.ir.validate.names import Names
from serq.ir.validate.paths import Visit, walk


@dataclass(eq=False, slots=True)
class Located:
    """A statement, where it stands and which side wrote it (None where the table of sides is short)."""

    stmt: st.Stmt
    block: int
    position: int
    side: pr.Side | None

    @property
    def path(self) -> IrPath:
        """The statement's path."""
        return ("blocks", self.block, self.position)

    def at(self, *steps: str | int) -> IrPath:
        """A path inside the statement's fields."""
        return (*self.path, type(self.stmt).__name__, *steps)


@dataclass(eq=False)
class Site:
    """A place of the IR that holds an expression.

    `what` names the place in messages; `engine` is the stage whose iterations read it,
    which decides the registers it may read.
    """

    expr: ex.Expr
    moment: Moment
    path: IrPath
    what: str
    engine: int | None = None
    located: Located | None = None

    @cached_property
    def visits(self) -> tuple[Visit, ...]:
        """Every node of the expression."""
        return tuple(walk(self.expr))


@dataclass(eq=False)
class Facts:
    """A program under validation and the findings so far."""

    program: pr.Program
    found: list[Diagnostic] = field(default_factory=list)

    def add(self, code: str, message: str, path: IrPath, hint: str, note: str | None = None) -> None:
        """Record a violation at a path of the IR."""
        self.found.append(Diagnostic(code, message, Place(path=path), note, hint))

    @cached_property
    def names(self) -> Names:
        """The program's words."""
        return Names(self.program)

    @cached_property
    def blocks(self) -> tuple[tuple[Located, ...], ...]:
        """Every block's statements."""
        program = self.program
        result = []
        for b, block in enumerate(program.blocks):
            sides = program.sides[b] if b < len(program.sides) else ()
            result.append(
                tuple(Located(s, b, i, sides[i] if i < len(sides) else None) for i, s in enumerate(block))
            )
        return tuple(result)

    @property
    def statements(self) -> Iterator[Located]:
        """Every statement of every block, reached or not."""
        for block in self.blocks:
            yield from block

    def statements_of(self, *kinds: type[st.Stmt]) -> Iterator[Located]:
        """The statements of some kinds, reached or not."""
        for kind in kinds:
            yield from self._statements_by_kind.get(kind, ())

    @cached_property
    def _statements_by_kind(self) -> dict[type[st.Stmt], list[Located]]:
        found: dict[type[st.Stmt], list[Located]] = {}
        for located in self.statements:
            found.setdefault(type(located.stmt), []).append(located)
        return found

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """Every expression of the program."""
        from serq.ir.validate.sites import all_sites

        return tuple(all_sites(self))

    def nodes_of(self, *kinds: type[ex.Expr]) -> Iterator[tuple[Site, Visit]]:
        """Every node of some kinds of expression, with the place of its expression."""
        for kind in kinds:
            yield from self._nodes_by_kind.get(kind, ())

    @cached_property
    def _nodes_by_kind(self) -> dict[type[ex.Expr], list[tuple[Site, Visit]]]:
        found: dict[type[ex.Expr], list[tuple[Site, Visit]]] = {}
        for site in self.sites:
            for visit in site.visits:
                found.setdefault(type(visit.expr), []).append((site, visit))
        return found

    def sites_of(self, located: Located) -> tuple[Site, ...]:
        """The expressions of one statement, those of its bodies left out."""
        return self._sites_by_statement.get((located.block, located.position), ())

    @cached_property
    def _sites_by_statement(self) -> dict[tuple[int, int], tuple[Site, ...]]:
        found: dict[tuple[int, int], list[Site]] = {}
        for site in self.sites:
            if site.located is not None:
                found.setdefault((site.located.block, site.located.position), []).append(site)
        return {place: tuple(sites) for place, sites in found.items()}

    @cached_property
    def owners(self) -> dict[int, tuple[int, int, int] | None]:
        """For each block reached from the roots, the statement and body it was first reached as.

        The edges form a tree whatever the program says; a second way into a block is not one of them.
        """
        program = self.program
        owners: dict[int, tuple[int, int, int] | None] = {}
        for root in (program.init, program.turn, program.session):
            if root < len(program.blocks) and root not in owners:
                owners[root] = None
                self._reach(root, owners)
        return owners

    def _reach(self, root: int, owners: dict[int, tuple[int, int, int] | None]) -> None:
        stack = [root]
        while stack:
            for located in self.blocks[stack.pop()]:
                for k, body in enumerate(st.bodies(located.stmt)):
                    if body < len(self.blocks) and body not in owners:
                        owners[body] = (located.block, located.position, k)
                        stack.append(body)

    def bodies(self, located: Located) -> tuple[tuple[Located, ...], ...]:
        """A statement's bodies in the tree of blocks; a body that belongs elsewhere is empty."""
        return tuple(
            self.blocks[body] if self.owners.get(body) == (located.block, located.position, k) else ()
            for k, body in enumerate(st.bodies(located.stmt))
        )

    @property
    def session(self) -> tuple[Located, ...]:
        """The statements of the session block."""
        return self.blocks[self.program.session] if self.program.session < len(self.blocks) else ()

    def attr_type(self, slot: int) -> pr.AttrType | None:
        """A slot's type; None where the table has none."""
        types = self.program.attr_types
        return types[slot] if slot < len(types) else None

    def pools_of(self, ref: ex.CRef | ex.PoolTarget) -> tuple[pr.Pool, ...]:
        """The pools a reference may name; none when it is out of range."""
        return self.program.pools[ref.base : ref.base + ref.count] if self.in_pools(ref) else ()

    def stages_of(self, ref: ex.CRef | ex.StageTarget) -> tuple[pr.Stage, ...]:
        """The stages a reference may name; none when it is out of range."""
        return self.program.stages[ref.base : ref.base + ref.count] if self.in_stages(ref) else ()

    def in_pools(self, ref: ex.CRef | ex.PoolTarget) -> bool:
        """Whether a reference lies inside the pools."""
        return ref.count > 0 and ref.base + ref.count <= len(self.program.pools)

    def in_stages(self, ref: ex.CRef | ex.StageTarget) -> bool:
        """Whether a reference lies inside the stages."""
        return ref.count > 0 and ref.base + ref.count <= len(self.program.stages)


Rule = Callable[[Facts], None]
