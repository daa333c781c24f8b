"""View ops: all that the view can be told to draw. The Lua side draws them and knows no protocol.

Rules kept here:
- One class an op; `wire(op)` gives its form in a frame: `[name, field, field …]`, fields in order.
- `lua/eca/view/ops.lua` lists the same names with the same fields; a test holds the two equal.
- Block ids are ints, unique in a chat, minted by the model. Rows inside a body are 0-based.
- Text in ops is clean: no carriage return, no NUL; a header or a line has no line break.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

from msgspec import Struct
from msgspec.structs import astuple


class BlockKind(StrEnum):
    """What a block is; the view picks its margin, bar and colours by this."""

    USER = "user"
    ASSISTANT = "assistant"
    REASONING = "reasoning"
    TOOL = "tool"
    HOOK = "hook"
    TASKS = "tasks"
    QUESTION = "question"
    IMAGE = "image"
    LINK = "link"
    FLAG = "flag"
    OLDER = "older"
    NOTE = "note"
    SYSTEM = "system"


Segment: TypeAlias = tuple[str, str]
"""A piece of a line and its highlight group ("" for none)."""

Mark: TypeAlias = tuple[int, int, int, str]
"""Body row (0-based), first and last byte column (end-exclusive; -1 is end of line), group."""


class OpenBlock(Struct, frozen=True):
    """Add a block at the end, or after `after` and all nested in it; `depth` indents it.

    With an empty `header` the block is body only (user and assistant text). `lost` is what the
    header reads when the host ends before what the block tells of; None when that has ended.
    """

    name: ClassVar[str] = "open"
    chat: str
    block: int
    kind: BlockKind
    header: Sequence[Segment] = ()
    depth: int = 0
    after: int | None = None
    lost: Sequence[Segment] | None = None


class SetHeader(Struct, frozen=True):
    """Replace the header line of a block; `lost` as in OpenBlock."""

    name: ClassVar[str] = "header"
    chat: str
    block: int
    header: Sequence[Segment]
    lost: Sequence[Segment] | None = None


class AppendText(Struct, frozen=True):
    """Append text, possibly with line breaks, to the body's end. The hot path."""

    name: ClassVar[str] = "append"
    chat: str
    block: int
    text: str


class SetBody(Struct, frozen=True):
    """Replace the whole body; no lines means the block is collapsed.

    `language` names a fenced body (shell output: "", a diff: "diff"); marks colour parts of it.
    """

    name: ClassVar[str] = "body"
    chat: str
    block: int
    lines: Sequence[str]
    marks: Sequence[Mark] = ()
    language: str | None = None


class CloseBlock(Struct, frozen=True):
    """The block gets no more text; the view may finish its colours."""

    name: ClassVar[str] = "close"
    chat: str
    block: int


class RemoveBlock(Struct, frozen=True):
    """Take a block out."""

    name: ClassVar[str] = "remove"
    chat: str
    block: int


class ClearChat(Struct, frozen=True):
    """Take all blocks of a chat out."""

    name: ClassVar[str] = "clear"
    chat: str


class SetStatus(Struct, frozen=True):
    """The status of a chat as `require('eca').status()` returns it, whole.

    Keys: server, state, title, model, agent, variant, trust, pending, tokens, limit, cost, and
    for the winbar elapsed (ms, None when idle), activity (what the agent says it is doing),
    retrying (true while it tries again what failed).
    """

    name: ClassVar[str] = "status"
    chat: str
    status: Mapping[str, object]


class SetPending(Struct, frozen=True):
    """All that waits for the user's word, oldest first, over all chats.

    An item: chat, id (of this request only, in all of a Neovim), block, digest (of all that is
    shown, what an answer carries), call (the agent's id of the call or question; another item may
    have the same), kind ('approval' | 'question'), title, detail (text), lines and marks (what will
    happen, for the float), language, remember (keys "remember" would add), tool, path, options (of
    a question: [label, description] pairs), freeform, agent (the subagent whose call it is),
    warnings (lines to look at twice). What does not apply is absent.

    A number stands for so many items of the list before: they stay as they were or, below 0, go.
    Those of them that are not counted at the end go.
    """

    name: ClassVar[str] = "pending"
    items: Sequence[Any]


class SetQueue(Struct, frozen=True):
    """Prompts that wait for the turn, oldest first: [kind ('steer' | 'queue'), text] pairs."""

    name: ClassVar[str] = "queue"
    chat: str
    prompts: Sequence[tuple[str, str]]


class SetTaskList(Struct, frozen=True):
    """The agent's task list in one line; None when there is none any more.

    Keys: block (where the list is), done and total (tasks), doing (text, maybe empty).
    """

    name: ClassVar[str] = "plan"
    chat: str
    plan: Mapping[str, object] | None


