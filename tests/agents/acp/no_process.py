"""A link that leads to no process: what it would send and emit is kept."""

from collections.abc import Sequence
from typing import cast

from eca_nvim.agents.acp.link import Link, Program
from eca_nvim.agents.process_agent import Tasks
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.events import Addressed, ChatEvent
from eca_nvim.jsonrpc import MessageId
from eca_nvim.protocol.base.types import Wire
from eca_nvim.transport import Connection

PROGRAM = Program(("agent",), {}, "/workspace")


class NoProcess(Link):
    """Keeps answers and events."""

    def __init__(self, connection: object = None, program: Program = PROGRAM) -> None:
        self.emitted: list[AgentEvent] = []
        self.answers: list[tuple[MessageId, Wire]] = []
        tasks = cast("Tasks", None)
        super().__init__(cast("Connection", connection), tasks, program, self.emitted.extend)

    @property
    def events(self) -> Sequence[ChatEvent]:
        """The events of chats."""
        return [it.event for it in self.emitted if isinstance(it, Addressed)]

    def respond(self, request_id: MessageId, result: Wire) -> None:
        self.answers.append((request_id, result))

    def refuse(self, request_id: MessageId, code: int, message: str) -> None:
        pass
