"""Blocks: the entries of a chat, with their whole text, and the result of one change."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct, field

from eca_nvim.chat.model.field_values import Named
from eca_nvim.chat.model.form_progress import FormProgress
from eca_nvim.chat.text.output import LiveOutput
from eca_nvim.chat.text.safe_text import Cleaner, clean
from eca_nvim.chat.vocabulary import call_details, events, requests, states, turn_events
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.effects import Effect
from eca_nvim.chat.vocabulary.ops import DEFAULT_SERVER, BlockKind, Segment, ViewOp


class Changes(Struct):
    """The result of one event or intent.

    ops: autocommands come last, so that listeners find everything else in place.
    pending_changed: the requests that wait for the user have changed; the session shows those of
    all chats again (approvals.PendingList). runs: a turn of the chat runs. server: the name of the
    chat's server, which the effects are for.
    """

    ops: list[ViewOp] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    pending_changed: bool = False
    runs: bool = False
    server: str = DEFAULT_SERVER


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
    """Whether a question is open, and how it ended."""

    WAITING = "waiting"
    ANSWERED = "answered"
    DISMISSED = "dismissed"
    DECLINED = "declined"


class Question(Struct):
    """A question and its answer, which is None while it is open or if it was dismissed.

    progress: of a form; `answer` is a summary of it then.
    """

    asked: events.QuestionAsked
    state: QuestionState = QuestionState.WAITING
    answer: str | None = None
    progress: FormProgress | None = None

    @property
    def asks_consent(self) -> bool:
        """Whether it can only be accepted or declined: a link, or a form without fields."""
        is_empty_form = self.progress is not None and not self.progress.fields
        return is_empty_form or self.asked.link is not None

    def option(self, answer: str) -> str | None:
        """Return the option that an answer names by its label, or by its number (1-based)."""
        labels = (label for label, _ in self.asked.options)
        return Named([requests.Offer(label, label) for label in labels]).find(answer)


class Lane(Struct, eq=False):
    """One thread of conversation: its blocks, also by the agent's ids.

    chat_id: the chat's own, or a subagent's. anchor: the call that runs the subagent, above its
    blocks. current_text: the model's text that is still growing. calls: the last call of
    each id, because agents reuse ids.
    """

    chat_id: str
    depth: int = 0
    anchor: ToolBlock | None = None
    blocks: list[Block] = field(default_factory=list)
    current_text: TextBlock | None = None
    calls: dict[str, ToolBlock] = field(default_factory=dict)
    reasoning: dict[str, ReasoningBlock] = field(default_factory=dict)
    hooks: dict[str, HookBlock] = field(default_factory=dict)

    @property
    def is_shown(self) -> bool:
        """Whether the lane's blocks are in the view."""
        return self.anchor is None or self.anchor.is_open


class Block(Struct, eq=False):
    """Base of all blocks, which change in place and keep all their text, collapsed or not.

    id: unique in a chat, ascending. fold: whether the body is shown. drawn: the header the view
    has. group: the group it belongs to. request: what waits for the user, of a call or a question.
    """

    id: int
    lane: Lane
    kind: BlockKind
    fold: Fold = Fold.FIXED
    drawn: Sequence[Segment] | None = None
    group: GroupBlock | None = None
    request: requests.Request | None = None

    @property
    def is_open(self) -> bool:
        """Whether the body is shown with the block."""
        return self.fold in SHOWN_FOLDS

    @property
    def is_shown(self) -> bool:
        """Whether the block is in the view."""
        return self.lane.is_shown and (self.group is None or self.group.is_open)


class StreamedBlock(Block, eq=False):
    """A block whose text arrives in chunks, cleaned on arrival; joined on access and at the end.

    column: length of the view's last row, in characters (`output.break_rows`).
    """

    chunks: list[str] = field(default_factory=list)
    cleaner: Cleaner = field(default_factory=Cleaner)
    column: int = 0
    complete: bool = False

    @property
    def text(self) -> str:
        """The text so far."""
        if len(self.chunks) > 1:
            self.chunks[:] = ["".join(self.chunks)]
        return self.chunks[0] if self.chunks else ""


class TextBlock(StreamedBlock, eq=False):
    """Text of the user or the model.

    content_id: the agent's id of a user message, known once the agent has echoed it. turn: number
    of the turn a user message belongs to (`RunningTurn.number`); 0 if it was replayed. contexts:
    what a user message was sent with.
    """

    content_id: str | None = None
    turn: int = 0
    contexts: tuple[Context, ...] = ()


