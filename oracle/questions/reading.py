"""Settings from flags and files: vLLM's names with `-` or `_`, JSON or a flat YAML file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from serq.diagnostics import Diagnostic, Place, SerqError, Span, suggestion
from serq.oracle.questions.settings import KINDS, Given

# Other names for a setting, in files, flags and logs.
ALIASES = {
    "num_gpu_blocks_override": "num_gpu_blocks",
    "max_seq_len": "max_model_len",
    "scheduling_policy": "policy",
}
_NEGATED = {"no_enable_prefix_caching": "enable_prefix_caching"}
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([kKmMgG]?)")
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}
_LINE = re.compile(r"([A-Za-z][\w-]*)\s*:(?:\s+(.*))?")


def setting_name(name: str) -> str:
    """The setting a name stands for; a name that stands for none comes back with `_`."""
    plain = name.strip().lstrip("-").replace("-", "_")
    return ALIASES.get(plain, plain)


def value_of(name: str, value: Any, place: Place = Place()) -> Any:  # noqa: B008
    """A value of a setting's kind from JSON or from text; raises `SerqError` SQ941."""
    kind = KINDS[name]
    text = str(value).strip().strip("'\"")
    if kind is bool:
        found: Any = value if isinstance(value, bool) else _WORDS.get(text.lower())
    elif isinstance(value, bool):
        found = None
    elif kind is int:
        found = _whole(text)
    elif kind is float:
        found = _share(text)
    elif name == "vllm":
        found = _release(text)
    else:
        found = text
    if found is None:
        words = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise SerqError(Diagnostic("SQ941", f"`{name}` is {text!r}; it must be {words}", place))
    return found


def _whole(text: str) -> int | None:
    """vLLM reads 8k as 8000 and 8K as 8192."""
    if re.fullmatch(r"-\d+", text):
        return int(text)
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    size = float(match.group(1)) * _UNITS[match.group(2)]
    return int(size) if size.is_integer() else None


def _share(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _release(text: str) -> str:
    """A version without what its rules do not depend on: v0.31.2 has those of 0.31."""
    match = re.fullmatch(r"v?(\d+\.\d+)(\.\w+)*", text)
    return match.group(1) if match else text


def settings_from_file(path: Path) -> tuple[dict[str, Given], list[str]]:
    """The settings of a JSON or flat YAML file, and the names in it that are none.

    Raises `SerqError` SQ001, SQ002, SQ940 and SQ941.
    """
    rows = _rows(read_text(path), path)
    found: dict[str, Given] = {}
    others = []
    for written, value, place in rows:
        name = setting_name(written)
        if name in _NEGATED:
            found[_NEGATED[name]] = Given(not value_of(_NEGATED[name], value, place), path.name)
        elif name in KINDS:
            found[name] = Given(value_of(name, value, place), path.name)
        else:
            close = suggestion(name, [*KINDS, *ALIASES])
            others.append(f"{path.name}: `{written}` is not used" + (f"; {close}" if close else ""))
    return found, others


def read_text(path: Path) -> str:
    """A file as text; raises `SerqError` SQ001 or SQ002."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        message = f"cannot read {path}: {error.strerror}"
        raise SerqError(Diagnostic("SQ001", message, Place(str(path)), hint="check the path")) from None
    except UnicodeDecodeError:
        raise SerqError(Diagnostic("SQ002", f"{path} is not UTF-8 text", Place(str(path)))) from None


def _rows(text: str, path: Path) -> list[tuple[str, Any, Place]]:
    if text.lstrip().startswith(("{", "[")):
        return [(name, value, Place(str(path))) for name, value in _json(text, path).items()]
    return list(_lines(text, path))


def _json(text: str, path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise SerqError(Diagnostic("SQ940", f"{path.name} is not JSON", Place(str(path)))) from None
    if not isinstance(data, dict):
        message = f"{path.name} is not an object of settings"
        raise SerqError(Diagnostic("SQ940", message, Place(str(path))))
    return data


def _lines(text: str, path: Path) -> Iterator[tuple[str, Any, Place]]:
    """The lines of a flat YAML file; what is nested or a list belongs to a setting that is not used."""
    for number, line in enumerate(text.splitlines(), start=1):
        bare = re.sub(r"(^|\s)#.*", "", line).rstrip()
        if not bare or bare == "---" or bare.startswith((" ", "\t", "- ")):
            continue
        place = Place(str(path), Span(number, 1, number, len(bare) + 1))
        match = _LINE.fullmatch(bare)
        if match is None:
            raise SerqError(
                Diagnostic("SQ940", f"line {number} of {path.name} is not `name: value`", place),
                {str(path): text},
            )
        yield match.group(1), match.group(2) or "", place
