"""Messages: the chunks of a session's messages and thoughts as events.

Rules kept here:
- Empty texts change nothing: some agents send them with usage, or to begin a message.
- Another message id begins another paragraph. Agents without ids go on with the last one, unless
  they are known to send each prompt whole.
- A thought begins with its first chunk, and ends with the next thing that is shown.
- Until the agent has said something in a turn, what the user says is the echo of the prompt, which
  the chat shows already. Otherwise pieces of one message are shown together, when it is whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eca_nvim.agents.acp.prompt import typed_text
from eca_nvim.agents.acp.updates.call_ids import CallIds
from eca_nvim.agents.acp.updates.content import block_event, named_file
from eca_nvim.chat.vocabulary.events import (
    ChatEvent,
    ReasoningFinished,
    ReasoningStarted,
    ReasoningText,
    Role,
    TextReceived,
)
from eca_nvim.chat.vocabulary.file_uses import FileNamed
from eca_nvim.protocol.acp.content import ContentBlock, TextBlock
from eca_nvim.protocol.acp.updates import AgentMessageChunk, AgentThoughtChunk, UserMessageChunk


class Messages:
    """The messages of one session."""

    def __init__(self, ids: CallIds, *, whole_prompts: bool = False) -> None:
        self._ids = ids
        self._whole_prompts = whole_prompts
        self._message: str | None = None
        self._thought: str | None = None
        self._thought_message: str | None = None
        self._user_message: str | None = None
        self._user: list[str] = []
        self._is_echo = False

    def turn_began(self) -> Sequence[ChatEvent]:
        """Note that a prompt was sent."""
        events = self.interrupted()
        self._is_echo = True
        return events

    def interrupted(self) -> Sequence[ChatEvent]:
        """End what is open: something else is shown, or the turn has ended."""
        self._is_echo = False
        return [*self._said(), *self._thought_through()]

    def said(self, chunk: AgentMessageChunk) -> Iterator[ChatEvent]:
        """Read a piece of the agent's answer: hot path."""
        if _is_empty(chunk.content):
            return
        yield from self.interrupted()
        begins = self._message not in (None, chunk.message_id)
        self._message = chunk.message_id
        block = chunk.content
        if type(block) is TextBlock:
            text = f"\n\n{block.text}" if begins else block.text
            yield TextReceived(Role.ASSISTANT, text)
        else:
            yield from _event(block, Role.ASSISTANT)

    def thought(self, chunk: AgentThoughtChunk) -> Iterator[ChatEvent]:
        """Read a piece of a thought."""
        block = chunk.content
        if _is_empty(block):
            return
        self._is_echo = False
        yield from self._said()
        if self._thought is None or chunk.message_id != self._thought_message:
            yield from self._thought_through()
            self._thought = self._ids.fresh("thought")
            self._thought_message = chunk.message_id
            yield ReasoningStarted(self._thought)
        if isinstance(block, TextBlock):
            yield ReasoningText(self._thought, block.text)
        else:
            yield from _event(block, Role.ASSISTANT)

    def heard(self, chunk: UserMessageChunk) -> Iterator[ChatEvent]:
        """Read a piece of what the user said."""
        if self._is_echo or _is_empty(chunk.content):
            return
        yield from self._thought_through()
        message, block = chunk.said_in, chunk.content
        is_whole = message is None and self._whole_prompts
        is_ours = isinstance(block, TextBlock) and not typed_text(block.text)
        if message != self._user_message or is_whole or is_ours:
            yield from self._said()
        self._user_message = message
        if isinstance(block, TextBlock):
            self._user.append(block.text)
        else:
            yield from self._said()
            yield from _event(block, Role.USER)

    def _said(self) -> Iterator[ChatEvent]:
        if self._user:
            text, self._user = "".join(self._user), []
            yield TextReceived(Role.USER, text, self._user_message)

    def _thought_through(self) -> Iterator[ChatEvent]:
        if self._thought is not None:
            thought, self._thought = self._thought, None
            yield ReasoningFinished(thought)


def _is_empty(block: ContentBlock) -> bool:
    return type(block) is TextBlock and not block.text


def _event(block: ContentBlock, role: Role) -> Iterator[ChatEvent]:
    event = block_event(block, role)
    if event is not None:
        yield event
    if (path := named_file(block)) is not None:
        yield FileNamed(path)
