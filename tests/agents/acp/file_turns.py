"""Turns in which an agent on the official SDK reads and writes files through us."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.agents.acp.acp_client import CHAT, AcpClient, make_agent, running
from tests.agents.acp.scripted import Scripted
from tests.agents.acp.test_official_sdk import requested
from tests.agents.client import FakeEditor
from tests.support.drawn import drawn

from eca_nvim.chat.vocabulary.events import (
    ToolRequested,
)
from eca_nvim.chat.vocabulary.intents import CallReturned
from eca_nvim.nvim.editor import Editor, EditorCalls

Value: TypeAlias = Any
SESSION: Final = "scripted"


class OnDisk(FakeEditor):
    """An editor without buffers, but for the unsaved texts in `texts`; the rest is real."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = EditorCalls(self._run)
        self.files = Editor(self.calls)
        self.meanwhile: Callable[[str], object] = lambda _: None
        """What happens while Neovim is asked for something."""

    def _run(self, _code: str, arguments: Value) -> None:
        number, name, asked = arguments
        self.meanwhile(name)
        value: Value = {"state": "no_buffer"}
        if name == "unsaved":
            texts = {path: self.texts[path] for path in asked["paths"] if path in self.texts}
            value = [{"path": path, "text": text} for path, text in texts.items()]
        elif asked["path"] in self.texts:
            value = self._write(asked)
        self.calls.returned(CallReturned(number, True, value))

    def _write(self, asked: Value) -> Value:
        if not asked["replaces_unsaved"]:
            return {"state": "refused", "why": "not read"}
        unsaved = self.texts.pop(asked["path"])
        Path(asked["path"]).write_text(asked["text"])
        return {"state": "written", "unsaved": unsaved}

    async def read_text(self, path: str) -> str:
        return await self.files.read_text(path)

    async def write_text(
        self, path: str, text: str, expected: str | None = None, *, replaces_unsaved: bool = True
    ) -> bytes | None:
        return await self.files.write_text(path, text, expected, replaces_unsaved=replaces_unsaved)


def read(path: object, session: str = SESSION, **more: int) -> Value:
    return {"request": ["fs/read_text_file", {"sessionId": session, "path": str(path), **more}]}


def write(path: object, content: str, session: str = SESSION) -> Value:
    asked = {"sessionId": session, "path": str(path), "content": content}
    return {"request": ["fs/write_text_file", asked]}


class Run:
    """An agent in a workspace beside another folder."""

    def __init__(self, scripted: Scripted, folder: Path) -> None:
        self.scripted = scripted
        self.folder = folder / "ws"
        self.outside = folder / "outside"
        self.folder.mkdir()
        self.outside.mkdir()
        self.editor = OnDisk()

    def start(self, *turns: list[Value], **more: Value) -> AbstractAsyncContextManager[AcpClient]:
        self.scripted.play(*turns, **more)
        return running(make_agent(self.scripted.command, self.folder, services=self.editor))

    @property
    def answers(self) -> list[Value]:
        assert self.scripted.faults() == []
        return self.scripted.answers()

    @property
    def refusals(self) -> list[str]:
        return [it["error"] for it in self.answers]


async def answer(client: AcpClient, count: int, choice: str | None) -> ToolRequested:
    """Wait for a question, and answer it."""
    asked = await requested(client, count)
    client.agent.decide(CHAT, asked.call.id, choice, drawn(asked))
    return asked
