"""Turn store: what turns have changed, kept with the checkpoints for the Neovims to come.

Each turn is a reference to a commit: its message says which turn it is, and its tree has the record
of its files and all contents that it names, else git would remove them.

Rules kept here:
- What was running as a Neovim was killed ends as the files are found; others may have changed them
  meanwhile, so that is uncertain.
- All calls block: they run in a thread.
"""

import json
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct, field

from eca_nvim.digests import name_digest
from eca_nvim.review.checkpoint_store import CheckpointStore, id_of
from eca_nvim.review.git import GitFailed
from eca_nvim.review.snapshots import Blob, Blobs, Snapshot
from eca_nvim.review.tree_changes import Moment
from eca_nvim.review.turn_changes import FileRecord, TurnChanges

REFERENCES: Final = "refs/turns/"
_RECORD: Final = "record"
_START: Final = "start-{}"
_BATCH: Final = 500
"""Contents that are named to git at once."""

Packed: TypeAlias = tuple[str | None, int, str, int, str | None]
"""A snapshot: git's id of its content, then as `Snapshot`."""


class _File(Struct, frozen=True, array_like=True):
    """A file in a turn, as `FileRecord`."""

    before: Packed
    after: Packed
    changed_by_others: bool
    origin: str | None
    undone: bool
    by_command: bool


class _Record(Struct, frozen=True):
    """What is saved of a turn.

    running: files that calls were changing, as they were before. starts: the trees from before the
    commands that ran.
    """

    files: Mapping[str, _File]
    unknown: str | None = None
    odd_names: Sequence[str] = ()
    running: Mapping[str, Packed] = field(default_factory=dict)
    starts: Sequence[Moment] = ()


class About(Struct, frozen=True):
    """Which turn it is; began, until: ns since 1970, until: 0 while commands run."""

    chat: str
    turn: int
    prompt: str
    process: int
    began: int
    until: int


class SavedTurn(Struct, frozen=True):
    """A turn to save, in its parts: made on the loop, saved in a thread."""

    name: str
    about: About
    record: _Record
    contents: Sequence[Blob]


class LoadedTurn(Struct, frozen=True):
    """A turn that was saved; `commit` changes with it. running, starts: as in `_Record`."""

    commit: str
    about: About
    turn: TurnChanges
    running: Mapping[str, Snapshot]
    starts: Sequence[Moment]


def saved_turn(
    turn: TurnChanges,
    process: int,
    running: Mapping[str, Snapshot],
    starts: Sequence[Moment],
) -> SavedTurn:
    """Return a turn as it is saved."""
    if turn.saved is None:
        turn.saved = f"{name_digest(turn.chat.encode(errors='replace'))}/{turn.began}-{process}"
    contents = dict[str, Blob]()
    files, packed = dict[str, _File](), dict[str, Packed]()
    for path, seen in running.items():
        packed[path] = _pack(seen, contents)
    for path, it in turn.files.items():
        about = (it.changed_by_others, it.origin, it.undone, it.by_command)
        files[path] = _File(_pack(it.before, contents), _pack(it.after, contents), *about)
    record = _Record(files, turn.unknown, sorted(turn.odd_names), packed, starts)
    until = 0 if running or starts else time.time_ns()
    told = About(turn.chat, turn.number, turn.prompt, process, turn.began, until)
    return SavedTurn(turn.saved, told, record, [*contents.values()])


