"""The host's application: joins Neovim's intents, the session, the frames and the log.

Rules kept here:
- One task on pynvim's own loop holds everything that runs; handlers only put into its inbox.
- No blocking call is ever made to Neovim: all that goes there is a notification.
- What fails here is our own fault: the traceback goes to the log, one line to the user.
- However the host ends, the server ends with it: politely when the host can, else by its guardian.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eca_nvim.agents.base import Workspace
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.vocabulary.intents import (
    Attach,
    CallReturned,
    FrameDrawn,
    Intent,
    MalformedIntent,
    parse_intent,
)
from eca_nvim.chat.vocabulary.ops import Notify, SetPending, ViewOp
from eca_nvim.nvim.agents import EcaAgents
from eca_nvim.nvim.editor import Editor
from eca_nvim.nvim.editor_calls import ALIVE, APPLY, Calls
from eca_nvim.nvim.frame_sender import FrameSender, tell_lost
from eca_nvim.nvim.guardian_process import guardian
from eca_nvim.nvim.head_start import head_start
from eca_nvim.nvim.logs import open_log
from eca_nvim.nvim.settings import Settings, read_settings
from eca_nvim.redaction import Redactor
from eca_nvim.session import Persistence, Session
from eca_nvim.store import Store

if TYPE_CHECKING:
    import pynvim

log = logging.getLogger(__name__)


class App:
    """All that runs for one Neovim."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._nvim = nvim
        self._loop: asyncio.AbstractEventLoop = nvim.loop
        self._frames = FrameSender(self._send_frame, self._loop, self._not_drawn)
        self._redactor = Redactor()
        self._calls = Calls(self._run)
        self._editor = Editor(self._run, self._calls)
        self._guardian = guardian()
        self._agents: EcaAgents | None = None
        self._session: Session | None = None
        self._task: asyncio.Task[None] | None = None
        self._taken = 0

    def receive(self, arguments: Sequence[object]) -> None:
        """Take an intent as it came: name and payload."""
        self._taken += 1
        try:
            self._dispatch(_read(arguments))
        except MalformedIntent as fault:
            self._complain(f"the editor's half of the plugin does not fit: {fault}")

    def _dispatch(self, intent: Intent) -> None:
        match intent:
            case FrameDrawn():
                self._frames.drawn(intent.frame, intent.ms)
            case CallReturned():
                self._calls.returned(intent)
            case Attach():
                self._attach(intent)
            case _ if self._session is not None:
                self._session.receive(intent)
            case _:
                raise MalformedIntent(f"{intent.name!r} came before 'attach'")

    def _attach(self, intent: Attach) -> None:
        """Begin to work; said again, it changes the settings of the view and of the next server.

        Neovim says it again before a restart, and waits for the answer: we do not hang.
        """
        settings = read_settings(intent.settings)
        if self._agents is not None and self._session is not None:
            self._agents.settings = settings
            self._session.follow(wanted=settings.follow)
            self._run(ALIVE, [])
            return
        open_log(settings, self._redactor, self._no_log)
        workspace = Workspace(tuple(intent.folders), intent.editor, intent.pid)
        persistence = Persistence(_store(settings, workspace), self._frames, intent.pid)
        self._agents = EcaAgents(
            settings,
            workspace,
            self._editor,
            self._guardian,
            lambda: persistence.choices.get("agent"),
            head_start(),
        )
        rendering = RenderSettings(settings.icons, workspace.folders, settings.follow)
        self._session = Session(
            self._agents, self._editor, self._frames, rendering, persistence, self._redactor
        )
        atexit.register(self._guardian.wake)
        atexit.register(self._session.kill)
        self._task = self._loop.create_task(self._session.run())
        self._task.add_done_callback(self._ended)
        self._editor.watch()

    def _no_log(self, fault: OSError) -> None:
        told = Notify("warn", f"no log: {fault}")
        self._loop.call_soon_threadsafe(self._frames.push, [told])

    def _ended(self, task: asyncio.Task[None]) -> None:
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            log.critical("the session ended", exc_info=fault)
            self._complain(f"the plugin's host failed: {fault}. :Eca restart starts it again")

    def _complain(self, line: str) -> None:
        log.error("%s", line)
        self._frames.push([Notify("error", line)])

    def _not_drawn(self, ops: Sequence[ViewOp]) -> None:
        """Say what could not be drawn."""
        if self._session is not None and any(isinstance(op, SetPending) for op in ops):
            self._session.resend_pending()
        warn = (lambda *_: False) if self._session is None else self._session.warn
        tell_lost(ops, warn, self._frames.push)

    def _send_frame(self, number: int, ops: bytes) -> None:
        self._run(APPLY, [number, ops, self._taken])

    def _run(self, code: str, arguments: Sequence[object]) -> None:
        self._nvim.api.exec_lua(code, arguments, async_=True)


def _store(settings: Settings, workspace: Workspace) -> Store | None:
    """Find what is kept of the project, if anything is."""
    if settings.store_path is None:
        return None
    return Store(Path(settings.store_path), "\n".join(workspace.folders))


def _read(arguments: Sequence[object]) -> Intent:
    """Read an intent; Neovim's empty table is a list. Raises MalformedIntent."""
    match arguments:
        case [str(name), Mapping() as payload]:
            return parse_intent(name, payload)
        case [str(name), []]:
            return parse_intent(name, {})
        case _:
            raise MalformedIntent(f"not an intent: {arguments!r}")
