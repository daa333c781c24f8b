"""A command in a terminal of ours: what it gets, what it prints, and how it ends."""

import errno
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from tests.support import processes
from tests.transport.harness import DEADLINE_S, Children

from eca_nvim.spawn import StartError
from eca_nvim.transport.process import Exit
from eca_nvim.transport.terminal import MOST_AT_ONCE, Terminal, kill_terminals, start_terminal

pytestmark = pytest.mark.anyio

STUBBORN = "trap '' TERM HUP; printf ready; while :; do sleep 1; done"
LEAVES = "sleep 300 & (trap '' HUP TERM; sleep 300) & echo left"


class Watched:
    """Listens to a terminal; `changed` is set with each word."""

    def __init__(self) -> None:
        self.output = b""
        self.most = 0
        self.waits: list[bool] = []
        self.ending: Exit | None = None
        self.changed = anyio.Event()

    def printed(self, data: bytes) -> None:
        self.output += data
        self.most = max(self.most, len(data))
        self._change()

    def awaits_input(self, *, waits: bool) -> None:
        self.waits.append(waits)
        self._change()

    def ended(self, ending: Exit) -> None:
        self.ending = ending
        self._change()

    def _change(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    async def until(self, text: bytes) -> None:
        with anyio.fail_after(DEADLINE_S):
            while text not in self.output:
                await self.changed.wait()

    async def end(self) -> Exit:
        with anyio.fail_after(DEADLINE_S):
            while self.ending is None:
                await self.changed.wait()
        return self.ending


@asynccontextmanager
async def terminal(
    children: Children, *command: str, cwd: str = "/", **env: str
) -> AsyncIterator[tuple[Terminal, Watched]]:
    """Run a command; what is left when the test ends is cancelled."""
    watched = Watched()
    environment: Mapping[str, str] = {**children.env, **env}
    running = await start_terminal(command, environment, cwd, watched)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(running.run)
        yield running, watched
        tasks.cancel_scope.cancel()


async def printed(children: Children, script: str, cwd: str = "/", **env: str) -> str:
    async with terminal(children, "sh", "-c", script, cwd=cwd, **env) as (_, watched):
        await watched.end()
    return watched.output.decode()


async def test_a_command_has_a_terminal_that_controls_its_session(children: Children) -> None:
    script = "ps -o pid=,pgid=,sid=,tpgid= -p $$; tty; stty size; echo there >/dev/tty"
    ids, tty, *rest = (await printed(children, script)).split("\n")
    assert len(set(ids.split())) == 1, ids
    assert tty.startswith("/dev/pts/")
    assert rest == ["24 80", "there", ""]


async def test_a_command_gets_the_folder_and_the_environment(
    children: Children, tmp_path: Path
) -> None:
    script = 'pwd; printf "%s\\n" "$WORD" "${HOME-none}"; trap - PIPE; kill -PIPE $$; echo on'
    text = await printed(children, script, cwd=str(tmp_path), WORD="ä b", HOME="/h")
    assert text == f"{tmp_path}\nä b\n/h\n", "SIGPIPE ends it as in a shell"


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.parametrize(
    ("command", "cwd", "says"),
    [
        (["no-such-program-here"], "/", "'no-such-program-here' is not on PATH"),
        (["./no/such"], "/", "'./no/such' does not exist"),
        (["/etc/passwd"], "/", "'/etc/passwd' is not executable"),
        (["true"], "/no/such/folder", "cannot enter '/no/such/folder'"),
        (["a\0b"], "/", "is not a command"),
        ([""], "/", "the command is empty"),
    ],
)
async def test_a_command_that_cannot_be_started_is_one_line(
    children: Children, command: list[str], cwd: str, says: str
) -> None:
    before = open_files()
    with pytest.raises(StartError, match=says) as raised:
        async with terminal(children, *command, cwd=cwd):
            pass
    assert "\n" not in str(raised.value)
    assert open_files() == before


async def test_nothing_stays_open_if_there_are_too_many_files(
    monkeypatch: pytest.MonkeyPatch, children: Children
) -> None:
    def refuse() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    before = open_files()
    monkeypatch.setattr(os, "pipe", refuse)
    with pytest.raises(OSError, match="Too many"):
        async with terminal(children, "true"):
            pass
    assert open_files() == before


@pytest.mark.parametrize(
    ("script", "ending"),
    [("printf ready; exec sleep 300", signal.SIGTERM), (STUBBORN, signal.SIGKILL)],
)
async def test_a_command_is_ended_by_a_ladder(
    children: Children, script: str, ending: signal.Signals, request: pytest.FixtureRequest
) -> None:
    if ending is signal.SIGTERM:
        request.getfixturevalue("patient")
    async with terminal(children, "sh", "-c", script) as (running, watched):
        await watched.until(b"ready")
        running.end()
        assert (await watched.end()).signal == ending


async def test_what_is_cancelled_or_left_running_is_ended(children: Children) -> None:
    async with terminal(children, "sh", "-c", STUBBORN) as (_, watched):
        await watched.until(b"ready")
    assert await printed(children, LEAVES) == "left\n"
    async with terminal(children, "sh", "-c", STUBBORN) as (running, watched):
        await watched.until(b"ready")
        kill_terminals([running])
        assert not processes.wait_gone(processes.marked(children.marker), DEADLINE_S)


async def test_what_still_prints_from_another_session_is_ended(children: Children) -> None:
    script = "setsid sh -c 'echo there; sleep 300; :' & wait"
    async with terminal(children, "sh", "-c", script) as (running, watched):
        await watched.until(b"there")
        running.end()
        await watched.end()


async def test_a_command_that_reads_says_so(children: Children) -> None:
    script = "printf 'name? '; read -r name; sleep 300"
    async with terminal(children, "sh", "-c", script) as (running, watched):
        with anyio.fail_after(DEADLINE_S):
            while watched.waits != [True]:
                await watched.changed.wait()
        os.write(running._descriptor, b"me\n")
        with anyio.fail_after(DEADLINE_S):
            while watched.waits != [True, False]:  # the terminal has echoed it
                await watched.changed.wait()


async def test_a_flood_is_read_whole_in_pieces(children: Children) -> None:
    """Nothing waits between the command and us: it prints no faster than we read."""
    count = 8 << 20
    code = (
        f"import os\nfor _ in range({count} >> 16): os.write(1, b'x' * 65536)\nos.write(1, b'end')"
    )
    async with terminal(children, sys.executable, "-c", code) as (_, watched):
        assert (await watched.end()).code == 0
    assert len(watched.output) == count + 3
    assert watched.output.endswith(b"xend")
    assert watched.most < 2 * MOST_AT_ONCE
