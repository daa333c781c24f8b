"""Option requests: sets options of sessions, and reports what the agent answers."""

from __future__ import annotations

from functools import partial
from typing import Final

from msgspec.structs import replace

from eca_nvim.agents.acp.link import Link, Refusal
from eca_nvim.agents.acp.session import Session, Setting
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.chat.vocabulary.options import OptionRefused, OptionsChanged
from eca_nvim.protocol.acp.options import OptionsResult

GONE: Final = "the agent does not offer this option any more"


class OptionRequests:
    """Sets the options of the sessions of one agent process.

    An option keeps its value until the agent has set it.
    """

    def __init__(self, link: Link, sessions: Sessions) -> None:
        self._link = link
        self._sessions = sessions

    def set(self, chat_id: str, setting: Setting) -> None:
        """Set an option once the chat has its session; OptionsChanged or OptionRefused follows."""
        self._sessions.when_open(chat_id, partial(self._queue, setting))

    def _queue(self, setting: Setting, session: Session, fault: str | None) -> None:
        if fault is not None:
            session.say(OptionRefused(setting.option_id, fault))
            return
        session.settings.append(setting)
        if len(session.settings) == 1:
            self._send(session, setting)
        # Else it waits: some agents lose one of two that they set at the same time (goose 1.34.0
        # then stays in the mode that does not ask).

    def _send(self, session: Session, setting: Setting) -> None:
        options = session.inbox.options
        params = options.request(session.id, setting.option_id, setting.value)
        if params is None:
            self._done(session, OptionRefused(setting.option_id, GONE))
            return
        if setting.is_chosen:
            options.user_sets(setting.option_id, setting.value)
        self._link.send(params, partial(self._answered, session, setting))

    def _answered(
        self, session: Session, setting: Setting, answer: OptionsResult | Refusal | None
    ) -> None:
        options, option_id, value = session.inbox.options, setting.option_id, setting.value
        if answer is not None and not isinstance(answer, OptionsResult):
            options.refused(option_id)
            reason = self._link.line("the agent refused it", answer)
            self._done(session, OptionRefused(option_id, reason))
            return
        listed = None if answer is None else answer.config_options
        changed = options.was_set(option_id, value) if listed is None else options.listed(listed)
        options.confirmed(option_id, value)
        told = changed and replace(changed, is_answer=True)
        self._done(session, told or OptionRefused(option_id, GONE))

    def _done(self, session: Session, event: OptionsChanged | OptionRefused) -> None:
        """Report what has come of a setting, and send the next one."""
        session.say(event)
        session.settings.popleft()
        session.go_on()
        if session.settings:
            self._send(session, session.settings[0])
