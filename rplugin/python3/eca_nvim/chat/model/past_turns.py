"""Past turns: the turns of a chat since a message of the user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from eca_nvim.chat.model.blocks import Block, TextBlock, ToolBlock
from eca_nvim.chat.model.call_files import may_change
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary.ops import BlockKind
from eca_nvim.chat.vocabulary.states import CallState

PROMPT_CELLS = 60

_NEVER_RAN = frozenset({CallState.PREPARING, CallState.WAITING, CallState.REJECTED})


class PastTurn(Struct):
    """A turn: its number (0 if it was replayed) and its prompt on one line.

    may_have_changed: a call of the turn or of its subagents may have changed files.
    """

    number: int
    prompt: str
    may_have_changed: bool = False


def turns_since(chat: Chat, prompt: TextBlock) -> Sequence[PastTurn]:
    """Return the turn of a message of the user and all later turns, oldest first."""
    turns: list[PastTurn] = []
    for block in chat.root.blocks[chat.root.blocks.index(prompt) :]:
        if isinstance(block, TextBlock) and block.kind is BlockKind.USER:
            if not turns or not block.turn or block.turn != turns[-1].number:
                turns.append(PastTurn(block.turn, truncate(one_line(block.text), PROMPT_CELLS)))
        elif any(_may_have_changed(call) for call in _calls(chat, block)):
            turns[-1].may_have_changed = True
    return turns


def _calls(chat: Chat, block: Block) -> Iterator[ToolBlock]:
    """Yield the call of a block, and the calls of the subagent it runs."""
    if isinstance(block, ToolBlock):
        yield block
        for lane in chat.lanes.values():
            if lane.anchor is block:
                yield from (it for it in lane.blocks if isinstance(it, ToolBlock))


def _may_have_changed(block: ToolBlock) -> bool:
    return block.state not in _NEVER_RAN and may_change(block.call)
