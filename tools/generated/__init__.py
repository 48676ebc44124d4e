"""Every generated file of the repository; a new one is added to `generated()`."""

from __future__ import annotations

from tools.generated import (
    checker_page,
    code_pages,
    command_pages,
    dashboard,
    example_ir,
    language_tables,
    lean_files,
    theorems,
    transcripts,
)
from tools.generated.file import Generated


def generated() -> list[Generated]:
    """All of them, in the order they are written."""
    return [
        *example_ir.files(),
        *dashboard.files(),
        *code_pages.files(),
        *command_pages.files(),
        *language_tables.files(),
        *checker_page.files(),
        *transcripts.files(),
        *lean_files.files(),
        *theorems.files(),
    ]
