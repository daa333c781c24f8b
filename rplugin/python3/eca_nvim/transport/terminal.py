"""Terminal: a command with a terminal of its own, whose output we read and which gets no input.

The command leads a session, which the terminal controls. Signals go to the whole session, and what
the command leaves running in it is ended, too, also what still prints from elsewhere.
"""

import asyncio
import fcntl
import math
import os
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol

import anyio

from eca_nvim.guardian import GRACE_S, MARK, end_sessions, marked, signal_sessions, strays
from eca_nvim.spawn import explained, explaining
from eca_nvim.system import processes, sleeps_in
from eca_nvim.transport import terminal_child
from eca_nvim.transport.process import Exit, end_left, exit_of, wait_for_exit

_LOCAL_FLAGS: Final = 3
_AS_USUAL: Final = termios.ICANON | termios.ECHO
_READS: Final = frozenset({"n_tty_read", "wait_woken"})
"""Where a process sleeps in the kernel that reads from a terminal."""
_HIDDEN: Final = frozenset({"", "0"})
"""What the kernel shows if it does not say where a process sleeps."""


def waits_for_input(terminal: int, *, in_line: bool) -> bool:
    """Return whether a command that is silent waits for input, which it never gets here.

    No event says so, and silence alone says nothing: a compiler is silent, too. What tells is a
    terminal that was set up for single keys or for a password, as editors and `sudo` do; a process
    in the foreground that sleeps in a read of its terminal; and where the kernel does not show
    that, a last line without an end, as a question is.

    terminal: the descriptor of our side. in_line: what was printed last was no whole line.
    """
    try:
        flags, foreground = termios.tcgetattr(terminal)[_LOCAL_FLAGS], os.tcgetpgrp(terminal)
    except (OSError, termios.error):  # nobody has the other side any more
        return False
    if flags & _AS_USUAL != _AS_USUAL:
        return True
    places = {sleeps_in(pid) for pid in processes() if _group(pid) == foreground}
    return in_line if places <= _HIDDEN else bool(places & _READS)


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:  # it has ended
        return None


COLUMNS: Final = 80
ROWS: Final = 24
GATHER_S: Final = 0.03
"""Seconds of output that are passed on together, after the first."""
MOST_AT_ONCE: Final = 1 << 18
"""Bytes read and passed on in one step: other tasks get their turn then."""
SILENCE_S: Final = 2.0
"""Seconds without output after which a command may wait for input. We look again later, each time
after twice the time, because there is no event for it."""
LONGEST_SILENCE_S: Final = 30.0

_READ_BYTES: Final = 1 << 16
_OUTPUT_FLAGS: Final = 1
_LAST_READS: Final = 64  # another process that has the terminal must not keep us reading for ever


class Listener(Protocol):
    """Learns what a command does."""

    def printed(self, data: bytes) -> None:
        """Take the next piece of its output."""

    def awaits_input(self, *, waits: bool) -> None:
        """Note that it waits for input, or does so no longer."""

    def ended(self, ending: Exit) -> None:
        """Note how it ended; all of its output came before."""


