"""The shape of the IR: parallel tables and the tree of blocks (004 *Validation*, Structure)."""

from __future__ import annotations

from serq.diagnostics import IrPath
from serq.ir import statements as st
from serq.ir.validate.facts import Facts
from serq.ir.validate.indices import out_of_range

_BODY_STEPS: dict[type[st.Stmt], tuple[IrPath, ...]] = {
    st.Hold: (("body",),),
    st.Branch: ((1,), (2,)),
    st.Loop: ((),),
    st.While: ((1,),),
    st.Fork: ((),),
}


def parallel_tables(facts: Facts) -> None:
    """`attr_types` has a type per attribute; `sides` a side per statement (004 *Program*)."""
    program = facts.program
    if len(program.attr_types) != len(program.attrs):
        facts.add(
            "SQ022",
            f"there are {len(program.attrs)} attributes and {len(program.attr_types)} attribute types",
            ("attr_types",),
            "give every attribute its type, in the order of `attrs`",
        )
    if len(program.sides) != len(program.blocks):
        facts.add(
            "SQ022",
            f"there are {len(program.blocks)} blocks and sides for {len(program.sides)}",
            ("sides",),
            "give every block its list of sides, in the order of `blocks`",
        )
    for b, (sides, block) in enumerate(zip(program.sides, program.blocks, strict=False)):
        if len(sides) != len(block):
            facts.add(
                "SQ022",
                f"block {b} has {len(block)} statements and {len(sides)} sides",
                ("sides", b),
                "give every statement its side, in the order of the block",
            )


def block_tree(facts: Facts) -> None:
    """Blocks reached from `init`, `turn` and `session` form a tree; what nothing reaches is left alone."""
    program = facts.program
    seen: set[int] = set()
    for name in ("init", "turn", "session"):
        root = getattr(program, name)
        if root >= len(program.blocks):
            out_of_range(facts, "block", root, len(program.blocks), (name,))
        elif root in seen:
            _shared(facts, root, (name,))
        else:
            seen.add(root)
    roots = set(seen)
    for located in facts.statements:
        for k, body in enumerate(st.bodies(located.stmt)):
            path = located.at(*_BODY_STEPS[type(located.stmt)][k])
            if body >= len(program.blocks):
                out_of_range(facts, "block", body, len(program.blocks), path)
            elif located.block in facts.owners and (
                body in roots or facts.owners.get(body) != (located.block, located.position, k)
            ):
                _shared(facts, body, path)


def _shared(facts: Facts, block: int, path: IrPath) -> None:
    facts.add(
        "SQ024",
        f"block {block} is reached a second time here",
        path,
        "copy the block: every block is the body of one statement",
    )


def workload_blocks(facts: Facts) -> None:
    """`init` and `turn` contain only Set and Observe."""
    for name in ("init", "turn"):
        block = getattr(facts.program, name)
        if block >= len(facts.blocks):
            continue
        for located in facts.blocks[block]:
            if not isinstance(located.stmt, st.Set | st.Observe):
                facts.add(
                    "SQ025",
                    f"the `{name}` block contains a `{_word(located.stmt)}`",
                    located.path,
                    "set and observe in `init` and `turn`; everything else belongs in the session",
                )


def _word(stmt: st.Stmt) -> str:
    return type(stmt).__name__.lower()


RULES = (parallel_tables, block_tree, workload_blocks)
