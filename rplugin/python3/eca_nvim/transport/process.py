"""Process: a child process, from its start to the end of its session, with its last words.

Signals go to the whole session, and what it leaves running there, or ran in sessions of its own,
is ended, too.
"""

import os
import re
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from io import FileIO
from typing import Final, NamedTuple, cast

import anyio
from anyio.abc import TaskGroup

from eca_nvim.guardian import GRACE_S, end_sessions, signal_sessions, strays
from eca_nvim.system import exit_descriptor
from eca_nvim.threads import run_in_thread
from eca_nvim.transport.pipes import ReadPipe, WritePipe

MAX_LINES: Final = 200
MAX_BYTES: Final = 64 * 1024
MAX_LINE_BYTES: Final = 8 * 1024
"""A longer line is split into pieces, at a comma if possible, else at a blank: redaction would
not recognise a key that is cut in two, or cut from its name."""


_FAULT: Final = re.compile(
    r"(?i)(?!\s).*?(error|fatal|cannot|unknown|invalid|unexpected|unrecogni[sz]ed)"
)


def telling_line(lines: Sequence[str]) -> str:
    """Return the line that says best why a process has ended, "" if all are blank.

    The last one that names a fault, as usage or a stack trace may follow it; else the last one. The
    next line belongs to one that ends with a colon.
    """
    told = [line for line in lines if line.strip()]
    faults = [at for at, line in enumerate(told) if _FAULT.match(line)]
    line, *after = told[faults[-1] :] if faults else told[-1:] or [""]
    return f"{line.rstrip()} {after[0].strip()}" if after and line.rstrip().endswith(":") else line


class StderrTail:
    """Splits bytes into lines, and keeps the last lines.

    Lines are decoded as UTF-8, with U+FFFD for invalid bytes. They may contain escape sequences.
    """

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._partial = b""
        self._lines: deque[bytes] = deque()
        self._size = 0

    @property
    def lines(self) -> tuple[str, ...]:
        """The last lines without line feeds, at most `MAX_LINES` and `MAX_BYTES`."""
        return tuple(_decode(line) for line in self._lines)

    def feed(self, data: bytes) -> None:
        """Add the next bytes."""
        *lines, rest = (self._partial + data).split(b"\n")
        for line in lines:
            self._add(line.removesuffix(b"\r"))
        while len(rest) > MAX_LINE_BYTES:
            end = _last(b",", rest) or _last(b" ", rest) or MAX_LINE_BYTES
            self._add(rest[:end])
            rest = rest[end:]
        self._partial = rest

    def finish(self) -> None:
        """Add a last line that has no line feed."""
        if self._partial:
            self._add(self._partial)
            self._partial = b""

    def _add(self, line: bytes) -> None:
        self._lines.append(line)
        self._size += len(line)
        while len(self._lines) > MAX_LINES or self._size > MAX_BYTES:
            self._size -= len(self._lines.popleft())
        self._on_line(_decode(line))


