"""Web addresses that a program lets a browser open: real programs of ours, first in its PATH."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import anyio
import pytest

from eca_nvim.mcp.link_socket import MOST_BYTES, LinkSocket
from eca_nvim.nvim.app import App
from eca_nvim.spawn import LINKS, LINKS_PYTHON, OPENERS, child_environment

pytestmark = pytest.mark.anyio

PAGE = "https://login.example.org/authorize?code=true&state=a%20b"
REAL = '#!/bin/sh\nprintf \'%s|\' "$0" "$BROWSER" "$@" >> "$REAL_LOG"\n'


class Host:
    """A host that takes addresses, in a folder whose programs come later in PATH."""

    def __init__(self, folder: Path) -> None:
        self.place = folder / "eca-links-1" / "socket"
        self.wanted: list[tuple[str, str]] = []
        self.log = folder / "real.log"
        self.later = folder / "later bin"
        self.later.mkdir()
        self.socket: LinkSocket | None = None
        self._arrived = anyio.Event()

    def listen(self) -> None:
        self.socket = LinkSocket(self.place, self._take, asyncio.get_running_loop())

    def _take(self, server: str, address: str) -> None:
        self.wanted.append((server, address))
        self._arrived.set()

    def real(self, *names: str) -> None:
        """Install the real programs."""
        for name in names:
            (self.later / name).write_text(REAL)
            (self.later / name).chmod(0o755)

    @property
    def opened(self) -> str:
        return self.log.read_text().replace(str(self.later), "") if self.log.exists() else ""

    async def run(self, line: str, server: str = "eca", **variables: str) -> int:
        """Run a line in the environment of a server; returns its exit code."""
        paths = f"{self.later}:/usr/bin:/bin"
        environment = child_environment({"PATH": paths, **variables}, server)
        environment |= {"REAL_LOG": str(self.log)}
        with anyio.fail_after(30):
            done = await anyio.run_process(["/bin/sh", "-c", line], env=environment, check=False)
        return done.returncode

    async def until(self, is_so: Callable[[], object]) -> None:
        with anyio.fail_after(30):
            while not is_so():
                self._arrived = anyio.Event()
                await self._arrived.wait()


@pytest.fixture
async def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Host]:
    host = Host(tmp_path)
    monkeypatch.setenv(LINKS, str(host.place))
    monkeypatch.setenv(LINKS_PYTHON, sys.executable)
    monkeypatch.delenv("BROWSER", raising=False)
    yield host
    if host.socket is not None:
        host.socket.close()
        await anyio.wait_all_tasks_blocked()


@pytest.mark.parametrize("name", sorted(it.name for it in Path(OPENERS).iterdir()))
async def test_each_program_hands_a_page_over(name: str, host: Host) -> None:
    host.listen()
    host.real(name)
    assert stat.S_IMODE(host.place.parent.stat().st_mode) == 0o700
    verb = "open " if name == "gio" else ""
    assert await host.run(f"{name} {verb}'{PAGE}'", "my server") == 0
    await host.until(lambda: host.wanted)
    assert host.wanted == [("my server", PAGE)]
    assert host.opened == ""


async def test_a_browser_of_the_environment_and_several_pages(host: Host) -> None:
    host.listen()
    assert await host.run('exec "$BROWSER" -n HTTP://b.example/ "http://c.example/\nx"') == 0
    await host.until(lambda: len(host.wanted) == 2)
    assert sorted(address for _, address in host.wanted) == [
        *("HTTP://b.example/", "http://c.example/\nx"),
    ]


@pytest.mark.parametrize("what", ["file:///etc/passwd", "notes.txt", "-h", "mailto:a@b.example"])
async def test_anything_else_goes_to_the_real_program(what: str, host: Host) -> None:
    host.listen()
    host.real("xdg-open")
    assert await host.run(f"xdg-open '{what}'") == 0
    assert host.opened == f"/xdg-open||{what}|"
    assert not host.wanted


async def test_a_page_that_is_read_and_not_opened_is_left_alone(host: Host) -> None:
    host.listen()
    host.real("gio")
    assert await host.run(f"gio cat '{PAGE}'") == 0
    assert host.opened == f"/gio||cat|{PAGE}|"
    assert not host.wanted


@pytest.mark.parametrize("is_left", [True, False])
async def test_without_the_host_a_page_is_opened_as_ever(is_left: bool, host: Host) -> None:
    host.real("xdg-open", "open")
    if is_left:  # a host that was killed leaves a socket that nobody reads
        code = f"import socket; socket.socket(socket.AF_UNIX).bind({str(host.place)!r})"
        host.place.parent.mkdir()
        await anyio.run_process([sys.executable, "-c", code])
    assert await host.run(f"open '{PAGE}'") == 0
    assert host.opened == f"/open||{PAGE}|"
    assert await host.run("exec wslview x") == 3  # there is no real one


async def test_once_the_session_has_failed_a_page_is_opened_as_ever(host: Host) -> None:
    """The process of the host goes on: Neovim has not ended."""

    async def fails() -> None:
        raise KeyError("a bug")

    host.real("xdg-open")
    host.listen()
    await anyio.wait_all_tasks_blocked()
    reported = list[str]()
    app = SimpleNamespace(_links=host.socket, _report=reported.append)
    host.socket = None
    task = asyncio.get_running_loop().create_task(fails())
    task.add_done_callback(partial(App._ended, cast("App", app)))
    await anyio.wait_all_tasks_blocked()
    assert await host.run(f"xdg-open '{PAGE}'") == 0
    assert host.opened == f"/xdg-open||{PAGE}|"
    assert "the plugin host failed" in reported[0]


async def test_a_server_may_be_allowed_to_open_pages(host: Host) -> None:
    host.listen()
    host.real("open")
    assert await host.run(f"open '{PAGE}'", ECA_NVIM_LINKS="") == 0
    assert host.opened == f"/open||{PAGE}|"
    assert not host.wanted


async def test_a_browser_of_the_user_stays_theirs(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.real("xdg-open")
    monkeypatch.setenv("BROWSER", "w3m")
    assert await host.run("xdg-open x") == 0
    assert host.opened == "/xdg-open|w3m|x|"
    assert await host.run('test "$BROWSER" = mine', BROWSER="mine") == 0


async def test_programs_of_two_neovims_do_not_call_each_other(host: Host, tmp_path: Path) -> None:
    other = tmp_path / "eca_nvim" / "openers"
    other.parent.mkdir()
    other.symlink_to(OPENERS)
    host.real("xdg-open")
    line = f'PATH="{other}:$PATH" BROWSER="{other}/xdg-open" xdg-open x'
    assert await host.run(line) == 0
    assert host.opened == "/xdg-open||x|"


@pytest.mark.parametrize("sent", [b"", b"eca", b"eca\n", b"\xff\xff\n" + b"x" * 3 * MOST_BYTES])
async def test_odd_messages_are_bounded(sent: bytes, host: Host) -> None:
    host.listen()
    async with await anyio.connect_unix(str(host.place)) as stream:
        await stream.send(sent or b"\n")
    assert await host.run(f"xdg-open '{PAGE}'") == 0
    await host.until(lambda: ("eca", PAGE) in host.wanted)
    assert all(len(address) <= MOST_BYTES for _, address in host.wanted)


def test_the_environment_without_a_path_and_without_a_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PATH")
    monkeypatch.delenv(LINKS, raising=False)
    assert "PATH" not in child_environment(server="eca")
    monkeypatch.setenv(LINKS, "/tmp/x/socket")
    assert child_environment(server="eca")["PATH"] == f"{OPENERS}:{os.defpath}"
    given: Mapping[str, str] = {"PATH": "/mine"}
    assert child_environment(given, "eca")["PATH"] == f"{OPENERS}:/mine"
    assert "PATH" not in child_environment()  # our own programs, as git


def test_programs_of_a_neovim_around_this_one_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its plugin is in another folder."""
    outer = "/other/python3/eca_nvim/openers"
    monkeypatch.setenv(LINKS, "/tmp/x/socket")
    monkeypatch.setenv("PATH", f"{outer}:/bin:{outer}/")
    monkeypatch.setenv("BROWSER", f"{outer}/xdg-open")
    monkeypatch.setenv("ECA_NVIM_LINKS_BROWSER", "w3m")
    environment = child_environment(server="eca")
    assert environment["PATH"] == f"{OPENERS}:/bin"
    assert environment["BROWSER"] == f"{OPENERS}/xdg-open"
    assert environment["ECA_NVIM_LINKS_BROWSER"] == "w3m"
