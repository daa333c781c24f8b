"""Previews: changes shown in a buffer before they are made, answers beside it, commit messages.

Lua creates their ids, follows the lines in the buffer, and changes it; only what the lines become
is decided here.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from eca_nvim.chat.vocabulary import bases

ASIDE: Final = "aside-"
"""How the ids of previews begin: an agent may keep a session of one, which is no chat to resume."""


class PreviewState(StrEnum):
    """The state of a preview; READY: it is complete. FAILED: there is nothing to accept."""

    STREAMING = "streaming"
    READY = "ready"
    FAILED = "failed"


class AnswerReplaced(bases.ChatEvent, frozen=True):
    """The whole answer to a rewrite: it replaces what has come (ECA: content `replace`)."""

    text: str


class Rewrite(bases.Intent, frozen=True, tag="rewrite"):
    """Have lines of a buffer rewritten; ops `preview` with the same id follow.

    id: begins with ASIDE; the agent's answer is addressed to a chat with this id. path: absolute,
    "" without a file. lines: as they stand now, maybe unsaved. first: the number of the first one,
    1-based. above, below: lines around them. language: Vim's file type. modified: the buffer has
    unsaved changes. contexts: those that the instruction names, as in `SendPrompt`. server: its
    name, None for the default one.
    """

    id: str
    instruction: str
    path: str
    lines: Sequence[str]
    first: int
    language: str = ""
    above: Sequence[str] = ()
    below: Sequence[str] = ()
    modified: bool = False
    contexts: Sequence[object] = ()
    server: str | None = None

    @property
    def last(self) -> int:
        """The number of the last line."""
        return self.first + len(self.lines) - 1


class PutText(bases.Intent, frozen=True, tag="put"):
    """Show how lines of a buffer differ from others; an op `preview` with the same id follows.

    old: those of the buffer. below: the new ones go below the old ones, which stay.
    """

    id: str
    old: Sequence[str]
    lines: Sequence[str]
    below: bool = False


class FindRisks(bases.Intent, frozen=True, tag="path_risks"):
    """Ask what there is to say of a file that an answer names, before its code goes there.

    path: absolute. The answer is a list of texts, empty for an ordinary file of the workspace.
    """

    path: str
    request: int


class ListInstructions(bases.Intent, frozen=True, tag="instructions"):
    """Ask for the last instructions of rewrites in this project, the newest first.

    new: one that the user has just given, which is saved; "" for none.
    """

    request: int
    new: str = ""


class StopPreview(bases.Intent, frozen=True, tag="stop_preview"):
    """Stop what runs for a preview: what still comes is dropped."""

    id: str


class AskInPlace(bases.Intent, frozen=True, tag="ask_in_place"):
    """Ask a question about lines of a buffer; ops `place_answer` with the same id follow.

    id: of a question that was asked before: this one goes on in its session, and only `question`
    and `contexts` are new. contexts: as in `SendPrompt`. Others as in `Rewrite`.
    """

    id: str
    question: str
    path: str = ""
    lines: Sequence[str] = ()
    first: int = 1
    language: str = ""
    above: Sequence[str] = ()
    below: Sequence[str] = ()
    modified: bool = False
    contexts: Sequence[object] = ()
    server: str | None = None


class StopAnswer(bases.Intent, frozen=True, tag="stop_answer"):
    """Stop the answer to a question in place. closes: its session ends, too."""

    id: str
    closes: bool = False


class ContinueInChat(bases.Intent, frozen=True, tag="continue_in_chat"):
    """Show a question in place with its answers in a new chat, where the user goes on.

    chat: its id. The agent gets what was said with the first prompt.
    """

    id: str
    chat: str


class ShowAnswer(bases.ViewOp, frozen=True, tag="place_answer"):
    """How the answer to a question in place stands.

    text: Markdown that follows what has come, safe to draw. doing: what the agent does now, "" if
    it writes. fault: why it failed, in one line.
    """

    id: str
    state: PreviewState
    text: str = ""
    doing: str = ""
    fault: str = ""


class ShowChangedMeanwhile(bases.ViewOp, frozen=True, tag="changed_meanwhile"):
    """Files have changed while an agent answered that was asked to change none.

    more: how many beside these. since: when it began, milliseconds ago. The user may have written
    some of them.
    """

    paths: Sequence[str]
    more: int
    since: int


class SetPreview(bases.ViewOp, frozen=True, tag="preview"):
    """What a preview shows now, whole.

    hunks: tables of first and last (of the old lines, 0-based, last exclusive), lines (the new
    ones), old and new (parts that differ: place in the list, byte columns). reached: how many old
    lines an unfinished answer has reached. fault: why it failed, in one line. unseen: the server
    reads what is around the lines from the disk, so it lacks unsaved changes.
    """

    id: str
    state: PreviewState
    hunks: Sequence[Mapping[str, Any]] = ()
    reached: int = 0
    fault: str = ""
    unseen: bool = False


class FindStaged(bases.Intent, frozen=True, tag="staged"):
    """Ask what is staged for the next commit in a repository.

    place: absolute, a folder of its work tree, or the file in its git folder for the message.
    index: git's index of this commit, None for the usual one.

    The answer is a table of root (the folder of the work tree) and files (what is staged, names
    that are safe to show), or of fault (why there is nothing, in one line).
    """

    place: str
    request: int
    index: str | None = None


class WriteMessage(bases.Intent, frozen=True, tag="write_message"):
    """Have the message of a commit written; ops `commit_message` with the same id follow.

    id: new, begins with ASIDE. Others as in `FindStaged`. server: None for the default one.
    """

    id: str
    place: str
    index: str | None = None
    server: str | None = None


class StopMessage(bases.Intent, frozen=True, tag="stop_message"):
    """Stop writing a message: what still comes is dropped."""

    id: str


class SetMessage(bases.ViewOp, frozen=True, tag="commit_message"):
    """The message of a commit so far, whole.

    state: as of a preview. lines: without a line break at the end. notice: what the agent was not
    shown, "" if it saw all. fault: why it failed, in one line.
    """

    id: str
    state: PreviewState
    lines: Sequence[str] = ()
    notice: str = ""
    fault: str = ""
