"""`serq explain`: what a diagnostic's code means, with a program it refuses and that program repaired."""

from __future__ import annotations

import click
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from serq.cli.output import report_diagnostics
from serq.diagnostics import BANDS, Code, Diagnostic, SerqError, all_codes, lookup, render_text, suggestion
from serq.lang.compile import Compiled, compile_text
from serq.lang.format import format_source
from serq.lang.pygments_lexer import SerqLexer
from serq.lang.settings import Settings
from serq.sim import run


@click.command(short_help="Say what a diagnostic's code means.")
@click.argument("code", required=False)
def command(code: str | None) -> int:
    """Say what CODE means, why it is refused, and how to repair it; without CODE, list them all."""
    if code is None:
        _show(listing())
        return 0
    row = lookup(_spelled(code))
    if row is None:
        report_diagnostics([_unknown(code)])
        return 1
    _show(explanation(row))
    return 0


def _show(text: Text) -> None:
    """Colours on a terminal, plain text elsewhere; lines are left to the terminal to wrap."""
    Console(highlight=False).print(text, soft_wrap=True)


def _spelled(code: str) -> str:
    """A code as the registry spells it: `sq301` and `301` are `SQ301`."""
    code = code.strip().upper()
    return f"SQ{code}" if code.isdigit() else code


def _unknown(code: str) -> Diagnostic:
    """What is said of a code that is none: the nearest of its band, if there is one."""
    spelled = _spelled(code)
    known = [row.code for row in all_codes()]
    hint = suggestion(spelled, [c for c in known if c.startswith(spelled[:3])] or known)
    return Diagnostic("SQ999", f"there is no code `{code}`", hint=hint or "`serq explain` lists the codes")


def explanation(row: Code) -> Text:
    """What a code says, why, what to do, and a refused and a repaired program with what is said of the first."""
    text = Text.assemble((row.code, "bold red"), (f": {row.title}", "bold"), "\n\n")
    text.append_text(Text.assemble(("why: ", "bold"), row.why, "\n", ("fix: ", "bold"), row.fix))
    if row.bad:
        bad = laid_out(row.bad)
        text.append("\n\nrefused:\n\n", "bold red").append_text(_indented(_highlighted(bad)))
        if message := said(row.code, bad):
            text.append("\n\n").append_text(_indented(Text(message)))
    if row.good:
        text.append("\n\nrepaired:\n\n", "bold green")
        text.append_text(_indented(_highlighted(laid_out(row.good))))
    return text


def laid_out(program: str) -> str:
    """A program in the one layout, or as it is when it does not parse."""
    try:
        return format_source(program).rstrip()
    except SerqError:
        return program.rstrip()


def said(code: str, program: str) -> str:
    """What is said about a refused program when it is compiled, else when it is run; empty for other tools' codes."""
    found = [d for d in _findings(program) if d.code == code]
    return render_text(found[:1], {"": program}).rstrip()


def _findings(program: str) -> tuple[Diagnostic, ...]:
    compiled: Compiled | None = None
    try:
        compiled = compile_text(program, settings=Settings(horizon=50.0))
        run(compiled.program)
    except SerqError as error:
        if compiled is None:
            return error.diagnostics
        return tuple(d.at(compiled.source_map.place(d.place.path)) for d in error.diagnostics)
    return ()


def _highlighted(program: str) -> Text:
    code = Syntax("", SerqLexer(), theme="ansi_dark", background_color="default").highlight(program)
    code.rstrip()
    return code


def _indented(text: Text) -> Text:
    margin = Text("    ")
    return Text("\n").join(
        margin + line if line.plain else line for line in text.split("\n", allow_blank=True)
    )


def listing() -> Text:
    """Every code under its band."""
    codes = all_codes()
    return Text("\n\n").join(_band(b, title, codes) for b, title in BANDS.items())


def _band(band: str, title: str, codes: tuple[Code, ...]) -> Text:
    rows = [row for row in codes if row.code.startswith(band)]
    lines = [Text.assemble("  ", (row.code, "cyan"), f"  {row.title}") for row in rows]
    return Text("\n").join([Text(f"{band}xx: {title}", "bold"), *lines])
