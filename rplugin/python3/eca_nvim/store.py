"""Store: one file a project with its prompts, drafts, comments, choices and sessions.

It survives Neovim. Several Neovims may write at once: each write merges our changes into what the
others have written. Of two changes to the same thing the later one wins. The file is replaced as a
whole, so a reader finds the old content or the new, never half of one.
"""

import fcntl
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar

import msgpack
from msgspec import Struct, convert, field, to_builtins
from msgspec.structs import astuple

from eca_nvim.chat.model.comments import Comment
from eca_nvim.digests import name_digest
from eca_nvim.paths import NotAFile, open_regular
from eca_nvim.system import start_time, started_at

FORMAT: Final = 1
_SHARED: Final = ""
"""What stands for all projects: those have paths."""
MOST_PROMPTS = 500  # as many as `lua/eca/input/history.lua` lists
LONGEST_PROMPT = 65_536
"""Characters; longer prompts are not saved."""
MOST_DRAFTS = 50
MOST_COMMENTS = 200
MOST_SESSIONS = 500
MOST_CHATS = 500
"""Chats whose options are saved."""
STEP = 0.01
"""Seconds between two tries to take the lock: flock has no timeout without a thread or a signal."""
ASIDE = 0.5
"""Seconds that `set_aside` waits for the lock."""
REUSED = 2.0
"""Seconds by which the computed start time of a process may be wrong."""


class StoreDamaged(ValueError):
    """Raised when a file does not have the format that this store writes."""


class Busy(OSError):
    """Raised when another process is writing the file."""


class Draft(Struct, frozen=True, array_like=True):
    """Unsent text of a chat's input.

    changed: seconds since the epoch; owner: process id of the Neovim it was typed in.
    """

    text: str
    changed: float
    owner: int


class SavedSession(Struct, frozen=True, array_like=True):
    """The session of an agent that a chat is bound to: the server's name and the agent's id.

    changed: when it was last used, in seconds since the epoch; owner: process id of the Neovim that
    used it; title: the beginning of its first prompt here, "" if that is not known.
    """

    server: str
    id: str
    changed: float
    owner: int
    title: str = ""


OptionValues: TypeAlias = Mapping[str, str | bool]
"""Values of options, by their ids."""


class SavedOptions(Struct, frozen=True, array_like=True):
    """What was set in a chat.

    chosen: by the user. left: what the options had last that decide on asking. trusted: it was
    trusted when it was left. changed: seconds since the epoch.
    """

    chosen: OptionValues
    left: OptionValues
    trusted: bool
    changed: float


_Dated = TypeVar("_Dated", Draft, SavedSession, SavedOptions, Comment)


class SavedState(Struct):
    """The content of a project's file.

    prompts: when each was last sent (seconds since the epoch), oldest first; drafts, sessions and
    options by chat id; comments by their ids; choices by kind (model, agent, variant, "trust
    <server>", and the last instructions of rewrites).
    """

    prompts: dict[str, float] = field(default_factory=dict)
    drafts: dict[str, Draft] = field(default_factory=dict)
    choices: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, SavedSession] = field(default_factory=dict)
    options: dict[str, SavedOptions] = field(default_factory=dict)
    comments: dict[str, Comment] = field(default_factory=dict)


class _File(Struct):
    """What is in the file; fields may be added at the end, with a default."""

    format: Literal[1]
    prompts: list[tuple[str, float]]
    drafts: dict[str, Draft]
    choices: dict[str, str]
    sessions: dict[str, SavedSession] = field(default_factory=dict)
    options: dict[str, SavedOptions] = field(default_factory=dict)
    project: str = ""
    comments: dict[str, Comment] = field(default_factory=dict)


class StoreChanges(Struct):
    """Changes that are not written yet; what is to be removed, by its id, is None."""

    prompts: dict[str, float] = field(default_factory=dict)
    drafts: dict[str, Draft | None] = field(default_factory=dict)
    choices: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, SavedSession | None] = field(default_factory=dict)
    options: dict[str, SavedOptions | None] = field(default_factory=dict)
    comments: dict[str, Comment | None] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(astuple(self))


def merge(saved: SavedState, changed: StoreChanges) -> SavedState:
    """Return a state with changes applied, cut to the limits (oldest out first)."""
    prompts = dict(saved.prompts)
    for text, sent in changed.prompts.items():
        prompts[text] = max(sent, prompts.get(text, 0.0))
    newest = sorted(prompts.items(), key=lambda item: item[1])[-MOST_PROMPTS:]
    return SavedState(
        prompts=dict(newest),
        drafts=_newest(saved.drafts, changed.drafts, MOST_DRAFTS),
        choices={**saved.choices, **changed.choices},
        sessions=_newest(saved.sessions, changed.sessions, MOST_SESSIONS),
        options=_newest(saved.options, changed.options, MOST_CHATS),
        comments=_newest(saved.comments, changed.comments, MOST_COMMENTS),
    )


def _newest(
    saved: Mapping[str, _Dated], changed: Mapping[str, _Dated | None], most: int
) -> dict[str, _Dated]:
    """Return the entries that changed last, without those to be removed.

    What changes now is the newest, also if the clock was set back.
    """
    present = [(id_, entry) for id_, entry in saved.items() if id_ not in changed]
    present.sort(key=lambda item: item[1].changed)
    present += [(id_, entry) for id_, entry in changed.items() if entry is not None]
    return dict(present[-most:])


