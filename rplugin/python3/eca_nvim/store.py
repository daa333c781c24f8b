"""Store: what outlives Neovim on this machine, for one project: prompts, drafts, choices.

Rules kept here:
- One file a project, MessagePack, readable by its owner alone, written to a new file that then
  takes the old one's place: who reads finds the one or the other.
- Several Neovims may keep things at once: what is written is what the others have written plus what
  was changed here. Of two changes of one thing the later one stays.
- A file that makes no sense is set aside under another name and told once, never overwritten.
- Who cannot write in time while another process writes tries again later, or leaves the drafts in a
  file for the next Neovim (`lua/eca/host/draft_file.lua` takes it over).
"""

from __future__ import annotations

import fcntl
import hashlib
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path

import msgpack
from msgspec import Struct, field

from eca_nvim.paths import NotAFile, open_regular

FORMAT = 1
MOST_PROMPTS = 500
LONGEST_PROMPT = 65_536
"""Characters; longer prompts are not kept."""
MOST_DRAFTS = 50
_TICKS = 19
"""Place of the time of the start in `/proc/<process>/stat`, after the name."""
STEP = 0.01
"""Seconds between two looks at a lock that another process holds: no wait for one can end in time
without a thread or a signal."""
ASIDE = 0.5
"""Seconds that setting a file aside waits for other processes that write."""
REUSED = 2.0
"""Seconds by which the time a process was started at may be wrong."""


class Damaged(ValueError):
    """Raised when a file holds something else than what this store writes."""


class Busy(OSError):
    """Raised when another process is writing the file."""


class Draft(Struct, frozen=True):
    """What is typed in a chat's input and not sent.

    changed: seconds since the epoch; owner: process id of the Neovim it is typed in.
    """

    text: str
    changed: float
    owner: int


class SavedState(Struct):
    """All that is kept of a project.

    prompts: when each was last sent (seconds since the epoch), oldest first; drafts by chat id;
    choices by what was chosen (model, agent, variant).
    """

    prompts: dict[str, float] = field(default_factory=dict)
    drafts: dict[str, Draft] = field(default_factory=dict)
    choices: dict[str, str] = field(default_factory=dict)


class Changed(Struct):
    """What changed since it was last written; a draft that is None was taken out."""

    prompts: dict[str, float] = field(default_factory=dict)
    drafts: dict[str, Draft | None] = field(default_factory=dict)
    choices: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.prompts or self.drafts or self.choices)


def merge(kept: SavedState, changed: Changed) -> SavedState:
    """Put changes into what others have written, within the limits."""
    prompts = dict(kept.prompts)
    for text, sent in changed.prompts.items():
        prompts[text] = max(sent, prompts.get(text, 0.0))
    drafts: dict[str, Draft | None] = {**kept.drafts, **changed.drafts}
    present = [(chat, draft) for chat, draft in drafts.items() if draft is not None]
    present.sort(key=lambda item: item[1].changed)
    newest = sorted(prompts.items(), key=lambda item: item[1])[-MOST_PROMPTS:]
    return SavedState(
        prompts=dict(newest),
        drafts=dict(present[-MOST_DRAFTS:]),
        choices={**kept.choices, **changed.choices},
    )