class SetUsage(Struct, frozen=True):
    """The tokens and the cost of a chat, whole; what is not known is absent.

    Keys: tokens, limit, output_limit, cost and last_cost (dollars, text), compact_at (percent of
    the limit), free, free_color, categories (tables of name, tokens, color). Colours are text of
    the agent: to be checked before use.
    """

    name: ClassVar[str] = "usage"
    chat: str
    usage: Mapping[str, object]


class SetWork(Struct, frozen=True):
    """What the agent does in the background, as while it starts: titles, oldest first."""

    name: ClassVar[str] = "work"
    titles: Sequence[str]


class SetChoices(Struct, frozen=True):
    """What the pickers offer: models, agents (lists), variants (lists by model)."""

    name: ClassVar[str] = "choices"
    choices: Mapping[str, Sequence[str] | Mapping[str, Sequence[str]]]


class SetServer(Struct, frozen=True):
    """State of the agent's process: stopped, starting, ready or failed; `label` says which."""

    name: ClassVar[str] = "server"
    state: str
    label: str = ""


class SetInput(Struct, frozen=True):
    """Put text back into a chat's input, above a draft that is there."""

    name: ClassVar[str] = "input"
    chat: str
    text: str


class RestoreDraft(Struct, frozen=True):
    """What was typed in an earlier life, in this chat or an adopted one: it comes back once."""

    name: ClassVar[str] = "draft"
    chat: str
    text: str
    adopted: bool = False


class SetPrompts(Struct, frozen=True):
    """The prompts the user sent in this project, oldest first, each once."""

    name: ClassVar[str] = "prompts"
    prompts: Sequence[str]


class ShowChat(Struct, frozen=True):
    """Show a chat in the place of the one that is shown, when the user is still there."""

    name: ClassVar[str] = "show"
    chat: str


class ForgetChat(Struct, frozen=True):
    """Take a chat out with its buffers: it is deleted."""

    name: ClassVar[str] = "forget"
    chat: str


class ShowDiff(Struct, frozen=True):
    """Open the diff tab page for a tool call.

    `before` and `after` are whole files; when the change does not apply, `fault` says so in one
    line and `before` holds the file, `after` the raw hunks. `request`: id, block and digest of what
    waits for approval (op `pending`), None when nothing does. `remark`: what the two texts do not
    show, a line each.
    """

    name: ClassVar[str] = "diff"
    chat: str
    id: str
    path: str
    before: str
    after: str
    kind: str  # changed, new, deleted, moved
    request: Mapping[str, object] | None = None
    fault: str | None = None
    remark: str | None = None


class ShowOutput(Struct, frozen=True):
    """Show all of a block's text in a buffer of its own, with the cursor in a row (0-based)."""

    name: ClassVar[str] = "output"
    chat: str
    block: int
    title: str
    lines: Sequence[str]
    marks: Sequence[Mark] = ()
    language: str | None = None
    row: int = 0


class Notify(Struct, frozen=True):
    """One line for the user, outside the chat; level is error, warn or info."""

    name: ClassVar[str] = "notify"
    level: str
    text: str


class Emit(Struct, frozen=True):
    """Fire a `User` autocommand."""

    name: ClassVar[str] = "emit"
    event: str
    data: Mapping[str, object]


class FilesChanged(Struct, frozen=True):
    """Files that a tool changed on disk (absolute paths): buffers of them are to be checked.

    No paths: a tool ran that may have changed any file; all buffers are to be checked. moved: where
    it moved a file from and to.
    """

    name: ClassVar[str] = "files"
    chat: str
    paths: Sequence[str]
    moved: tuple[str, str] | None = None


class ShowPlace(Struct, frozen=True):
    """A tool is about to change a file (`done` false) or has changed it, for who follows it.

    places: first line (1-based) and number of lines, of the file as it is then; 0 lines where
    some are taken out or put in.
    """

    name: ClassVar[str] = "place"
    chat: str
    path: str
    places: Sequence[tuple[int, int]]
    done: bool


class OpenExternal(Struct, frozen=True):
    """Open a file or link with the system's own program."""

    name: ClassVar[str] = "external"
    target: str


class Answer(Struct, frozen=True):
    """The value a Lua callback waits for; `request` is the number the intent carried."""

    name: ClassVar[str] = "answer"
    request: int
    value: object


ViewOp: TypeAlias = (
    OpenBlock
    | SetHeader
    | AppendText
    | SetBody
    | CloseBlock
    | RemoveBlock
    | ClearChat
    | SetStatus
    | SetPending
    | SetQueue
    | SetTaskList
    | SetUsage
    | SetWork
    | SetChoices
    | SetServer
    | SetInput
    | RestoreDraft
    | SetPrompts
    | ShowChat
    | ForgetChat
    | ShowDiff
    | ShowOutput
    | Notify
    | Emit
    | FilesChanged
    | ShowPlace
    | OpenExternal
    | Answer
)


def wire(op: ViewOp) -> list[object]:
    """Return an op its form in a frame: its name, then its fields in the order of the class."""
    return [op.name, *astuple(op)]
