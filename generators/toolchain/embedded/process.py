"""One running Lean: a Node process that checks file after file, one JSON line each way."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from serq.diagnostics import Diagnostic, Place, SerqError
from serq.generators.toolchain.embedded.install import Installation

Option = tuple[str, str | None]
"""A letter of Lean's command line with its argument."""

_START_LIMIT = 120.0
# What threads that only wait for each other compute, in seconds, while one that works is looked for.
_IDLE = 0.2
_THREADS = 2
_TIERING_BUDGET = 40_000_000
# Deep terms recurse on the stacks of three layers: the process, V8's worker, and Lean's own thread.
_PROCESS_STACK_KB = 262144
_WORKER_STACK_MB = 256
_THREAD_STACK_KB = 65536
# `ulimit` in a shell, because a Python hook between fork and exec is unsafe with threads.
_RAISE_STACK = f'ulimit -s {_PROCESS_STACK_KB} 2>/dev/null || ulimit -s "$(ulimit -H -s)"; exec "$@"'


class Ending(Enum):
    """How the run over one file ended."""

    FINISHED = "finished"
    TIMEOUT = "timeout"
    CRASH = "crash"
    EXITED = "exited"
    DIED = "died"
    STALLED = "stalled"


_ENDINGS = {134: Ending.CRASH, 135: Ending.EXITED}


@dataclass(frozen=True)
class Answer:
    """What a run over one file gave. `status` is Lean's; `lines` is all that it printed."""

    ending: Ending
    status: int = 1
    lines: tuple[str, ...] = ()
    detail: str = ""
    seconds: float = 0.0
    memory: int = 0
    """The most that was resident, in bytes; 0 where the system does not tell."""


class LeanProcess:
    """A started process, in a folder of which it can write every part."""

    stall = 20.0
    """Seconds in which a process at work has to compute: its threads may wait for each other for ever."""

    def __init__(self, installation: Installation, folder: Path, modules: Path) -> None:
        """Start it; raises `SerqError` SQ975 when Lean does not come up."""
        settings = {
            "folder": str(folder),
            "library": str(installation.library),
            "modules": str(modules),
            "threads": _THREADS,
            "stack_mb": _WORKER_STACK_MB,
            "thread_stack_kb": _THREAD_STACK_KB,
        }
        node = [
            str(installation.node),
            "--stack-size=60000",
            "--wasm-lazy-validation",
            # Compiling a function well takes processor time from the checks; only what runs long is worth it.
            f"--wasm-tiering-budget={_TIERING_BUDGET}",
            str(installation.driver),
        ]
        # A session of its own: all threads and children go at once, whatever state they are in.
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _RAISE_STACK, "sh", *node],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "SERQ_LEAN": json.dumps(settings)},
            start_new_session=True,
        )
        self._pending = b""
        self._stderr: deque[bytes] = deque(maxlen=50)
        self._requests = 0
        self.resident = 0
        threading.Thread(target=self._drain, daemon=True).start()
        first = self._read(time.monotonic() + _START_LIMIT)
        if first is None or not first.get("ready"):
            self.kill()
            raise SerqError(_not_started(installation, self._last_words()))

    def run(self, options: Sequence[Option], arguments: Sequence[str], limit: float) -> Answer:
        """Check one file; a process whose answer is not FINISHED is dead afterwards."""
        begin = time.monotonic()
        self._requests += 1
        forget_peak(self._process.pid)
        request = {"id": self._requests, "options": options, "arguments": arguments}
        reply = self._exchange(json.dumps(request).encode() + b"\n", begin + limit)
        seconds = time.monotonic() - begin
        memory = resident(self._process.pid, peak=True)
        if reply is None:
            self.kill()
            return Answer(Ending.TIMEOUT, detail=f"no answer in {limit:g} s", seconds=seconds, memory=memory)
        if "stalled" in reply:
            self.kill()
            detail = f"its threads wait for each other: nothing computed in {self.stall:g} s"
            return Answer(Ending.STALLED, detail=detail, seconds=seconds, memory=memory)
        if "died" in reply:
            self.kill()
            return Answer(Ending.DIED, detail=self._last_words(), seconds=seconds, memory=memory)
        ending = _ENDINGS.get(reply["status"], Ending.FINISHED)
        detail = str(reply["detail"] or "")
        if ending is not Ending.FINISHED:
            self.kill()
            detail = f"{detail}\n{self._last_words()}".strip()
        self.resident = resident(self._process.pid) or reply["heap"]
        lines = tuple(reply["out"]) + tuple(reply["err"])
        return Answer(ending, reply["status"], lines, detail, seconds, memory)

    def kill(self) -> None:
        """End the process and its threads now."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()

    def _exchange(self, line: bytes, deadline: float) -> dict[str, Any] | None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            return {"died": True}
        return self._read(deadline)

    def _read(self, deadline: float) -> dict[str, Any] | None:
        """The next line as JSON; None after the deadline."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        computed, since = computing(self._process.pid), time.monotonic()
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            if not select.select([descriptor], [], [], min(left, self.stall / 4))[0]:
                now = computing(self._process.pid)
                if now is None or computed is None or now - computed > _IDLE:
                    computed, since = now, time.monotonic()
                elif time.monotonic() - since >= self.stall:
                    return {"stalled": True}
                continue
            piece = os.read(descriptor, 1 << 20)
            if not piece:
                return {"died": True}
            self._pending += piece
        line, _, self._pending = self._pending.partition(b"\n")
        try:
            reply: dict[str, Any] = json.loads(line)
        except ValueError:
            return {"died": True}
        return reply

    def _drain(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            self._stderr.extend(stream)

    def _last_words(self) -> str:
        # The reader of stderr may be a moment behind the exit.
        time.sleep(0.05)
        return b"".join(self._stderr)[-1500:].decode("utf-8", "replace").strip()


def resident(pid: int, peak: bool = False) -> int:
    """What a process has resident, or the most it had, in bytes; 0 where the system does not tell."""
    name = "VmHWM:" if peak else "VmRSS:"
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(name)), 0)


def computing(pid: int) -> float | None:
    """Seconds a process has computed, in all its threads; None where the system does not tell."""
    try:
        fields = (
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        )
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def forget_peak(pid: int) -> None:
    """Begin anew with the most a process has resident. Where that is not allowed, the peak is a bound."""
    with suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


def _not_started(installation: Installation, words: str) -> Diagnostic:
    return Diagnostic(
        "SQ975",
        "the embedded Lean does not start",
        Place(str(installation.folder)),
        note=words or "it gave no reason",
        hint="run `serq lean setup --again`",
    )
