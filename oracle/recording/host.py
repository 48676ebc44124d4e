"""The host's side of the recorder: a process in a vLLM environment that answers one scenario at a time."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from serq.diagnostics import Diagnostic, Place, SerqError

# The folder whose only content is the package `vllm_recorder`.
INSIDE = Path(__file__).resolve().parent / "inside"
PROTOCOL = 1
_TAIL = 12

Trace = dict[str, Any]


def python_of(env: Path) -> Path:
    """The Python of an environment; raises `SerqError` SQ933 when the folder has none."""
    for name in ("bin/python", "Scripts/python.exe"):
        if (env / name).exists():
            return env / name
    raise SerqError(
        Diagnostic(
            "SQ933",
            f"{env} is not an environment: it has no bin/python",
            Place(str(env)),
            hint="`make oracle-env` makes one with vLLM",
        )
    )


class Recorder:
    """Keeps one process alive in a vLLM environment; each call records one scenario.

    A context manager. `command` replaces the process that is started, for tests and for environments
    reached in another way. Times are in seconds; a process that does not answer in time is ended.
    """

    def __init__(
        self,
        env: Path | None = None,
        *,
        command: Sequence[str] | None = None,
        start_timeout: float = 300.0,
        timeout: float = 120.0,
    ) -> None:
        if command is None:
            command = [str(python_of(env or Path())), "-m", "vllm_recorder"]
        self._timeout = timeout
        self._waiting = b""
        # What the process writes beside its answers, quoted when it fails.
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env={**os.environ, "PYTHONPATH": str(INSIDE), "PYTHONHASHSEED": "0"},
            )
        except OSError as error:
            self._log.close()
            message = f"cannot start {command[0]}: {error.strerror}"
            raise SerqError(Diagnostic("SQ934", message, Place(str(env) if env else None))) from None
        try:
            self.about = self._hello(start_timeout)
        except BaseException:
            self.close()
            raise

    @property
    def version(self) -> str:
        """The version of vLLM in the environment."""
        return str(self.about["vllm"])

    def record(
        self, scenario: Mapping[str, Any], *, blocks: bool = True, max_steps: int | None = None
    ) -> Trace:
        """The trace of one scenario that the rules accept; raises `SerqError` SQ935 or SQ936.

        `blocks` writes each running request's block ids; `max_steps` replaces the scenario's limit.
        The trace's scenario has a plain `arrive` for each request that came `after` another.
        """
        return self.ask("record", scenario=dict(scenario), blocks=blocks, max_steps=max_steps)

    def ask(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Ask the process one question; raises `SerqError` SQ935 when it does not answer, SQ936 on an error."""
        question = json.dumps({"op": op, **arguments}, separators=(",", ":")).encode() + b"\n"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(question)
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise SerqError(self._stopped("it has ended")) from None
        answer = self._answer(self._timeout)
        if "error" in answer:
            error = answer["error"]
            message = f"vLLM {self.version} refused the scenario: {error['kind']}: {error['text']}"
            raise SerqError(Diagnostic("SQ936", message, note=error.get("trace") or None))
        ok: dict[str, Any] = answer["ok"]
        return ok

    def _hello(self, timeout: float) -> dict[str, Any]:
        answer = self._answer(timeout, "SQ934")
        if "error" in answer:
            error = answer["error"]
            message = f"the recorder does not start: {error['kind']}: {error['text']}"
            raise SerqError(Diagnostic("SQ934", message, hint="`serq oracle drift` says what has changed"))
        about: dict[str, Any] = answer["ok"]
        if about.get("protocol") != PROTOCOL:
            message = f"the recorder speaks version {about.get('protocol')} of the protocol, not {PROTOCOL}"
            raise SerqError(Diagnostic("SQ934", message))
        return about

    def _answer(self, timeout: float, code: str = "SQ935") -> dict[str, Any]:
        """The next line of the process."""
        assert self._process.stdout is not None
        handle = self._process.stdout.fileno()
        end = time.monotonic() + timeout
        chunks = [self._waiting]
        while b"\n" not in chunks[-1]:
            left = end - time.monotonic()
            if left <= 0 or not select.select([handle], [], [], left)[0]:
                self._process.kill()
                raise SerqError(self._stopped(f"no answer in {timeout:g} seconds", code))
            chunk = os.read(handle, 1 << 16)
            if not chunk:
                raise SerqError(self._stopped("it has ended", code))
            chunks.append(chunk)
        line, _, self._waiting = b"".join(chunks).partition(b"\n")
        try:
            answer = json.loads(line)
        except ValueError:
            raise SerqError(self._stopped("its answer is not JSON", code)) from None
        if not isinstance(answer, dict) or not answer.keys() & {"ok", "error"}:
            raise SerqError(self._stopped("its answer is none", code))
        return answer

    def _stopped(self, reason: str, code: str = "SQ935") -> Diagnostic:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").splitlines()[-_TAIL:]
        what = "the recorder stopped" if code == "SQ935" else "the recorder does not start"
        return Diagnostic(code, f"{what}: {reason}", note="\n".join(lines) or None)

    def close(self) -> None:
        """End the process: its input ends, and after a moment it is ended."""
        if self._log.closed:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                continue
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
