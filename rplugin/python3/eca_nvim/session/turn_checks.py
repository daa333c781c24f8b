"""Turn checks: the agent is asked about turns of which it says nothing any more.

Rules kept here: one question at a time; one without an answer in time is answered by "nothing".
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

import anyio

from eca_nvim.agents.archive import AgentRefused, Archive
from eca_nvim.agents.base import Agent
from eca_nvim.chat.vocabulary.effects import AskTurn
from eca_nvim.chat.vocabulary.events import TurnLapsed
from eca_nvim.session.chats import Chats

PATIENCE = 5.0
"""Seconds that an agent has to list its chats."""

log = logging.getLogger(__name__)


class TurnChecks:
    """Asks the agent, and tells the chat what came of it."""

    def __init__(self, chats: Chats, agent: Callable[[], Agent | None]) -> None:
        self._chats = chats
        self._agent = agent
        self._wanted_in, self._wanted = anyio.create_memory_object_stream[AskTurn](math.inf)

    def want(self, question: AskTurn) -> None:
        """Ask as soon as those before it are answered."""
        self._wanted_in.send_nowait(question)

    async def run(self) -> None:
        """Ask until cancelled."""
        with self._wanted, self._wanted_in:
            async for question in self._wanted:
                await self._ask(question)

    async def _ask(self, question: AskTurn) -> None:
        agent = self._agent()
        running = None if agent is None else await _is_running(agent.archive, question.chat)
        log.info("nothing is heard of %s; the agent says running=%s", question, running)
        chat = self._chats.table.get(question.chat)
        if chat is not None and not running:
            lapsed = TurnLapsed(question.number, question.times_asked, is_idle=running is False)
            self._chats.apply(chat, [lapsed])


async def _is_running(archive: Archive, chat_id: str) -> bool | None:
    """Ask whether a chat has a turn; None when the agent does not say."""
    with anyio.move_on_after(PATIENCE):
        try:
            listed = await archive.list_chats()
        except AgentRefused as refused:
            log.info("the chats cannot be listed: %s", refused)
        else:
            return next((chat.running for chat in listed if chat.id == chat_id), None)
    return None
