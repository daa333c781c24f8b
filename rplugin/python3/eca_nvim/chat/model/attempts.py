"""Attempts: the answers to one prompt that was sent more than once, of which one is shown.

What is not shown is put aside whole, with all that was said after it.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from eca_nvim.chat.model.blocks import Block, Lane, TextBlock, ToolBlock
from eca_nvim.chat.vocabulary.turn_events import UsageReported


class Tail(Struct, eq=False):
    """All that a chat has from a block on, put aside.

    blocks: those of the chat's own lane. lanes, anchors: of the subagents that they run, as in
    `Chat`. known: of the chat's own lane, by the name of the field that has them. content_ids: the
    agent's ids of the messages before, which another session may not know. The rest is the chat's.
    """

    blocks: list[Block]
    lanes: Mapping[str, Lane]
    anchors: Mapping[str, ToolBlock]
    known: Mapping[str, Mapping[str, Block]]
    content_ids: Sequence[tuple[TextBlock, str | None]]
    recap: str | None = None
    usage: UsageReported | None = None
    task_list_block: ToolBlock | None = None


class Attempt(Struct, eq=False):
    """One answer to a prompt.

    model: the name of the model that was asked, "" if it is not known. is_told: its session began
    with a recap of what was said before. tail: the answer, while it is put aside. kept_as: the
    chat's id under which the agent keeps its session, while it is put aside.
    """

    model: str = ""
    is_told: bool = False
    tail: Tail | None = None
    kept_as: str = ""


class AttemptsBlock(Block, eq=False):
    """The row between a prompt and its answer: which of the answers that is; place: 0-based."""

    attempts: list[Attempt] = field(default_factory=list)
    place: int = 0

    @property
    def shown(self) -> Attempt:
        """The answer that follows."""
        return self.attempts[self.place]


def kept_chats(blocks: Sequence[Block]) -> Sequence[str]:
    """Return the ids under which the agent keeps what is put aside, also in what is put aside."""
    kept: dict[str, None] = {}
    rows = _rows(blocks)
    while rows:
        for attempt in rows.pop().attempts:
            if attempt.tail is not None and attempt.kept_as not in kept:
                kept[attempt.kept_as] = None
                rows += _rows(attempt.tail.blocks)
    return [*kept]


def _rows(blocks: Sequence[Block]) -> list[AttemptsBlock]:
    return [it for it in blocks if isinstance(it, AttemptsBlock)]
