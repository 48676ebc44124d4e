"""Diagnostics: the one type that parser, linker, validator, lints and runs report with."""

from serq.diagnostics.codes import BANDS, Code, all_codes, lookup, register
from serq.diagnostics.model import (
    Diagnostic,
    IrPath,
    Place,
    SerqError,
    Severity,
    Span,
    format_path,
    ordered,
)
from serq.diagnostics.render import RENDERERS, render_text
from serq.diagnostics.suggest import suggestion

__all__ = [
    "BANDS",
    "RENDERERS",
    "Code",
    "Diagnostic",
    "IrPath",
    "Place",
    "SerqError",
    "Severity",
    "Span",
    "all_codes",
    "format_path",
    "lookup",
    "ordered",
    "register",
    "render_text",
    "suggestion",
]
