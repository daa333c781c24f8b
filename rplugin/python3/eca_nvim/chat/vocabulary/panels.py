"""Panels: lists of what there is beside the text of chats, with keys that act on a row.

Rows and actions are data: the host decides what a row says and what can be done with it, the view
draws it and sends what the user does.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary import bases

Cell: TypeAlias = tuple[str, str, int]
"""A piece of a row: clean text, its highlight group ("" for none), and the cells of its column; 0:
it is no column, as the last one. A narrow window has no columns.
"""


class Ask(Struct, frozen=True):
    """What the user is asked before an action: to type a line, or to choose one of `choices`.

    name: the answer's name in `ActInPanel.values`. A row's value of that name is the default.
    """

    name: str
    question: str
    choices: Sequence[str] = ()


class Action(Struct, frozen=True):
    """What a key of a panel does. Keys are unique in a panel; none is a key of the view's own.

    name: what `Row.actions` names. everywhere: it needs no row. sure: the question before something
    that cannot be undone, "" for none; `{}` in it stands for the row's value `name`. answers: the
    key answers the request that the float shows, as it does there; the host is not asked.
    """

    name: str
    key: str
    text: str
    asks: Sequence[Ask] = ()
    everywhere: bool = False
    sure: str = ""
    answers: bool = False


class Row(Struct, frozen=True):
    """A line of a panel.

    id: unique in the panel; the cursor stays on it. actions: what can be done here; the first is
    done by <CR>. values: defaults of what is asked for; `name`: what the row is about. chat: the
    view writes the number of this chat before the row; with the cursor there, the float shows what
    this chat asks, and nothing else. server: the view marks the row of the one that
    answers in chats to come.
    """

    id: str
    line: Sequence[Cell]
    actions: Sequence[str] = ()
    values: Mapping[str, str] = {}
    chat: str | None = None
    server: str = ""


class SetPanel(bases.ViewOp, frozen=True, tag="panel"):
    """Set what a panel shows above its rows: a title of one line, and its actions.

    showing: that of `ShowPanel`; the view draws no op for an earlier one.
    """

    panel: str
    showing: int
    title: str
    actions: Sequence[Action]


class SetRows(bases.ViewOp, frozen=True, tag="panel_rows"):
    """Replace `removed` rows of a panel from row `at` (0-based) on; `more`: others come with them.

    showing: as in `SetPanel`. Cursors are put back once no more come.
    """

    panel: str
    showing: int
    at: int
    removed: int
    rows: Sequence[Row]
    more: bool = False


class ShowPanel(bases.Intent, frozen=True, tag="show_panel"):
    """Show a panel, for the server of a chat (None: the default one), from its first row on.

    chats: those that the view has; a host that was started again does not know them. showing: the
    number of this showing, which its ops have.
    """

    panel: str
    chat: str | None = None
    chats: Sequence[str] = ()
    showing: int = 0


class ClosePanel(bases.Intent, frozen=True, tag="close_panel"):
    """The panel is shown no more."""

    panel: str


class ActInPanel(bases.Intent, frozen=True, tag="act_in_panel"):
    """Do an action of a panel on a row; None: on no row.

    values: what the user was asked for. The answer is nil, or a table of what the view does next:
    open (a path) with line (1-based), chat (show this one), new (start a chat of the server with
    this name), server (that of chats to come, by its name), row (whose answer the cursor goes to).
    """

    panel: str
    action: str
    request: int
    row: str | None = None
    values: Mapping[str, str] = {}


class NoteUnseen(bases.ChatIntent, frozen=True, tag="unseen"):
    """A turn has ended in a chat that no window shows; or, not `unseen`: the user has seen that."""

    unseen: bool


class SetCheckpoints(bases.ViewOp, frozen=True, tag="checkpoints"):
    """The checkpoints that other code may know, those of prompts.

    items: new or changed ones, newest first: id, chat, turn, prompt (cut to a bounded length), time
    (seconds since 1970), files (paths that the turn has changed, as far as they are named). gone:
    ids. whole: there are no others.
    """

    items: Sequence[Mapping[str, object]]
    gone: Sequence[str] = ()
    whole: bool = False


class RestoreCheckpoint(bases.Intent, frozen=True, tag="restore_checkpoint"):
    """Go back to a checkpoint, as if the user had looked at it and confirmed.

    files: restore the files. history: undo the chat from its prompt on, first. The answer is a
    table: files (tables of path, and done: restored, created or deleted; or fault), undo (the id of
    a checkpoint of the files before that), and fault if something could not be done.
    """

    checkpoint: str
    request: int
    files: bool = True
    history: bool = False
