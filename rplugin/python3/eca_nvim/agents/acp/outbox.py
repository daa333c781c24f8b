"""Outbox: turns what the user does into messages to the agent; no call waits."""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import anyio
from msgspec.structs import replace

from eca_nvim.agents.acp.link import Link, Refusal, needs_login
from eca_nvim.agents.acp.prompt import PromptWriter
from eca_nvim.agents.acp.session import Session, Setting, TurnState
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary import effects, events, states, turn_events
from eca_nvim.chat.vocabulary.options import OptionRefused, OptionsChanged
from eca_nvim.jsonrpc import REQUEST_CANCELLED
from eca_nvim.protocol.acp import encode, sessions
from eca_nvim.protocol.acp.content import ContentBlock
from eca_nvim.protocol.acp.lifecycle import PromptCapabilities
from eca_nvim.protocol.acp.options import OptionsResult
from eca_nvim.protocol.acp.sessions import SteerOutcome, StopReason
from eca_nvim.transport import PendingRequest, RemoteError

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

NOT_OFFERED: Final = "the agent does not offer this option any more"
SILENT: Final = "the agent has not answered"
SETTING_SECONDS: Final = 10.0
"""Time for an agent to set an option: the next option and the next prompt wait for it."""
MOST_TITLE: Final = 200
"""Characters of the first prompt that are the title of a chat, until the agent gives it one."""

logger = logging.getLogger(__name__)


