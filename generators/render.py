"""The templates: one a kind of file, with Jinja2's `StrictUndefined`, so that a missing name is an error."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).resolve().parent / "templates"
COMMAND = "tools/regenerate.py"


def environment() -> Environment:
    """The environment of every template."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(template: str, **values: object) -> str:
    """A template (`recorded.lean`) with its values, and the command that writes generated files."""
    return environment().get_template(f"{template}.j2").render(command=COMMAND, **values)
