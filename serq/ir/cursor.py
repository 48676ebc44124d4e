"""A place in a JSON document being read: typed access that records every mistake with its path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from serq.diagnostics import Diagnostic, IrPath, Place, suggestion

T = TypeVar("T")
_LARGEST = 2**64


@dataclass
class Issues:
    """The mistakes found so far."""

    file: str | None = None
    found: list[Diagnostic] = field(default_factory=list)


def kind(value: Any) -> str:
    """What a JSON value is, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return f"the number {value!r}"
        case str():
            return f"the string {value[:40]!r}"
        case list():
            return f"a list of {len(value)}"
        case _:
            return "an object"


@dataclass(frozen=True, slots=True)
class Cursor:
    """A JSON value and where it stands. Readers return a placeholder after recording a mistake.

    The path is kept as steps to the value around it and written out only for a mistake.
    """

    value: Any
    issues: Issues
    around: Cursor | None = None
    step: str | int = ""

    @property
    def path(self) -> IrPath:
        """The path from the document's root."""
        steps: list[str | int] = []
        at: Cursor | None = self
        while at is not None and at.around is not None:
            steps.append(at.step)
            at = at.around
        return tuple(reversed(steps))

    def issue(self, code: str, message: str, note: str | None = None, hint: str | None = None) -> None:
        """Record a mistake here."""
        place = Place(self.issues.file, None, self.path)
        self.issues.found.append(Diagnostic(code, message, place, note, hint))

    def wrong(self, expected: str) -> None:
        """Record that something else was expected."""
        self.issue("SQ006", f"{expected}, not {kind(self.value)}")

    def down(self, step: str | int, value: Any) -> Cursor:
        """A value inside this one."""
        return Cursor(value, self.issues, self, step)

    def fields(self, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Cursor] | None:
        """The fields of an object; missing optional ones read as null. None when one is unusable."""
        if not isinstance(self.value, dict):
            self.wrong(f"expected an object with {', '.join(required) or 'no fields'}")
            return None
        for name in self.value:
            if name not in required and name not in optional:
                hint = suggestion(name, [*required, *optional])
                self.down(name, None).issue("SQ005", f"unknown field `{name}`", hint=hint)
        missing = [name for name in required if name not in self.value]
        for name in missing:
            self.issue("SQ004", f"field `{name}` is missing")
        if missing:
            return None
        return {name: self.down(name, self.value.get(name)) for name in (*required, *optional)}

    def variant(self, tags: Iterable[str], what: str) -> tuple[str, Cursor] | None:
        """The tag and payload of an externally tagged value; a string is a tag without payload."""
        if isinstance(self.value, str):
            tag, payload = self.value, None
        elif isinstance(self.value, dict) and len(self.value) == 1:
            tag, payload = next(iter(self.value.items()))
        else:
            self.wrong(f"expected {what}: a string or an object with one tag")
            return None
        if tag not in tags:
            self.issue("SQ007", f"`{tag}` is not {what}", hint=suggestion(tag, tags))
            return None
        return tag, self.down(tag, payload)

    def items(self, count: int, what: str) -> list[Cursor] | None:
        """The parts of a list of fixed length."""
        if not isinstance(self.value, list) or len(self.value) != count:
            self.wrong(f"expected {what}: a list of {count}")
            return None
        return [self.down(i, v) for i, v in enumerate(self.value)]

    def each(self, read: Callable[[Cursor], T]) -> tuple[T, ...]:
        """Every element of a list."""
        if not isinstance(self.value, list):
            self.wrong("expected a list")
            return ()
        return tuple(read(self.down(i, v)) for i, v in enumerate(self.value))

    def maybe(self, read: Callable[[Cursor], T]) -> T | None:
        """None for null."""
        return None if self.value is None else read(self)

    def string(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            self.wrong("expected a string")
            return ""
        return self.value

    def strings(self) -> tuple[str, ...]:
        """A list of strings."""
        return self.each(Cursor.string)

    def boolean(self) -> bool:
        """A boolean."""
        if not isinstance(self.value, bool):
            self.wrong("expected true or false")
            return False
        return self.value

    def natural(self) -> int:
        """A whole number from 0 below 2^64."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.wrong("expected a whole number")
            return 0
        if not 0 <= self.value < _LARGEST:
            self.issue("SQ009", f"{self.value} is out of range: a whole number from 0 below 2^64 is expected")
            return 0
        return self.value

    def number(self) -> float:
        """A finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.wrong("expected a number")
            return 0.0
        return self._double(finite=True)

    def constant(self) -> float:
        """A number, or the strings "inf" and "-inf"."""
        if self.value in ("inf", "-inf"):
            return float(self.value)
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.wrong('expected a number, "inf" or "-inf"')
            return 0.0
        return self._double(finite=True)

    def _double(self, finite: bool) -> float:
        try:
            value = float(self.value)
        except OverflowError:
            value = float("inf")
        if finite and value - value != 0.0:
            self.issue(
                "SQ009",
                f"{value} is not a JSON number",
                hint='write an infinity as the string "inf" where a constant may be infinite',
            )
            return 0.0
        return value

    def one_of(self, names: Sequence[str]) -> str:
        """One of some strings."""
        if self.value not in names:
            text = self.value if isinstance(self.value, str) else kind(self.value)
            hint = suggestion(self.value, names) if isinstance(self.value, str) else None
            self.issue("SQ007", f"`{text}` is not one of {', '.join(names)}", hint=hint)
            return names[0]
        return str(self.value)
