"""One row per construct: whoever keys on the tables must have every row, and no other."""

from __future__ import annotations

from serq.ir import tables
from serq.ir.moments import Moment
from serq.sim import claims, codegen, draws
from serq.sim.records import Context


def test_names_are_unique_in_each_table() -> None:
    for rows in (tables.FUNCTIONS, tables.DISTRIBUTIONS, tables.CONTEXT_VARIABLES, tables.AGGREGATES):
        assert len({r.ir for r in rows}) == len(rows)
        assert len({r.text for r in rows}) == len(rows)
    operators = [(r.ir, r.arity) for r in tables.OPERATORS]
    assert len(set(operators)) == len(operators)


def test_every_row_says_where_it_may_be_read_and_what_it_means() -> None:
    for rows in (tables.FUNCTIONS, tables.DISTRIBUTIONS, tables.CONTEXT_VARIABLES, tables.AGGREGATES):
        for row in rows:
            assert row.moments, row
            assert row.meaning, row


def test_the_interpreter_has_every_operator() -> None:
    written = {*codegen.BINARY_VALUE, *codegen.UNARY_VALUE, *codegen.TESTS, *codegen.LOGIC}
    assert written == {row.ir for row in tables.OPERATORS}


def test_the_interpreter_has_every_function_and_distribution() -> None:
    assert set(codegen.CALLS) == set(tables.FUNCTION)
    assert set(codegen.DRAWS) == set(tables.DISTRIBUTION)
    assert all(hasattr(draws, name) for name in codegen.DRAWS.values())


def test_the_interpreter_supplies_every_context_variable() -> None:
    supplied = {name for name in vars(Context) if not name.startswith("_")} | {"Now"}
    assert supplied == set(tables.CONTEXT)


def test_the_interpreter_has_every_aggregate() -> None:
    for row in tables.AGGREGATES:
        claims.aggregate([3.0, 1.0], row.ir)
    values = {row.ir: claims.aggregate([3.0, 1.0, 2.0], row.ir) for row in tables.AGGREGATES}
    assert values == {"Total": 6, "Count": 3, "Largest": 3, "Smallest": 1, "PrefixTotal": 1 + 3 + 6}


def test_every_moment_has_its_parameters() -> None:
    assert set(codegen.PARAMETERS) == set(Moment) - {Moment.CONSTANT}
