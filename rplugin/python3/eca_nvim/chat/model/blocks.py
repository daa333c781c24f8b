"""Blocks: the entries of a chat, with all that was ever said in them.

Rules kept here:
- A block keeps raw text or cleaned chunks whole, collapsed or not: nothing is lost in the model.
- What a block looks like is the business of `render`, when it is open that of `fold`.
- Blocks change in place; ids are unique in a chat and grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct, field

from eca_nvim.chat.model.argument_peek import ArgumentPeek
from eca_nvim.chat.text.safe_text import Cleaner, one_line
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.events import HookFinished, QuestionAsked, UsageReported
from eca_nvim.chat.vocabulary.ops import BlockKind, Segment
from eca_nvim.chat.vocabulary.states import CallState


class Fold(StrEnum):
    """Whether a body is shown, and who decided that. FIXED bodies are always shown."""

    FIXED = "fixed"
    CLOSED = "closed"
    OPEN = "open"
    USER_CLOSED = "user closed"
    USER_OPEN = "user open"


SHOWN_FOLDS = frozenset({Fold.FIXED, Fold.OPEN, Fold.USER_OPEN})
AUTOMATIC_FOLDS = frozenset({Fold.CLOSED, Fold.OPEN})


class QuestionState(StrEnum):
    """What became of a question."""

    WAITING = "waiting"
    ANSWERED = "answered"
    DISMISSED = "dismissed"


class Question(Struct):
    """What the agent asked, and what became of it; `answer` is None when it was dismissed."""

    asked: QuestionAsked
    state: QuestionState = QuestionState.WAITING
    answer: str | None = None

    def option(self, answer: str) -> str | None:
        """Find the option that an answer names by its label, else by its number from 1."""
        labels = [label for label, _ in self.asked.options]
        for label in labels:
            if answer in (label, one_line(label)):
                return label
        typed = answer.strip()
        for label in labels:
            if typed.casefold() == one_line(label).casefold():
                return label
        numbers = [str(number) for number in range(1, len(labels) + 1)]
        return labels[numbers.index(typed)] if typed in numbers else None

    def offers(self, answer: str) -> bool:
        """Say whether an answer names one of the options."""
        return self.option(answer) is not None


class Block(Struct, eq=False):
    """What all blocks have; `drawn` is the header the view has, `group` the block it is part of."""

    id: int
    kind: BlockKind
    fold: Fold = Fold.FIXED
    drawn: Sequence[Segment] | None = None
    group: GroupBlock | None = None

    @property
    def is_open(self) -> bool:
        """Say whether the body is in the view."""
        return self.fold in SHOWN_FOLDS


class SpokenBlock(Block, eq=False):
    """A block whose text comes in chunks, cleaned as they come and joined when asked for.

    column: characters of the view's last row (long_rows.py).
    """

    chunks: list[str] = field(default_factory=list)
    cleaner: Cleaner = field(default_factory=Cleaner)
    column: int = 0
    complete: bool = False

    @property
    def text(self) -> str:
        """Give all that came so far."""
        if len(self.chunks) > 1:
            self.chunks[:] = ["".join(self.chunks)]
        return self.chunks[0] if self.chunks else ""


class TextBlock(SpokenBlock, eq=False):
    """What the user or the model said; what the user said has the agent's id once it is echoed.

    turn: which turn of the chat the user said it in (`RunningTurn.number`); 0 when it was replayed.
    """

    content_id: str | None = None
    turn: int = 0


class ReasoningBlock(SpokenBlock, eq=False):
    """What the model thought; `total_ms` is None while it thinks."""

    content_id: str = ""

    started_ms: int = 0
    total_ms: int | None = None


class NoteBlock(Block, eq=False):
    """A word of the system."""

    text: str = ""
    is_error: bool = False


class PlainBlock(Block, eq=False):
    """Text under a name: content of a kind we do not know, or the end of a log."""

    name: str = ""
    text: str = ""


class Nested(Struct):
    """What the call of a subagent tells of its chat: what it does now, and what it used."""

    doing: str = ""
    usage: UsageReported | None = None
    waits: bool = False


class ToolBlock(Block, eq=False):
    """A tool call; `chat_id` is the chat of the agent it belongs to, a subagent's or ours.

    replayed: it ran in another life; nothing it does happens now.
    question: what it asks the user, when asking is what it does. nested: the subagent it runs.
    earlier: another call with its id that had not ended when this one came up. by_config: the
    agent's configuration rejected it, and not the user.
    """

    call: ToolCall = field(default_factory=lambda: ToolCall(""))
    chat_id: str = ""
    state: CallState = CallState.PREPARING
    arguments: ArgumentPeek = field(default_factory=ArgumentPeek)
    outputs: tuple[str, ...] = ()
    started_ms: int | None = None
    total_ms: int | None = None
    replayed: bool = False
    question: Question | None = None
    nested: Nested | None = None
    earlier: ToolBlock | None = None
    by_config: bool = False


class GroupBlock(Block, eq=False):
    """Neighbouring calls that only looked, as one line; they follow it in the lane's blocks.

    names: to what each did what it does, by that; outside: one of them led out of the workspace.
    """

    members: list[ToolBlock] = field(default_factory=list)
    names: dict[str, dict[str, None]] = field(default_factory=dict)
    outside: bool = False


class HookBlock(Block, eq=False):
    """A hook of the agent; `result` is None while it runs."""

    name: str = ""
    result: HookFinished | None = None


class QuestionBlock(Block, eq=False):
    """A question that no tool call of ours asks."""

    question: Question = field(default_factory=lambda: Question(QuestionAsked("", "")))


class LinkBlock(Block, eq=False):
    """A titled link."""

    title: str = ""
    url: str = ""


class ImageBlock(Block, eq=False):
    """An image as it came."""

    media_type: str = ""
    base64: str = ""


class FlagBlock(Block, eq=False):
    """A bookmark."""

    text: str = ""
    content_id: str = ""


class OlderBlock(Block, eq=False):
    """Stands at the top for messages that are not loaded: `count` of them, of `total` in all."""

    count: int | None = None
    total: int | None = None
    loading: bool = False


def open_question(block: Block) -> Question | None:
    """Give the question in a block that waits for the user."""
    question = block.question if isinstance(block, ToolBlock | QuestionBlock) else None
    waits = question is not None and question.state is QuestionState.WAITING
    return question if waits else None