class ReasoningBlock(StreamedBlock, eq=False):
    """The model's reasoning; `total_ms` is None while it goes on."""

    content_id: str = ""

    started_ms: int = 0
    total_ms: int | None = None


class NoteBlock(Block, eq=False):
    """A message of the system, this client or the agent."""

    text: str = ""
    is_error: bool = False


class PlainBlock(Block, eq=False):
    """Text under a heading: content of an unknown kind, or the end of a log."""

    name: str = ""
    text: str = ""


class Nested(Struct):
    """State of the subagent that a call runs; `waits`: something in it waits for the user."""

    doing: str = ""
    usage: turn_events.UsageReported | None = None
    waits: bool = False


class WrittenArguments(Struct):
    """Arguments that the model is writing: JSON that may be cut anywhere; `size` in characters."""

    chunks: list[str] = field(default_factory=list)
    size: int = 0

    def feed(self, chunk: str) -> None:
        """Add the next chunk."""
        self.chunks.append(chunk)
        self.size += len(chunk)

    @property
    def text(self) -> str:
        """The arguments so far, unparsed."""
        return "".join(self.chunks)


class ToolBlock(Block, eq=False):
    """A tool call.

    replayed: it is part of a loaded history and ran in the past. question: the question it asks the
    user, if it is such a call. nested: the subagent it runs. earlier: an older call with the same
    id that had not ended when this one began. by_config: it was rejected by the agent's
    configuration, not by the user. so_far: what is known from arguments that are still written.
    live: the end of what it prints; None once its whole output is known. choices: the answers that
    the agent offers while the call waits. request_id: of its last request for approval. job: the
    command that it has started in the background. partial: what files are to hold, of a call that
    was allowed in part and has not ended. is_unsure: the files were not stored in time before it
    ran.
    """

    call: call_details.ToolCall = field(default_factory=lambda: call_details.ToolCall(""))
    state: states.CallState = states.CallState.PREPARING
    arguments: WrittenArguments = field(default_factory=WrittenArguments)
    so_far: call_details.KnownSoFar | None = None
    outputs: tuple[str, ...] = ()
    live: LiveOutput | None = None
    started_ms: int | None = None
    total_ms: int | None = None
    replayed: bool = False
    question: Question | None = None
    nested: Nested | None = None
    earlier: ToolBlock | None = None
    by_config: bool = False
    choices: tuple[requests.Choice, ...] = ()
    request_id: str | None = None
    job: turn_events.Job | None = None
    partial: tuple[call_details.PartialWrite, ...] = ()
    is_unsure: bool = False


class GroupBlock(Block, eq=False):
    """Neighbouring calls that only read or searched, as one line; they follow it in the lane.

    names: what the calls were applied to, by verb. outside: one of them left the workspace.
    """

    members: list[ToolBlock] = field(default_factory=list)
    names: dict[str, dict[str, None]] = field(default_factory=dict)
    outside: bool = False


class HookBlock(Block, eq=False):
    """A hook of the agent; `result` is None while it runs."""

    name: str = ""
    result: turn_events.HookFinished | None = None


class QuestionBlock(Block, eq=False):
    """A question that belongs to no tool call we show."""

    question: Question = field(default_factory=lambda: Question(events.QuestionAsked("", "")))


class LinkBlock(Block, eq=False):
    """A titled link."""

    title: str = ""
    url: str = ""


class ImageBlock(Block, eq=False):
    """An image as the agent sent it."""

    media_type: str = ""
    base64: str = ""


class FlagBlock(Block, eq=False):
    """A bookmark."""

    text: str = ""
    content_id: str = ""


class OlderBlock(Block, eq=False):
    """Placeholder at the top for `count` messages that are not loaded, of `total` messages."""

    count: int | None = None
    total: int | None = None
    loading: bool = False


def open_question(block: Block) -> Question | None:
    """Return the question of a block if it waits for the user."""
    question = block.question if isinstance(block, ToolBlock | QuestionBlock) else None
    waits = question is not None and question.state is QuestionState.WAITING
    return question if waits else None


def plan_of(block: Block) -> str:
    """Return the plan that a call asks the user to agree to; "" if it does not ask for that.

    ACP has no message for it: it is what explains a call that switches the mode, or else the
    longest text of its arguments (seen with claude 0.101 and qwen).
    """
    if not isinstance(block, ToolBlock) or block.call.kind is not call_details.ToolKind.SWITCH_MODE:
        return ""
    texts = [it for it in (block.call.arguments or {}).values() if isinstance(it, str)]
    return clean(block.call.note or max(texts, key=len, default="")).strip()
