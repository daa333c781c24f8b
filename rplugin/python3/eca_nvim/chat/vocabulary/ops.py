"""View ops: everything the view can draw, one class per op.

`lua/eca/view/` reads the same names of ops and fields. Rows inside a body are 0-based.
Text in ops is clean: no carriage return, no NUL; a header or a line has no line break.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, TypeAlias

from eca_nvim.chat.vocabulary import bases, turn_events

ViewOp: TypeAlias = bases.ViewOp

DEFAULT_SERVER: Final = "eca"
"""The name of the server of a user who has named none."""


class BlockKind(StrEnum):
    """The kind of a block, which decides its margin, bar and colours."""

    USER = "user"
    ATTEMPTS = "attempts"
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
"""Body row (0-based), start and end byte columns (end exclusive; -1: end of line), group."""


class OpenBlock(bases.BlockOp, frozen=True, tag="open"):
    """Add a block at the end, or after `after` and its nested blocks; `depth` indents it.

    With an empty `header` the block is body only (user and assistant text). `lost` is the header to
    show if the host exits before the block has ended; None if it has ended. `text` is the beginning
    of the body; `closed`: the body is complete, as after CloseBlock.
    """

    kind: BlockKind
    header: Sequence[Segment] = ()
    depth: int = 0
    after: int | None = None
    lost: Sequence[Segment] | None = None
    text: str = ""
    closed: bool = False


class SetHeader(bases.BlockOp, frozen=True, tag="header"):
    """Replace the header line of a block; `lost` as in OpenBlock."""

    header: Sequence[Segment]
    lost: Sequence[Segment] | None = None


class AppendText(bases.BlockOp, frozen=True, tag="append"):
    """Append text, possibly with line breaks, to the body: the hot path."""

    text: str


class SetBody(bases.BlockOp, frozen=True, tag="body"):
    """Replace the whole body; no lines means the block is collapsed.

    language: of a fenced body (shell output: "", a diff: "diff"). marks: colour parts of it.
    """

    lines: Sequence[str]
    marks: Sequence[Mark] = ()
    language: str | None = None


class CloseBlock(bases.BlockOp, frozen=True, tag="close"):
    """The block is complete; the view may finish its colours."""


class RemoveBlock(bases.BlockOp, frozen=True, tag="remove"):
    """Remove a block."""


class ClearChat(bases.ChatOp, frozen=True, tag="clear"):
    """Remove all blocks of a chat."""


class SetStatus(bases.ChatOp, frozen=True, tag="status"):
    """The status of a chat as `require('eca').status()` returns it, whole.

    Keys: server, server_name, state, title, model, agent, variant (names), trust, pending, tokens,
    limit, cost, unasked (names of what is set and lets tools run without asking), lacks (names of
    abilities), and for the winbar, in ms: elapsed, starting, silent; activity, retrying.
    """

    status: Mapping[str, object]


class SetPending(ViewOp, frozen=True, tag="pending"):
    """The requests of all chats that wait for the user, oldest first.

    An item: chat, id (unique in this Neovim), block, digest (of everything shown; an answer must
    repeat it), call (the agent's id of the call or question, not unique), kind ('approval' |
    'question'), title, detail (text), lines and marks (what will happen, for the float), language,
    choices (tables: id, name, kind, and the list remembers if the name does not say it), listed
    (the names must be seen), tool, path, options (of a question: [label, description]
    pairs), freeform, agent (the subagent whose call it is), warnings (lines); more of a form's
    field (chat/user_actions/answers.py). Keys that do not apply are absent.

    gone: None if these are all; else they are new or changed, and those with these ids are no more.
    """

    items: Sequence[Any]
    gone: Sequence[str] | None = None


class SetQueue(bases.ChatOp, frozen=True, tag="queue"):
    """Prompts that wait for the turn, oldest first: [kind, text] pairs.

    A kind: 'steer', 'queue', or 'note', which goes with the next prompt.
    """

    prompts: Sequence[tuple[str, str]]


class SetComments(bases.ChatOp, frozen=True, tag="comments"):
    """The user's comments on changes and files, as far as they are for this chat.

    Keys: id, text, paths, line, count, before, subject, turn, state (see `chat.model.comments`).
    stale: there are some; the view asks for them.
    """

    items: Sequence[Mapping[str, object]] = ()
    stale: bool = False


class SetTaskList(bases.ChatOp, frozen=True, tag="plan"):
    """The agent's task list in one line; None if there is none.

    Keys: block (of the list), done and total (numbers of tasks), doing (text, may be empty).
    """

    plan: Mapping[str, object] | None


class SetUsage(bases.ChatOp, frozen=True, tag="usage"):
    """The tokens and the cost of a chat, as the rows of a float; none if they are unknown."""

    rows: Sequence[turn_events.UsageRow]


class SetWork(ViewOp, frozen=True, tag="work"):
    """Background activities of a server, for example while it starts: titles, oldest first."""

    titles: Sequence[str]
    server: str = DEFAULT_SERVER


class SetJobs(ViewOp, frozen=True, tag="jobs"):
    """The commands that a server runs, and the last ones that it has run, oldest first.

    Keys: id (unique while this host runs), title (one safe line), state (`turn_events.JobState`),
    background (whether it outlives its turn), and if known chat, exit_code, and started (seconds
    since 1970).
    """

    jobs: Sequence[Mapping[str, object]]
    server: str = DEFAULT_SERVER


class SetToolServer(ViewOp, frozen=True, tag="tool_server"):
    """What other code may know of a tool server.

    told: name, server_name (whose it is), status ("removed" if it is gone), kind, tools (how many),
    and error if there is one.
    """

    told: Mapping[str, object]


class SetTools(ViewOp, frozen=True, tag="tools"):
    """The tools of a tool server that other code may know: name, description and disabled.

    mcp: the name of the tool server, None for the server's own tools.
    """

    server: str
    tools: Sequence[Mapping[str, object]]
    mcp: str | None = None


class SetProviders(ViewOp, frozen=True, tag="providers"):
    """All that is known of who offers a server its models: none before it was asked.

    Tables of id, name, logged_in, models (their number), and where known source and expires.
    """

    providers: Sequence[Mapping[str, object]]
    server: str = DEFAULT_SERVER


class SetServer(ViewOp, frozen=True, tag="server"):
    """State of a server's process: stopped, starting, ready, failed or asleep.

    label: the program that runs, for the user. server: the server's name.
    """

    state: str
    label: str = ""
    server: str = DEFAULT_SERVER


class SetInput(bases.ChatOp, frozen=True, tag="input"):
    """Put text back into a chat's input, above a draft if there is one."""

    text: str


