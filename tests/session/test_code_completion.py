"""Completion of code: what may be sent, to which server, and one request at a time."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import anyio
import pytest
from tests.session.rig import Recorder, Rig, Value
from tests.session.test_completion import FakeQueries

from eca_nvim.agents.abilities import AgentLacks, AgentRefused, CodePlace
from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.vocabulary.completion import CancelCode, CompleteCode
from eca_nvim.chat.vocabulary.intents import QuitServer
from eca_nvim.path_risks import may_have_secrets

pytestmark = pytest.mark.anyio


class Writer(FakeQueries):
    """An agent that completes code; `waits`: until this is set."""

    def __init__(self, view: Recorder) -> None:
        super().__init__()
        self.view = view
        self.places: list[CodePlace] = []
        self.text = "text"
        self.waits: anyio.Event | None = None
        self.cancelled = 0

    async def code(self, place: CodePlace) -> str:
        self.places.append(place)
        self.view.push([])  # wake up those who wait for this
        if self.fault is not None:
            raise self.fault
        try:
            if self.waits is not None:
                await self.waits.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            self.view.push([])
            raise
        return self.text


class Desk(Rig):
    """A session in a repository, with an agent that completes code once it is ready."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folders=(str(folder),))
        self.folder = folder
        self.writer = Writer(self.view)
        self._numbers = count(1000)

    async def begin(self) -> None:
        (await self.ready()).queries = self.writer

    def wanted(
        self, name: str = "a.py", text: str = "x = ", *, asked: bool = False
    ) -> CompleteCode:
        path = str(self.folder / name)
        return CompleteCode(path, text, 7, 1, 5, asked, next(self._numbers))

    async def complete(
        self, name: str = "a.py", text: str = "x = ", *, asked: bool = False
    ) -> Value:
        return await self.ask(self.wanted(name, text, asked=asked))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    folder = tmp_path / "work"
    folder.mkdir()
    git = ("git", "-c", "init.defaultBranch=main", "init", "-q", str(folder))
    await anyio.run_process(git)
    desk = Desk(folder)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.session.run)
        yield desk
        tasks.cancel_scope.cancel()


async def test_code_is_completed(desk: Desk) -> None:
    await desk.begin()
    assert await desk.complete() == {"text": "text"}
    assert desk.writer.places == [CodePlace("x = ", 7, 1, 5)]
    for told, offered in (
        ("a\r\n\tb", "a\n\tb"),
        ("\x1b[31mred", ""),
        ("\u202erow", ""),
        ("a\0b", ""),
        ("x" * 20_000, ""),
        ("👩‍👩‍👧 é", "👩‍👩‍👧 é"),
        ("", ""),
    ):
        desk.writer.text = told
        assert await desk.complete() == {"text": offered}


async def test_files_that_are_not_sent(desk: Desk, tmp_path: Path) -> None:
    await desk.begin()
    (desk.folder / ".gitignore").write_text("*.log\nbuild/\n")
    (tmp_path / "else.py").touch()
    (desk.folder / "link.py").symlink_to(tmp_path / "else.py")
    (desk.folder / "hidden.py").symlink_to(desk.folder / "build" / "x.py")
    fates = {
        "a.log": "git ignores a.log",
        "build/new/deep.py": "git ignores deep.py",
        "hidden.py": "git ignores hidden.py",
        ".env": ".env may have secrets",
        "sub/.env.local": ".env.local may have secrets",
        "keys/id_rsa": "id_rsa may have secrets",
        ".git/COMMIT_EDITMSG": "COMMIT_EDITMSG may have secrets",
        "../else.py": "else.py is not in a folder of the workspace",
        "link.py": "link.py is not in a folder of the workspace",
        "a\0b": "a␀b is not a file of text",
    }
    for name, told in fates.items():
        answer = await desk.complete(name)
        assert answer["about"] == "file", name
        assert answer["fault"].startswith(told), name
        assert answer["fault"].endswith("it is not sent")
    assert (await desk.complete(text="half \udc80"))["about"] == "file"
    assert desk.writer.places == []
    assert await desk.complete("new/folder/b.py") == {"text": "text"}


async def test_git_that_cannot_answer_lets_nothing_out(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.begin()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "git").write_text("#!/bin/sh\nexit 128\n")
    (programs / "git").chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
        answer = await desk.complete()
    assert answer["fault"] == "git cannot say whether it ignores a.py: it is not sent"
    assert desk.writer.places == []
    assert await desk.complete() == {"text": "text"}, "that was no answer to keep"


async def test_git_is_asked_once_in_a_while(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    await desk.begin()
    assert await desk.complete() == {"text": "text"}
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")
        assert await desk.complete() == {"text": "text"}


async def test_a_newer_request_ends_the_one_before(desk: Desk) -> None:
    await desk.begin()
    desk.writer.waits = anyio.Event()
    first = desk.wanted()
    desk.do(first)
    await desk.view.until(lambda: desk.writer.places)
    second = desk.wanted(text="y = ")
    desk.do(second)
    await desk.view.until(lambda: desk.writer.cancelled == 1 and len(desk.writer.places) == 2)
    desk.do(CancelCode())
    await desk.done()
    desk.writer.waits = None
    assert await desk.complete() == {"text": "text"}
    assert desk.writer.cancelled == 2


async def test_servers_that_cannot(desk: Desk) -> None:
    agent = await desk.ready()
    answer = await desk.complete()
    assert answer == {"fault": "eca cannot complete code", "about": "server"}
    agent.queries = desk.writer
    desk.writer.fault = AgentLacks("completion/inline")
    assert await desk.complete() == answer
    desk.writer.fault = AgentRefused("no model\nat all")
    assert await desk.complete() == {"fault": "no model at all", "about": "server"}
    agent.queries = None
    other = await desk.ready("b", "other", 2)
    other.queries, desk.writer.fault = desk.writer, None
    assert await desk.complete() == {"text": "text"}, "another server can"


async def test_a_server_that_the_user_has_stopped_stays_stopped(desk: Desk) -> None:
    wanted = desk.wanted()
    desk.do(wanted)
    agent = await desk.starting()
    agent.queries = desk.writer
    agent.ready()
    await desk.view.until(lambda: desk.writer.places)
    desk.do(QuitServer())
    await desk.view.until(lambda: desk.states()[-1] == "stopped")
    stopped = {"fault": "the server is not running; :Eca start starts it", "about": "server"}
    assert await desk.complete() == stopped
    asked = desk.wanted(asked=True)
    desk.do(asked)
    (again := await desk.starting(2)).queries = desk.writer
    again.ready()
    await desk.view.until(lambda: len(desk.writer.places) == 2)
    again.end(AgentExit("it died"))
    await desk.view.until(lambda: desk.states()[-1] == "failed")
    assert await desk.complete() == stopped


@pytest.mark.parametrize(
    ("path", "secret"),
    [
        ("/project/.env", True),
        ("/project/.ENV.Production", True),
        ("/project/sub/.ssh/config", True),
        ("/project/tls/server.key", True),
        ("/project/.docker/config.json", True),
        ("/project/config.json", False),
        ("/project/keyboard.py", False),
        ("/project/secretary.py", False),
        ("/project/secrets.yaml", True),
        ("/project/.git/config", True),
        ("/project/.github/ci.yml", False),
        ("/project/environment.py", False),
    ],
)
async def test_what_may_have_secrets(path: str, secret: bool) -> None:
    assert may_have_secrets(path, ["/project"]) is secret
    assert not may_have_secrets("/home/me/.env/x.py", ["/home/me/.env"]), "the workspace's own"