class Store:
    """The file of one project, in a folder that holds those of all."""

    def __init__(self, folder: Path, project: str) -> None:
        digest = hashlib.sha256(project.encode(errors="surrogateescape")).hexdigest()
        self.path = folder / f"{digest[:16]}.msgpack"
        self._project = project

    def read(self) -> SavedState:
        """Read what is kept; nothing is when there is no file. Raises Damaged, OSError."""
        try:
            with open_regular(str(self.path)) as file:
                content = file.read()
        except FileNotFoundError:
            return SavedState()
        except NotAFile as fault:
            raise Damaged(f"{self.path} is damaged: {fault}") from fault
        try:
            return _unpack(content)
        except Exception as fault:  # msgpack raises many kinds, all for one reason
            raise Damaged(f"{self.path} is damaged: {fault}") from fault

    def set_aside(self) -> Path | None:
        """Give a damaged file another name, which is returned; None: it is not damaged any more.

        Waits a moment for other processes that write, which may do the same. Raises OSError.
        """
        with self._alone(ASIDE):
            try:
                self.read()
            except Damaged:
                names = (f".damaged-{number}" for number in count(2))
                paths = map(self.path.with_suffix, chain([".damaged"], names))
                return self.path.replace(next(it for it in paths if not it.exists()))
        return None

    def write(self, changed: Changed, patience: float = 0.0) -> SavedState:
        """Write changes on top of what others have written; returns all of it.

        Waits so many seconds for other processes that write. Raises Busy, Damaged (the file is as
        it was) and OSError.
        """
        return self.change(lambda _: changed, patience)

    def change(self, made: Callable[[SavedState], Changed], patience: float = 0.0) -> SavedState:
        """Write changes that depend on what others have written; see `write`."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._alone(patience):
            kept = self.read()
            kept = merge(kept, made(kept))
            _replace(self.path, f".{os.getpid()}", _pack(self._project, kept))
        return kept

    def leave(self, changed: Changed) -> None:
        """Leave drafts that could not be written to the next Neovim. Raises OSError.

        What this Neovim has left there itself is as much.
        """
        texts = [draft.text for draft in changed.drafts.values() if draft is not None]
        if texts and not self._left.exists():
            content = "\n".join(texts).encode(errors="surrogatepass")
            _replace(self._left, ".unsent.new", content)

    def take_away(self, kept: SavedState) -> None:
        """Take away what this Neovim has left, if all of it is kept. Raises OSError.

        Its last words may not have been read when a signal ended this process.
        """
        with suppress(FileNotFoundError):
            left = self._left.read_bytes().decode(errors="surrogateescape")
            lines = {line for draft in kept.drafts.values() for line in draft.text.split("\n")}
            if lines.issuperset(left.split("\n")):
                self._left.unlink()

    def sweep(self) -> None:
        """Remove what processes that were killed have half written. Raises OSError."""
        for path in self.path.parent.glob("*.*"):
            match path.name.split("."):
                case [_, pid] | [_, pid, "unsent", "new"] if pid.isdecimal() and not runs(int(pid)):
                    path.unlink(missing_ok=True)

    @property
    def _left(self) -> Path:
        return self.path.with_suffix(f".{os.getpid()}.unsent")

    @contextmanager
    def _alone(self, patience: float) -> Iterator[None]:
        """Keep other processes from writing. Raises Busy."""
        lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(lock, time.monotonic() + patience)
            yield
        except BlockingIOError as locked:
            raise Busy(f"{self.path} is being written") from locked
        finally:
            os.close(lock)


def runs(process: int, at: float = math.inf) -> bool:
    """Tell whether the process runs that had this id at some time, in seconds since the epoch.

    One that has ended and that nobody has waited for, as happens in containers, does not. Ids are
    used again, after a restart of the machine or of a container very soon.
    """
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    try:
        status = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return True  # there is no /proc
    fields = status.rpartition(") ")[2].split()
    return fields[0] not in ("Z", "X") and _started(int(fields[_TICKS])) <= at + REUSED


def _started(ticks: int) -> float:
    """Give the time that is so long after the start of the machine, in seconds since the epoch."""
    now = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return now + ticks / os.sysconf("SC_CLK_TCK")


def _lock(lock: int, deadline: float) -> None:
    """Lock a file for this process alone. Raises BlockingIOError when others hold it too long."""
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(STEP)


def _replace(path: Path, suffix: str, content: bytes) -> None:
    """Give a file another content, all of it or none. Raises OSError."""
    fresh = path.with_suffix(suffix)
    try:
        fresh.touch(mode=0o600)
        fresh.write_bytes(content)
        fresh.replace(path)
    except OSError:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise


def _pack(project: str, kept: SavedState) -> bytes:
    drafts = {chat: [it.text, it.changed, it.owner] for chat, it in kept.drafts.items()}
    table = {
        "format": FORMAT,
        "project": project,
        "prompts": list(kept.prompts.items()),
        "drafts": drafts,
        "choices": kept.choices,
    }
    packed: bytes = msgpack.packb(table, unicode_errors="surrogatepass")
    return packed


def _unpack(content: bytes) -> SavedState:
    """Read a file's content. Raises whatever a wrong one leads to."""
    table = msgpack.unpackb(content, unicode_errors="surrogatepass")
    if table["format"] != FORMAT:
        raise Damaged(f"it has the format {table['format']!r}")
    drafts: Mapping[str, tuple[str, float, int]] = table["drafts"]
    return SavedState(
        prompts={_text(text): float(sent) for text, sent in table["prompts"]},
        drafts={
            _text(chat): Draft(_text(text), float(changed), int(owner))
            for chat, (text, changed, owner) in drafts.items()
        },
        choices={_text(what): _text(value) for what, value in table["choices"].items()},
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Damaged(f"{value!r} is no text")
    return value