class RestoreDraft(bases.ChatOp, frozen=True, tag="draft"):
    """Restore the draft of an earlier session; `adopted`: it was typed in another chat."""

    text: str
    adopted: bool = False


class SetPrompts(ViewOp, frozen=True, tag="prompts"):
    """The prompts the user sent in this project, oldest first, without duplicates."""

    prompts: Sequence[str]


class ShowChat(bases.ChatOp, frozen=True, tag="show"):
    """Show a chat in the window of the current one, if the user is still there."""


class ForgetChat(bases.ChatOp, frozen=True, tag="forget"):
    """Remove a deleted chat and its buffers."""


class ShowDiff(bases.ChatOp, frozen=True, tag="diff"):
    """Open the diff tab page for a tool call.

    before, after: whole files. fault: why the change does not apply, in one line; `before` is then
    the file and `after` the raw hunks. request: id, block and digest of the approval that waits
    (op `pending`), or None. remark: lines about differences that the two texts do not show. file:
    of a call that changes several files the block, the place of this one (0-based), and the count.
    left_out: lines of `after` (1-based) where the user has left out a hunk, with its number.
    is_open: the user may choose hunks, and edit the text.
    """

    id: str
    path: str
    before: str
    after: str
    kind: str  # changed, new, deleted, moved
    request: Mapping[str, object] | None = None
    fault: str | None = None
    remark: str | None = None
    file: Mapping[str, object] | None = None
    left_out: Sequence[tuple[int, int]] = ()
    is_open: bool = False


class ShowOutput(bases.BlockOp, frozen=True, tag="output"):
    """Show a block's whole text in a buffer of its own, with the cursor on a row (0-based)."""

    title: str
    lines: Sequence[str]
    marks: Sequence[Mark] = ()
    language: str | None = None
    row: int = 0


class Notify(ViewOp, frozen=True, tag="notify"):
    """Show a one-line message outside the chat; level is error, warn or info."""

    level: str
    text: str


class Unwritable(ViewOp, frozen=True, tag="unwritable"):
    """Show that a file of our own cannot be written, unless that is known of its folder.

    path: the file; fault: in the words of the system, "" once it was written after all; text: what
    is said if only this file is the reason.
    """

    path: str
    fault: str
    text: str


class Emit(ViewOp, frozen=True, tag="emit"):
    """Fire a `User` autocommand."""

    event: str
    data: Mapping[str, object]


class FilesChanged(bases.ChatOp, frozen=True, tag="files"):
    """Check the buffers of files that a tool changed on disk (absolute paths).

    No paths: a tool may have changed any file, so check all buffers. moved: source and destination
    of a file that was moved.
    """

    paths: Sequence[str]
    moved: tuple[str, str] | None = None


class ShowPlace(bases.ChatOp, frozen=True, tag="place"):
    """A tool is about to change a file (`done` false) or has changed it; for `follow`.

    places: first line (1-based) and number of lines, in the file at that moment; 0 lines where
    lines will be inserted or were removed.
    """

    path: str
    places: Sequence[tuple[int, int]]
    done: bool


class CopyLink(ViewOp, frozen=True, tag="copy_link"):
    """Copy a web address that a server, by its name, wanted to open, and say so."""

    url: str
    host: str
    server: str


class OpenExternal(ViewOp, frozen=True, tag="external"):
    """Open a file or link with the system's own program."""

    target: str


class Answer(ViewOp, frozen=True, tag="answer"):
    """The value a Lua callback waits for; `request` is the number in the intent."""

    request: int
    value: object