class Store:
    """The file of one project, in a folder with the files of all projects."""

    def __init__(self, folder: Path, project: str) -> None:
        digest = name_digest(project.encode(errors="surrogateescape"))
        self.path = folder / f"{digest}.msgpack"
        self._project = project

    @property
    def shared(self) -> "Store":
        """The file beside it for what is the same in all projects."""
        return Store(self.path.parent, _SHARED)

    def read(self) -> SavedState:
        """Return the saved state, empty if there is no file. Raises StoreDamaged, OSError."""
        try:
            with open_regular(str(self.path)) as file:
                content = file.read()
        except FileNotFoundError:
            return SavedState()
        except NotAFile as fault:
            raise StoreDamaged(f"{self.path} is damaged: {fault}") from fault
        try:
            return _unpack(content)
        except Exception as fault:  # msgpack raises many kinds, all for one reason
            raise StoreDamaged(f"{self.path} is damaged: {fault}") from fault

    def set_aside(self) -> Path | None:
        """Rename a damaged file and return its new path, or None if it is not damaged any more.

        Another process may have renamed it while this one waited for the lock. Raises OSError.
        """
        with self._locked(ASIDE):
            try:
                self.read()
            except StoreDamaged:
                names = (f".damaged-{number}" for number in count(2))
                paths = map(self.path.with_suffix, chain([".damaged"], names))
                return self.path.replace(next(it for it in paths if not it.exists()))
        return None

    def write(self, changed: StoreChanges, patience: float = 0.0) -> SavedState:
        """Merge changes into the file; returns the merged state.

        If the lock is taken the caller tries again later; at exit the drafts go to a file of their
        own, which the next Neovim reads (`lua/eca/host/draft_file.lua`).
        patience: seconds to wait for the lock. Raises Busy, StoreDamaged (the file is unchanged),
        OSError.
        """
        return self.change(lambda _: changed, patience)

    def change(
        self, make_changes: Callable[[SavedState], StoreChanges], patience: float = 0.0
    ) -> SavedState:
        """Merge changes that are computed from the file's present state; see `write`."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked(patience):
            saved = self.read()
            saved = merge(saved, make_changes(saved))
            _replace(self.path, f".{os.getpid()}", _pack(self._project, saved))
        return saved

    def leave_drafts(self, changed: StoreChanges) -> None:
        """Write drafts to a file that the next Neovim reads. Raises OSError.

        Does nothing if Neovim's own half has already written that file: it holds as much.
        """
        texts = [draft.text for draft in changed.drafts.values() if draft is not None]
        if texts and not self._left_drafts.exists():
            content = "\n".join(texts).encode(errors="surrogatepass")
            _replace(self._left_drafts, ".unsent.new", content)

    def remove_left_drafts(self, saved: SavedState) -> None:
        """Remove the file that Neovim's own half left if all its lines are saved. Raises OSError.

        A signal may have ended this process before it read the last words typed there.
        """
        with suppress(FileNotFoundError):
            left = self._left_drafts.read_bytes().decode(errors="surrogateescape")
            texts = [it.text for it in saved.drafts.values()]
            texts += [it.text for it in saved.comments.values()]
            lines = {line for text in texts for line in text.split("\n")}
            if lines.issuperset(left.split("\n")):
                self._left_drafts.unlink()

    def sweep(self) -> None:
        """Remove half-written files of processes that were killed. Raises OSError."""
        for path in self.path.parent.glob("*.*"):
            match path.name.split("."):
                case [_, pid] | [_, pid, "unsent", "new"] if pid.isdecimal() and not is_running(
                    int(pid)
                ):
                    path.unlink(missing_ok=True)

    @property
    def _left_drafts(self) -> Path:
        return self.path.with_suffix(f".{os.getpid()}.unsent")

    @contextmanager
    def _locked(self, patience: float) -> Iterator[None]:
        """Hold the lock that keeps other processes from writing. Raises Busy."""
        lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(lock, time.monotonic() + patience)
            yield
        except BlockingIOError as locked:
            raise Busy(f"{self.path} is being written") from locked
        finally:
            os.close(lock)


def is_running(process: int, at: float = math.inf) -> bool:
    """Return whether the process that had this id at a time (seconds since the epoch) still runs.

    A zombie does not run: in containers often nobody reaps it. A process that started later only
    reuses the id, as happens soon after a machine or a container restarts.
    """
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    started = start_time(process)
    return started is not None and (started_at(started) or 0) <= at + REUSED


def _lock(lock: int, deadline: float) -> None:
    """Lock a file. Raises BlockingIOError if another process still holds it at the deadline."""
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(STEP)


def _replace(path: Path, suffix: str, content: bytes) -> None:
    """Replace a file's content, all of it or nothing. Raises OSError."""
    fresh = path.with_suffix(suffix)
    try:
        fresh.touch(mode=0o600)
        fresh.write_bytes(content)
        fresh.replace(path)
    except OSError:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise


def _pack(project: str, saved: SavedState) -> bytes:
    _, drafts, choices, sessions, options, comments = astuple(saved)
    known = (drafts, choices, sessions, options, project, comments)
    file = _File(FORMAT, [*saved.prompts.items()], *known)
    packed: bytes = msgpack.packb(to_builtins(file), unicode_errors="surrogatepass")
    return packed


def _unpack(content: bytes) -> SavedState:
    """Parse a file's content. Raises many kinds of exceptions if it is damaged."""
    file = convert(msgpack.unpackb(content, unicode_errors="surrogatepass"), _File)
    known = (file.drafts, file.choices, file.sessions, file.options, file.comments)
    return SavedState(dict(file.prompts), *known)
