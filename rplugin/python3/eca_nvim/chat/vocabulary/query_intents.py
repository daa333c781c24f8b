"""Intents that ask: saved chats and their history, a chat's text, files that tools changed."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from eca_nvim.chat.vocabulary import bases

Intent: TypeAlias = bases.Intent


class ListChats(Intent, frozen=True, tag="list_chats"):
    """Ask for the chats a server has saved.

    The answer is a list of tables, newest first: id, title, model, messages (their number), created
    and updated (ms since 1970), running, open (in this session), last (its last words, as far as
    they are known here, one line), files (how many its turns have changed). Unknown values are
    absent. server: its name, None for the default one. words: only chats that have all of these
    words in the title, or in what is known here of their texts.
    """

    request: int
    words: str = ""
    server: str | None = None


class ResumeChat(bases.ChatIntent, frozen=True, tag="resume"):
    """Continue a saved chat: show its newest page.

    instead: the chat it replaces on the screen, which is removed if it is empty. quiet: do not
    complain if the agent does not know the chat, because it may be new. server: the name of the
    server that has saved it, None for the default one.
    """

    instead: str | None = None
    quiet: bool = False
    server: str | None = None


class LoadOlder(bases.ChatIntent, frozen=True, tag="older"):
    """Load the page before the oldest loaded one."""


class RenameChat(bases.ChatIntent, frozen=True, tag="rename"):
    """Rename a chat."""

    title: str


class ClearMessages(bases.ChatIntent, frozen=True, tag="clear"):
    """Remove all messages of a chat, here and at the agent."""


class DeleteChat(bases.ChatIntent, frozen=True, tag="delete"):
    """Delete a chat, here and at the agent."""


class Rollback(bases.BlockIntent, frozen=True, tag="rollback"):
    """Undo a chat from the user message that a block is or belongs to; block 0 is the last.

    messages: remove the messages from there on. An agent that cannot gets a new session and a
    recap of what was said before. give_back: put the user message back into the input.
    tools: the agent restores the files its tools have changed since, and overwrites changes others
    have saved; `review_intents.UndoTurn` keeps those. The answer is true once all is done.
    """

    messages: bool = True
    tools: bool = False
    give_back: bool = True
    request: int | None = None


class RetryPrompt(bases.ChatIntent, frozen=True, tag="retry"):
    """Send the last prompt again, as it was sent; its answer is put aside with what followed.

    model: the value or name of the model to ask, None for the one that is selected. tools: as in
    `Rollback`. The answer is true once the prompt was sent.
    """

    model: str | None = None
    tools: bool = False
    request: int | None = None


class ShowAttempt(bases.BlockIntent, frozen=True, tag="attempt"):
    """Show another answer to the prompt of a turn, in place of the one that is shown.

    block: any of the turn; 0: the last turn whose prompt has several answers. step: how many
    answers on, from the last one to the first again; negative: back. The answer is the block above
    the one that is shown now.
    """

    step: int
    request: int | None = None


class ForkChat(bases.BlockIntent, frozen=True, tag="fork"):
    """Copy a chat up to a block, without it if it is a user message; block 0 is the last."""


class AddFlag(bases.BlockIntent, frozen=True, tag="add_flag"):
    """Add a flag after a block, or after the nearest earlier one that allows it; 0 is the last."""

    text: str


class RemoveFlag(bases.BlockIntent, frozen=True, tag="remove_flag"):
    """Remove a flag, by its block."""


class Grep(bases.ChatIntent, frozen=True, tag="grep"):
    """Search a whole chat for a regular expression, including collapsed text.

    A lower-case pattern ignores case. The answer is a table of hits
    (in order; tables of block, shown, row, column and text) and more (number of hits left out), or
    of fault (why the search failed). `shown` is the block in the view: the same, or one around it.
    `row` is a line of the block's whole text, 0-based, absent if the header matches; `column` is a
    byte column, 0-based.
    """

    pattern: str
    request: int


class Reveal(bases.BlockIntent, frozen=True, tag="reveal"):
    """Open a block and the blocks around it.

    row: a line of its whole text, 0-based. The answer is the line's row in the body. If the body
    leaves the line out, it is nil, and the block's whole text is shown at this line.
    """

    request: int
    row: int | None = None


class RequestPlace(bases.BlockIntent, frozen=True, tag="place"):
    """Ask which file is meant at a row of a block's body (0-based; nil: its header) and a column.

    The answer is a table of path (absolute) and line (1-based, nil
    if none is meant); nil if no file is meant. A header may name several files: the byte column
    (0-based) tells which.
    """

    column: int
    request: int
    row: int | None = None


class RequestImage(bases.BlockIntent, frozen=True, tag="image"):
    """Ask for the file of an image block.

    The answer is its path; nil if images of this kind are not shown.
    """

    request: int


class RequestOutput(bases.BlockIntent, frozen=True, tag="output"):
    """Show a block's whole text in a buffer of its own, at a line (0-based)."""

    row: int = 0


class RequestTranscript(bases.ChatIntent, frozen=True, tag="transcript"):
    """Ask for the whole chat as Markdown."""

    request: int


class RequestPlan(bases.ChatIntent, frozen=True, tag="plan"):
    """Ask for the plan that the agent proposes (`whole_chat.proposed_plan`).

    The answer is a table of text and block; nil if the agent has said nothing yet. With a `block`
    it is that answer of the agent.
    """

    request: int
    block: int | None = None


