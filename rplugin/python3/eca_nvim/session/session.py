"""The session: what the user does, and what each of it leads to.

Rules kept here:
- Intents are taken one after the other; what must wait for the editor gets a task of its own.
- A fault in one of them is our own: it is logged with its traceback, told in one line, and
  everything else goes on.
- The server starts when it is first needed; whatever becomes of it, the chats stay.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias

import anyio
from anyio.abc import TaskGroup

from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.handlers.questions import answer_question
from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.changes import Changes
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.user_actions.approvals import approve, is_still_approved, reject
from eca_nvim.chat.user_actions.folding import act, redraw, toggle
from eca_nvim.chat.user_actions.login import answer_login
from eca_nvim.chat.user_actions.prompts import send_prompt, stop_turn, unqueue
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.contexts import Context, MalformedContext, parse_context
from eca_nvim.chat.vocabulary.effects import (
    AskTurn,
    Effect,
    ShowImage,
    TellAnswer,
    TellApproval,
    TellPrompt,
    TellStop,
)
from eca_nvim.chat.vocabulary.events import (
    AgentGone,
    AgentTurn,
    ChatEvent,
    NoticeReceived,
    PromptAnswered,
    TurnChanged,
)
from eca_nvim.chat.vocabulary.history_intents import HistoryIntent
from eca_nvim.chat.vocabulary.intents import KeepDraft, KeepPrompt
from eca_nvim.chat.vocabulary.ops import Answer, Notify, OpenExternal, SetInput, SetServer
from eca_nvim.chat.vocabulary.query_intents import Grep
from eca_nvim.chat.vocabulary.review_intents import FileWritten, ReviewIntent
from eca_nvim.chat.vocabulary.states import Turn
from eca_nvim.disk.private import sweep
from eca_nvim.redaction import Redactor
from eca_nvim.review.ledger import Ledger
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.choices import Choices, NotOffered, selection
from eca_nvim.session.files.diff_tab import Files
from eca_nvim.session.files.surveys import Surveyor, in_thread
from eca_nvim.session.incoming import Hearing
from eca_nvim.session.outgoing import Held, deliver
from eca_nvim.session.persistence import Keeper
from eca_nvim.session.requests.chat_content import ReadIntent, read
from eca_nvim.session.requests.images import Images, StrangeImage
from eca_nvim.session.requests.review import Reviews
from eca_nvim.session.requests.saved_chats import Histories
from eca_nvim.session.requests.search import search
from eca_nvim.session.secrets import hide_answers, without_secrets
from eca_nvim.session.server import MakeAgent, Server, ServerState, Wish
from eca_nvim.session.trust import Trust
from eca_nvim.session.turn_checks import TurnChecks
from eca_nvim.session.view import View, isolated

log = logging.getLogger(__name__)

ChatIntent: TypeAlias = (
    intents.SendPrompt
    | intents.Unqueue
    | intents.StopTurn
    | intents.Approve
    | intents.Reject
    | intents.AnswerQuestion
    | intents.AnswerLogin
    | intents.ToggleBlock
    | intents.ActOnBlock
)
"""Intents that only change a chat."""


class Session:
    """One agent, its chats, one view."""

    def __init__(
        self,
        make_agent: MakeAgent,
        files: Files,
        view: View,
        settings: RenderSettings,
        keeper: Keeper,
        redactor: Redactor,
    ) -> None:
        self._keeper = keeper
        self._redactor = redactor
        self._view = view
        self._inbox_in, self._inbox = anyio.create_memory_object_stream[intents.Intent](math.inf)
        self._ledger = Ledger()
        self._chats = Chats(view, settings, self._tell, self._witness, self._ledger.seen_before)
        self.tell_pending_whole = self._chats.tell_pending_whole
        self.follow = self._chats.follow
        self._choices = Choices(keeper)
        self._trust = Trust(self._chats, keeper)
        self._hearing = Hearing(self._chats, self._choices, self._trust, view)
        self._server = Server(make_agent, self, self._hearing.hear)
        self._histories = Histories(self._chats, self._choices, self._server, view)
        self._settled = anyio.Event()
        self._held = Held()
        self._images = Images()
        self.surveyor = Surveyor(self._ledger.attribution, settings.folders)
        self._checks = TurnChecks(self._chats, lambda: self._server.agent)
        self._reviews = Reviews(self._ledger, self.surveyor, self._chats, files, view)

    def receive(self, intent: intents.Intent) -> None:
        """Take an intent; it is handled when those before it are.

        What is to be kept is so at once: it may be Neovim's last word.
        """
        match intent:
            case KeepPrompt(text):
                self._keeper.prompt(text)
            case KeepDraft(chat, text):
                self._keeper.draft(chat, text)
            case _:
                self._inbox_in.send_nowait(intent)

    def warn(self, chat_id: str, line: str) -> bool:
        """Say in a chat that something went wrong; false when there is no such chat."""
        chat = self._chats.table.get(chat_id)
        if chat is not None:
            self._chats.apply(chat, [NoticeReceived(line, is_error=True)])
        return chat is not None

    def kill(self) -> None:
        """End all that was started at once, without the event loop."""
        try:
            self._keep_unsent()
            self._keeper.close()
        finally:
            self._server.kill()
            self.surveyor.stop()
            self._images.remove()
            self._ledger.remove()

    def _keep_unsent(self) -> None:
        """Keep the prompts that no agent has heard: held back, queued, or not even taken up."""
        unsent: dict[str, list[str]] = {}
        for effect in self._held.take():
            if isinstance(effect, TellPrompt):
                unsent.setdefault(effect.chat, []).append(effect.text)
        for chat in self._chats:
            unsent.setdefault(chat.id, []).extend(entry.text for entry in chat.queue)
        with suppress(anyio.WouldBlock, anyio.EndOfStream, anyio.ClosedResourceError):
            while True:
                intent = self._inbox.receive_nowait()
                if isinstance(intent, intents.SendPrompt):
                    unsent.setdefault(intent.chat, []).append(intent.text)
        for chat_id, prompts in unsent.items():
            self._keeper.unsent(chat_id, prompts)

    async def run(self) -> None:
        """Serve until cancelled."""
        self._keeper.load()
        with self._inbox, self._inbox_in:
            await self._serve()

    async def _serve(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._server.run)
            tasks.start_soon(self._chats.keep_time)
            tasks.start_soon(self._keeper.keep_writing)
            tasks.start_soon(self._checks.run)
            tasks.start_soon(self.surveyor.run)
            tasks.start_soon(self._sweep)
            async for intent in self._inbox:
                with isolated(self._view, f"do {intent.name}", intent):
                    self._handle(intent, tasks)
                if isinstance(intent, intents.AnsweredIntent) and intent.request is not None:
                    self._view.push([Answer(intent.request, None)])

    async def _sweep(self) -> None:
        """Remove what killed hosts left; not before the server is up, which the user waits for."""
        await self._settled.wait()
        await in_thread(sweep)

    # --- the user -------------------------------------------------------------------------------

    def _handle(self, intent: intents.Intent, tasks: TaskGroup) -> None:
        if isinstance(intent, ReadIntent):
            read(intent, self._chats, self._images, self._view)
            return
        if isinstance(intent, Grep | HistoryIntent | ReviewIntent | intents.RequestDiff):
            tasks.start_soon(self._work, intent)
            return
        match intent:
            case FileWritten():
                self._ledger.attribution.written(intent)
            case intents.StartServer(restart, demo):
                self._server.wish(Wish.RESTART if restart else Wish.START, demo=demo)
            case intents.QuitServer():
                self._server.wish(Wish.QUIT)
            case intents.Choose():
                self._choose(self._chat(intent.chat), intent)
            case (
                intents.Attach()
                | intents.FrameDrawn()
                | intents.CallReturned()
                | KeepPrompt()
                | KeepDraft()
            ):
                raise TypeError("not for this")
            case intents.OpenChat(chat, wants_redraw):
                self._open(chat, wants_redraw=wants_redraw)
            case _:
                self._hearing.attending = intent.chat
                self._chats.show(self._changes(self._chat(intent.chat), intent))

    async def _work(
        self, intent: Grep | HistoryIntent | ReviewIntent | intents.RequestDiff
    ) -> None:
        """Do what takes a while, beside what comes next."""
        if isinstance(intent, Grep):
            await search(intent, self._chats, self._view)
        elif isinstance(intent, HistoryIntent):
            await self._histories.do(intent)
        else:
            await self._reviews.do(intent)

    def _changes(self, chat: Chat, intent: ChatIntent) -> Changes:
        hide_answers(chat, intent, self._redactor)
        match intent:
            case intents.SendPrompt(_, text, contexts, queue):
                return send_prompt(chat, text, now(), tuple(self._read(contexts)), queue=queue)
            case intents.Unqueue(_, index, edit):
                return unqueue(chat, index, now(), edit=edit)
            case intents.StopTurn():
                return stop_turn(chat, now())
            case intents.Approve(_, block, digest, remember):
                self._chats.look_again(chat, block)
                return approve(chat, block, digest, now(), remember=remember)
            case intents.Reject(_, block, digest, reason):
                return reject(chat, block, digest, now(), reason)
            case intents.AnswerQuestion(_, block, digest, text):
                return answer_question(chat, block, digest, text, now())
            case intents.AnswerLogin(_, text):
                return answer_login(chat, text, now())
            case intents.ToggleBlock(_, block, to_open):
                return toggle(chat, block, now(), to_open=to_open)
            case intents.ActOnBlock(_, block):
                return act(chat, block, now())

    def _open(self, chat_id: str, *, wants_redraw: bool) -> None:
        self._hearing.attending = chat_id
        if wants_redraw and chat_id in self._chats.table:
            self._chats.show(redraw(self._chats.get(chat_id), now()))
        self._chat(chat_id)
        self._keeper.restore(chat_id)
        self._server.ensure()

    def _chat(self, chat_id: str) -> Chat:
        if chat_id not in self._chats.table:
            self._hearing.introduce(self._chats.get(chat_id))
        return self._chats.get(chat_id)

    def _read(self, tables: Sequence[Mapping[str, object]]) -> Iterator[Context]:
        """Read contexts; one that makes no sense is told and left out."""
        for table in tables:
            try:
                yield parse_context(table)
            except MalformedContext as fault:
                self._view.push([Notify("warn", f"a context is not sent, {fault}")])

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

    def _witness(self, chat: Chat, event: ChatEvent, call: ToolBlock | None) -> None:
        """Have the ledger look at what an event is about."""
        self._ledger.witness(chat, event, call)
        if self._ledger.attribution.needs_survey:
            self.surveyor.want()

    def _tell(self, effect: Effect) -> None:
        """Do what a chat wants done outside of it."""
        match effect:
            case AskTurn():
                self._checks.want(effect)
            case ShowImage(media_type, content):
                self._show_image(media_type, content)
            case TellAnswer(question, text) if self._trust.hears(question, text):
                pass
            case TellApproval(home=home, block=block):
                if self._ledger.is_watched(home, block) or self.surveyor.holds:
                    self.surveyor.when_fresh(partial(self._let_run, effect))
                else:
                    self._ledger.approved(home, block)
                    self._deliver(effect)
            case TellPrompt():
                self.surveyor.want()
                self._deliver(effect)
            case _:
                self._deliver(effect)

    def _let_run(self, effect: TellApproval, surveyed: bool) -> None:
        """Tell the agent that a call may run, unless it was stopped or is another meanwhile."""
        chat = self._chats.table.get(effect.home)
        if chat is not None and is_still_approved(chat, effect):
            with isolated(self._view, "let the call run", effect):
                self._ledger.approved(effect.home, effect.block, surveyed=surveyed)
                self._deliver(effect)

    def _deliver(self, effect: Effect) -> None:
        """Tell the agent, at once or when it is ready."""
        agent = self._server.agent
        match effect:
            case _ if agent is not None:
                deliver(agent, effect, lambda chat: selection(self._chats.get(chat)))
            case TellPrompt():
                self._held.hold(effect)
                self._server.ensure()
            case TellStop(chat):
                self._unsend(chat)
            case _:
                self._held.hold(effect)

    def _show_image(self, media_type: str, content: bytes) -> None:
        try:
            path = self._images.write(media_type, content)
        except (OSError, StrangeImage) as fault:
            self._view.push([Notify("error", f"cannot open the image: {fault}")])
        else:
            self._view.push([OpenExternal(str(path))])

    def _unsend(self, chat_id: str) -> None:
        """End a turn that no agent has heard of."""
        if self._give_back(chat_id):
            unsent = (PromptAnswered(accepted=True), TurnChanged(AgentTurn.IDLE))
            self._chats.apply(self._chats.get(chat_id), unsent)

    def _give_back(self, chat_id: str | None = None) -> bool:
        """Put the prompts of a chat, or of all, that no agent has heard back into the input."""
        prompts = [effect for effect in self._held.take(chat_id) if isinstance(effect, TellPrompt)]
        self._view.push([SetInput(prompt.chat, prompt.text) for prompt in prompts])
        return bool(prompts)

    def server_changed(self, state: ServerState, label: str) -> None:
        """Show the state, and say to an agent that is ready what waited for it."""
        self._view.push([SetServer(state.value, label)])
        self._chats.server_changed(state.value, self._server.folder)
        if state is ServerState.STARTING:
            self._trust.begin(self._server.identity)
        else:
            self._settled.set()
        if state is ServerState.READY:
            self._hearing.agent_ready()
            for effect in self._held.take():
                self._tell(effect)

    def server_silent(self, label: str, seconds: float) -> None:
        """Say in every chat that nothing has come of the server yet, and what can be done."""
        told = f"{label} is not ready after {seconds:g} s and is waited for"
        line = f"{told}: :Eca log may tell why, :Eca restart starts it again"
        for chat in self._chats:
            self._chats.apply(chat, [NoticeReceived(line)])

    def server_ended(self, ending: AgentExit) -> None:
        """Show the end in every chat; no turn goes on.

        Prompts it has not heard wait for the agent that follows; without one they come back.
        """
        ending = without_secrets(ending, self._redactor)
        if self._server.state is not ServerState.STARTING:
            self._give_back()
        unheard = self._held.for_the_next()
        self._hearing.agent_gone()
        for chat in self._chats:
            if chat.id in unheard:
                continue
            if ending.expected and chat.turn.state is Turn.IDLE:
                self._chats.apply(chat, [NoticeReceived(ending.reason)])
            else:
                tail = () if ending.expected else ending.stderr_tail
                self._chats.apply(chat, [AgentGone(ending.reason, tail)])
        if not self._chats.table:
            self._view.push([Notify("error", ending.reason)])
