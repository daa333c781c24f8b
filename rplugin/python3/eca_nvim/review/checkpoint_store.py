"""Checkpoint store: the files of a workspace at many moments, in a git repository of our own.

Rules kept here:
- git does the storing, of contents that we have read: it opens no file of a project, and runs no
  hooks, filters or conversions. Only the project's own git lists its files.
- A path that cannot be read costs only itself, and is named. A fault of the store or of its disk is
  no fault of a path: no tree is made then, and what was half written goes.
- What is known of a folder's files is replaced in one step: two Neovims never wait for each other,
  and a kill leaves it whole. If it is damaged all files are read. Objects and references are git's
  own to keep whole, after a kill at any moment, too.
- A tree of a moment has nothing that was done later: a file that was written or deleted since, also
  while files are read, stands in it as it was stored before, or it is missing in it. It is named.
- Links are stored, and not followed. git keeps no permissions but 644 and 755: others are kept
  beside the tree, else a secret would come back readable.
- All calls block: they run in a thread.
"""

import errno
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from stat import S_IMODE, S_ISREG, S_IXUSR
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from eca_nvim.digests import name_digest
from eca_nvim.review.git import GitFailed, NoRoom, run_git, run_module
from eca_nvim.review.repository import (
    TREE,
    commit,
    entry,
    make_repository,
    parted,
    read_object,
    read_packed,
    require_space,
    size_of,
    sweep,
)
from eca_nvim.review.snapshots import Blob, Blobs, Snapshot, take_snapshot
from eca_nvim.review.workspace import changed_after, storable_files

REFERENCES: Final = "refs/checkpoints/"
MOST_FILE_BYTES: Final = 20 << 20
"""Bytes of a file that is stored, at most, unless the user's options say otherwise."""

SECONDS_PER_DAY: Final = 86_400
MOST_FED: Final = 16 << 20
"""Bytes of files that git is given at once, or a file of more: they are in memory."""
FEW: Final = 1 << 18
"""Bytes of an index that lists few files: some thousands."""
FEW_AT_FIRST: Final = 1000
"""Names in a folder without an index: to count more would take as long as to start a process."""
LATE: Final = "it was changed while the checkpoint was made"
UNKNOWN: Final = "it was changed before a checkpoint had it"
NAMED: Final = 400
"""Files that are named to git at once."""
_LINK: Final = "120000"
_MODES: Final = b"modes-"
_LATEST: Final = "refs/latest/"
"""Where each Neovim has its latest tree, so that git keeps it for the next one."""
_EMPTY: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Git's id of a tree without files, which it always has."""
_TICK: Final = 2 * 10**9
"""Nanoseconds in which changes of a file may have the same time, at most."""
_KNOWN_MODES: Final = frozenset({0o644, 0o755})
"""The permissions that git keeps."""
Files: TypeAlias = Mapping[str, os.stat_result]
"""Files by their path in a folder."""
_Mark: TypeAlias = tuple[int, int, int, int]
"""What changes with a file: its time of change (ctime), size, number on the disk, and mode."""


class _Known(Struct, frozen=True, array_like=True):
    """What is stored of a folder: its tree, and the files as they were at `began`."""

    tree: str = _EMPTY
    began: int = 0
    files: Mapping[bytes, _Mark] = {}

    def has(self, path: bytes, mark: _Mark, until: int) -> bool:
        """Return whether a file is surely stored as it is, and was so at a moment."""
        return self.files.get(path) == mark and mark[0] < min(self.began - _TICK, until)


class Tree(Struct, frozen=True):
    """The files of some folders, its `roots`, at one moment; `id` is git's.

    began, done: when it was taken (ns since 1970). refused: paths that could not be stored, or are
    as they were stored before, with the reason.
    """

    id: str
    roots: tuple[str, ...]
    began: int
    done: int
    refused: Mapping[str, str] = {}

    def is_late(self, path: str) -> bool:
        """Return whether a file is as in an earlier tree, as it changed while this was taken."""
        return self.refused.get(path) == LATE


class Checkpoint(Struct, frozen=True):
    """A tree that is kept: `about` says what it was taken for. time: ns since 1970."""

    id: str
    tree: str
    time: int
    about: Mapping[str, object]


