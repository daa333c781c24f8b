"""The session: handles the user's intents.

One table says what each intent does; the half that a start does not need is loaded with the first
such intent (`requests.handlers`). Those that wait for the editor or the agent get a task.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from inspect import isawaitable, iscoroutinefunction
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import anyio
from anyio.abc import TaskGroup

from eca_nvim.chat.model.blocks import Changes, ImageBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.user_actions.answers import answer_question, asks_secret, previous_field
from eca_nvim.chat.user_actions.approvals import decide
from eca_nvim.chat.user_actions.folding import open_link, redraw, toggle
from eca_nvim.chat.user_actions.prompts import send_prompt, stop_turn, unqueue
from eca_nvim.chat.vocabulary import (
    call_details,
    effects,
    events,
    intents,
    login,
    ops,
    query_intents,
    states,
)
from eca_nvim.disk.private import sweep
from eca_nvim.path_risks import Folders
from eca_nvim.redaction import Redactor
from eca_nvim.review.commands import Commands
from eca_nvim.review.git import GitFailed
from eca_nvim.review.ledger import Ledger
from eca_nvim.review.snapshots import Blobs, take_snapshot
from eca_nvim.review.tree_changes import TreeRequest
from eca_nvim.review.turn_changes import TurnChanges
from eca_nvim.server.find import Finding
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.files.turn_recorder import TurnRecorder
from eca_nvim.session.persistence import Persistence
from eca_nvim.session.proposals.call_warnings import NamedFiles
from eca_nvim.session.server import MakeAgent, ServerRequest
from eca_nvim.session.servers import NewChatOptions, Servers
from eca_nvim.session.templates.library import TemplateFolders
from eca_nvim.session.view import View, isolated
from eca_nvim.session.web_pages import WebPages
from eca_nvim.threads import run_in_thread

if TYPE_CHECKING:
    from eca_nvim.session.files.checkpoints import Checkpoints
    from eca_nvim.session.proposals.diff_tab import EditorFiles
    from eca_nvim.session.requests.contexts import Contexts
    from eca_nvim.session.requests.images import Images
    from eca_nvim.session.requests.templates import Templates

Handler: TypeAlias = Callable[[Any], Any]
"""Handles one kind of intent; returns, or after a while, what answers it."""


class _Late(NamedTuple):
    images: Images
    contexts: Contexts
    templates: Templates


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
        make_checkpoints: Callable[[Callable[[str], None], Callable[[], None]], Checkpoints],
    ) -> None:
        """Make a session.

        folders: those of the workspace, also in `settings`; the user may change them.
        make_checkpoints: called after the start, with what shows a line to the user, and what is
        called when there are others.
        """
        self._make_checkpoints = make_checkpoints
        self._persistence = persistence
        self._redactor = redactor
        self._view, self._files = view, files
        self._intents_in, self._intents = anyio.create_memory_object_stream[intents.Intent](
            math.inf
        )
        blobs = Blobs(self._stored)
        commands = Commands(
            self._take,
            lambda path: take_snapshot(path, blobs),
            lambda chat, path: self._used_files(
                chat, [call_details.FileUsed(path, call_details.Use.WRITTEN)]
            ),
        )
        self._ledger = Ledger(blobs, commands, self._turn_ended)
        self._chats = Chats(view, settings, self._ledger)
        self.resend_pending = self._chats.resend_pending
        self.render_with = self._chats.render_with
        self._folders = folders
        self._settings = settings
        self._recorder = TurnRecorder(self._ledger, lambda: self._checkpoints)
        self._named_files = NamedFiles(self._used_files)
        self._servers = Servers(
            *(make_agent, self._chats, view, persistence, redactor),
            *(self._ledger, self._recorder, self._named_files.request, self._prompted),
        )
        self.web_pages = WebPages(self._chats, self._servers, view)
        self.template_folders = TemplateFolders()
        self._handlers = self._table()

    def receive(self, intent: intents.Intent) -> None:
        """Queue an intent.

        What the user has typed is saved at once: Neovim may exit next.
        """
        if isinstance(intent, intents.KeepDraft):
            self._persistence.keep_draft(intent.chat, intent.text)
            return
        if isinstance(intent, intents.SendPrompt) and intent.typed is not None:
            self._persistence.keep_prompt(intent.typed)
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
            if "_late" in self.__dict__:
                self._late.images.remove()

    def _save_unsent_prompts(self) -> None:
        """Save prompts that no agent has received, held, queued, or still an intent; comments."""
        unsent: dict[str, list[str]] = {}
        for prompt in chain.from_iterable(server.held.take_prompts() for server in self._servers):
            unsent.setdefault(prompt.chat_id, []).append(prompt.text)
        for chat in self._chats:
            unsent.setdefault(chat.id, []).extend(chat.unsent)
            self._persistence.keep_note(chat.id, "\n\n".join(chat.notes))
        with suppress(anyio.WouldBlock, anyio.EndOfStream, anyio.ClosedResourceError):
            while True:
                intent = self._intents.receive_nowait()
                if isinstance(intent, intents.SendPrompt):
                    unsent.setdefault(intent.chat, []).append(intent.text)
                elif isinstance(intent, query_intents.PutComment):
                    self._persistence.put_comment(intent)
        self._persistence.keep_unsent(unsent)

    async def run(self) -> None:
        """Run until cancelled."""
        self._persistence.load()
        jobs = (
            *(self._servers.run, self._chats.update_times, self._persistence.keep_writing),
            *(self._recorder.run, self._named_files.run, self._after_start),
        )
        with self._intents, self._intents_in:
            async with anyio.create_task_group() as tasks:
                for job in jobs:
                    tasks.start_soon(job)
                async for intent in self._intents:
                    self._handle(intent, tasks)

    async def _after_start(self) -> None:
        """Remove folders of killed hosts, and list the templates; a start must not wait for it."""
        await self._servers.has_started.wait()
        await run_in_thread(sweep)
        with isolated(self._view, "read the templates", self.template_folders):
            await self._late.templates.refresh()
        with suppress(GitFailed):
            last = await self._recorder.last_numbers()
            self._ledger.number_after(last)
            self._chats.number_after(last)
        self._checkpoints.want()
        self._servers.start(self._checkpoints.run)

    @cached_property
    def _late(self) -> _Late:
        """The parts that a start does not need, and does not load."""
        from eca_nvim.session.requests.contexts import Contexts  # noqa: PLC0415
        from eca_nvim.session.requests.images import Images  # noqa: PLC0415
        from eca_nvim.session.requests.templates import Templates  # noqa: PLC0415

        folders = self._folders.first
        return _Late(
            Images(),
            Contexts(self._settings, self._files, self._view, self._chats.table),
            Templates(
                *(lambda: self.template_folders, folders, self._chats, self._servers, self._view)
            ),
        )

    @cached_property
    def _checkpoints(self) -> Checkpoints:
        return self._make_checkpoints(
            lambda line: self._view.push([ops.Notify("warn", line)]), self._chats.changed
        )

    def _stored(self, digest: str) -> bytes:
        return self._checkpoints.read(digest)

    def _take(self) -> TreeRequest:
        return self._checkpoints.want()

    def _prompted(self, prompt: effects.Prompt) -> None:
        chat = self._chats.get(prompt.chat_id)
        about = {"kind": "prompt", "chat": chat.id, "turn": chat.turn.number}
        tree = self._checkpoints.want({**about, "title": chat.title or "", "prompt": prompt.text})
        self._ledger.commands.turn_began(self._ledger.turn(chat), tree)

    def _turn_ended(self, chat: Chat, turn: TurnChanges) -> None:
        self._servers.of(chat).login.turn_ended(chat)
        about = {"kind": "end", "chat": chat.id, "turn": turn.number}
        self._ledger.commands.turn_ended(turn, self._checkpoints.want(about))

    # --- the user -------------------------------------------------------------------------------

    def _handle(self, intent: intents.Intent, tasks: TaskGroup) -> None:
        answer: object = None
        with isolated(self._view, f"do {intent.__struct_config__.tag}", intent):
            handler = self._handlers.get(type(intent)) or self._requests[type(intent)]
            if iscoroutinefunction(handler):
                tasks.start_soon(self._handle_meanwhile, handler, intent)
                return
            answer = handler(intent)
        self._answer(intent, answer)

    async def _do(self, intent: intents.Intent) -> object:
        """Do what an intent says, and return what answers it. Raises what its handler does."""
        handler = self._handlers.get(type(intent)) or self._requests[type(intent)]
        answer = handler(intent)
        return await answer if isawaitable(answer) else answer

    async def _handle_meanwhile(self, handler: Handler, intent: intents.Intent) -> None:
        answer: object = None
        with isolated(self._view, f"do {intent.__struct_config__.tag}", intent):
            answer = await handler(intent)
        self._answer(intent, answer)

    def _answer(self, intent: intents.Intent, answer: object) -> None:
        number = getattr(intent, "request", None)
        if number is not None:
            self._view.push([ops.Answer(number, answer)])

    def _table(self) -> Mapping[type[intents.Intent], Handler]:
        in_chat = self._in_chat
        return {
            intents.OpenChat: self._open,
            intents.SendPrompt: self._send_prompt,
            intents.StopTurn: self._stop,
            intents.Decide: self._decide,
            intents.AnswerQuestion: self._answer_question,
            intents.PreviousField: in_chat(
                lambda chat, it: previous_field(chat, it.block, it.digest, now())
            ),
            intents.Unqueue: in_chat(lambda chat, it: unqueue(chat, it.index, now(), edit=it.edit)),
            intents.ToggleBlock: in_chat(
                lambda chat, it: toggle(chat, it.block, now(), to_open=it.open)
            ),
            intents.ActOnBlock: self._act,
            intents.Choose: self._choose,
            intents.SetTrust: self._set_trust,
            intents.StartServer: lambda it: self._servers.get(it.server).process.request(
                ServerRequest.RESTART if it.restart else ServerRequest.START
            ),
            intents.QuitServer: lambda it: self._servers.get(it.server).process.request(
                ServerRequest.QUIT
            ),
            login.TerminalEnded: self._terminal_ended,
            query_intents.FileWritten: self._ledger.commands.user_writes,
        }

    @cached_property
    def _requests(self) -> Mapping[type[intents.Intent], Handler]:
        """The rest of the table; the first chat opens without it, and need not load it."""
        from eca_nvim.session.requests.handlers import request_handlers  # noqa: PLC0415

        return request_handlers(
            *(self._folders, self._chats, self._servers, self._view, self._ledger, self._recorder),
            *(self._files, *self._late, self._do),
            lambda: self._checkpoints,
        )

    def _in_chat(self, change: Callable[[Chat, Any], Changes]) -> Handler:
        """Return a handler that shows what an intent changes in its chat."""
        return lambda intent: self._chats.show(change(self._chat(intent.chat), intent))

    def _send_prompt(self, intent: intents.SendPrompt) -> None:
        chat = self._chat(intent.chat, intent.server, again=True)
        contexts = tuple(self._late.contexts.read(intent.contexts)) if intent.contexts else ()
        self._chats.show(send_prompt(chat, intent.text, now(), contexts, queue=intent.queue))

    def _stop(self, intent: intents.StopTurn) -> None:
        chat = self._chat(intent.chat)
        server = self._servers.of(chat)
        has_stopped = server.login.cancel(chat.id) or server.process.stay_down()
        if not has_stopped or chat.turn.state is not states.Turn.IDLE:
            self._chats.show(stop_turn(chat, now()))
            self._ledger.end_turns(chat)  # a login ends at once

    def _decide(self, intent: intents.Decide) -> None:
        """Answer a request that waits: what is approved is what the user saw."""
        chat = self._chat(intent.chat)
        self._chats.recheck_request(chat, intent.block)
        decided = (intent.block, intent.digest, intent.choice)
        self._chats.show(decide(chat, *decided, now(), intent.reason))

    def _answer_question(self, intent: intents.AnswerQuestion) -> None:
        """Answer a question; the log hides the answers that are secrets."""
        chat, text = self._chat(intent.chat), intent.text
        if text is not None and asks_secret(chat, intent.block):
            self._redactor.hide_typed(text)
        answered = (intent.block, intent.digest, text)
        self._chats.show(answer_question(chat, *answered, now(), intent.picked))

    def _act(self, intent: intents.ActOnBlock) -> None:
        """Open an image or a link."""
        chat = self._chat(intent.chat)
        if isinstance(block := chat.blocks.get(intent.block), ImageBlock):
            self._view.push([self._late.images.show(block)])
        else:
            self._chats.show(open_link(chat, intent.block, now()))

    def _choose(self, intent: intents.Choose) -> None:
        chat = self._chat(intent.chat)
        self._servers.of(chat).options.set(chat, intent.option, intent.value)

    def _set_trust(self, intent: intents.SetTrust) -> None:
        chat = self._chat(intent.chat)
        self._servers.of(chat).trust.choose(chat, trusted=intent.trusted)

    def _terminal_ended(self, intent: login.TerminalEnded) -> None:
        for server in self._servers:
            server.login.terminal_ended(intent)

    def default_server(self, name: str) -> None:
        """Set the server of chats that name none."""
        self._chats.default_server = name

    def configure(self, options: NewChatOptions, finding: Finding) -> None:
        """Set what new chats of each server, by its name, begin with, and where servers are."""
        self._servers.configured, self._servers.finding = options, finding

    def _open(self, opened: intents.OpenChat) -> None:
        chat = self._chat(opened.chat, opened.server, again=not opened.redraw)
        if opened.redraw:
            self._chats.show(redraw(chat, now()))
        server = self._servers.of(chat)
        if opened.server not in (None, server.name):
            line = f"this chat stays with {server.name}: :Eca new starts one with {opened.server}"
            self._view.push([ops.Notify("info", one_line(line))])
        self._persistence.restore(chat.id)
        server.process.ensure()

    def _chat(self, chat_id: str, server: str | None = None, *, again: bool = False) -> Chat:
        """Return the chat that the user uses, created if it is new; `again` as in `Chats.get`.

        server: the one that a new or empty chat goes to.
        """
        chat = self._chats.table.get(chat_id)
        if chat is None:
            chat = self._chats.get(chat_id, server, again=again)
            self._servers.of(chat).incoming.chat_created(chat)
        elif (
            server not in (None, chat.server_name)
            and chat.is_blank
            and chat.history is states.History.SETTLED  # no messages are being loaded
        ):
            self._servers.move(chat, server)
        self._servers.get(chat.server_name).incoming.last_used_chat = chat.id
        return chat

    def _used_files(self, chat_id: str, files: Sequence[call_details.FileUsed]) -> None:
        """Count files that only a look at the disk has found."""
        if (chat := self._chats.table.get(chat_id)) is not None:
            self._chats.apply(chat, files)
