"""The session: handles the user's intents.

Rules kept here:
- Intents are handled one after the other; those that wait for the editor or the agent get a task.
- An exception in one of them is our own fault: it is logged with its traceback, reported in one
  line, and everything else goes on.
- A chat's server starts when it is first needed; the chats outlive it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from eca_nvim.chat.model.blocks import ImageBlock, ToolBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.user_actions.folding import redraw
from eca_nvim.chat.vocabulary import (
    call_details,
    events,
    intents,
    login,
    ops,
    query_intents,
    states,
)
from eca_nvim.chat.vocabulary.intents import KeepDraft, KeepPrompt
from eca_nvim.chat.vocabulary.options import OptionValue
from eca_nvim.disk.private import sweep
from eca_nvim.path_risks import Folders, UnfitFolder
from eca_nvim.redaction import Redactor
from eca_nvim.review.ledger import Ledger
from eca_nvim.session.chats import ChatIntent, Chats, apply_intent, now
from eca_nvim.session.files.call_warnings import NamedFiles
from eca_nvim.session.files.diff_tab import EditorFiles
from eca_nvim.session.files.surveys import Surveyor
from eca_nvim.session.options import NotOffered
from eca_nvim.session.persistence import Persistence
from eca_nvim.session.requests.contexts import Contexts
from eca_nvim.session.requests.images import Images
from eca_nvim.session.secrets import hide_answers
from eca_nvim.session.server import MakeAgent, ServerRequest
from eca_nvim.session.servers import Servers
from eca_nvim.session.templates.library import TemplateFolders
from eca_nvim.session.view import View, isolated
from eca_nvim.threads import run_in_thread

if TYPE_CHECKING:
    from eca_nvim.session.requests.handlers import RequestHandlers
    from eca_nvim.session.requests.templates import Templates


class Session:
    """Servers, their chats, one view."""

    def __init__(
        self,
        make_agent: MakeAgent,
        files: EditorFiles,
        view: View,
        settings: RenderSettings,
        persistence: Persistence,
        redactor: Redactor,
        folders: Folders,
    ) -> None:
        """`folders`: those of the workspace, also in `settings`; the user may change them."""
        self._persistence = persistence
        self._redactor = redactor
        self._view = view
        self._files = files
        self._intents_in, self._intents = anyio.create_memory_object_stream[intents.Intent](
            math.inf
        )
        self._ledger = Ledger(self._command_changed)
        file_before = self._ledger.seen_before
        self._chats = Chats(view, settings, self._record_event, file_before)
        self.resend_pending = self._chats.resend_pending
        self.render_with = self._chats.render_with
        self._images = Images()
        self._folders = folders
        self.surveyor = Surveyor(self._ledger.attribution, folders)
        self._contexts = Contexts(settings, files, view)
        self._named_files = NamedFiles(self._files_used)
        self._servers = Servers(
            *(make_agent, self._chats, view, persistence, redactor),
            *(self._ledger, self.surveyor, self._named_files.request),
        )
        self.template_folders = TemplateFolders()

    def receive(self, intent: intents.Intent) -> None:
        """Queue an intent.

        Prompts and drafts to save are handled at once: Neovim may exit next.
        """
        match intent:
            case KeepPrompt(text):
                self._persistence.keep_prompt(text)
            case KeepDraft(chat, text):
                self._persistence.keep_draft(chat, text)
            case _:
                self._intents_in.send_nowait(intent)

    def warn(self, chat_id: str, line: str) -> bool:
        """Show an error in a chat; returns whether the chat exists."""
        chat = self._chats.table.get(chat_id)
        if chat is not None:
            self._chats.apply(chat, [events.NoticeReceived(line, is_error=True)])
        return chat is not None

    def kill(self) -> None:
        """End everything at once, without the event loop; called as the host exits."""
        try:
            self._save_unsent_prompts()
            self._persistence.close()
        finally:
            self._servers.kill()
            self.surveyor.stop()
            self._images.remove()
            self._ledger.remove()

    def _save_unsent_prompts(self) -> None:
        """Save the prompts that no agent has received: held, queued, or still an intent."""
        unsent: dict[str, list[str]] = {}
        for prompt in chain.from_iterable(server.held.take_prompts() for server in self._servers):
            unsent.setdefault(prompt.chat_id, []).append(prompt.text)
        for chat in self._chats:
            unsent.setdefault(chat.id, []).extend(entry.text for entry in chat.queue)
        with suppress(anyio.WouldBlock, anyio.EndOfStream, anyio.ClosedResourceError):
            while True:
                intent = self._intents.receive_nowait()
                if isinstance(intent, intents.SendPrompt):
                    unsent.setdefault(intent.chat, []).append(intent.text)
        for chat_id, prompts in unsent.items():
            self._persistence.keep_unsent(chat_id, prompts)

    async def run(self) -> None:
        """Run until cancelled."""
        self._persistence.load()
        with self._intents, self._intents_in:
            await self._run_tasks()

    async def _run_tasks(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._servers.run)
            tasks.start_soon(self._chats.update_times)
            tasks.start_soon(self._persistence.keep_writing)
            tasks.start_soon(self.surveyor.run)
            tasks.start_soon(self._named_files.run)
            tasks.start_soon(self._after_start)
            async for intent in self._intents:
                with isolated(self._view, f"do {intent.name}", intent):
                    self._handle(intent, tasks)
                if isinstance(intent, intents.AnsweredIntent) and intent.request is not None:
                    self._view.push([ops.Answer(intent.request, None)])

    async def _after_start(self) -> None:
        """Remove folders of killed hosts, and list the templates; a start must not wait for it."""
        await self._servers.has_started.wait()
        await run_in_thread(sweep)
        with isolated(self._view, "read the templates", self.template_folders):
            await self._templates.refresh()

    # --- the user -------------------------------------------------------------------------------

    def _handle(self, intent: intents.Intent, tasks: TaskGroup) -> None:
        if isinstance(intent, query_intents.ContentRequest):
            self._requests.answer(intent)
            return
        if isinstance(intent, intents.SlowIntent):
            tasks.start_soon(self._requests.handle, intent)
            return
        match intent:
            case query_intents.FileWritten():
                self._ledger.attribution.user_writes(intent)
            case intents.StartServer() | intents.QuitServer() | login.TerminalEnded():
                self._handle_for_server(intent)
            case intents.Choose():
                self._choose(self._chat(intent.chat), intent)
            case intents.SetTrust(chat_id, trusted):
                chat = self._chat(chat_id)
                self._servers.of(chat).trust.choose(chat, trusted=trusted)
            case (
                intents.Attach()
                | intents.FrameDrawn()
                | intents.CallReturned()
                | KeepPrompt()
                | KeepDraft()
            ):
                raise TypeError(f"not for the session: {intent.name}")
            case intents.OpenChat():
                self._open(intent)
            case query_intents.ChangeFolder():
                self._change_folder(intent)
            case _:
                self._apply(intent)

    def _handle_for_server(
        self, intent: intents.StartServer | intents.QuitServer | login.TerminalEnded
    ) -> None:
        match intent:
            case intents.StartServer(restart, server):
                request = ServerRequest.RESTART if restart else ServerRequest.START
                self._servers.get(server).process.request(request)
            case intents.QuitServer(server):
                self._servers.get(server).process.request(ServerRequest.QUIT)
            case login.TerminalEnded():
                for each in self._servers:
                    each.login.terminal_ended(intent)

    def _apply(self, intent: ChatIntent) -> None:
        """Apply an intent that changes one chat."""
        server = intent.server if isinstance(intent, intents.SendPrompt) else None
        chat = self._chat(intent.chat, server)
        self._servers.of(chat).incoming.last_used_chat = chat.id
        hide_answers(chat, intent, self._redactor)
        block = chat.blocks.get(intent.block) if isinstance(intent, intents.ActOnBlock) else None
        if isinstance(block, ImageBlock):
            self._view.push([self._images.show(block)])
            return
        is_stop = isinstance(intent, intents.StopTurn)
        was_login = is_stop and self._servers.of(chat).login.cancel(chat.id)
        if not was_login or chat.turn.state is not states.Turn.IDLE:
            self._chats.show(apply_intent(chat, intent, self._chats, self._contexts.read))

    def default_server(self, name: str) -> None:
        """Set the server of chats that name none."""
        self._chats.default_server = name

    def configure(self, options: Mapping[str, Mapping[str, OptionValue]]) -> None:
        """Set what new chats of each server, by its name, begin with."""
        self._servers.configured = options

    @cached_property
    def _requests(self) -> RequestHandlers:
        """The handlers of requests; the first chat opens without one, and need not load them."""
        from eca_nvim.session.requests.handlers import RequestHandlers  # noqa: PLC0415

        return RequestHandlers(
            self._chats,
            self._servers,
            self._view,
            self._ledger,
            self.surveyor,
            self._files,
            self._images,
            self._contexts,
            self._templates,
        )

    @cached_property
    def _templates(self) -> Templates:
        from eca_nvim.session.requests.templates import Templates  # noqa: PLC0415

        return Templates(
            lambda: self.template_folders,
            self._folders.first,
            self._chats,
            self._servers,
            self._view,
        )

    def _change_folder(self, intent: query_intents.ChangeFolder) -> None:
        """Add a folder to the workspace or remove it, for all who ask what is in it."""
        change = self._folders.remove if intent.removed else self._folders.add
        try:
            folder = change(intent.path)
        except UnfitFolder as fault:
            self._view.push(
                [ops.Notify("warn", one_line(str(fault))), ops.Answer(intent.request, None)]
            )
            return
        self._chats.folders_changed()
        name, told = one_line(PurePath(folder).name), list[str]()
        for server in self._servers:
            agent = server.process.agent
            if agent and (line := agent.folder_changed(folder, removed=intent.removed)):
                told.append(f"{server.name} {line} {name}")
        done = f"the workspace {'no longer has' if intent.removed else 'has'} {one_line(folder)}"
        self._view.push([ops.Notify("info", "; ".join(told) or done)])
        self._view.push([ops.Answer(intent.request, [*self._folders.added])])

    def _open(self, opened: intents.OpenChat) -> None:
        chat = self._chats.table.get(opened.chat)
        if opened.redraw and chat is not None:
            self._chats.show(redraw(chat, now()))
        chat = self._chat(opened.chat, opened.server)
        server = self._servers.of(chat)
        server.incoming.last_used_chat = chat.id
        if opened.server not in (None, server.name):
            line = f"this chat stays with {server.name}: :Eca new starts one with {opened.server}"
            self._view.push([ops.Notify("info", one_line(line))])
        self._persistence.restore(chat.id)
        server.process.ensure()

    def _chat(self, chat_id: str, server: str | None = None) -> Chat:
        """Return a chat, created if it is new; a new or empty one goes to the server named."""
        chat = self._chats.table.get(chat_id)
        if chat is None:
            chat = self._chats.get(chat_id, server)
            self._servers.of(chat).begin(chat)
        elif server not in (None, chat.server_name) and _is_empty(chat):
            self._servers.move(chat, server)
        return chat

    def _choose(self, chat: Chat, intent: intents.Choose) -> None:
        try:
            self._servers.of(chat).options.set(chat, intent.option, intent.value)
        except NotOffered as fault:
            self._view.push([ops.Notify("warn", str(fault))])

    # --- the agents -----------------------------------------------------------------------------

    def _record_event(self, chat: Chat, event: events.ChatEvent, call: ToolBlock | None) -> None:
        """Record in the ledger what an event says about files."""
        self._ledger.record(chat, event, call)
        attribution = self._ledger.attribution
        if attribution.needs_survey:
            attribution.needs_survey = False  # one request is enough for all calls of a read
            self.surveyor.request()

    def _command_changed(self, chat_id: str, path: str) -> None:
        self._files_used(chat_id, [call_details.FileUsed(path, call_details.Use.WRITTEN)])

    def _files_used(self, chat_id: str, files: Sequence[call_details.FileUsed]) -> None:
        """Count files that only a look at the disk has found."""
        chat = self._chats.table.get(chat_id)
        if chat is not None:
            self._chats.apply(chat, files)


def _is_empty(chat: Chat) -> bool:
    """Return whether a chat has no messages, and none are being loaded."""
    return chat.is_blank and chat.history is states.History.SETTLED
