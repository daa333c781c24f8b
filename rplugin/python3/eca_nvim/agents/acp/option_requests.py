"""Option requests: sets options of sessions, and reports what the agent answers.

Rules kept here:
- An option keeps its value until the agent has set it; a refusal says why in one line.
- Options of a session are set one after the other: some agents lose one of two that they set at the
  same time (goose 1.34.0 then stays in the mode that does not ask).
- Whoever waits until all options of a session are set is called then, after the last answer was
  emitted: that may set the next one.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Final

from msgspec.structs import replace

from eca_nvim.agents.acp.faults import Faults
from eca_nvim.agents.acp.options import SetOption
from eca_nvim.agents.acp.session import Session
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.agents.base import Emit
from eca_nvim.chat.vocabulary.events import Addressed, ChatEvent
from eca_nvim.chat.vocabulary.options import OptionRefused, OptionsChanged, OptionValue
from eca_nvim.protocol.acp import DecodeError, decode_result, encode
from eca_nvim.protocol.acp.options import SetConfigOption
from eca_nvim.transport import Connection, ConnectionClosed, PendingRequest, RemoteError

GONE: Final = "the agent does not offer this option any more"


class OptionRequests:
    """Sets the options of the sessions of one agent process."""

    def __init__(
        self, connection: Connection, sessions: Sessions, faults: Faults, emit: Emit
    ) -> None:
        self._connection = connection
        self._sessions = sessions
        self._faults = faults
        self._emit = emit

    def set(self, chat_id: str, option_id: str, value: OptionValue, *, is_chosen: bool) -> None:
        """Set an option once the chat has its session; OptionsChanged or OptionRefused follows."""
        self._sessions.when_open(
            chat_id, partial(self._queue, option_id, value, is_chosen=is_chosen)
        )

    def _queue(
        self,
        option_id: str,
        value: OptionValue,
        session: Session,
        fault: str | None,
        *,
        is_chosen: bool,
    ) -> None:
        if fault is not None:
            self._report(session, OptionRefused(option_id, fault))
            return
        session.options_asked += 1
        send = partial(self._send, session, option_id, value, is_chosen=is_chosen)
        session.options_queued.append(send)
        if len(session.options_queued) == 1:
            send()

    def _send(
        self, session: Session, option_id: str, value: OptionValue, *, is_chosen: bool
    ) -> None:
        params = session.inbox.options.request(session.id, option_id, value)
        if params is None:
            self._report(session, OptionRefused(option_id, GONE))
            self._send_next(session)
            return
        if is_chosen:
            session.inbox.options.user_sets(option_id, value)
        on_answer = partial(self._answered, session, option_id, value, params)
        with suppress(ConnectionClosed):
            self._connection.start_request(params.method, encode(params), on_answer)

    def _answered(
        self,
        session: Session,
        option_id: str,
        value: OptionValue,
        params: SetOption,
        pending: PendingRequest,
    ) -> None:
        try:
            changed = _changed(session, option_id, value, params, pending.answer())
        except (RemoteError, DecodeError) as fault:
            session.inbox.options.refused(option_id)
            reason = self._faults.line("the agent refused it", fault)
            self._report(session, OptionRefused(option_id, reason))
        except ConnectionClosed:
            return
        else:
            self._report(session, changed or OptionRefused(option_id, GONE))
        self._send_next(session)

    def _send_next(self, session: Session) -> None:
        session.options_queued.popleft()
        session.option_answered()
        if session.options_queued:
            session.options_queued[0]()

    def _report(self, session: Session, event: ChatEvent) -> None:
        self._emit([Addressed(session.chat_id, event)])


def _changed(
    session: Session, option_id: str, value: OptionValue, params: SetOption, answer: object
) -> OptionsChanged | None:
    """Return the options after one was set. Raises DecodeError."""
    listed = None
    if isinstance(params, SetConfigOption):
        listed = decode_result(SetConfigOption, answer).config_options
    options = session.inbox.options
    changed = options.was_set(option_id, value) if listed is None else options.listed(listed)
    options.confirmed(option_id, value)
    return None if changed is None else replace(changed, is_answer=True)
