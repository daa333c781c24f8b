"""Aside: prompts in a session of its own, which no chat shows and no list has.

Rules kept here:
- The session is set to a mode that changes nothing, if its agent offers one.
- Reads in the workspace are allowed, but not of what may have secrets; every other request is
  rejected, every question cancelled.
- What comes after the end, or after the user has stopped it, is dropped; so is the session, once
  it is closed.
"""

import posixpath
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import anyio

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.base import Agent
from eca_nvim.chat.model.outside_paths import paths_named, paths_outside
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary import events, turn_events
from eca_nvim.chat.vocabulary.call_details import ToolCall, ToolKind
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Addressed, ChatEvent
from eca_nvim.chat.vocabulary.options import MODE, OptionsChanged, first_of, plain_id
from eca_nvim.chat.vocabulary.requests import ChoiceKind
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.path_risks import PathRisk, may_have_secrets, path_risks
from eca_nvim.session.incoming import dropped
from eca_nvim.session.servers import NamedServer

READ_ONLY: Final = ("readonly", "ask", "plan", "chat", "explorer")
"""Modes in which agents change nothing unasked, the best first: with `plan` some only plan."""
MODE_SECONDS: Final = 10.0
"""Time for an agent to set the mode: without it, its requests are rejected all the same."""
STOP_SECONDS: Final = 10.0
"""Time for an agent to stop before its session is closed."""

_READS: Final = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.THINK})

Hear = Callable[[ChatEvent], None]
"""Called with what belongs to the answer: its texts, and calls, which begin it again."""


class Aside:
    """A session; `chat_id` is new, `hear` receives the events of its answers."""

    def __init__(
        self, server: NamedServer, folders: Sequence[str], chat_id: str, hear: Hear
    ) -> None:
        self._server = server
        self._folders = folders
        self._id = chat_id
        self._hear = hear
        self._agent: Agent | None = None
        self._options: OptionsChanged | None = None
        self._changed = anyio.Event()
        self._end: turn_events.TurnEnded | events.AgentGone | None = None
        self._fault = ""  # the last error that was shown
        self._is_prompted = False

    def listen(self) -> None:
        """Receive what is addressed to the session from now on."""
        self._server.incoming.apart[self._id] = self._receive

    async def ask(self, agent: Agent, prompt: Prompt, *, in_place: bool = False) -> None:
        """Send a prompt, and wait until it is answered. Raises AgentRefused.

        The first prompt for an agent opens the session. in_place: as in `Agent.prompt_in_place`.
        """
        if self.is_open(agent):
            await self._stopped()
        if agent is not self._server.process.agent:  # as it may while contexts are read
            raise AgentRefused("the server has ended")
        self.listen()
        self._end, self._fault = None, ""
        if not self.is_open(agent):
            self._agent, self._options, self._is_prompted = agent, None, False
            agent.open_chat(self._id, is_needed=True)
            await self._until(lambda: self._options is not None or bool(self._fault))
            await self._set_mode(agent)
        if self._end is None:
            self._is_prompted = True
            (agent.prompt_in_place if in_place else agent.prompt)(prompt)
        await self.ended()

    async def ended(self) -> None:
        """Wait until the answer has ended. Raises AgentRefused with why it is not whole."""
        await self._until(lambda: False)
        match self._end:
            case events.AgentGone(reason=reason):
                raise AgentRefused(one_line(reason))
            case turn_events.TurnEnded(end=end, message=message) if end is not TurnEnd.DONE:
                why = message or self._fault or _WHY.get(end, "the agent has not said why")
                raise AgentRefused(one_line(why))

    def is_open(self, agent: Agent) -> bool:
        """Return whether an agent has the session, and has had a prompt in it."""
        return self._is_prompted and self._agent is agent

    async def rest(self) -> None:
        """Stop what runs; then receive nothing until the next prompt."""
        if self._agent is not None and self._is_prompted and self._end is None:
            self._agent.stop(self._id)
            await self._stopped()
        if self._end is not None:
            self._server.incoming.apart[self._id] = dropped

    async def _stopped(self) -> None:
        """Wait until the agent has stopped, at most some seconds."""
        with anyio.move_on_after(STOP_SECONDS):
            await self._until(lambda: False)

    async def close(self) -> None:
        """Close the session: stop what runs in it, and have the agent delete it if it can."""
        await self.rest()
        agent = self._agent
        self._server.incoming.apart[self._id] = dropped
        if agent is not None and agent is self._server.process.agent:
            with suppress(AgentRefused):
                await agent.archive.delete(self._id)
        if agent is not None and agent is self._server.process.agent:
            agent.forget(self._id)

    async def _until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so, or the answer has ended."""
        while self._end is None and not is_so():
            await self._changed.wait()

    async def _set_mode(self, agent: Agent) -> None:
        mode = first_of(self._options.options, MODE) if self._options is not None else None
        if mode is None:
            return
        known = {plain_id(it.value): it.value for it in mode.offers}
        wanted = next((known[it] for it in READ_ONLY if it in known), mode.value)
        if wanted == mode.value:
            return
        self._options = None
        agent.set_option(self._id, mode.id, wanted, is_chosen=False)
        with anyio.move_on_after(MODE_SECONDS):
            await self._until(lambda: self._options is not None)

    def _receive(self, told: Addressed) -> None:
        event = told.event
        match event:
            case events.ToolRequested(needs_approval=True):
                self._decide(told.chat_id or self._id, event)
            case events.QuestionAsked(id=question, form=form) if self._agent is not None:
                if form is None and event.link is None:
                    self._agent.answer(question, None)
                else:
                    self._agent.answer_form(question, None)
            case OptionsChanged():
                self._options = event
            case events.NoticeReceived(text=text, is_error=True):
                self._fault = text
                if not self._is_prompted:  # there is no session
                    self._end = turn_events.TurnEnded(TurnEnd.FAILED, text)
            case turn_events.TurnEnded() | events.AgentGone() if told.parent_id is None:
                self._end = event
            case _ if told.parent_id is None:
                self._hear(event)
        self._changed.set()
        self._changed = anyio.Event()

    def _decide(self, chat_id: str, asked: events.ToolRequested) -> None:
        """Allow a call that only reads in the workspace, this once; reject any other one."""
        call = asked.call
        may_run = call.kind in _READS and not call.changes and call.command is None
        may_run = may_run and self._is_harmless(call)
        wanted = ChoiceKind.ALLOW_ONCE if may_run else ChoiceKind.REJECT_ONCE
        choice = next((it.id for it in asked.choices if it.kind is wanted), None)
        if self._agent is not None:
            self._agent.decide(chat_id, call.id, choice, call)

    def _is_harmless(self, call: ToolCall) -> bool:
        """Return whether a call stays in the workspace, links followed, and has no secrets in it.

        Nobody sees it: what is read without a name may be anything.
        """
        names = [*paths_named(call)]
        if paths_outside(call, self._folders) or (call.kind is ToolKind.READ and not names):
            return False
        paths = [posixpath.join(*self._folders[:1], name) for name in names]
        return not any(
            PathRisk.OUTSIDE in path_risks(it, self._folders) or may_have_secrets(it, self._folders)
            for it in paths
        )


_WHY: Final = {
    TurnEnd.STOPPED: "the agent has stopped",
    TurnEnd.REJECTED: "the agent wanted to do more than read, which was rejected",
    TurnEnd.LIMIT: "the agent has reached a limit",
    TurnEnd.DECLINED: "the agent, or its model, has declined",
}
