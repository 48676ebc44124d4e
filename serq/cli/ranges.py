"""`serq check --for`: ranges of inputs and of attributes, and the answers for every value of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from serq.check import CheckReport, run_checks
from serq.check.parameters import Answered, check_for
from serq.cli.load import Loaded, load
from serq.cli.options import Choices
from serq.diagnostics import Diagnostic, Place, Severity, suggestion
from serq.ir.program import Program
from serq.ir.validate.names import number
from serq.lang import tree

Bounds = tuple[float, float]
_RANGE = re.compile(r"\s*(\w+)\s+in\s+(-?[\d.e+_]+)\s*\.\.\s*(-?[\d.e+_]+)\s*")


class RangesType(click.ParamType[tuple[tuple[str, Bounds], ...]]):
    """`NAME in LOW..HIGH`, several separated by commas"""

    name = "ranges"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[tuple[str, Bounds], ...]:
        return tuple(self._one(part, param, ctx) for part in str(value).split(","))

    def _one(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Bounds]:
        found = _RANGE.fullmatch(text)
        if found is None:
            self.fail(f"`{text.strip()}` is not of the form `blocks in 1..10000`", param, ctx)
        try:
            low, high = float(found[2]), float(found[3])
        except ValueError:
            self.fail(f"`{text.strip()}` has a bound that is not a number", param, ctx)
        if not low <= high:
            self.fail(f"`{text.strip()}` has no value in it", param, ctx)
        return found[1], (low, high)


@dataclass(frozen=True)
class Limits:
    """Seconds of one question, and of all."""

    timeout: float
    overall: float


@dataclass(frozen=True)
class Asked:
    """What is left open: inputs of the program, and attributes that sessions preset."""

    inputs: Mapping[str, Bounds]
    attributes: Mapping[str, Bounds]


def asked(loaded: Loaded, ranges: Mapping[str, Bounds]) -> Asked:
    """The ranges by what they speak of; raises `click.UsageError` for a name the program does not have."""
    declared = inputs_of(loaded)
    known = [*declared, *loaded.program.attrs]
    for name in ranges:
        if name not in known:
            hint = suggestion(name, known)
            message = f"the program has no input and no attribute `{name}`"
            raise click.UsageError(f"{message}: {hint}" if hint else message)
    inputs = {n: bounds for n, bounds in ranges.items() if n in declared}
    return Asked(inputs, {n: bounds for n, bounds in ranges.items() if n not in declared})


def inputs_of(loaded: Loaded) -> tuple[str, ...]:
    """The inputs a source program declares with `args.number`."""
    if loaded.compiled is None or loaded.compiled.parsed.main is None:
        return ()
    lets = (item for item in loaded.compiled.parsed.main.items if isinstance(item, tree.Let))
    return tuple(x.value.external.value for x in lets if isinstance(x.value, tree.Input))


def checked(
    loaded: Loaded,
    file: Path,
    chosen: Choices,
    wanted: Asked,
    rules: tuple[str, ...] | None,
    limits: Limits,
) -> tuple[CheckReport, tuple[Diagnostic, ...]]:
    """The report for all values, and what is to say of the ranges themselves."""
    if not wanted.inputs:
        report = run_checks(
            loaded.program,
            rules=rules,
            ranges=wanted.attributes,
            timeout=limits.timeout,
            overall=limits.overall,
        )
        return report, ()

    def compile_at(inputs: Mapping[str, float]) -> Program:
        return load(file, chosen.given(inputs)).program

    answered = check_for(
        compile_at,
        wanted.inputs,
        rules=rules,
        ranges=wanted.attributes,
        timeout=limits.timeout,
        overall=limits.overall,
    )
    return answered.report, tuple(_told(answered, loaded.file))


def _told(answered: Answered, file: str) -> list[Diagnostic]:
    told = []
    for one in answered.invalid:
        where = ", ".join(f"{name} = {number(value)}" for name, value in one.inputs)
        told += [
            replace(d, severity=Severity.WARNING, note=f"the program is not valid with {where}")
            for d in one.diagnostics
        ]
    if answered.shaping:
        names = " and ".join(f"`{n}`" for n in answered.shaping)
        message = (
            f"{names} shapes the program: {answered.shapes} of its shapes were asked, and there are more"
        )
        hint = "ask for a shorter range, or for one value with `--set`"
        told.append(Diagnostic("SQ895", message, Place(file), hint=hint, severity=Severity.WARNING))
    return told
