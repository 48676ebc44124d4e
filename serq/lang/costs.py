"""`Cost` records: one attribute per field, each the cost of a resource (api.md §7.8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from serq.lang import tree
from serq.lang.constants import spelled
from serq.lang.context import Context
from serq.lang.findings import Findings
from serq.lang.kernel import Kernel
from serq.lang.tree import Name, Statement

if TYPE_CHECKING:
    from serq.lang.statements import Lowering


def lower_record(lowering: Lowering, record: tree.CostRecord, context: Context) -> tuple[Statement, ...]:
    """`Cost c = { R : e, ... };` as one assignment per field, in the order written (SQ552-SQ554)."""
    findings, scope = lowering.findings, context.scope
    name = scope.attribute(record.name).text
    if not record.fields:
        findings.error("SQ552", f"the record `{record.name.text}` has no fields", record)
        return ()
    sets: list[Statement] = []
    fields: list[str] = []
    for field in record.fields:
        text = ".".join((field.resource.name.text, *(m.text for m in field.resource.members)))
        if field.resource.index is not None or field.resource.member_index is not None:
            message = f"`{spelled(field.resource)}`: a field names a whole family, without an index"
            findings.error("SQ552", message, field.resource, hint=f"write `{text}`")
        if text in fields:
            findings.error("SQ552", f"the field `{text}` is written twice", field.resource)
            continue
        fields.append(text)
        resource = replace(scope.family(replace(field.resource, index=None, member_index=None)), index=None)
        value = tree.CostOf(field.span, (resource,), scope.expr(field.value))
        sets.append(tree.Set(field.span, Name(record.name.span, f"{name}.{text}"), value))
    _remember(lowering, name, tuple(fields), record)
    return tuple(sets)


def _remember(lowering: Lowering, name: str, fields: tuple[str, ...], record: tree.CostRecord) -> None:
    first = lowering.records.setdefault(name, (fields, record))
    if first[0] != fields:
        note = f"declared with {', '.join(first[0])} at {lowering.findings.where(first[1])}"
        message = f"the record `{record.name.text}` is declared with other fields"
        hint = "write the same fields in the same order"
        lowering.findings.error("SQ553", message, record.name, note=note, hint=hint)


def check_records(kernel: Kernel, assigned: Mapping[str, Name], findings: Findings) -> None:
    """A record's name is no scalar's (SQ553)."""
    for name in kernel.records:
        other = assigned.get(name)
        if other is not None:
            message = f"`{name}` is a record of costs and a single attribute"
            findings.error("SQ553", message, other, hint="give one of them another name")
