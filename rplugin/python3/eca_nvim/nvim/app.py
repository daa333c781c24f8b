"""The host's application: connects Neovim's intents, the session, the frames and the log.

However the host ends, the server ends too: it is asked to if possible, else the guardian ends it.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from eca_nvim.agents.base import Workspace
from eca_nvim.chat.model.display_settings import DIFF_LINES, RenderSettings
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.bases import name_of
from eca_nvim.chat.vocabulary.ops import Notify, SetPending, Unwritable, ViewOp
from eca_nvim.mcp.link_socket import LinkSocket
from eca_nvim.nvim.agents import Agents
from eca_nvim.nvim.editor import ALIVE, APPLY, Editor, EditorCalls
from eca_nvim.nvim.frames import FrameSender
from eca_nvim.nvim.guardian_process import guardian
from eca_nvim.nvim.head_start import head_start, link_socket
from eca_nvim.nvim.logs import open_log
from eca_nvim.nvim.settings import Settings, read_settings
from eca_nvim.path_risks import Folders, UnfitFolder
from eca_nvim.redaction import Redactor
from eca_nvim.session import Persistence, Session
from eca_nvim.session.templates.library import PROJECT_FOLDER, TemplateFolders
from eca_nvim.store import Store

if TYPE_CHECKING:
    import pynvim

    from eca_nvim.session.files.checkpoints import Checkpoints

MISMATCH = "the two halves of the plugin do not match, restart Neovim"

log = logging.getLogger(__name__)


class App:
    """Everything that runs for one Neovim."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._nvim = nvim
        self._loop: asyncio.AbstractEventLoop = nvim.loop
        self._frames = FrameSender(
            lambda number, ops: self._run(APPLY, [number, ops]),
            self._loop,
            self._not_drawn,
        )
        self._redactor = Redactor()
        self._calls = EditorCalls(self._run)
        self._editor = Editor(self._calls)
        self._guardian = guardian()
        self._agents: Agents | None = None
        self._session: Session | None = None
        self._task: asyncio.Task[None] | None = None
        self._links: LinkSocket | None = None

    def receive(self, name: str, payload: Mapping[str, object]) -> None:
        """Parse an intent and pass it on; an empty Lua table may arrive as a list."""
        try:
            intent = intents.parse_intent(name, payload or {})
        except intents.MalformedIntent as fault:
            self._report(f"{MISMATCH}: {fault}")
            return
        match intent:
            case intents.FrameDrawn(frame, milliseconds):
                self._frames.drawn(frame, milliseconds)
            case intents.CallReturned():
                self._calls.returned(intent)
            case intents.Attach():
                self._attach(intent)
            case _ if self._session is not None:
                self._session.receive(intent)
            case _:
                self._report(f"{MISMATCH}: {name!r} came before 'attach'")

    def _attach(self, intent: intents.Attach) -> None:
        """Start the session; a later `attach` changes the settings of the view and the next server.

        Neovim sends it again before a restart and waits for `ALIVE`, to see whether we hang.
        """
        settings = read_settings(intent.settings)
        for secret in settings.secrets:
            self._redactor.hide(secret)
        if self._session is None:
            self._session = self._start(settings, intent)
        else:
            self._run(ALIVE, [])
        assert self._agents is not None
        self._agents.settings = settings
        lines = settings.diff_lines or DIFF_LINES
        self._session.render_with(follow=settings.follow, diff_lines=lines)
        self._session.default_server(settings.default_server)
        self._session.configure(settings.options, settings.finding)
        project = settings.templates_project
        project = PROJECT_FOLDER if project is None else project
        self._session.template_folders = TemplateFolders(settings.templates_user, project)

    def _start(self, settings: Settings, intent: intents.Attach) -> Session:
        path = settings.log_path
        open_log(path, settings.log_level, self._redactor, partial(self._no_log, path or ""))
        folders = Folders(intent.folders)
        for added in intent.added:
            with suppress(UnfitFolder):  # it is not fit any more
                folders.add(added)
        workspace = Workspace(folders, intent.editor, intent.pid)
        store = None
        if settings.store_path is not None:
            store = Store(Path(settings.store_path), "\n".join(folders.first))
        persistence = Persistence(store, self._frames, intent.pid)
        self._agents = Agents(
            *(settings, workspace, self._editor, self._guardian, persistence, head_start())
        )
        rendering = RenderSettings(settings.icons, folders)
        session = Session(
            *(self._agents, self._editor, self._frames, rendering, persistence, self._redactor),
            *(folders, partial(self._checkpoints, settings, folders, intent.pid, persistence)),
        )
        self._take_links(session.web_pages.wanted)
        atexit.register(self._guardian.wake)
        atexit.register(session.kill)
        self._task = self._loop.create_task(session.run())
        self._task.add_done_callback(self._ended)
        self._editor.watch()
        return session

    def _take_links(self, wanted: Callable[[str, str], None]) -> None:
        """Take the addresses that servers let a browser open; without that they are opened."""
        try:
            self._links = LinkSocket(link_socket(), wanted, self._loop)
        except OSError as fault:
            log.warning("web addresses cannot be taken: %s", fault)

    def _checkpoints(
        self,
        settings: Settings,
        folders: Folders,
        process: int,
        persistence: Persistence,
        warn: Callable[[str], None],
        changed: Callable[[], None],
    ) -> Checkpoints:
        """Make the checkpoints; the first chat opens without them."""
        from eca_nvim.session.files.checkpoints import Checkpoints, Limits  # noqa: PLC0415
        from eca_nvim.session.panels.checkpoints import CheckpointMirror  # noqa: PLC0415

        mirror, limits = CheckpointMirror(self._frames, changed), Limits(**settings.checkpoints)
        return Checkpoints(
            *(settings.store_path, folders, process, limits, warn, mirror.show),
            persistence.is_project,
        )

    def _no_log(self, path: str, fault: OSError) -> None:
        words, line = fault.strerror or str(fault), f"cannot open the log: {fault}"
        warning = Unwritable(path, words, line)
        self._loop.call_soon_threadsafe(self._frames.push, [warning])

    def _ended(self, task: asyncio.Task[None]) -> None:
        if self._links is not None:  # pages that nobody would show are opened as ever
            self._links.close()
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            log.critical("the session ended", exc_info=fault)
            self._report(f"the plugin host failed: {fault}. :Eca restart starts it again")

    def _report(self, line: str) -> None:
        log.error("%s", line)
        self._frames.push([Notify("error", line)])

    def _not_drawn(self, ops: Sequence[ViewOp]) -> None:
        """Report ops that could not be sent, and have lost requests sent again."""
        if self._session is not None and any(isinstance(op, SetPending) for op in ops):
            self._session.resend_pending()
        warn = (lambda *_: False) if self._session is None else self._session.warn
        report_lost(ops, warn, self._frames.push)

    def _run(self, code: str, arguments: Sequence[object]) -> None:
        # A notification: nothing here may wait for Neovim, which waits for its user.
        self._nvim.api.exec_lua(code, arguments, async_=True)


def report_lost(
    lost: Sequence[ViewOp],
    warn: Callable[[str, str], bool],
    push: Callable[[Iterable[ViewOp]], None],
) -> None:
    """Show in each chat one line that names the ops that could not be drawn.

    `warn` shows a line in a chat and returns whether the chat exists; if not, the line is shown as
    a message.
    """
    names: dict[str | None, dict[str, None]] = {}
    for op in lost:
        names.setdefault(getattr(op, "chat", None), {})[name_of(op)] = None
    for chat, its in names.items():
        line = f"cannot draw {', '.join(its)}; see :Eca log"
        if chat is None or not warn(chat, line):
            push([Notify("error", line)])