class Outbox:
    """Sends prompts, steers, stops and options to one agent process."""

    def __init__(
        self, link: Link, sessions: Sessions, cancel_requests: Callable[[Session], None]
    ) -> None:
        self._link = link
        self._sessions = sessions
        self._cancel_requests = cancel_requests
        self.can_prompt = PromptCapabilities()
        """What prompts may contain; the agent says it when it is initialized."""

    def prompt(self, prompt: effects.Prompt) -> None:
        """Send a prompt (session/prompt) once the chat has its session."""
        self._sessions.of_chat(prompt.chat_id).next_prompt = prompt
        self._sessions.when_open(prompt.chat_id, self._send)

    def steer(self, prompt: effects.Prompt) -> None:
        """Send a message to the running turn (_session/steering), after the prompt that began it.

        It cannot be withdrawn: one that the agent has not answered yet is not sent again.
        """
        self._sessions.when_open(prompt.chat_id, partial(self._steer, prompt))

    def stop(self, chat_id: str) -> None:
        """Stop the turn (session/cancel); a prompt that waits for its session is not sent."""
        session = self._sessions.of_chat(chat_id)
        if not session.is_open or session.next_prompt is not None:
            session.next_prompt = None
            session.say(turn_events.TurnEnded(states.TurnEnd.STOPPED))
            self._sessions.give_up(chat_id)
            if session.settings:
                self._give_up(session, session.settings[0])
            return
        if session.turn is TurnState.RUNNING:
            session.turn = TurnState.STOPPING
        cancel = sessions.CancelTurn(session_id=session.id)
        self._link.connection.notify(cancel.method, encode(cancel))  # each time the user asks
        self._cancel_requests(session)
        self._go_on(session)

    def withhold(self, chat_id: str) -> effects.Prompt | None:
        """Return the prompt that waits for its session or for an option, and forget it."""
        session = self._sessions.of_chat(chat_id)
        prompt, session.next_prompt = session.next_prompt, None
        return prompt

    def set_option(self, chat_id: str, setting: Setting) -> None:
        """Set an option once the chat has its session; OptionsChanged or OptionRefused follows.

        It keeps its value until the agent has set it.
        """
        self._sessions.when_open(chat_id, partial(self._queue_setting, setting))

    def _send(self, session: Session, fault: str | None) -> None:
        if fault is None and not session.is_set:
            session.when_set = partial(self._send, session, None)
            return
        prompt, session.next_prompt = session.next_prompt, None
        if prompt is None:  # it was stopped
            return
        if fault is not None:
            session.say(turn_events.TurnEnded(states.TurnEnd.FAILED, fault))
            return
        title = one_line(prompt.text[:MOST_TITLE])
        if self._sessions.bind(session, title) and session.inbox.title is None:
            session.say(events.TitleChanged(title))
        session.prompt_number += 1
        session.steers.clear()  # those of a turn that the user has left may never be answered
        session.when_steered = None
        session.turn, session.past.is_told = TurnState.RUNNING, False
        params = sessions.PromptParams(session.id, self._written(session, prompt))
        self._link.send(params, partial(self._answered, session, session.prompt_number, prompt))
        session.say(*session.inbox.turn_began(), turn_events.TurnBegan())

    def _written(self, session: Session, prompt: effects.Prompt) -> tuple[ContentBlock, ...]:
        blocks, notices = session.prompts.write(prompt, self.can_prompt)
        session.say(*map(events.NoticeReceived, notices))
        return blocks

    def _steer(self, prompt: effects.Prompt, session: Session, _fault: str | None) -> None:
        if session.turn is not TurnState.RUNNING or prompt in session.steers:
            return
        session.steers.append(prompt)
        blocks = self._written(session, prompt)
        params = sessions.SteerParams(session.id, blocks, meta=sessions.NO_NEW_TURN)
        self._link.send(params, partial(self._steered, session, session.prompt_number, prompt))

    def _steered(
        self,
        session: Session,
        number: int,
        prompt: effects.Prompt,
        answer: sessions.SteerResult | Refusal,
    ) -> None:
        """Report a message that the agent has taken; the chat keeps any other."""
        if number == session.prompt_number:
            session.steers.remove(prompt)
        outcome = SteerOutcome.PROMPT_REQUIRED
        if isinstance(answer, sessions.SteerResult):
            outcome = answer.outcome
        else:
            line = self._link.line("your prompt waits for the turn's end", answer)
            session.say(events.NoticeReceived(line))
        if outcome not in (SteerOutcome.INJECTED, SteerOutcome.STARTED_NEW_TURN):
            session.prompts = PromptWriter()  # the agent has taken none of the contexts
        elif number == session.prompt_number and session.turn is not TurnState.NONE:
            session.say(events.SteerTaken(prompt.text))
        if not session.steers:
            self._go_on(session)

    def _go_on(self, session: Session) -> None:
        """Handle the end of a turn that waits no more for what steers it."""
        then, session.when_steered = session.when_steered, None
        if then is not None:
            then()

    def _answered(
        self,
        session: Session,
        number: int,
        prompt: effects.Prompt,
        answer: sessions.PromptResult | Refusal,
    ) -> None:
        if session.steers and session.turn is not TurnState.STOPPING:
            # What steers the turn is answered first: what it has not taken is the next prompt.
            session.when_steered = partial(self._answered, session, number, prompt, answer)
            return
        if number != session.prompt_number:
            logger.info("a turn that the user has left has ended")
            return
        was, session.turn = session.turn, TurnState.NONE
        with self._link.one_batch():
            self._cancel_requests(session)
            session.say(*session.inbox.turn_ended())
        if isinstance(answer, sessions.PromptResult):
            session.say(_ENDS.get(answer.stop_reason, turn_events.TurnEnded()))
        elif needs_login(answer) and was is not TurnState.STOPPING:
            session.prompts = PromptWriter()  # the agent has taken none of the contexts
            self._sessions.unbind(session)
            session.want_login(prompt, self._link.line("", answer))
        elif isinstance(answer, RemoteError) and answer.code == REQUEST_CANCELLED:
            session.say(turn_events.TurnEnded(states.TurnEnd.STOPPED))
        else:
            end = states.TurnEnd.STOPPED if was is TurnState.STOPPING else states.TurnEnd.FAILED
            session.say(turn_events.TurnEnded(end, self._link.line("the prompt failed", answer)))

    # --- options ----------------------------------------------------------------------------------

    def _queue_setting(self, setting: Setting, session: Session, fault: str | None) -> None:
        if fault is not None:
            session.say(OptionRefused(setting.option_id, fault))
            return
        session.settings.append(setting)
        if len(session.settings) == 1:
            self._send_setting(session, setting)
        # Else it waits: some agents lose one of two that they set at the same time (goose 1.34.0
        # then stays in the mode that does not ask).

    def _send_setting(self, session: Session, setting: Setting) -> None:
        options = session.inbox.options
        params = options.request(session.id, setting.option_id, setting.value)
        if params is None:
            self._setting_done(session, OptionRefused(setting.option_id, NOT_OFFERED))
            return
        if setting.is_chosen:
            options.user_sets(setting.option_id, setting.value)
        request = self._link.send(params, partial(self._setting_answered, session, setting))
        self._link.tasks.start_soon(self._watch, session, setting, request)

    async def _watch(self, session: Session, setting: Setting, request: PendingRequest) -> None:
        with anyio.move_on_after(SETTING_SECONDS) as wait:
            await request.settled()
        if wait.cancelled_caught:
            self._give_up(session, setting)

    def _give_up(self, session: Session, setting: Setting) -> None:
        """Wait no more for an answer; the request stays, as the agent may set the option yet."""
        if _is_sent(session, setting):
            session.inbox.options.refused(setting.option_id)
            self._setting_done(session, OptionRefused(setting.option_id, SILENT))

    def _setting_answered(
        self, session: Session, setting: Setting, answer: OptionsResult | Refusal | None
    ) -> None:
        options, option_id, value = session.inbox.options, setting.option_id, setting.value
        is_late = not _is_sent(session, setting)
        if answer is not None and not isinstance(answer, OptionsResult):
            if is_late:
                return
            options.refused(option_id)
            reason = self._link.line("the agent refused it", answer)
            self._setting_done(session, OptionRefused(option_id, reason))
            return
        listed = None if answer is None else answer.config_options
        changed = options.was_set(option_id, value, listed)
        if is_late:  # the agent has set it all the same
            session.say(*filter(None, [changed]))
            return
        told = changed and replace(changed, is_answer=True)
        self._setting_done(session, told or OptionRefused(option_id, NOT_OFFERED))

    def _setting_done(self, session: Session, event: OptionsChanged | OptionRefused) -> None:
        """Report what has come of a setting, and send the next one."""
        session.say(event)
        session.settings.popleft()
        session.go_on()
        if session.settings:
            self._send_setting(session, session.settings[0])


def _is_sent(session: Session, setting: Setting) -> bool:
    """Return whether the answer to a setting is waited for."""
    return bool(session.settings) and session.settings[0] is setting