class TurnStore:
    """The turns of one store."""

    def __init__(self, store: CheckpointStore, blobs: Blobs) -> None:
        self._store = store
        self._blobs = blobs

    def save(self, saved: SavedTurn) -> str:
        """Save a turn; return its commit. Raises GitFailed."""
        loose = [str(it.path) for it in saved.contents if it.path is not None]
        for first in range(0, len(loose), _BATCH):
            names = "".join(f"{path}\n" for path in loose[first : first + _BATCH])
            self._store.git(
                "hash-object", "-w", "--no-filters", "--stdin-paths", fed=names.encode()
            )
        text = json.dumps(msgspec.to_builtins(saved.record)).encode()  # names may be any bytes
        record = id_of(self._store.git("hash-object", "-w", "--stdin", fed=text))
        entries = [f"100644 blob {it.digest}\t{it.digest}" for it in saved.contents]
        entries += [f"100644 blob {record}\t{_RECORD}"]
        for number, start in enumerate(saved.record.starts):
            entries.append(f"040000 tree {start.tree.id}\t{_START.format(number)}")
        listing = "".join(f"{it}\0" for it in entries).encode()
        tree = id_of(self._store.git("mktree", "-z", fed=listing))
        about = json.dumps(msgspec.to_builtins(saved.about)).encode()
        commit = id_of(self._store.git("commit-tree", "-F", "-", tree, fed=about))
        self._store.git("update-ref", f"{REFERENCES}{saved.name}", commit)
        return commit

    def load(self, chat: str, known: Mapping[str, str], process: int) -> list[LoadedTurn]:
        """Return the turns of a chat; `known`: their commits by name, if those are known already.

        process: our Neovim; what a host of it before us has begun is over.

        Raises GitFailed.
        """
        folder = name_digest(chat.encode(errors="replace"))
        return [
            found
            for name, commit, about in _list(self._store, f"{folder}/")
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
            about.began < last and (about.until > first or (not about.until and _runs(about)))
            for _, _, about in _list(self._store)
            if about.process != process
        )

    def _load(self, name: str, commit: str, about: About, process: int) -> LoadedTurn | None:
        try:
            text = self._store.git("cat-file", "blob", f"{commit}:{_RECORD}")
            record = msgspec.convert(json.loads(text), _Record)
        except (GitFailed, ValueError, msgspec.ValidationError):  # damaged, or of a later version
            return None
        files = {path: self._file(it) for path, it in record.files.items()}
        turn = TurnChanges(
            *(about.chat, about.turn, about.prompt),
            files=files,
            settled=files,
            unknown=record.unknown,
            odd_names={*record.odd_names},
            began=about.began,
            saved=name,
        )
        has_ended = not about.until and (about.process == process or not _runs(about))
        running = {path: self._unpacked(it) for path, it in record.running.items()}
        starts = record.starts if has_ended else ()
        return LoadedTurn(commit, about, turn, running if has_ended else {}, starts)

    def _file(self, file: _File) -> FileRecord:
        before, after = self._unpacked(file.before), self._unpacked(file.after)
        return FileRecord(
            *(before, after, file.changed_by_others, file.origin, file.undone, file.by_command)
        )

    def _unpacked(self, packed: Packed) -> Snapshot:
        digest, mode, place, missing, fault = packed
        blob = self._blobs.of_store(digest) if digest is not None else None
        return Snapshot(blob, mode, place, missing, fault)


def forget_turns(store: CheckpointStore, before: int) -> None:
    """Forget the turns that began before a time (ns since 1970). Raises GitFailed."""
    old = [name for name, _, about in _list(store) if about.began < before]
    deleted = "".join(f"delete {REFERENCES}{it}\n" for it in old)
    store.git("update-ref", "--stdin", fed=deleted.encode())


def _list(store: CheckpointStore, folder: str = "") -> Iterator[tuple[str, str, About]]:
    """Yield name, commit, and what is said of each turn."""
    if not store.exists:
        return
    form = "--format=%(refname)%00%(objectname)%00%(contents)%00"
    told = store.git("for-each-ref", form, f"{REFERENCES}{folder}")
    fields = told.decode(errors="replace").replace("\0\n", "\0").split("\0")[:-1]
    for at in range(0, len(fields) - 2, 3):
        with suppress(ValueError, msgspec.ValidationError):
            about = msgspec.convert(json.loads(fields[at + 2]), About)
            yield fields[at].removeprefix(REFERENCES), fields[at + 1], about


def _runs(about: About) -> bool:
    """Return whether the Neovim of a turn still runs."""
    try:
        os.kill(about.process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _pack(it: Snapshot, contents: dict[str, Blob]) -> Packed:
    """Return a snapshot as it is saved; adds its content to those that must be."""
    digest = None if it.blob is None else it.blob.digest
    if it.blob is not None:
        contents[it.blob.digest] = it.blob
    return (digest, it.mode, it.place, it.missing, it.fault)