class Terminal:
    """A running command; created by `start_terminal`."""

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        descriptor: int,
        listener: Listener,
        mark: str,
    ) -> None:
        self._popen = popen
        self._descriptor = descriptor
        self._listener = listener
        self._mark = mark
        self._loop = asyncio.get_running_loop()
        self._gathered: list[bytes] = []
        self._size = 0
        self._passed_at = 0.0
        self._passing: asyncio.TimerHandle | None = None
        self._looking: asyncio.TimerHandle | None = None
        self._waits = False
        self._in_line = False
        self._running = anyio.CancelScope()
        self._session_ended = False

    @property
    def sessions(self) -> set[int]:
        """Its session and those of processes that it ran elsewhere; none once they have ended."""
        return set() if self._session_ended else {self._popen.pid} | strays(self._mark)

    async def run(self) -> None:
        """Read until the command and its session have ended; cancelling it ends them."""
        self._loop.add_reader(self._descriptor, self._read)
        self._look_after(SILENCE_S)
        try:
            with self._running:
                await wait_for_exit(self._popen)
        finally:
            with anyio.CancelScope(shield=True):
                await self._down_the_ladder()
                self._finish()
                await end_left(self.sessions, GRACE_S)
                self._session_ended = True

    def end(self) -> None:
        """Begin to end the command; the listener learns when it has ended."""
        self._running.cancel()

    async def _down_the_ladder(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._popen.poll() is not None:
                return
            signal_sessions({self._popen.pid}, number)
            with anyio.move_on_after(GRACE_S if number is signal.SIGTERM else math.inf):
                await wait_for_exit(self._popen)

    def _finish(self) -> None:
        """Pass on the rest of the output, then say that the command has ended."""
        self._popen.wait()
        for _ in range(_LAST_READS):
            if not self._read():
                break
        self._pass_on()
        self._loop.remove_reader(self._descriptor)
        if self._looking is not None:
            self._looking.cancel()
        os.close(self._descriptor)
        self._listener.ended(exit_of(self._popen.returncode))

    # --- output ---------------------------------------------------------------------------------

    def _read(self) -> bool:
        """Read what there is, to a limit; returns whether there was something.

        The loop calls it: nothing waits between that and the kernel, whose small buffer makes a
        command wait that prints faster than we read.
        """
        before = self._size
        while self._size < MOST_AT_ONCE:
            try:
                data = os.read(self._descriptor, _READ_BYTES)
            except BlockingIOError:
                break
            except OSError:  # how Linux says that nobody has the other side any more
                data = b""
            if not data:
                self._loop.remove_reader(self._descriptor)
                break
            self._gathered.append(data)
            self._size += len(data)
        came = self._size > before
        if self._size >= MOST_AT_ONCE:
            self._pass_on()
        elif came and self._passing is None:
            soon = self._passed_at + GATHER_S
            self._passing = self._loop.call_at(soon, self._pass_on)
        return came

    def _pass_on(self) -> None:
        if self._passing is not None:
            self._passing.cancel()
            self._passing = None
        if not self._gathered:
            return
        data = b"".join(self._gathered)
        self._gathered.clear()
        self._size, self._passed_at = 0, self._loop.time()
        self._in_line = not data.endswith((b"\n", b"\r"))
        self._set_waits(waits=False)
        if self._looking is not None and self._looking.when() > self._passed_at + SILENCE_S:
            self._looking.cancel()
            self._look_after(SILENCE_S)
        self._listener.printed(data)

    # --- input ----------------------------------------------------------------------------------

    def _look_after(self, seconds: float) -> None:
        self._looking = self._loop.call_later(seconds, self._look, seconds)

    def _look(self, seconds: float) -> None:
        """Look whether the command waits for input, if it was silent for so long."""
        left = self._passed_at + SILENCE_S - self._loop.time()
        if left > 0:
            self._look_after(left)
            return
        self._set_waits(waits=waits_for_input(self._descriptor, in_line=self._in_line))
        self._look_after(min(2 * max(seconds, SILENCE_S), LONGEST_SILENCE_S))

    def _set_waits(self, *, waits: bool) -> None:
        if waits is not self._waits:
            self._waits = waits
            self._listener.awaits_input(waits=waits)


def kill_terminals(terminals: Iterable[Terminal]) -> None:
    """End commands without an event loop; at most `2 * GRACE_S`."""
    end_sessions(set[int]().union(*(it.sessions for it in terminals)))


async def start_terminal(
    command: Sequence[str],
    env: Mapping[str, str],
    cwd: str,
    listener: Listener,
    guard: Callable[[int], None] | None = None,
) -> Terminal:
    """Start a command in a terminal; its `run` must follow.

    `env` is its whole environment, `cwd` its folder. guard: called with the id of its session as
    soon as there is one. Raises StartError.
    """
    env = marked(env)
    ours, theirs = os.openpty()
    try:
        faults, faults_in = os.pipe()
    except OSError:  # there are too many open files
        os.close(ours)
        os.close(theirs)
        raise
    try:
        _set_up(ours, theirs)
        popen = _spawn(command, env, cwd, theirs, faults_in)
    except BaseException:
        os.close(ours)
        os.close(faults)
        raise
    finally:
        os.close(theirs)
        os.close(faults_in)
    if guard is not None:
        guard(popen.pid)
    try:
        await _started(faults, command, env, cwd)
    except BaseException:
        os.close(ours)
        signal_sessions({popen.pid}, signal.SIGKILL)
        popen.wait()
        raise
    finally:
        os.close(faults)
    return Terminal(popen, ours, listener, env[MARK])


def _set_up(ours: int, theirs: int) -> None:
    os.set_blocking(ours, False)
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    attributes = termios.tcgetattr(theirs)
    attributes[_OUTPUT_FLAGS] &= ~termios.ONLCR  # lines end with LF: the agent reads them, too
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)


def _spawn(
    command: Sequence[str], env: Mapping[str, str], cwd: str, terminal: int, faults: int
) -> subprocess.Popen[bytes]:
    """Start the process that becomes the command. Raises StartError."""
    child = [sys.executable, "-I", "-S", terminal_child.__file__, str(faults), *command]
    with explaining(command, env, cwd):
        return subprocess.Popen(
            child,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=env,
            cwd=cwd,
            pass_fds=[faults],
            start_new_session=True,
        )


async def _started(faults: int, command: Sequence[str], env: Mapping[str, str], cwd: str) -> None:
    """Wait until the command runs. Raises StartError."""
    await anyio.wait_readable(faults)
    number = int.from_bytes(os.read(faults, terminal_child.NUMBER_BYTES), sys.byteorder)
    if number:
        raise explained(OSError(number, os.strerror(number)), command[0], env, cwd)
