"""`serq fragment`: say whether a program is in the Lean fragment, and every reason why not."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from serq.cli.load import Loaded, load
from serq.cli.naturals import proved_naturals
from serq.cli.options import Choices, ProgramCommand, choices, program_options
from serq.cli.output import report_diagnostics
from serq.diagnostics import Diagnostic, format_path
from serq.diagnostics.render import as_dict
from serq.generators.membership import membership
from serq.generators.refusals import rule_of


@click.command(cls=ProgramCommand)
@program_options
@click.option("--json", "as_json", is_flag=True, help="Print the decision and the reasons as JSON.")
def command(file: Path, as_json: bool, **options: Any) -> int:
    """Say whether FILE (.sq, or IR in JSON) is in the fragment that the Lean model covers.

    Every reason why not is printed with its place and the rule of the fragment it breaks. A difference
    that decides something is no reason where the checker proves that it does not go below 0.
    Exit status 0: in; 1: out, or not valid at all.
    """
    # Membership does not depend on the horizon; one that is given comes later and wins.
    chosen = choices(options)
    if file.suffix == ".sq":
        chosen = Choices((("horizon", sys.float_info.max), *chosen.steps))
    loaded = load(file, chosen)
    proved = proved_naturals(loaded.program)
    reasons = membership(loaded.program, proved)
    found = [loaded.located(d) for d in reasons]
    if as_json:
        data = _data(loaded, reasons, found)
        data["proved"] = sorted(map(format_path, proved))
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
    elif found:
        report_diagnostics(found, loaded.sources)
    else:
        click.echo(f"{file}: in the fragment")
        for path in sorted(map(format_path, proved)):
            click.echo(f"  the difference in {path} is proved not to go below 0")
    return 1 if found else 0


def _data(loaded: Loaded, reasons: tuple[Diagnostic, ...], found: list[Diagnostic]) -> dict[str, Any]:
    rows = []
    for reason, located in zip(reasons, found, strict=True):
        rule = rule_of(reason)
        path = format_path(reason.place.path)
        rows.append({**as_dict(located), "rule": None if rule is None else rule.value, "path": path})
    return {"file": loaded.file, "in": not found, "reasons": rows}