class RequestTimeline(bases.ChatIntent, frozen=True, tag="timeline"):
    """Ask for the user's messages and flags.

    The answer is a list of tables in order: block, kind (user, flag, older) and title. With a
    `block` it has only the user message that the block is or belongs to, if any, with its text.
    """

    request: int
    block: int | None = None


class CheckContext(Intent, frozen=True, tag="check_context"):
    """Ask whether a context (`contexts.parse_context`) can be sent.

    The answer is a table of fault (why not, in one line), or of
    first and last (the lines in order, cut to those that exist).
    """

    item: object
    request: int


class ReadDiff(Intent, frozen=True, tag="read_diff"):
    """Ask for git's diff of the repository that a folder is in.

    The answer is a table of label, content and cut (what is left of
    it, nil if that is all), or of fault (why there is none, in one line).
    """

    folder: str
    request: int


class MeasureContexts(Intent, frozen=True, tag="measure_contexts"):
    """Ask how much of folders and diffs would be sent.

    items: contexts of these types (`contexts.parse_context`). The answer has for each its bytes, or
    false if there is nothing but a name to send.
    """

    items: Sequence[object]
    request: int


class ChangeFolder(Intent, frozen=True, tag="change_folder"):
    """Add a folder to the workspace, or remove one that was added; the path is absolute.

    The answer is a list of the folders that are added now; nil if
    it was refused.
    """

    path: str
    removed: bool
    request: int


class PasteImage(Intent, frozen=True, tag="paste_image"):
    """Ask for the image in the clipboard as a file.

    The answer is a table of path, or of fault (why there is none,
    in one line).
    """

    request: int


class ListChanges(bases.ChatIntent, frozen=True, tag="changes"):
    """Ask for all changes of a chat's tools, or of one turn.

    The answer is a list of tables (see `review.unreviewed.unreviewed`), turn by turn. If nothing
    ever changed, a message says so and the answer is None.
    """

    request: int
    turn: int | None = None


class ListUnreviewed(bases.ChatIntent, frozen=True, tag="unreviewed"):
    """Ask for what is not reviewed yet of a chat's changes, or of those in one file.

    begins: the user begins to review all of it: it is not forgotten before it is reviewed.

    The answer is a list of tables (see `review.unreviewed.unreviewed`), file by file in the order
    of their paths.
    """

    request: int
    path: str | None = None
    begins: bool = False


class KeepChanges(bases.ChatIntent, frozen=True, tag="keep"):
    """Keep changes, by their keys: they are reviewed, and no longer listed."""

    keys: Sequence[str]


class PutComment(bases.ChatIntent, frozen=True, tag="comment"):
    """Keep a comment of the user, or its new text; an empty one removes it (`model.comments`).

    id: the view's, unique. before: the lines that a tool has changed there; None: the comment is on
    lines as they are.
    """

    id: str
    text: str
    paths: Sequence[str] = ()
    line: int = 1
    count: int = 0
    before: Sequence[str] | None = None
    subject: str = ""
    turn: int = 0
    request: int | None = None


class CheckComments(bases.ChatIntent, frozen=True, tag="check_comments"):
    """Find the places of comments, and whether those that were sent are addressed."""


class SendComments(bases.ChatIntent, frozen=True, tag="send_comments"):
    """Take the comments that were not sent yet, else those that are still open, to send them.

    The answer is a table: text (of the prompt), typed (what the user wrote of it), count. None:
    there is nothing to send; a message says so.
    """

    request: int


class PlanUndo(bases.ChatIntent, frozen=True, tag="plan_undo"):
    """Ask what undoing a turn (default: the last) would do.

    paths: only these files. since: undo the turn of this user message's block and all later ones.
    messages: the messages will be undone, too.

    The answer is a table: turns (numbers, newest first), again (the turn is undone already, so that
    undoing it applies it again), title, verb (the action of the key that undoes), rows, why (the
    reason if there are no rows), notes (lines on what the plan does not know). A row is a file
    (path; seen: the digest of its present content) or a turn without saved files (name). Its
    segments word both outcomes: kept and taken; an impossible one is absent. The answer is None,
    after a message, if nothing can be undone.
    """

    request: int
    turn: int | None = None
    paths: Sequence[str] | None = None
    since: int | None = None
    messages: bool = False


class UndoTurn(bases.ChatIntent, frozen=True, tag="undo_turn"):
    """Restore files to their state before turns.

    turns: newest first. files: pairs of a path and its `seen` from the plan; a file changed since
    then is left alone. since: the user message's block to which the chat goes back; a checkpoint
    named after it is made first, for all that is restored now. The answer is a table: done (paths),
    failed (tables of path, fault and, if the file is damaged, copy: the path of a copy of the
    original).
    """

    request: int
    turns: Sequence[int]
    files: Sequence[tuple[str, str]]
    since: int | None = None


class ShowCheckpoint(bases.ChatIntent, frozen=True, tag="checkpoint"):
    """Show the diff of a file from before these turns (newest first) to now."""

    turns: Sequence[int]
    path: str


class ListFiles(bases.ChatIntent, frozen=True, tag="files"):
    """Ask for the files that the chat's tools read and changed.

    The answer is a list of tables, most used first: path, use (segments that say how it was used).
    """

    request: int


class FileWritten(Intent, frozen=True, tag="wrote"):
    """The user began, finished or abandoned writing a file, which is then no tool's change."""

    path: str
    state: Literal["begun", "written", "given_up"]
