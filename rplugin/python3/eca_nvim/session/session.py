"""The session: handles the user's intents and performs the effects of its chats.

Rules kept here:
- Intents are handled one after the other; those that wait for the editor or the agent get a task.
- An exception in one of them is our own fault: it is logged with its traceback, reported in one
  line, and everything else goes on.
- The server starts when it is first needed; the chats outlive it.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.user_actions.approvals import is_still_approved
from eca_nvim.chat.user_actions.folding import redraw
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.effects import (
    AskTurn,
    Effect,
    ShowImage,
    TellAnswer,
    TellDecision,
    TellPrompt,
    TellStop,
)
from eca_nvim.chat.vocabulary.events import (
    AgentGone,
    ChatEvent,
    NoticeReceived,
    TurnEnded,
)
from eca_nvim.chat.vocabulary.intents import KeepDraft, KeepPrompt
from eca_nvim.chat.vocabulary.ops import Answer, Notify, SetInput, SetServer
from eca_nvim.chat.vocabulary.query_intents import ContentRequest
from eca_nvim.chat.vocabulary.review_intents import FileWritten
from eca_nvim.chat.vocabulary.states import Turn
from eca_nvim.disk.private import sweep
from eca_nvim.redaction import Redactor
from eca_nvim.review.ledger import Ledger
from eca_nvim.session.chat_intents import apply_intent
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.choices import Choices, NotOffered, selection
from eca_nvim.session.files.diff_tab import EditorFiles
from eca_nvim.session.files.surveys import Surveyor, run_in_thread
from eca_nvim.session.incoming import IncomingEvents
from eca_nvim.session.outgoing import HeldEffects, deliver
from eca_nvim.session.persistence import Persistence
from eca_nvim.session.requests.contexts import Contexts
from eca_nvim.session.requests.images import Images
from eca_nvim.session.secrets import hide_answers, without_secrets
from eca_nvim.session.server import MakeAgent, Server, ServerRequest, ServerState
from eca_nvim.session.trust import Trust
from eca_nvim.session.turn_checks import TurnChecks
from eca_nvim.session.view import View, isolated

if TYPE_CHECKING:
    from eca_nvim.session.requests.handlers import RequestHandlers


class Session:
    """One agent, its chats, one view."""

    def __init__(
        self,
        make_agent: MakeAgent,
        files: EditorFiles,
        view: View,
        settings: RenderSettings,
        persistence: Persistence,
        redactor: Redactor,
    ) -> None:
        self._persistence = persistence
        self._redactor = redactor
        self._view = view
        self._files = files
        self._intents_in, self._intents = anyio.create_memory_object_stream[intents.Intent](
            math.inf
        )
        self._ledger = Ledger()
        file_before = self._ledger.seen_before
        self._chats = Chats(view, settings, self._perform, self._record_event, file_before)
        self.resend_pending = self._chats.resend_pending
        self.follow = self._chats.follow
        self._choices = Choices(persistence)
        self._trust = Trust(self._chats, persistence)
        self._incoming = IncomingEvents(self._chats, self._choices, self._trust, view)
        self._server = Server(make_agent, self, self._incoming.receive)
        self._has_started = anyio.Event()
        self._held = HeldEffects()
        self._images = Images()
        self.surveyor = Surveyor(self._ledger.attribution, settings.folders)
        self._checks = TurnChecks(self._chats, lambda: self._server.agent)
        self._contexts = Contexts(settings, files, view)

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
            self._chats.apply(chat, [NoticeReceived(line, is_error=True)])
        return chat is not None

    def kill(self) -> None:
        """End everything at once, without the event loop; called as the host exits."""
        try:
            self._save_unsent_prompts()
            self._persistence.close()
        finally:
            self._server.kill()
            self.surveyor.stop()
            self._images.remove()
            self._ledger.remove()

    def _save_unsent_prompts(self) -> None:
        """Save the prompts that no agent has received: held, queued, or still an intent."""
        unsent: dict[str, list[str]] = {}
        for effect in self._held.take():
            if isinstance(effect, TellPrompt):
                unsent.setdefault(effect.chat, []).append(effect.text)
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
            tasks.start_soon(self._server.run)
            tasks.start_soon(self._chats.update_times)
            tasks.start_soon(self._persistence.keep_writing)
            tasks.start_soon(self._checks.run)
            tasks.start_soon(self.surveyor.run)
            tasks.start_soon(self._sweep)
            async for intent in self._intents:
                with isolated(self._view, f"do {intent.name}", intent):
                    self._handle(intent, tasks)
                if isinstance(intent, intents.AnsweredIntent) and intent.request is not None:
                    self._view.push([Answer(intent.request, None)])

    async def _sweep(self) -> None:
        """Remove folders of killed hosts, once the server has started: the user waits for that."""
        await self._has_started.wait()
        await run_in_thread(sweep)

    # --- the user -------------------------------------------------------------------------------

    def _handle(self, intent: intents.Intent, tasks: TaskGroup) -> None:
        if isinstance(intent, ContentRequest):
            self._requests.answer(intent)
            return
        if isinstance(intent, intents.SlowIntent):
            tasks.start_soon(self._requests.handle, intent)
            return
        match intent:
            case FileWritten():
                self._ledger.attribution.user_writes(intent)
            case intents.StartServer(restart, demo):
                self._server.request(
                    ServerRequest.RESTART if restart else ServerRequest.START, demo=demo
                )
            case intents.QuitServer():
                self._server.request(ServerRequest.QUIT)
            case intents.Choose():
                self._choose(self._chat(intent.chat), intent)
            case (
                intents.Attach()
                | intents.FrameDrawn()
                | intents.CallReturned()
                | KeepPrompt()
                | KeepDraft()
            ):
                raise TypeError(f"not for the session: {intent.name}")
            case intents.OpenChat(chat_id, wants_redraw):
                self._open(chat_id, wants_redraw=wants_redraw)
            case _:
                self._incoming.last_used_chat = intent.chat
                chat = self._chat(intent.chat)
                hide_answers(chat, intent, self._redactor)
                self._chats.show(apply_intent(chat, intent, self._chats, self._contexts.read))

    @cached_property
    def _requests(self) -> RequestHandlers:
        """The handlers of requests; the first chat opens without one, and need not load them."""
        from eca_nvim.session.requests.handlers import RequestHandlers  # noqa: PLC0415

        return RequestHandlers(
            self._chats,
            self._choices,
            self._server,
            self._view,
            self._ledger,
            self.surveyor,
            self._files,
            self._images,
            self._contexts,
        )

    def _open(self, chat_id: str, *, wants_redraw: bool) -> None:
        self._incoming.last_used_chat = chat_id
        if wants_redraw and chat_id in self._chats.table:
            self._chats.show(redraw(self._chats.get(chat_id), now()))
        self._chat(chat_id)
        self._persistence.restore(chat_id)
        self._server.ensure()

    def _chat(self, chat_id: str) -> Chat:
        if chat_id not in self._chats.table:
            self._incoming.chat_created(self._chats.get(chat_id))
        return self._chats.get(chat_id)

    def _choose(self, chat: Chat, intent: intents.Choose) -> None:
        if intent.what == "trust" and isinstance(intent.value, bool):
            self._trust.choose(chat, trusted=intent.value)
            return
        try:
            event = self._choices.choose(chat, intent.what, intent.value)
        except NotOffered as fault:
            self._view.push([Notify("warn", str(fault))])
            return
        self._chats.apply(chat, [event])
        if self._server.agent is not None:
            self._server.agent.choose(chat.id, selection(chat))

    # --- the agent ------------------------------------------------------------------------------

    def _record_event(self, chat: Chat, event: ChatEvent, call: ToolBlock | None) -> None:
        """Record in the ledger what an event says about files."""
        self._ledger.record(chat, event, call)
        if self._ledger.attribution.needs_survey:
            self.surveyor.request()

    def _perform(self, effect: Effect) -> None:
        """Perform an effect of a chat."""
        match effect:
            case AskTurn():
                self._checks.request(effect)
            case ShowImage():
                self._view.push([self._images.show(effect)])
            case TellAnswer(question, text) if self._trust.handle_answer(question, text):
                pass
            case TellDecision(allows=True, home=home, block=block):
                # An approval that does not wait for a survey must not overtake one that does.
                if self._ledger.is_watched(home, block) or self.surveyor.has_waiting:
                    self.surveyor.after_survey(partial(self._send_approval, effect))
                else:
                    self._ledger.approved(home, block)
                    self._deliver(effect)
            case TellPrompt():
                self.surveyor.request()
                self._deliver(effect)
            case _:
                self._deliver(effect)

    def _send_approval(self, effect: TellDecision, surveyed: bool) -> None:
        """Approve a call after a survey, unless the turn was stopped or the call has changed."""
        chat = self._chats.table.get(effect.home)
        if chat is not None and is_still_approved(chat, effect):
            with isolated(self._view, "approve the call", effect):
                self._ledger.approved(effect.home, effect.block, surveyed=surveyed)
                self._deliver(effect)

    def _deliver(self, effect: Effect) -> None:
        """Send an effect to the agent, or hold it until the agent is ready."""
        agent = self._server.agent
        match effect:
            case _ if agent is not None:
                deliver(agent, effect, lambda chat: selection(self._chats.get(chat)))
            case TellPrompt():
                self._held.hold(effect)
                self._server.ensure()
            case TellStop(chat):
                self._cancel_unsent(chat)
            case _:
                self._held.hold(effect)

    def _cancel_unsent(self, chat_id: str) -> None:
        """End a turn whose prompt was never sent."""
        if self._return_prompts(chat_id):
            self._chats.apply(self._chats.get(chat_id), [TurnEnded()])

    def _return_prompts(self, chat_id: str | None = None) -> bool:
        """Put the held prompts of a chat, or of all chats, back into the input."""
        prompts = [effect for effect in self._held.take(chat_id) if isinstance(effect, TellPrompt)]
        self._view.push([SetInput(prompt.chat, prompt.text) for prompt in prompts])
        return bool(prompts)

    def server_changed(self, state: ServerState, label: str) -> None:
        """Show the state; when the agent is ready, send what was held for it."""
        self._view.push([SetServer(state.value, label)])
        self._chats.server_changed(state.value, self._server.folder)
        if state is ServerState.STARTING:
            self._trust.server_starts(self._server.identity)
        else:
            self._has_started.set()
        if state is ServerState.READY:
            self._incoming.agent_ready()
            for effect in self._held.take():
                self._perform(effect)

    def server_slow(self, label: str, seconds: float) -> None:
        """Say in every chat that the server is not ready yet, and what the user can do."""
        line = (
            f"{label} is not ready after {seconds:g} s, still waiting: "
            ":Eca log may say why, :Eca restart starts it again"
        )
        for chat in self._chats:
            self._chats.apply(chat, [NoticeReceived(line)])

    def server_ended(self, ending: AgentExit) -> None:
        """End all turns and show the reason in every chat.

        Unsent prompts wait for the next agent if one is starting, else they return to the input.
        """
        ending = without_secrets(ending, self._redactor)
        if self._server.state is not ServerState.STARTING:
            self._return_prompts()
        waiting = self._held.keep_prompts()
        self._incoming.agent_ended()
        for chat in self._chats:
            if chat.id in waiting:
                continue
            if ending.expected and chat.turn.state is Turn.IDLE:
                self._chats.apply(chat, [NoticeReceived(ending.reason)])
            else:
                tail = () if ending.expected else ending.stderr_tail
                self._chats.apply(chat, [AgentGone(ending.reason, tail)])
        if not self._chats.table:
            self._view.push([Notify("error", ending.reason)])
