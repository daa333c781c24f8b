"""Store: what outlives Neovim on this machine, for one project: prompts, drafts, choices.

Rules kept here:
- One file a project, MessagePack, readable by its owner alone, written to a new file that then
  takes the old one's place: who reads finds the one or the other.
- Several Neovims may keep things at once: what is written is what the others have written plus what
  was changed here. Of two changes of one thing the later one stays.
- A file that makes no sense is set aside under another name and told once, never overwritten.
- Nothing here waits: when another Neovim is writing, the caller tries again later.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgpack
from msgspec import Struct, field

FORMAT = 1
MOST_PROMPTS = 500
LONGEST_PROMPT = 65_536
"""Characters; longer prompts are not kept."""
MOST_DRAFTS = 50


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


class Kept(Struct):
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


def merge(kept: Kept, changed: Changed) -> Kept:
    """Put changes into what others have written, within the limits."""
    prompts = dict(kept.prompts)
    for text, sent in changed.prompts.items():
        prompts[text] = max(sent, prompts.get(text, 0.0))
    drafts: dict[str, Draft | None] = {**kept.drafts, **changed.drafts}
    present = [(chat, draft) for chat, draft in drafts.items() if draft is not None]
    present.sort(key=lambda item: item[1].changed)
    newest = sorted(prompts.items(), key=lambda item: item[1])[-MOST_PROMPTS:]
    return Kept(
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

    def read(self) -> Kept:
        """Read what is kept; nothing is when there is no file. Raises Damaged, OSError."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return Kept()
        try:
            return _unpack(content)
        except Exception as fault:  # msgpack raises many kinds, all for one reason
            raise Damaged(f"{self.path} is damaged: {fault}") from fault

    def set_aside(self) -> Path:
        """Give a damaged file another name, which is returned. Raises OSError."""
        aside = self.path.with_suffix(".damaged")
        return self.path.replace(aside)

    def write(self, changed: Changed) -> Kept:
        """Write changes on top of what others have written; returns all of it.

        Raises Busy, Damaged (the file is as it was) and OSError.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._alone():
            kept = merge(self.read(), changed)
            fresh = self.path.with_suffix(f".{os.getpid()}")
            fresh.touch(mode=0o600)
            fresh.write_bytes(_pack(self._project, kept))
            fresh.replace(self.path)
        return kept

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from writing. Raises Busy."""
        lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError as locked:
            raise Busy(f"{self.path} is being written") from locked
        finally:
            os.close(lock)


def _pack(project: str, kept: Kept) -> bytes:
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


def _unpack(content: bytes) -> Kept:
    """Read a file's content. Raises whatever a wrong one leads to."""
    table = msgpack.unpackb(content, unicode_errors="surrogatepass")
    if table["format"] != FORMAT:
        raise Damaged(f"it has the format {table['format']!r}")
    drafts: Mapping[str, tuple[str, float, int]] = table["drafts"]
    return Kept(
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
