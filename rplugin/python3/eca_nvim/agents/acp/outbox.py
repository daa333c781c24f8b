"""Outbox: turns what the user does into messages to the agent.

Rules kept here:
- Messages are queued in the order of the calls; no call waits.
- The answer to a prompt ends its turn. One that comes after a later prompt is dropped: the user has
  left its turn.
- A prompt is sent once the agent has answered what was set in its session before.
- A turn ends when what steers it is answered, too: what it has not taken is the next prompt.
- A stop is sent each time the user asks for it. Then the open requests of the session are answered.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from eca_nvim.agents.acp.faults import Faults, needs_login, one_line
from eca_nvim.agents.acp.prompt import PromptWriter
from eca_nvim.agents.acp.requests.dispatch import AgentRequests
from eca_nvim.agents.acp.requests.permissions import Permissions
from eca_nvim.agents.acp.session import Session, login_needed
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.agents.base import Emit
from eca_nvim.chat.vocabulary import agent_events, call_details, login, states, turn_events
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    NoticeReceived,
    SteerTaken,
    TitleChanged,
)
from eca_nvim.jsonrpc import REQUEST_CANCELLED
from eca_nvim.protocol.acp import DecodeError, decode_result, encode
from eca_nvim.protocol.acp.lifecycle import PromptCapabilities
from eca_nvim.protocol.acp.sessions import (
    NO_NEW_TURN,
    CancelTurn,
    PromptParams,
    SteerOutcome,
    SteerParams,
    StopReason,
)
from eca_nvim.transport import Connection, ConnectionClosed, PendingRequest, RemoteError

_ENDS: Final[Mapping[StopReason, turn_events.TurnEnded]] = {
    StopReason.CANCELLED: turn_events.TurnEnded(states.TurnEnd.STOPPED),
    StopReason.MAX_TOKENS: turn_events.TurnEnded(
        states.TurnEnd.LIMIT, "The answer reached the limit of tokens: your next prompt goes on."
    ),
    StopReason.MAX_TURN_REQUESTS: turn_events.TurnEnded(
        states.TurnEnd.LIMIT, "The turn reached the limit of requests: your next prompt goes on."
    ),
    StopReason.REFUSAL: turn_events.TurnEnded(
        states.TurnEnd.DECLINED, "The agent refused to go on."
    ),
}
"""How turns end; for other reasons they are done."""

MOST_TITLE: Final = 200
"""Characters of the first prompt that are the title of a chat, until the agent gives it one."""

logger = logging.getLogger(__name__)


class Outbox:
    """Sends messages to one agent process."""

    def __init__(
        self,
        connection: Connection,
        sessions: Sessions,
        requests: AgentRequests,
        permissions: Permissions,
        faults: Faults,
        emit: Emit,
    ) -> None:
        self._connection = connection
        self._sessions = sessions
        self._requests = requests
        self._permissions = permissions
        self._faults = faults
        self._emit = emit
        self.can_prompt = PromptCapabilities()
        """What prompts may contain; the agent says it when it is initialized."""

    def prompt(self, prompt: Prompt) -> None:
        """Send a prompt (session/prompt) once the chat has its session."""
        self._sessions.of_chat(prompt.chat_id).next_prompt = prompt
        self._sessions.when_open(prompt.chat_id, self._send)

    def steer(self, prompt: Prompt) -> None:
        """Send a message to the running turn (_session/steering), after the prompt that began it.

        It cannot be withdrawn: one that the agent has not answered yet is not sent again.
        """
        self._sessions.when_open(prompt.chat_id, partial(self._steer, prompt))

    def stop(self, chat_id: str) -> None:
        """Stop the turn (session/cancel); a prompt that waits for its session is not sent."""
        session = self._sessions.of_chat(chat_id)
        if not session.is_open or session.next_prompt is not None:
            session.next_prompt = None
            self._end(session, turn_events.TurnEnded(states.TurnEnd.STOPPED))
            self._sessions.stop_waiting(session)
            return
        session.is_stopping = session.turn_runs
        cancel = CancelTurn(session_id=session.id)
        with suppress(ConnectionClosed):
            self._connection.notify(cancel.method, encode(cancel))
        self._emit_all(self._requests.cancel(session))

    def withhold(self, chat_id: str) -> Prompt | None:
        """Return the prompt that is not sent yet, and forget it."""
        session = self._sessions.of_chat(chat_id)
        prompt, session.next_prompt = session.next_prompt, None
        return prompt

    def decide(
        self, chat_id: str, call_id: str, choice_id: str | None, shown: call_details.ToolCall | None
    ) -> None:
        """Answer the request for permission of a call; None rejects it."""
        session = self._sessions.of_chat(chat_id)
        self._emit_all(self._permissions.decide(session, call_id, choice_id, shown))

    def _send(self, session: Session, fault: str | None) -> None:
        if fault is None and session.options_asked:
            session.options_set = partial(self._send, session, None)
            return
        prompt, session.next_prompt = session.next_prompt, None
        if prompt is None:  # it was stopped
            return
        if fault is not None:
            self._end(session, turn_events.TurnEnded(states.TurnEnd.FAILED, fault))
            return
        title = one_line(prompt.text[:MOST_TITLE])
        if self._sessions.was_prompted(session, title) and session.inbox.title is None:
            self._emit([Addressed(session.chat_id, TitleChanged(title))])
        session.turn += 1
        session.turn_runs, session.is_stopping, session.is_replayed = True, False, False
        written = session.prompts.write(prompt, self.can_prompt)
        self._notice(session, *written.notices)
        params = PromptParams(session_id=session.id, prompt=written.blocks)
        on_answer = partial(self._answered, session, session.turn, prompt)
        with suppress(ConnectionClosed):
            self._connection.start_request(params.method, encode(params), on_answer)
        self._emit(
            [*session.inbox.turn_began(), Addressed(session.chat_id, turn_events.TurnBegan())]
        )

    def _steer(self, prompt: Prompt, session: Session, _fault: str | None) -> None:
        if not session.turn_runs or session.is_stopping or prompt in session.steers:
            return
        session.steers.append(prompt)
        written = session.prompts.write(prompt, self.can_prompt)
        self._notice(session, *written.notices)
        params = SteerParams(session_id=session.id, prompt=written.blocks, meta=NO_NEW_TURN)
        on_answer = partial(self._steered, session, session.turn, prompt)
        with suppress(ConnectionClosed):
            self._connection.start_request(params.method, encode(params), on_answer)

    def _steered(
        self, session: Session, turn: int, prompt: Prompt, pending: PendingRequest
    ) -> None:
        """Report a message that the agent has taken; the chat keeps any other."""
        session.steers.remove(prompt)
        outcome = SteerOutcome.PROMPT_REQUIRED
        try:
            outcome = decode_result(SteerParams, pending.answer()).outcome
        except (RemoteError, DecodeError) as fault:
            self._notice(session, self._faults.line("your prompt waits for the turn's end", fault))
        except ConnectionClosed:
            return
        if outcome not in (SteerOutcome.INJECTED, SteerOutcome.STARTED_NEW_TURN):
            session.prompts = PromptWriter()  # the agent has taken none of the contexts
        elif turn == session.turn and session.turn_runs and not session.is_forgotten:
            self._emit([Addressed(session.chat_id, SteerTaken(prompt.text))])
        if not session.steers and session.steers_answered is not None:
            then, session.steers_answered = session.steers_answered, None
            then()

    def _answered(
        self, session: Session, turn: int, prompt: Prompt, pending: PendingRequest
    ) -> None:
        if session.steers and not session.is_stopping:
            session.steers_answered = partial(self._answered, session, turn, prompt, pending)
            return
        end: turn_events.TurnEnded | login.LoginNeeded
        try:
            reason = decode_result(PromptParams, pending.answer()).stop_reason
            end = _ENDS.get(reason, turn_events.TurnEnded())
        except (RemoteError, DecodeError) as fault:
            reason, end = None, self._failure(session, prompt, fault)
        except ConnectionClosed:
            return
        if session.is_forgotten:
            return
        if turn != session.turn:
            logger.info("a turn that was left has ended")
            return
        session.turn_runs = session.is_stopping = False
        closed = self._requests.cancel(session)
        self._emit_all([*closed, *session.inbox.turn_ended(reason)])
        self._emit([end if isinstance(end, login.LoginNeeded) else Addressed(session.chat_id, end)])

    def _failure(
        self, session: Session, prompt: Prompt, fault: RemoteError | DecodeError
    ) -> turn_events.TurnEnded | login.LoginNeeded:
        if needs_login(fault) and not session.is_stopping:
            session.prompts = PromptWriter()  # the agent has taken none of the contexts
            self._sessions.was_refused(session)
            return login_needed(session.chat_id, prompt, self._faults.line("", fault))
        if isinstance(fault, RemoteError) and fault.code == REQUEST_CANCELLED:
            return turn_events.TurnEnded(states.TurnEnd.STOPPED)
        end = states.TurnEnd.STOPPED if session.is_stopping else states.TurnEnd.FAILED
        return turn_events.TurnEnded(end, self._faults.line("the prompt failed", fault))

    def _end(self, session: Session, end: turn_events.TurnEnded) -> None:
        self._emit([Addressed(session.chat_id, end)])

    def _notice(self, session: Session, *lines: str) -> None:
        self._emit_all([Addressed(session.chat_id, NoticeReceived(line)) for line in lines])

    def _emit_all(self, events: Sequence[agent_events.AgentEvent]) -> None:
        if events:
            self._emit(events)
