"""Turn checks: asks the agent whether a turn that has gone silent is still running.

Rule kept here: one question at a time; without an answer in time the state stays unknown.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

import anyio

from eca_nvim.agents.archive import AgentRefused
from eca_nvim.agents.base import Agent
from eca_nvim.chat.vocabulary.effects import AskTurn
from eca_nvim.chat.vocabulary.turn_events import TurnLapsed
from eca_nvim.session.chats import Chats

ANSWER_TIMEOUT = 5.0
"""Seconds that an agent has to list its chats."""

log = logging.getLogger(__name__)


class TurnChecks:
    """Asks the agent about silent turns, and ends in the chat those that are over."""

    def __init__(self, chats: Chats, agent_of: Callable[[str], Agent | None]) -> None:
        self._chats = chats
        self._agent_of = agent_of
        self._questions_in, self._questions = anyio.create_memory_object_stream[AskTurn](math.inf)

    def request(self, question: AskTurn) -> None:
        """Ask once the earlier questions are answered."""
        self._questions_in.send_nowait(question)

    async def run(self) -> None:
        """Ask until cancelled."""
        with self._questions, self._questions_in:
            async for question in self._questions:
                await self._ask(question)

    async def _ask(self, question: AskTurn) -> None:
        agent = self._agent_of(question.chat)
        running = None if agent is None else await _is_running(agent, question.chat)
        log.info("the turn of %s is silent; the agent reports running=%s", question, running)
        chat = self._chats.table.get(question.chat)
        if chat is not None and not running:
            lapsed = TurnLapsed(question.number, question.times_asked, is_idle=running is False)
            self._chats.apply(chat, [lapsed])


async def _is_running(agent: Agent, chat_id: str) -> bool | None:
    """Return whether a turn runs in a chat; None when the agent does not say."""
    with anyio.move_on_after(ANSWER_TIMEOUT):
        try:
            listed = await agent.archive.list_chats()
        except AgentRefused as refused:
            log.info("the chats cannot be listed: %s", refused)
        else:
            return next((chat.running for chat in listed if chat.id == chat_id), None)
    return None
