"""Call details: what the agent says about a tool call, what it does, which files it uses.

A value that the agent omits is None.
"""

from collections.abc import Mapping, Sequence
from enum import Enum, StrEnum, auto
from typing import Any, TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary import bases


class Use(StrEnum):
    """What was done with a file. RUN: a command named it."""

    READ = "read"
    WRITTEN = "written"
    MENTIONED = "mentioned"
    RUN = "run"


class FileUsed(bases.ChatEvent, frozen=True):
    """A file was used; `path` is absolute.

    by_request: the agent asked this client to read or write it (ACP: fs/read_text_file). Usually a
    call says the same when it ends; the two count once. unsaved: what a file that was written by
    request would have been with the user's unsaved changes; None: there were none.
    """

    path: str
    use: Use
    by_request: bool = False
    unsaved: bytes | None = None


class FileNamed(bases.ChatEvent, frozen=True):
    """A path was named that may be no file; it counts once the session has found the file."""

    path: str
    use: Use = Use.MENTIONED


class SetUsedFiles(bases.ChatOp, frozen=True, tag="used"):
    """The files of a chat that were used since the last such op, and its turn.

    A file: path, outside (of the workspace), turn (in which it was last used), heat (as of that
    turn), and how often it was used in each way (the values of Use). dropped: paths to forget.
    """

    turn: int
    files: Sequence[dict[str, Any]]
    dropped: Sequence[str] = ()


class ToolKind(StrEnum):
    """What a tool does; OTHER may do anything."""

    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    FETCH = "fetch"
    SWITCH_MODE = "switch_mode"
    OTHER = "other"
    TASKS = "tasks"
    ASK = "ask"
    AGENT = "agent"


class FileName(Struct, frozen=True):
    """The path of a file, in a title."""

    path: str


class InFolder(Struct, frozen=True):
    """The path that a call searches, in a title; not shown if it is the whole workspace."""

    path: str


Title: TypeAlias = tuple[str | FileName | InFolder, ...]
"""Words of a header, joined by spaces; paths are shown relative to the workspace."""


class Location(Struct, frozen=True):
    """A file that a call works on, and the line (1-based) if the agent names one."""

    path: str
    line: int | None = None


class KnownSoFar(Struct, frozen=True):
    """What is known of a call from arguments that the model is still writing."""

    title: Title
    locations: tuple[Location, ...] = ()


class Base(Enum):
    """What a change is made to, from what the agent has read.

    DISK: the file on disk, without the user's unsaved changes. EDITOR: the file with them. OLD: the
    old text, which is all of the file with them.
    """

    DISK = auto()
    EDITOR = auto()
    OLD = auto()


class FileChange(Struct, frozen=True):
    """A change a tool makes to one file; `diff` is a unified diff, possibly hunks only.

    old, new: the texts, if the agent sends them. `new` replaces `old` in the file, everywhere if
    `every` is set; without `old` it is the whole new text of the file. placed: the line numbers of
    the diff are those of the file; if not, nobody knows where in the file the change is. by_us: we
    make it, for a server of the first draft.
    """

    path: str
    diff: str
    added: int
    removed: int
    old: str | None = None
    new: str | None = None
    every: bool = False
    placed: bool = True
    base: Base = Base.DISK
    by_us: bool = False

    @property
    def whole(self) -> str | None:
        """The whole new text of the file, if the agent sends it."""
        return self.new if self.old is None else None


class PartialWrite(Struct, frozen=True):
    """What a file is to hold once a call is allowed in part; None: there is no such file.

    path: as the call names it. place: its real path. before: its text when the user chose.
    proposed: what the tool makes of it. allowed: what is to stand there. on_disk: `before` is the
    text on the disk, without unsaved changes. is_merged: we have written what was allowed; some
    tools (opencode 1.18) write all of it themselves, too.
    """

    path: str
    place: str
    before: str | None
    proposed: str | None
    allowed: str | None
    on_disk: bool = True
    is_merged: bool = False


class HunkChoice(Struct, frozen=True):
    """What the user takes of the changes that a call asks for.

    asked: its changes. changes: the same, those of edited files as the user has edited them.
    left_out: the numbers of the parts of `changes` that are not taken. writes: the files that are
    to hold something else than the tool writes.
    """

    asked: tuple[FileChange, ...]
    changes: tuple[FileChange, ...]
    left_out: frozenset[int] = frozenset()
    writes: tuple[PartialWrite, ...] = ()


class ShellPart(Struct, frozen=True):
    """One command of a shell line; `remember_key` is the key that "remember" would add."""

    command: str
    arguments: tuple[str, ...] = ()
    remember_key: str | None = None
    remembered: bool = False


class ShellCommand(Struct, frozen=True):
    """A shell line, split into commands by the agent."""

    parts: tuple[ShellPart, ...]
    background: bool = False


class JsonOutputs(Struct, frozen=True):
    """Outputs that are formatted JSON documents."""

    documents: tuple[str, ...]


class Subagent(Struct, frozen=True):
    """A subagent, whose chat runs inside a tool call."""

    agent: str
    chat_id: str | None = None
    model: str | None = None
    variant: str | None = None
    step: int | None = None
    max_steps: int | None = None


class TaskStatus(StrEnum):
    """How far a task is."""

    PENDING = "pending"
    IN_PROGRESS = "in progress"
    DONE = "done"


class Task(Struct, frozen=True):
    """One entry of the agent's task list; `blocked_by` has the ids of tasks to be done first."""

    id: str
    subject: str
    status: TaskStatus = TaskStatus.PENDING
    description: str = ""
    priority: str = ""
    blocked_by: tuple[str, ...] = ()
    blocked: bool = False


class TaskList(Struct, frozen=True):
    """The agent's whole task list; it replaces the previous one."""

    tasks: tuple[Task, ...]
    active_summary: str | None = None

    @property
    def done(self) -> int:
        """The number of tasks that are done."""
        return sum(task.status is TaskStatus.DONE for task in self.tasks)

    @property
    def doing(self) -> str:
        """The agent's summary of the current work, else the tasks in progress."""
        running = (it.subject for it in self.tasks if it.status is TaskStatus.IN_PROGRESS)
        return self.active_summary or ", ".join(running)


class UnknownDetails(Struct, frozen=True):
    """Details of a kind this client does not know; shown as text."""

    kind: str
    text: str


Details: TypeAlias = ShellCommand | JsonOutputs | Subagent | TaskList | UnknownDetails


class ToolCall(Struct, frozen=True):
    """A tool call as known so far; later events complete earlier ones.

    arguments: as received. Only the agent knows their meaning: it derives the fields below from
    them and the tool's name.
    kind: the kind of tool. verb: one word for its action; without it the title is a whole sentence.
    title: the object of the action. command: the whole shell line that it runs. locations: the
    files it reads or changes; of a move the source, then the destination. changes: the changes it
    makes to files. mentions: everything in the arguments that may be a path, if that is more than
    the locations. shown: names of arguments that the command, the changes or the subagent's name
    already show. note: text of the agent that explains the call before it runs.
    """

    id: str
    name: str | None = None
    server: str | None = None
    origin: str | None = None
    summary: str | None = None
    details: Details | None = None
    arguments: Mapping[str, object] | None = None
    kind: ToolKind | None = None
    verb: str | None = None
    title: Title | None = None
    command: str | None = None
    locations: tuple[Location, ...] | None = None
    changes: tuple[FileChange, ...] | None = None
    mentions: tuple[str, ...] | None = None
    shown: tuple[str, ...] | None = None
    note: str | None = None
