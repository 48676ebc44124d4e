"""Reading a program for any verb: `.sq` text or IR JSON, with settings from the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from serq.cli.options import Choices, Settings
from serq.diagnostics import Diagnostic, Place, SerqError
from serq.ir.decode import loads
from serq.ir.edit import with_settings, with_trace_beside
from serq.ir.program import Program
from serq.lang.compile import Compiled, compile_file
from serq.lang.parser import parse_instance
from serq.lang.settings import Settings as SourceSettings
from serq.lang.settings import apply_instance
from serq.lang.source import read_source

MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Loaded:
    """A program with what diagnostics about it need."""

    program: Program
    file: str
    sources: Mapping[str, str] = field(default_factory=dict)
    compiled: Compiled | None = None

    def located(self, d: Diagnostic) -> Diagnostic:
        """A diagnostic about the IR at its place in the source, or in the file."""
        if d.place.span is not None or d.place.file is not None:
            return d
        if self.compiled is not None:
            return d.at(self.compiled.source_map.place(d.place.path))
        return d.at(Place(self.file, None, d.place.path))


def read_text(path: Path) -> str:
    """A program file as text; raises `SerqError` SQ001, SQ002 or SQ010."""
    try:
        if path.stat().st_size > MOST_BYTES:
            size = path.stat().st_size // 1_000_000
            message = f"{path} has {size} MB; a program of more than {MOST_BYTES // 1_000_000} MB is not read"
            raise SerqError(Diagnostic("SQ010", message, Place(str(path)), hint="check the path"))
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        message = f"cannot read {path}: {error.strerror}"
        raise SerqError(Diagnostic("SQ001", message, Place(str(path)), hint="check the path")) from None
    except UnicodeDecodeError:
        raise SerqError(Diagnostic("SQ002", f"{path} is not UTF-8 text", Place(str(path)))) from None


def load(path: Path, choices: Choices) -> Loaded:
    """Read a program and give it the settings of the command line; it is checked by the caller.

    Raises `SerqError` with every mistake in the file.
    """
    if path.suffix == ".sq":
        try:
            return _compile(path, choices)
        except SerqError as error:
            raise SerqError(error.diagnostics, _pointed_at(error.diagnostics)) from None
    for option in choices.other_than_settings():
        message = f"{option} is for source programs; an IR file has no inputs left"
        raise SerqError(Diagnostic("SQ015", message, Place(str(path)), hint="compile the program again"))
    program = with_trace_beside(loads(read_text(path), str(path)), path.parent)
    return Loaded(_with(program, choices.settings()), str(path))


def _pointed_at(found: Iterable[Diagnostic]) -> dict[str, str]:
    """The texts that diagnostics point into, of the files that can be read."""
    texts: dict[str, str] = {}
    for file in {d.place.file for d in found if d.place.file and d.place.span}:
        with suppress(SerqError):
            texts[file] = read_source(file)
    return texts


def _with(program: Program, s: Settings) -> Program:
    return with_settings(
        program,
        horizon=s.horizon,
        warmup=s.warmup,
        seed=s.seed,
        arrivals=s.arrivals,
        trace=s.trace_file,
    )


def _compile(path: Path, choices: Choices) -> Loaded:
    settings, inputs, defs = _decided(choices)
    compiled = compile_file(path, settings, inputs, defs)
    program = with_trace_beside(compiled.program, path.parent) if settings.trace is None else compiled.program
    return Loaded(program, str(path), compiled.sources, compiled)


def _decided(choices: Choices) -> tuple[SourceSettings, dict[str, str | float], dict[str, str]]:
    """Settings, inputs and definitions: the steps of the command line in order, the later wins."""
    settings = SourceSettings()
    inputs: dict[str, str | float] = {}
    defs: dict[str, str] = {}
    for name, value in choices.steps:
        match name:
            case "set" | "input":
                inputs[value[0]] = value[1]
            case "def":
                defs[value[0]] = value[1]
            case "instance":
                text = read_source(value)
                settings, inputs = apply_instance(settings, inputs, parse_instance(text, str(value)), text)
            case "trace_file":
                settings = replace(settings, trace=value)
            case _:
                settings = replace(settings, **{name: value})
    return settings, inputs, defs