Change: TypeAlias = tuple[Snapshot, Snapshot]
"""A file before and after."""


class CheckpointStore:
    """The store of one workspace; `folder` is its own, and `process` the Neovim that uses it."""

    def __init__(self, folder: Path, process: int, most_bytes: int = MOST_FILE_BYTES) -> None:
        self._folder = folder
        self._process = process
        self._most_bytes = most_bytes
        self._run = partial(run_git, folder)
        self._latest = f"{_LATEST}{process}"
        self._asked_ahead: Set[str] = frozenset()
        self._read_ahead: Mapping[str, bytes] = {}

    # --- trees ------------------------------------------------------------------------------------

    def take(self, roots: Sequence[str], until: int | None = None) -> Tree:
        """Store the files of some folders as they are now. Raises GitFailed.

        until: as they were at this moment, as far as that is known (ns since 1970).

        Many files are left to a process with a low priority: this one has to answer.
        """
        if all(map(self._has_few, roots)):
            return self.take_here(roots, until)
        about = (str(self._folder), self._process, self._most_bytes, roots, until)
        told = json.loads(run_module(__name__, json.dumps(about).encode()))
        if isinstance(told, str):
            raise GitFailed(told)
        return msgspec.convert(told, Tree)

    def take_here(self, roots: Sequence[str], until: int | None = None) -> Tree:
        """Do what `take` does, in this process."""
        now, refused = time.time_ns(), dict[str, str]()
        make_repository(self._folder)
        wanted = {it: storable_files(it, self._most_bytes, refused) for it in roots}
        for is_last in (False, True):
            require_space(self._folder, 0)
            try:
                tree = self._take(wanted, now, until, refused)
                return Tree(tree, tuple(roots), until or now, time.time_ns(), refused)
            except GitFailed as fault:
                sweep(self._folder)
                if is_last or isinstance(fault, NoRoom):
                    raise
                for root in roots:  # it may name objects that are gone
                    self._index(root).unlink(missing_ok=True)
        raise AssertionError

    def _take(
        self, wanted: Mapping[str, Files], now: int, until: int | None, refused: dict[str, str]
    ) -> str:
        """Store the wanted files of each root, looked at after `now`; return the id of the tree."""
        entries: list[bytes] = []
        for root, files in wanted.items():
            name, known = name_digest(os.fsencode(root)).encode(), self._known(root)
            marks = {os.fsencode(path): _mark(it) for path, it in files.items()}
            fresh = [it for it, mark in marks.items() if not known.has(it, mark, until or now)]
            require_space(self._folder, sum(marks[it][1] for it in fresh))
            tree, gone = known.tree, known.files.keys() - marks.keys()  # what goes makes room
            changed = self._changed(root, [*gone, *fresh], known, marks, until, refused)
            for part in parted(changed, MOST_FED):
                tree = self.commit(self._latest, {}, [entry(b"", tree, TREE), *part])[1]
            self._note(root, _Known(tree, now, marks))
            odd = ((S_IMODE(it[3]), path) for path, it in marks.items() if S_ISREG(it[3]))
            modes = b"".join(b"%o %b\0" % it for it in odd if it[0] not in _KNOWN_MODES)
            entries += [entry(name, tree, TREE), entry(_MODES + name, modes)]
        return self.commit(self._latest, {}, entries)[1]

    def _changed(
        self,
        root: str,
        paths: Iterable[bytes],
        known: _Known,
        marks: dict[bytes, _Mark],
        until: int | None,
        refused: dict[str, str],
    ) -> Iterator[bytes]:
        """Yield entries of files that may have changed; `marks` become those of what is stored."""
        blobs = Blobs(most_bytes=self._most_bytes)
        for path in paths:
            place, mark = f"{root}/{os.fsdecode(path)}", marks.pop(path, None)
            file = Snapshot() if mark is None else take_snapshot(place, blobs, follow=False)
            if until is not None and changed_after(place, until):
                was = known.files.get(path)
                if not known.began or (was and was[0] > until):  # another Neovim has it since
                    refused[place] = UNKNOWN
                    yield entry(path)
                else:
                    refused[place] = LATE
                    marks |= {path: was} if was else {}
                continue
            if file.fault is not None:
                refused[place] = file.fault
            if mark is not None and file.blob is not None:
                marks[path] = mark
            kind = "100755" if file.mode & S_IXUSR else "100644"
            yield entry(path, file.content, _LINK if file.is_link else kind)

    def _index(self, root: str) -> Path:
        """Return the file that has what is known of a folder."""
        return self._folder / f"index-{name_digest(os.fsencode(root))}"

    def _known(self, root: str) -> _Known:
        """Return what is known of a folder; nothing if that is damaged, and all files are read."""
        with suppress(OSError, msgspec.DecodeError):
            return msgspec.msgpack.decode(self._index(root).read_bytes(), type=_Known)
        return _Known()

    def _note(self, root: str, known: _Known) -> None:
        """Note what is known of a folder; a kill leaves what was known before."""
        new = self._index(root).with_suffix(f".{self._process}-{os.getpid()}.new")
        with suppress(OSError):  # all files are read once more
            new.write_bytes(msgspec.msgpack.encode(known))
            new.replace(self._index(root))

    def _has_few(self, root: str) -> bool:
        """Return whether a folder had few files, the last time; at first, whether it has."""
        try:
            return self._index(root).stat().st_size < FEW
        except FileNotFoundError:
            names = (it for _, folders, files in os.walk(root) for it in (*folders, *files))
            return next(islice(names, FEW_AT_FIRST, None), None) is None

    def changes(self, old: str, new: str, roots: Iterable[str]) -> Mapping[str, Change]:
        """Return what differs between two trees by absolute path, in the folders that both have."""
        found: dict[str, Change] = {}
        both = set.intersection(*({*self._listed("--name-only", it)} for it in (old, new)))
        for root in roots:
            name = name_digest(os.fsencode(root))
            if _MODES + name.encode() not in both:
                continue
            before, after = self._modes(old, name), self._modes(new, name)
            compared = ("-r", "-z", "--no-renames", old, new, "--", name)
            fields = self._run("diff-tree", *compared).split(b"\0")
            for about, inner in zip(fields[::2], fields[1::2], strict=False):
                kinds, path = about.decode().lstrip(":").split(" "), inner.partition(b"/")[2]
                found[f"{root}/{os.fsdecode(path)}"] = (
                    self._file(kinds[0], kinds[2], before.get(path)),
                    self._file(kinds[1], kinds[3], after.get(path)),
                )
            odd = {f"{root}/{os.fsdecode(path)}" for path, _ in before.items() ^ after.items()}
            if odd := odd - found.keys():
                were, are = (dict(self.files(it, root, odd)) for it in (old, new))
                # Only the permissions differ.
                found |= {path: (were[path], are[path]) for path in were.keys() & are.keys()}
        return found

    def files(self, tree: str, root: str, paths: Iterable[str]) -> Iterator[tuple[str, Snapshot]]:
        """Yield those of some files that a folder of a tree has. Raises GitFailed."""
        name = name_digest(os.fsencode(root))
        asked = [name + it.removeprefix(root) for it in paths if it.startswith(f"{root}/")]
        modes = self._modes(tree, name) if asked else {}
        for first in range(0, len(asked), NAMED):
            part = asked[first : first + NAMED]
            for line in self._listed(tree, "--", *part):
                about, _, inner = line.partition(b"\t")
                (kind, _, blob), path = about.decode().split(" "), inner.partition(b"/")[2]
                yield f"{root}/{os.fsdecode(path)}", self._file(kind, blob, modes.get(path))

    def _listed(self, *arguments: str) -> list[bytes]:
        return [it for it in self._run("ls-tree", "-z", *arguments).split(b"\0") if it]

    def _file(self, kind: str, blob: str, mode: int | None) -> Snapshot:
        """Return a file of a tree by the mode that git has, unless another one is kept beside it.

        It has no place: the path may lead there through links.
        """
        if kind == "000000":
            return Snapshot()
        mode = int(kind[-3:], 8) if mode is None else mode
        return Snapshot(Blob(blob, self.read), mode, is_link=kind == _LINK)

    def content(self, name: str) -> bytes:
        """Return a stored content, by git's id or another name of it. Raises GitFailed."""
        return self._read_ahead.get(name) or read_object(self._folder, name)

    def read(self, blob: str) -> bytes:
        """Return a stored content, by git's id. Raises OSError."""
        try:
            return self.content(blob)
        except GitFailed as fault:
            raise OSError(errno.EIO, str(fault)) from fault

    def read_ahead(self, blobs: Set[str]) -> None:
        """Have those of some contents at hand that take long to read. Raises GitFailed."""
        if not blobs <= self._asked_ahead:
            self._asked_ahead, self._read_ahead = blobs, read_packed(self._folder, blobs)

    def commit(
        self, reference: str, about: Mapping[str, object], entries: Iterable[bytes]
    ) -> tuple[str, str]:
        """Keep a tree by a reference, with what is said of it; return the ids of commit and tree.

        entries: what is in it (`entry`). Raises GitFailed.
        """
        make_repository(self._folder)
        return commit(self._folder, reference, json.dumps(about).encode(), entries)

    def _modes(self, tree: str, name: str) -> Mapping[bytes, int]:
        kept = self.content(f"{tree}:{_MODES.decode()}{name}")
        pairs = (it.split(b" ", 1) for it in kept.split(b"\0") if it)
        return {path: int(mode, 8) for mode, path in pairs}

    # --- checkpoints ------------------------------------------------------------------------------

    def keep(self, tree: str, moment: int, about: Mapping[str, object]) -> Checkpoint:
        """Keep a tree. Raises GitFailed."""
        kept = Checkpoint(f"{moment}-{self._process}", tree, moment, about)
        self.commit(f"{REFERENCES}{kept.id}", about, [entry(b"", tree, TREE)])
        return kept

    def checkpoints(self) -> list[Checkpoint]:
        """Return what is kept, newest first; nothing if there is no store yet."""
        found: list[Checkpoint] = []
        for name, _, tree, about in self.references(REFERENCES):
            with suppress(ValueError):  # not one of ours
                found.append(Checkpoint(name, tree, int(name.partition("-")[0]), about))
        return sorted(found, key=lambda it: it.time, reverse=True)

    def references(self, above: str) -> Iterator[tuple[str, str, str, dict[str, object]]]:
        """Yield the references below one: name, commit, tree, and what is said of each."""
        if not self._folder.exists():
            return
        form = "--format=%(refname)%00%(objectname)%00%(tree)%00%(contents)%00"
        listed = self._run("for-each-ref", form, above).decode(errors="replace")
        fields = iter(listed.replace("\0\n", "\0").split("\0"))
        for name, made, tree, said in zip(fields, fields, fields, fields, strict=False):
            with suppress(ValueError):
                about = json.loads(said)
                if isinstance(about, dict):
                    yield name.removeprefix(above), made, tree, about

    def drop(self, names: Iterable[str], above: str = REFERENCES) -> None:
        """Forget checkpoints, or other references; what they had goes with the next `prune`."""
        deleted = "".join(f"delete {above}{it}\n" for it in names).encode()
        sweep(self._folder)  # a lock that a killed git has left would end it
        self._run("update-ref", "--stdin", fed=deleted)

    def prune(self) -> None:
        """Remove what no checkpoint needs, unless it is younger than a day; pack the rest.

        Raises GitFailed.
        """
        self.drop((name for name, *_ in self.references(_LATEST)), _LATEST)
        self._run("gc", "--quiet", "--prune=1.day.ago")

    def is_due(self) -> bool:
        """Return whether nothing was removed for a day; the next call says no."""
        marker = self._folder / "pruned"
        with suppress(OSError):
            if time.time() - marker.stat().st_mtime <= SECONDS_PER_DAY:
                return False
        marker.touch()
        return True

    def size(self) -> int:
        """Return the bytes that the store takes."""
        return size_of(self._folder)


def _mark(status: os.stat_result) -> _Mark:
    return status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode


def main() -> None:
    """Take a tree for another process, as `CheckpointStore.take` asks for it on standard input."""
    folder, process, most_bytes, roots, until = json.load(sys.stdin)
    try:
        tree = CheckpointStore(Path(folder), process, most_bytes).take_here(roots, until)
        told: object = msgspec.to_builtins(tree)
    except GitFailed as failed:
        told = str(failed)
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