def _last(mark: bytes, line: bytes) -> int:
    """Return the end of a piece after the last `mark` in its second half; 0 if there is none."""
    return line.rfind(mark, MAX_LINE_BYTES // 2, MAX_LINE_BYTES) + 1


def _decode(line: bytes) -> str:
    return line.decode(errors="replace")


class Exit(NamedTuple):
    """How a process ended: with an exit code or by a signal; and its last lines of stderr."""

    code: int | None
    signal: int | None
    stderr_tail: tuple[str, ...]

    def __str__(self) -> str:
        if self.signal is None:
            return f"exit code {self.code}"
        return f"signal {self.signal} ({signal.strsignal(self.signal)})"


class ChildProcess:
    """A process spawned with three pipes, as the leader of its own session.

    mark: that of its environment (`guardian.marked`).
    """

    def __init__(
        self, popen: subprocess.Popen[bytes], on_stderr: Callable[[str], None], mark: str = ""
    ) -> None:
        self.pid = popen.pid
        """The id of the process and of its session."""
        self._popen = popen
        self._mark = mark
        self.stdin = WritePipe(cast(FileIO, popen.stdin))
        self.stdout = ReadPipe(cast(FileIO, popen.stdout))
        self._stderr = ReadPipe(cast(FileIO, popen.stderr))
        self._tail = StderrTail(on_stderr)
        self._exited = anyio.Event()
        self._exit: Exit | None = None
        self._session_ended = False
        self._ladder = anyio.Lock()

    @property
    def stderr_tail(self) -> tuple[str, ...]:
        """The last lines of its standard error so far."""
        return self._tail.lines

    def run_in(self, tasks: TaskGroup, on_stdout: Callable[[bytes], None]) -> None:
        """Start the tasks that read and write its pipes and wait for its exit.

        The task group ends only after the process; call `close` before leaving it.
        """
        tasks.start_soon(self._watch)
        tasks.start_soon(self.stdin.run)
        tasks.start_soon(self.stdout.run, on_stdout)
        tasks.start_soon(self._stderr.run, self._tail.feed)

    async def wait(self) -> Exit:
        """Wait for the exit of the process, until all of its output has been read."""
        await self._exited.wait()
        assert self._exit is not None
        return self._exit

    async def close(self, patience: float = GRACE_S) -> Exit:
        """Close its input, then send SIGTERM and SIGKILL, until the process has exited.

        patience: seconds between the end of its input and SIGTERM. Takes at most that, `GRACE_S`
        and a little more.
        """
        async with self._ladder:
            self.stdin.finish()
            for seconds, signum in ((patience, signal.SIGTERM), (GRACE_S, signal.SIGKILL)):
                with anyio.move_on_after(seconds):
                    return await self.wait()
                signal_sessions({self.pid}, signum)
            return await self.wait()

    def kill_now(self) -> None:
        """Go down the ladder without an event loop, at exit of the interpreter.

        Blocks for at most 0.8 s; returns at once if the process and its session have ended.
        """
        if self._session_ended:
            return
        self.stdin.close_now()
        for signum in (signal.SIGTERM, signal.SIGKILL):
            if self._exits_in_time():
                break
            signal_sessions({self.pid}, signum)
        else:
            self._exits_in_time()
        end_sessions(self._sessions)
        self._session_ended = True

    async def _watch(self) -> None:
        with anyio.CancelScope(shield=True):
            await wait_for_exit(self._popen)  # no child watcher or SIGCHLD handler is changed
            self._popen.wait()  # its id is not reused before
            await self._end_pipes()
            self._tail.finish()
            self._exit = exit_of(self._popen.returncode, self._tail.lines)
            self._exited.set()
            await end_left(self._sessions, GRACE_S)
            self._session_ended = True

    async def _end_pipes(self) -> None:
        self.stdin.abandon()
        self.stdout.finish()
        self._stderr.finish()
        for pipe in (self.stdin, self.stdout, self._stderr):
            await pipe.ended.wait()

    @property
    def _sessions(self) -> set[int]:
        """Its session, and those of the processes that it ran elsewhere."""
        return {self.pid} | strays(self._mark)

    def _exits_in_time(self) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(GRACE_S)
        return self._popen.returncode is not None


async def end_left(sessions: Set[int], grace: float) -> None:
    """End the processes that are left running in some sessions; grace: seconds before SIGKILL."""
    if left := signal_sessions(sessions, signal.SIGTERM):
        await anyio.sleep(grace)
        signal_sessions(left, signal.SIGKILL)


async def wait_for_exit(popen: subprocess.Popen[bytes]) -> None:
    """Wait until a process can be reaped."""
    descriptor = exit_descriptor(popen.pid)
    if descriptor is None:
        await run_in_thread(popen.wait)
        return
    try:
        await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)


def exit_of(returncode: int, stderr_tail: tuple[str, ...] = ()) -> Exit:
    """Return how a process ended, from what `Popen` says."""
    if returncode < 0:
        return Exit(None, -returncode, stderr_tail)
    return Exit(returncode, None, stderr_tail)
