"""Past turns: the turns of a chat as it shows them, from a message of the user on."""

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
    """A turn: its number (0: it was replayed), what the user said, in a line.

    may_have_changed: one of its calls, or of its subagents', may have changed files.
    """

    number: int
    prompt: str
    may_have_changed: bool = False


def turns_since(chat: Chat, prompt: TextBlock) -> Sequence[PastTurn]:
    """Give the turn of a message of the user and those after it, the oldest first."""
    turns: list[PastTurn] = []
    for block in chat.root.blocks[chat.root.blocks.index(prompt) :]:
        if isinstance(block, TextBlock) and block.kind is BlockKind.USER:
            if not turns or not block.turn or block.turn != turns[-1].number:
                turns.append(PastTurn(block.turn, truncate(one_line(block.text), PROMPT_CELLS)))
        elif any(_may_have_changed(call) for call in _calls(chat, block)):
            turns[-1].may_have_changed = True
    return turns


def _calls(chat: Chat, block: Block) -> Iterator[ToolBlock]:
    """Give the call that a block shows, and those of the subagent that it runs."""
    if isinstance(block, ToolBlock):
        yield block
        for lane in chat.lanes.values():
            if lane.anchor is block:
                yield from (it for it in lane.blocks if isinstance(it, ToolBlock))


def _may_have_changed(block: ToolBlock) -> bool:
    return block.state not in _NEVER_RAN and may_change(block.call)
