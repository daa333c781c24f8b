"""Turn store: what turns have changed, kept with the checkpoints for the Neovims to come.

Each turn is a reference to a commit: its message says which turn it is, and its tree has the record
of its files and all contents that it names, else git would remove them.

Rules kept here:
- What was running as a Neovim was killed ends as the files are found; others may have changed them
  meanwhile, so that is uncertain.
- All calls block: they run in a thread.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Struct, field

from eca_nvim.digests import name_digest
from eca_nvim.guardian import start_time
from eca_nvim.review.checkpoint_store import CheckpointStore
from eca_nvim.review.git import GitFailed
from eca_nvim.review.snapshots import Blob, Blobs, Snapshot
from eca_nvim.review.tree_changes import Moment
from eca_nvim.review.turn_changes import FileRecord, TurnChanges

REFERENCES: Final = "refs/turns/"
_RECORD: Final = "record"
_BATCH: Final = 500
"""Contents that are named to git at once."""


class Record(Struct, frozen=True):
    """What is saved of a turn.

    running: files that calls were changing, as they were before. starts: the trees from before the
    commands that ran, or had just ended.
    """

    files: Mapping[str, FileRecord]
    unknown: str | None = None
    odd_names: Sequence[str] = ()
    running: Mapping[str, Snapshot] = field(default_factory=dict)
    starts: Sequence[Moment] = ()
    kept: Sequence[str] = ()


class About(Struct, frozen=True):
    """Which turn it is; began, until: ns since 1970, until: 0 while commands run.

    is_open: the user has begun to review it, and some of its changes are neither kept nor reverted.
    """

    chat: str
    turn: int
    prompt: str
    process: int
    began: int
    until: int
    is_open: bool = False

    @property
    def name(self) -> str:
        """The name by which the turn is saved first."""
        return f"{_folder(self.chat)}{self.began}-{self.process}"

    @property
    def is_there(self) -> bool:
        """Whether its Neovim still runs."""
        return start_time(self.process) is not None


class LoadedTurn(Struct, frozen=True):
    """A turn that was saved; `commit` changes with it. running, starts: as in `Record`."""

    commit: str
    about: About
    turn: TurnChanges
    running: Mapping[str, Snapshot]
    starts: Sequence[Moment]


class TurnStore:
    """The turns of one store."""

    def __init__(self, store: CheckpointStore, blobs: Blobs) -> None:
        self._store = store
        self._blobs = blobs

    def save(self, name: str, about: About, record: Record) -> str:
        """Save a turn; return its commit. Raises GitFailed."""
        contents = dict[str, Blob]()

        def noted(blob: Blob) -> str:
            contents[blob.digest] = blob
            return blob.digest

        text = json.dumps(msgspec.to_builtins(record, enc_hook=noted)).encode()
        loose = [str(it.path) for it in contents.values() if it.path is not None]
        for first in range(0, len(loose), _BATCH):
            names = "".join(f"{path}\n" for path in loose[first : first + _BATCH])
            stored = ("hash-object", "-w", "--no-filters", "--stdin-paths")
            self._store.made(*stored, fed=names.encode())
        written = self._store.made("hash-object", "-w", "--stdin", fed=text)
        entries = [f"100644 blob {it}\t{it}" for it in contents]
        entries += [f"100644 blob {written}\t{_RECORD}"]
        entries += [f"040000 tree {it.tree.id}\tstart-{n}" for n, it in enumerate(record.starts)]
        listing = "".join(f"{it}\0" for it in entries).encode()
        tree = self._store.made("mktree", "-z", fed=listing)
        return self._store.refer(f"{REFERENCES}{name}", tree, msgspec.to_builtins(about))

    def load(self, chat: str, known: Mapping[str, str], process: int) -> list[LoadedTurn]:
        """Return the turns of a chat; `known`: their commits by name, if those are known already.

        process: our Neovim; what a host of it before us has begun is over.

        Raises GitFailed.
        """
        return [
            found
            for name, commit, about in _list(self._store, _folder(chat))
            if known.get(name) != commit and (found := self._load(name, commit, about, process))
        ]

    def last_numbers(self, own: Collection[str]) -> Mapping[str, int]:
        """Return the number of the last turn of each chat. Raises GitFailed.

        own: where turns are saved that do not count, as they have begun meanwhile.
        """
        last: dict[str, int] = {}
        for name, _, about in _list(self._store):
            if name not in own:
                last[about.chat] = max(last.get(about.chat, 0), about.turn)
        for kept in self._store.checkpoints():
            chat, number = kept.about.get("chat"), kept.about.get("turn")
            if isinstance(chat, str) and isinstance(number, int):
                last[chat] = max(last.get(chat, 0), number)
        return last

    def others(self, process: int, first: int, last: int) -> bool:
        """Return whether turns of other Neovims had commands at a time. Raises GitFailed."""
        return any(
            about.process != process
            and about.began < last
            and (about.until > first or (not about.until and about.is_there))
            for _, _, about in _list(self._store)
        )

    def alone_until(self, loaded: LoadedTurn) -> int:
        """Return until when no other Neovim's commands ran beside those that a kill has ended.

        0: never, or there are none.
        """
        about = loaded.about
        if not loaded.starts or not about.until:
            return 0
        began = min(it.began for it in loaded.starts)
        return 0 if self.others(about.process, began, about.until) else about.until

    def _load(self, name: str, commit: str, about: About, process: int) -> LoadedTurn | None:
        try:
            text = self._store.content(f"{commit}:{_RECORD}")
            record = msgspec.convert(
                json.loads(text), Record, dec_hook=lambda _, digest: self._blobs.of_store(digest)
            )
        except (GitFailed, ValueError, msgspec.ValidationError):  # damaged, or of a later version
            return None
        turn = TurnChanges(
            *(about.chat, about.turn, about.prompt),
            files=dict(record.files),
            settled=dict(record.files),
            unknown=record.unknown,
            odd_names={*record.odd_names},
            began=about.began,
            saved=name,
            kept={*record.kept},
            is_open=about.is_open,
        )
        is_left = about.process == process or not about.is_there
        running, starts = (record.running, record.starts) if is_left else ({}, ())
        return LoadedTurn(commit, about, turn, running, starts)


def forget_turns(store: CheckpointStore, before: int) -> None:
    """Forget turns that began before a time (ns since 1970) and are not open. Raises GitFailed."""
    turns = ((name, about) for name, _, about in _list(store))
    old = (name for name, about in turns if about.began < before and not about.is_open)
    store.drop(old, REFERENCES)


def open_turns(store: CheckpointStore) -> Collection[tuple[str, int]]:
    """Return chat and number of the turns that are open. Raises GitFailed."""
    return {(about.chat, about.turn) for _, _, about in _list(store) if about.is_open}


def _list(store: CheckpointStore, folder: str = "") -> Iterator[tuple[str, str, About]]:
    """Yield name, commit, and what is said of each turn."""
    for name, commit, _, about in store.references(f"{REFERENCES}{folder}"):
        with suppress(msgspec.ValidationError):
            yield f"{folder}{name}", commit, msgspec.convert(about, About)


def _folder(chat: str) -> str:
    """Return where the turns of a chat are saved."""
    return f"{name_digest(chat.encode(errors='replace'))}/"
