"""Outbox: turns what the user does into messages to the server.

Rules kept here:
- Messages are queued in the order of the calls; no call waits.
- The server does not remember a prompt's agent or variant: each prompt has the whole selection.
- A selection is sent only for a chat that was prompted: for other chats the server would lose it,
  and their first prompt has it anyway. The choice of a behavior names no chat and is sent at once.
- A method the server does not know is reported once, and its feature is missing; the rest goes on.
  Features that older generations lack are known beforehand (`dialect.py`), and are not used.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.agents.base import Emit
from eca_nvim.agents.eca.chat_ids import ChatIds
from eca_nvim.agents.eca.chat_options import ChatOptions, Selection
from eca_nvim.agents.eca.dialect import Dialect, Generation, Lack
from eca_nvim.agents.eca.inbox import Inbox
from eca_nvim.agents.eca.prompt import message
from eca_nvim.agents.eca.prompt.mentions import Mentions
from eca_nvim.agents.eca.prompt.message import (
    FittedContexts,
    SelectedPrompt,
    login_params,
    needs,
    prompt_params,
)
from eca_nvim.agents.eca.turns import Turns
from eca_nvim.chat.vocabulary import agent_events, completion, turn_events
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatEvent,
    ChatOpened,
    NoticeReceived,
    ProgressChanged,
)
from eca_nvim.chat.vocabulary.options import Ability, OptionValue
from eca_nvim.jsonrpc import METHOD_NOT_FOUND
from eca_nvim.protocol.eca import DecodeError, Notification, chat, decode_result, encode
from eca_nvim.protocol.eca.chats import ChatUpdateParams
from eca_nvim.transport import Connection, ConnectionClosed, PendingRequest, RemoteError

_CANCEL: Final = "cancel"
"""The text that cancels a login."""

logger = logging.getLogger(__name__)


class _Answer(Struct, frozen=True):
    """An answer to a prompt: the model that works on it, or why the server refused it."""

    model: str | None = None
    fault: str | None = None
    accepted: bool = True


class Outbox:
    """Sends messages to one server process."""

    def __init__(
        self,
        connection: Connection,
        emit: Emit,
        chats: ChatIds,
        inbox: Inbox,
        mentions: Mentions,
        dialect: Dialect,
        turns: Turns,
        options: ChatOptions,
    ) -> None:
        self._connection = connection
        self._emit = emit
        self._chats = chats
        self._inbox = inbox
        self._mentions = mentions
        self._dialect = dialect
        self._turns = turns
        self._options = options
        self._sent_selections: dict[str, Selection] = {}  # by our chat id, the selection last sent
        self._absent: set[str] = set()  # methods the server does not know
        self._last: dict[str, SelectedPrompt] = {}  # by our chat id, the prompt sent last
        self._stops: dict[str, SelectedPrompt | None] = {}  # until the server knows the chat
        self._fitted = FittedContexts()

    def prompt(self, prompt: Prompt) -> None:
        """Send a prompt (chat/prompt); its response names the model."""
        chosen = self._possible(prompt.chat_id, self._options.selection(prompt.chat_id))
        self._report_lacks(prompt)
        if completion.is_command(prompt.text) and (line := message.with_command(prompt.contexts)):
            self._emit_event(prompt.chat_id, NoticeReceived(line))
        contexts = self._fit(prompt.chat_id, prompt.contexts)
        fitted = SelectedPrompt(prompt.chat_id, prompt.text, contexts, chosen)
        params = prompt_params(fitted, self._chats, self._dialect, self._mentions)
        starts_chat = params.chat_id is None
        if starts_chat:
            self._emit_event(prompt.chat_id, ChatOpened())
        self._stops.pop(prompt.chat_id, None)
        self._chats.prompted(prompt.chat_id, starts_chat=starts_chat)
        self._sent_selections[prompt.chat_id] = chosen
        self._last[prompt.chat_id] = fitted
        self._turns.prompted(prompt.chat_id)
        self._ask(fitted, params, starts_chat=starts_chat)

    def _fit(self, chat_id: str, contexts: Sequence[Context]) -> tuple[Context, ...]:
        """Return what of contexts is sent, and report the rest."""
        sent, lines = self._fitted.fit(chat_id, contexts)
        for line in lines:
            self._emit_event(chat_id, NoticeReceived(line))
        return sent

    def answer_login(self, chat_id: str, text: str | None) -> None:
        """Answer the running login (chat/prompt); None sends the text that cancels it, once."""
        if text is None:
            if self._turns.is_leaving(chat_id):
                return
            self._turns.login_left(chat_id)
        self._turns.login_answered(chat_id, is_older=self._is_older)
        chosen = self._sent_selections.get(chat_id, Selection())
        answer = SelectedPrompt(chat_id, _CANCEL if text is None else text, selection=chosen)
        self._ask(answer, login_params(answer, self._chats, self._dialect))

    def _ask(
        self, prompt: SelectedPrompt, params: chat.PromptParams, *, starts_chat: bool = False
    ) -> None:
        with suppress(ConnectionClosed):
            on_answer = partial(self._report_answer, prompt, starts_chat)
            self._connection.start_request(params.method, encode(params), on_answer)

    def steer(self, chat_id: str, text: str, contexts: Sequence[Context] = ()) -> None:
        """Send text to the running turn (chat/promptSteer); it can only name files and folders.

        Other contexts that the text names are reported: the server would drop them silently.
        """
        if Ability.STEER not in self._dialect.abilities:
            return
        if line := message.with_steer(contexts):
            self._emit_event(chat_id, NoticeReceived(line))
        written = self._mentions.write_steer(text, self._fit(chat_id, contexts))
        self._notify(chat.PromptSteer(chat_id=self._chats.theirs(chat_id), message=written))

    def unsteer(self, chat_id: str) -> None:
        """Withdraw the steers the turn has not read (chat/promptSteerRemove)."""
        if Ability.STEER in self._dialect.abilities:
            self._notify(chat.PromptSteerRemove(chat_id=self._chats.theirs(chat_id)))

    def stop(self, chat_id: str) -> None:
        """Ask the server to stop the turn (chat/promptStop).

        An older server has no id for a chat before its first message: the stop waits for that.
        """
        self._turns.stopped(chat_id)
        self._stops[chat_id] = self._last.get(chat_id)
        self._send_stop(chat_id)

    def send_due_stops(self, events: Sequence[agent_events.AgentEvent]) -> None:
        """Send the stops that had to wait, unless these events say that the turn is over."""
        for event in events if self._stops else ():
            if isinstance(event, Addressed) and isinstance(event.event, turn_events.TurnEnded):
                self._stops.pop(event.chat_id or "", None)
        for chat_id, prompt in tuple(self._stops.items()):
            if prompt is self._last.get(chat_id):
                self._send_stop(chat_id)

    def _send_stop(self, chat_id: str) -> None:
        chats = self._chats
        theirs = chats.minted(chat_id) if self._is_older else chats.theirs(chat_id)
        lacks = self._dialect.lacks(Lack.STOP)
        if lacks or theirs is not None:
            del self._stops[chat_id]
        if lacks:
            self._emit_event(chat_id, turn_events.StopRefused(Lack.STOP.value))
        elif theirs is not None:
            self._notify(chat.PromptStop(chat_id=theirs))

    def approve(self, chat_id: str, call_id: str, *, remember: bool) -> None:
        """Let a call run (chat/toolCallApprove)."""
        saves = remember and not self._lacks(chat_id, Lack.REMEMBER)
        approval = chat.ToolCallApprove(
            chat_id=self._chats.theirs(chat_id),
            tool_call_id=call_id,
            save="session" if saves else None,
        )
        self._notify(approval)

    def reject(self, chat_id: str, call_id: str) -> None:
        """Reject a call (chat/toolCallReject)."""
        self._notify(chat.ToolCallReject(chat_id=self._chats.theirs(chat_id), tool_call_id=call_id))

    def set_option(self, chat_id: str, option_id: str, value: OptionValue) -> None:
        """Set an option of a chat, and send what has changed in its selection since then."""
        self._emit(self._options.set(chat_id, option_id, value))
        chosen = self._possible(chat_id, self._options.selection(chat_id))
        is_known = self._chats.was_prompted(chat_id)
        if not is_known and not self._dialect.speaks_of_behaviors:
            return
        sent = self._sent_selections.get(chat_id, Selection())
        self._sent_selections[chat_id] = chosen
        theirs = self._chats.theirs(chat_id)
        if chosen.agent and chosen.agent != sent.agent:
            self._send_agent(theirs, chosen.agent)
        if not is_known:
            return
        is_other = (chosen.model, chosen.variant) != (sent.model, sent.variant)
        if chosen.model and is_other and not self._is_older:
            variant = chosen.variant or None
            changed = chat.SelectedModelChanged(chat_id=theirs, model=chosen.model, variant=variant)
            self._notify(changed)
        if chosen.trust != sent.trust:
            self._update_trust(chat_id, trust=chosen.trust)

    def _possible(self, chat_id: str, chosen: Selection) -> Selection:
        """Return a selection without what the server does not support, and report that."""
        if chosen.agent and self._lacks(chat_id, Lack.AGENT):
            self._emit(self._options.set(chat_id, "agent", ""))
            chosen = replace(chosen, agent=None)
        return chosen

    def _send_agent(self, server_id: str, agent: str) -> None:
        if self._dialect.speaks_of_behaviors:
            self._notify(chat.SelectedBehaviorChanged(behavior=agent))
        else:
            self._notify(chat.SelectedAgentChanged(chat_id=server_id, agent=agent))

    def _update_trust(self, chat_id: str, *, trust: bool) -> None:
        params = ChatUpdateParams(chat_id=self._chats.theirs(chat_id), trust=trust)
        if params.method in self._absent:
            return
        with suppress(ConnectionClosed):
            on_answer = partial(self._report_update, chat_id)
            self._connection.start_request(params.method, encode(params), on_answer)

    def _notify(self, message: Notification) -> None:
        with suppress(ConnectionClosed):
            self._connection.notify(message.method, encode(message))

    def _report_answer(
        self, prompt: SelectedPrompt, starts_chat: bool, pending: PendingRequest
    ) -> None:
        chat_id = prompt.chat_id
        if starts_chat and prompt is not self._last[chat_id] and self._chats.is_replaced(chat_id):
            self._leave_chat(chat_id, pending)
            return
        try:
            result = decode_result(chat.PromptParams, pending.answer())
        except RemoteError as fault:
            self._chats.answered(chat_id, None)
            answer = _Answer(fault=_line(chat.PromptParams.method, fault), accepted=False)
        except DecodeError as fault:
            logger.warning("unexpected answer to a prompt: %s", fault)
            self._chats.answered(chat_id, None)
            answer = _Answer()
        except ConnectionClosed:
            return
        else:
            self._dialect.read_answer(result)
            answer = self._read_answer(chat_id, prompt.selection, result)
            self._report_lacks(prompt)
            if self._is_older and result.status is chat.PromptStatus.LOGIN:
                self._emit_event(chat_id, turn_events.LoginBegan())
            if answer.accepted and result.result_message:
                self._emit_event(chat_id, ProgressChanged(result.result_message))
        held = self._inbox.read_held()
        self._emit(held)
        self.send_due_stops(held)
        self._report_result(chat_id, answer)
        if self._stops.get(chat_id) is prompt:
            self._stop_answered(chat_id, answer)

    def _leave_chat(self, chat_id: str, pending: PendingRequest) -> None:
        """Stop the server's chat of a prompt that was stopped and replaced by a newer one."""
        try:
            theirs = decode_result(chat.PromptParams, pending.answer()).chat_id
        except (RemoteError, DecodeError):
            theirs = None
        except ConnectionClosed:
            return
        self._chats.leave(chat_id, theirs)
        if theirs is not None and not self._dialect.lacks(Lack.STOP):
            self._notify(chat.PromptStop(chat_id=theirs))
        self._emit(self._inbox.read_held())

    def _report_result(self, chat_id: str, answer: _Answer) -> None:
        """Emit the model that answers, and what the response means for the turn."""
        self._options.answered(chat_id, answer.model)
        if changed := self._options.changed():
            self._emit(changed)
        for event in self._turns.answered(chat_id, accepted=answer.accepted, fault=answer.fault):
            self._emit_event(chat_id, event)

    def _stop_answered(self, chat_id: str, answer: _Answer) -> None:
        """Send the stop that waited for this prompt's response, unless the prompt was refused."""
        if answer.accepted:
            self._send_stop(chat_id)
        else:
            del self._stops[chat_id]

    def _read_answer(self, chat_id: str, chosen: Selection, result: chat.PromptResult) -> _Answer:
        """Read the response to a prompt that was sent with the selection `chosen`.

        The server shows an error in the chat before the response, unless it refuses the chat id.
        The answering model is ignored if the user has selected another one meanwhile.
        """
        failed = result.status is chat.PromptStatus.ERROR
        is_refused = failed and not self._is_older
        silent = self._chats.answered(chat_id, None if is_refused else result.chat_id)
        if not failed:
            is_news = self._sent_selections[chat_id].model == chosen.model
            return _Answer(model=result.model if is_news else None)
        fault = "the server refused the prompt without a reason" if silent else None
        return _Answer(fault=result.result_message or fault, accepted=False)

    def _report_update(self, chat_id: str, pending: PendingRequest) -> None:
        try:
            pending.answer()
        except RemoteError as fault:
            method = ChatUpdateParams.method
            if fault.code == METHOD_NOT_FOUND:
                self._absent.add(method)
                notice = f"{_line(method, fault)}; trust is sent with the next prompt"
                self._emit_event(chat_id, NoticeReceived(notice))
            else:
                self._emit_event(chat_id, NoticeReceived(_line(method, fault), is_error=True))
        except ConnectionClosed:
            return

    @property
    def _is_older(self) -> bool:
        return self._dialect.generation < Generation.AGENTS

    def _report_lacks(self, prompt: Prompt) -> None:
        """Report the kinds of contexts in a prompt that the server does not accept."""
        for lack in needs(prompt.contexts, self._mentions.resources):
            self._lacks(prompt.chat_id, lack)

    def _lacks(self, chat_id: str, lack: Lack) -> bool:
        """Return whether the server lacks a feature, and report it the first time."""
        lacks = self._dialect.lacks(lack)
        if lacks and self._dialect.is_first_report(lack):
            self._emit_event(chat_id, NoticeReceived(lack.value))
        return lacks

    def _emit_event(self, chat_id: str, event: ChatEvent) -> None:
        self._emit([Addressed(chat_id, event)])


def _line(method: str, fault: RemoteError) -> str:
    """Describe a failed request in one line."""
    if fault.code == METHOD_NOT_FOUND:
        return f"this server does not know {method}"
    return f"{method} failed: {one_line(str(fault))}"


def one_line(text: str) -> str:
    """Put a text from the server on one line."""
    return " ".join(text.split())
