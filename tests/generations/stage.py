"""A session with a server of an older document, and a user who plays a row.

All parts are the plugin's own, except Neovim: the view is in memory.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from tests.agents.client import FakeEditor
from tests.generations.row import SERVERS, Row, Step
from tests.generations.screen import SYNC, Screen
from tests.generations.seen import Seen, filled
from tests.support.generations.prepared import prepare
from tests.support.wire import Message

from eca_nvim.agents.base import Workspace
from eca_nvim.agents.eca.agent import EcaAgent, EcaOptions
from eca_nvim.agents.eca.contents import ALWAYS_ID
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.completion import Complete, SetCompletions
from eca_nvim.chat.vocabulary.ops import SetPending
from eca_nvim.chat.vocabulary.panels import ActInPanel, ShowPanel
from eca_nvim.chat.vocabulary.query_intents import ClearMessages, DeleteChat, RequestTranscript
from eca_nvim.chat.vocabulary.requests import ALLOW, REJECT
from eca_nvim.path_risks import Folders
from eca_nvim.redaction import Redactor
from eca_nvim.session import Candidate, Persistence, Session
from eca_nvim.session.files.checkpoints import Checkpoints, Limits

Value: TypeAlias = Any
EDITOR = "Neovim 0.12.4"


class Stage:
    """A session, its server, and its user."""

    def __init__(
        self,
        document: str,
        folder: Path,
        scripts: Mapping[str, Sequence[Step]],
        row: Row,
    ) -> None:
        self.row = row
        self.folder = folder
        rows = folder.parent / f"{folder.name}.rows.json"
        rows.write_text(json.dumps(scripts), encoding="utf-8")
        self.server = prepare(SERVERS[document], folder.parent, f"rows={rows}", *row.words)
        self.view = Screen()
        persistence = Persistence(None, self.view, os.getpid())
        for what, value in row.kept.items():
            persistence.keep_choice("eca", what, value)
        self._folders = Folders((str(folder),))
        settings = RenderSettings(folders=self._folders)
        self.session = Session(
            *(self._make, self, self.view, settings, persistence, Redactor()),
            self._folders,
            lambda warn, _: Checkpoints(None, self._folders, os.getpid(), Limits(), warn),
        )
        self._options = EcaOptions(
            self.server.command,
            agent=persistence.choices("eca")("agent"),
            repo_map=row.repo_map,
        )
        self._requests = 0
        self._synced = 0
        self.asked: Mapping[str, Value] = {}
        self._task = asyncio.create_task(self.session.run())  # its error is raised at the end

    def _make(self, server: str) -> Candidate:
        workspace = Workspace(self._folders, EDITOR, os.getpid())
        return Candidate(EcaAgent(self._options, workspace, FakeEditor()), server, server)

    async def close(self) -> None:
        """End the session and its server. Raises the error that ended it before."""
        self._task.cancel()
        await asyncio.wait([self._task])
        self.session.kill()
        if not self._task.cancelled():
            self._task.result()

    async def unsaved(self, _paths: Sequence[str]) -> Mapping[str, str]:
        """Return the user's unsaved text: none (`session.Files`)."""
        return {}

    def messages(self) -> list[Message]:
        """Return the client's messages so far, without those that only wait for the server."""
        return [
            it
            for it in self.server.received()
            if not str((it.get("params") or {}).get("message")).startswith(SYNC)
        ]

    def forget(self) -> None:
        """Forget what was shown before, but not what still waits: it is not sent again."""
        self.view.ops[:] = self.view.of(SetPending)
        self.asked = {}

    def seen(self, chat: str, heard: int) -> Seen:
        """Return what was seen of a row, after this many messages of the client."""
        view, messages = self.view, self.messages()
        return Seen(
            words=self._words(chat),
            sent=messages[heard:],
            life=messages,
            folder=self.folder,
            texts={
                "shown": view.transcript(chat),
                "other": view.transcript(f"{chat} other"),
                "told": view.lines(),
                "usage": view.last_usage(chat),
                "completed": view.completed(chat),
                "listed": view.listed(),
            },
            statuses=view.statuses(chat),
            ends=view.status(chat),
            offers=view.offers(),
            asked=self.asked,
        )

    def _words(self, chat: str) -> Mapping[str, Value]:
        return {"$folder": str(self.folder), "$pid": os.getpid(), "$name": chat}

    # --- what the user does ---------------------------------------------------------------------

    async def do(self, name: str, row: Row) -> None:
        """Play a row; wait for the end of its turn, and until the server has read everything."""
        for doing in row.does:
            word, _, rest = doing.partition(" ")
            await getattr(self, f"do_{word}")(name, rest, row)
        if self.view.status(name).get("state") not in (None, "login"):
            await self.idle(name)
        if "quit" not in row.does:
            await self._sync()

    async def do_open(self, chat: str, _rest: str, _row: Row) -> None:
        """Open the chat; wait until it can be prompted."""
        self.session.receive(intents.OpenChat(chat))
        await self.view.until(lambda: self.view.status(chat).get("server") == "ready")

    async def do_prompt(self, chat: str, rest: str, row: Row) -> None:
        """Send the row's name, and more words, as a prompt."""
        await self._prompt(chat, f"{chat} {rest}".strip(), row)

    async def do_say(self, chat: str, rest: str, row: Row) -> None:
        """Send another prompt, which gets an ordinary answer."""
        await self._prompt(chat, rest, row)

    async def do_other(self, chat: str, rest: str, row: Row) -> None:
        """Send a prompt in a second chat, and wait for its end."""
        await self._prompt(f"{chat} other", rest, row)
        await self.idle(f"{chat} other")

    async def _prompt(self, chat: str, text: str, row: Row) -> None:
        contexts = filled(row.contexts, self._words(chat))
        self.session.receive(intents.SendPrompt(chat, text, contexts))
        await self.done()

    async def do_idle(self, chat: str, _rest: str, _row: Row) -> None:
        """Wait for the end of the turn."""
        await self.idle(chat)

    async def do_see(self, chat: str, rest: str, _row: Row) -> None:
        """Wait until something is shown."""
        await self.view.until(lambda: rest in self.view.transcript(chat))

    async def do_state(self, chat: str, rest: str, _row: Row) -> None:
        """Wait for a state of the chat."""
        await self.view.until(lambda: self.view.status(chat).get("state") == rest)

    async def do_activity(self, chat: str, rest: str, _row: Row) -> None:
        """Wait until the agent's activity is shown."""
        await self.view.until(lambda: self.view.status(chat).get("activity") == rest)

    async def do_stop(self, chat: str, _rest: str, _row: Row) -> None:
        """Stop the turn."""
        self.session.receive(intents.StopTurn(chat))
        await self.done()

    async def _item(self, chat: str) -> Mapping[str, Value]:
        await self.view.until(lambda: any(it["chat"] == chat for it in self.view.pending))
        item: Mapping[str, Value] = next(it for it in self.view.pending if it["chat"] == chat)
        self.asked = item
        return item

    async def do_approve(self, chat: str, rest: str, _row: Row) -> None:
        """Approve the call that waits; "approve remember" for the session."""
        item = await self._item(chat)
        offered = [choice["id"] for choice in item["choices"]]
        choice = ALWAYS_ID if rest == "remember" and ALWAYS_ID in offered else ALLOW.id
        self.session.receive(intents.Decide(chat, item["block"], item["digest"], choice))

    async def do_reject(self, chat: str, _rest: str, _row: Row) -> None:
        """Reject the call that waits."""
        item = await self._item(chat)
        self.session.receive(intents.Decide(chat, item["block"], item["digest"], REJECT.id))

    async def do_unfold(self, chat: str, _rest: str, _row: Row) -> None:
        """Open all blocks."""
        await self.idle(chat)
        self.session.receive(intents.ToggleBlock(chat, 0, open=True))
        await self.done()

    async def do_choose(self, chat: str, rest: str, _row: Row) -> None:
        """Choose a model or an agent."""
        what, _, value = rest.partition(" ")
        self.session.receive(intents.Choose(chat, what, value))
        await self.done()

    async def do_complete(self, chat: str, rest: str, _row: Row) -> None:
        """Ask what completes a word, and wait for the last answer."""
        self.session.receive(Complete(chat, rest[0], rest[1:]))
        await self.view.until(lambda: [it for it in self.view.of(SetCompletions) if it.final])

    async def do_panel(self, chat: str, rest: str, _row: Row) -> None:
        """Show a panel, or wait for a text in it: "panel mcp stopped"."""
        name, _, text = rest.partition(" ")
        if not text:
            self.session.receive(ShowPanel(name, chat))
        await self.view.until(lambda: self.view.listed() and text in self.view.listed())

    async def do_act(self, _chat: str, rest: str, _row: Row) -> None:
        """Do an action in the panel of MCP servers: "act stop web-mcp"."""
        action, _, name = rest.partition(" ")
        self._requests -= 1
        row = json.dumps([name])
        self.session.receive(ActInPanel("mcp", action, self._requests, row=row))

    async def do_login(self, chat: str, rest: str, _row: Row) -> None:
        """Answer the login."""
        item = await self._item(chat)
        self.session.receive(intents.AnswerQuestion(chat, item["block"], item["digest"], rest))
        await self.done()

    async def do_clear(self, chat: str, _rest: str, _row: Row) -> None:
        """Clear the chat; wait until its old text is gone."""
        self.session.receive(ClearMessages(chat))
        await self.view.until(lambda: chat not in self.view.transcript(chat))

    async def do_delete(self, chat: str, _rest: str, _row: Row) -> None:
        """Delete the chat, and wait until it is."""
        self.session.receive(DeleteChat(chat))
        await self.view.until(lambda: chat in self.view.closed())

    async def do_quit(self, chat: str, _rest: str, _row: Row) -> None:
        """Quit the server, and wait for its end."""
        self.session.receive(intents.QuitServer())
        await self.view.until(lambda: "the server was stopped" in self.view.transcript(chat))

    # --- waiting --------------------------------------------------------------------------------

    async def done(self) -> None:
        """Wait until all intents are handled."""
        self._requests -= 1
        number = self._requests
        self.session.receive(RequestTranscript(SYNC, number))
        await self.view.until(
            lambda: any(getattr(op, "request", 0) == number for op in self.view.ops)
        )

    async def idle(self, chat: str) -> None:
        """Wait until no turn of a chat runs."""
        await self.view.until(lambda: self.view.status(chat).get("state") == "idle")

    async def _sync(self) -> None:
        self._synced += 1
        self.session.receive(intents.SendPrompt(SYNC, f"sync {self._synced}"))
        await self.done()
        await self.idle(SYNC)
