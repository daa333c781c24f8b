"""Checkpoint store: the files of a workspace at many moments, in a git repository of our own.

Rules kept here:
- git does the storing. It never reads the project's repository, but for the list of its files, and
  nothing of the user's or the system's configuration: no hooks, filters or conversions run, and
  contents are stored byte for byte.
- A path that git refuses costs only itself, and is named. A fault of the store or of its disk is no
  fault of a path: no tree is made then, and what was half written goes.
- A tree is taken with a copy of the index, which then takes its place: two Neovims never wait for
  each other, and a kill leaves it whole. A damaged index is made again. Objects and references are
  git's own to keep whole, after a kill at any moment, too.
- A tree of a moment has nothing that was done later: a file that was written or deleted since, also
  while git reads, stands in it as it was stored before, or it is missing in it. It is named.
- Links are stored, and not followed. git keeps no permissions but 644 and 755: others are kept
  beside the tree, else a secret would come back readable.
- All calls block: they run in a thread.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from eca_nvim.digests import name_digest
from eca_nvim.review.git import GitFailed, NoRoom, PathRefused, run_git, run_module
from eca_nvim.review.repository import (
    make_repository,
    read_object,
    read_packed,
    require_space,
    size_of,
    sweep,
)
from eca_nvim.review.workspace import REFUSED, changed_after, storable_files

REFERENCES: Final = "refs/checkpoints/"
MOST_FILE_BYTES: Final = 20 << 20
"""Bytes of a file that is stored, at most, unless the user's options say otherwise."""

SECONDS_PER_DAY: Final = 86_400
BATCH: Final = 5000
"""Files that git adds at once: the time that it takes for a pack grows with the square of them."""
FEW: Final = 1 << 20
"""Bytes of an index that lists few files: some thousands."""
FEW_AT_FIRST: Final = 1000
"""Names in a folder without an index: to count more would take as long as to start a process."""
LATE: Final = "it was changed while the checkpoint was made"
UNKNOWN: Final = "it was changed while the first checkpoint was made"
NAMED: Final = 400
"""Files that are named to git at once."""
_LINK: Final = "120000"
_MODES: Final = "modes"
_GONE: Final = b"0 0000000000000000000000000000000000000000\t%s"
"""The entry that takes a file out of an index."""


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


class StoredFile(Struct, frozen=True):
    """A file in a tree: git's id of its content, and its permissions; of a link, where it leads."""

    blob: str
    mode: int
    is_link: bool = False


Change: TypeAlias = tuple[StoredFile | None, StoredFile | None]
"""A file before and after; None: there was none."""


class CheckpointStore:
    """The store of one workspace; `folder` is its own, and `process` the Neovim that uses it."""

    def __init__(self, folder: Path, process: int, most_bytes: int = MOST_FILE_BYTES) -> None:
        self._folder = folder
        self._process = process
        self._most_bytes = most_bytes
        self._run = partial(run_git, folder)

    # --- trees ------------------------------------------------------------------------------------

    def take(self, roots: Sequence[str], until: int | None = None) -> Tree:
        """Store the files of some folders as they are now. Raises GitFailed.

        until: as they were at this moment, as far as that is known (ns since 1970).

        Of many files a process with a low priority takes it: this one has to answer, and to stay
        small. A start of one takes longer than few files.
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
        began = time.time_ns() if until is None else until
        make_repository(self._folder)
        require_space(self._folder, 0)
        try:
            tree, refused = self._take(roots, until)
            return Tree(tree, tuple(roots), began, time.time_ns(), refused)
        except GitFailed:
            sweep(self._folder)
            raise

    def _take(self, roots: Sequence[str], until: int | None) -> tuple[str, Mapping[str, str]]:
        refused: dict[str, str] = {}
        entries: list[str] = []
        for root in roots:
            name = name_digest(os.fsencode(root))
            tree, modes = self._take_root(root, refused, until)
            entries += [f"040000 tree {tree}\t{name}", f"100644 blob {modes}\t{_MODES}-{name}"]
        ordered = sorted(set(entries), key=lambda it: it.partition("\t")[2])
        listing = "".join(f"{it}\0" for it in ordered)
        return self.made("mktree", "-z", fed=listing.encode()), refused

    def _take_root(self, root: str, refused: dict[str, str], until: int | None) -> tuple[str, str]:
        """Return the ids of the tree of a folder, and of the permissions beside it."""
        wanted, modes = storable_files(root, self._most_bytes, refused)
        kept = self._index(root)
        index = kept.with_name(f"{kept.name}-{self._process}-{os.getpid()}")
        for is_last in (False, True):
            Path(f"{index}.lock").unlink(missing_ok=True)  # of a git that was killed
            try:
                with suppress(OSError):  # without it all files are read
                    then = kept.stat()  # git looks again at files that are no older
                    shutil.copyfile(kept, index)
                    os.utime(index, ns=(then.st_atime_ns, then.st_mtime_ns))
                self._update(root, index, wanted, refused, until)
                tree = self._run("write-tree", root=root, index=index).decode().strip()
                index.replace(kept)
                break
            except GitFailed as fault:
                if is_last or isinstance(fault, NoRoom) or not kept.exists():
                    raise
                require_space(self._folder, 0)
                kept.unlink(missing_ok=True)  # it is damaged, or names objects that are gone
            finally:
                index.unlink(missing_ok=True)
        listed = b"".join(b"%o %b\0" % (mode, os.fsencode(path)) for path, mode in modes)
        return tree, self.made("hash-object", "-w", "--stdin", fed=listed)

    def _index(self, root: str) -> Path:
        """Return git's list of the files of a folder."""
        return self._folder / f"index-{name_digest(os.fsencode(root))}"

    def _has_few(self, root: str) -> bool:
        """Return whether a folder had few files, the last time; at first, whether it has."""
        try:
            return self._index(root).stat().st_size < FEW
        except FileNotFoundError:
            names = (it for _, folders, files in os.walk(root) for it in (*folders, *files))
            return next(islice(names, FEW_AT_FIRST, None), None) is None

    def _update(
        self,
        root: str,
        index: Path,
        wanted: Mapping[str, os.stat_result],
        refused: dict[str, str],
        until: int | None,
    ) -> None:
        """Make the index hold exactly the wanted files, but for those that git refuses."""
        is_first = not index.exists()
        last = 0 if is_first else index.stat().st_mtime_ns
        fresh = sum(it.st_size for it in wanted.values() if it.st_ctime_ns >= last)
        require_space(self._folder, fresh)
        fed, before = [*map(os.fsencode, wanted)], self._entries(root, index)
        self._enter(root, index, (_GONE % it for it in before.keys() - {*fed}))
        for first in range(0, len(fed), BATCH):
            for path in self._add(root, index, fed[first : first + BATCH], is_first=is_first):
                refused[f"{root}/{os.fsdecode(path)}"] = REFUSED
        if until is not None:
            late = self._take_back(root, index, before, until)
            refused |= dict.fromkeys(late, UNKNOWN if is_first else LATE)

    def _take_back(
        self, root: str, index: Path, before: Mapping[bytes, bytes], until: int
    ) -> list[str]:
        """Let the index have what it had of files that have changed since `until`; return these."""
        differing = {path for path, _ in before.items() ^ self._entries(root, index).items()}
        late = [it for it in differing if changed_after(f"{root}/{os.fsdecode(it)}", until)]
        self._enter(root, index, (before.get(it, _GONE % it) for it in late))
        return [f"{root}/{os.fsdecode(it)}" for it in late]

    def _entries(self, root: str, index: Path) -> Mapping[bytes, bytes]:
        """Return what an index has of each file, as `update-index` reads it, by relative path."""
        listed = self._run("ls-files", "-z", "--stage", root=root, index=index)
        return {it.partition(b"\t")[2]: it for it in listed.split(b"\0") if it}

    def _enter(self, root: str, index: Path, entries: Iterable[bytes]) -> None:
        """Set what an index has of some files, as `_entries` returns it."""
        if fed := b"".join(it + b"\0" for it in entries):
            command = ("update-index", "-z", "--replace", "--index-info")
            self._run(*command, root=root, index=index, fed=fed)

    def _add(
        self, root: str, index: Path, paths: Sequence[bytes], *, is_first: bool
    ) -> Iterator[bytes]:
        """Add files; yield those that git refuses: it refuses all if it refuses one."""
        # At first contents go into packs: thousands of loose objects take twice as long.
        options = ("-c", "core.bigFileThreshold=1") if is_first else ()
        command = (*options, "update-index", "-z", "--add", "--remove", "--replace", "--stdin")
        try:
            fed = b"".join(path + b"\0" for path in paths)
            self._run(*command, root=root, index=index, fed=fed)
        except PathRefused:
            if len(paths) == 1:
                yield from paths
                return
            half = len(paths) // 2
            yield from self._add(root, index, paths[:half], is_first=is_first)
            yield from self._add(root, index, paths[half:], is_first=is_first)

    def changes(self, old: str, new: str, roots: Iterable[str]) -> Mapping[str, Change]:
        """Return what differs between two trees by absolute path, in the folders that both have."""
        found: dict[str, Change] = {}
        both = set.intersection(*({*self._listed("-d", "--name-only", it)} for it in (old, new)))
        for root in roots:
            name = name_digest(os.fsencode(root))
            if name.encode() not in both:
                continue
            before, after = self._modes(old, name), self._modes(new, name)
            compared = ("-r", "-z", "--no-renames", f"{old}:{name}", f"{new}:{name}")
            fields = self._run("diff-tree", *compared).split(b"\0")
            for about, path in zip(fields[::2], fields[1::2], strict=False):
                kinds = about.decode().lstrip(":").split(" ")
                found[f"{root}/{os.fsdecode(path)}"] = (
                    _stored(kinds[0], kinds[2], before.get(path)),
                    _stored(kinds[1], kinds[3], after.get(path)),
                )
            odd = {f"{root}/{os.fsdecode(path)}" for path, _ in before.items() ^ after.items()}
            if odd := odd - found.keys():
                were, are = (dict(self.files(it, root, odd)) for it in (old, new))
                # Only the permissions differ.
                found |= {path: (were[path], are[path]) for path in were.keys() & are.keys()}
        return found

    def files(
        self, tree: str, root: str, paths: Iterable[str]
    ) -> Iterator[tuple[str, StoredFile | None]]:
        """Yield those of some files that a folder of a tree has. Raises GitFailed."""
        asked = [it.removeprefix(f"{root}/") for it in paths if it.startswith(f"{root}/")]
        name = name_digest(os.fsencode(root))
        modes = self._modes(tree, name) if asked else {}
        for first in range(0, len(asked), NAMED):
            part = asked[first : first + NAMED]
            for entry in self._listed(f"{tree}:{name}", "--", *part):
                about, _, path = entry.partition(b"\t")
                kind, _, blob = about.decode().split(" ")
                yield f"{root}/{os.fsdecode(path)}", _stored(kind, blob, modes.get(path))

    def _listed(self, *arguments: str) -> list[bytes]:
        return [it for it in self._run("ls-tree", "-z", *arguments).split(b"\0") if it]

    def content(self, blob: str) -> bytes:
        """Return a stored content, by git's id or another name of it. Raises GitFailed."""
        return read_object(self._folder, blob)

    def packed(self, blobs: Collection[str]) -> dict[str, bytes]:
        """Return those of some contents that take long to read. Raises GitFailed."""
        return read_packed(self._folder, blobs) if blobs else {}

    def made(self, task: str, *arguments: str, fed: bytes = b"") -> str:
        """Have git make something in the store; return the id that it prints. Raises GitFailed."""
        make_repository(self._folder)
        return self._run(task, *arguments, fed=fed).decode().strip()

    def _modes(self, tree: str, name: str) -> Mapping[bytes, int]:
        kept = self._run("cat-file", "blob", f"{tree}:{_MODES}-{name}")
        pairs = (entry.split(b" ", 1) for entry in kept.split(b"\0") if entry)
        return {path: int(mode, 8) for mode, path in pairs}

    # --- checkpoints ------------------------------------------------------------------------------

    def keep(self, tree: str, moment: int, about: Mapping[str, object]) -> Checkpoint:
        """Keep a tree. Raises GitFailed."""
        kept = Checkpoint(f"{moment}-{self._process}", tree, moment, about)
        self.refer(f"{REFERENCES}{kept.id}", tree, about)
        return kept

    def checkpoints(self) -> list[Checkpoint]:
        """Return what is kept, newest first; nothing if there is no store yet."""
        found: list[Checkpoint] = []
        for name, _, tree, about in self.references(REFERENCES):
            with suppress(ValueError):  # not one of ours
                found.append(Checkpoint(name, tree, int(name.partition("-")[0]), about))
        return sorted(found, key=lambda it: it.time, reverse=True)

    def refer(self, reference: str, tree: str, about: Mapping[str, object]) -> str:
        """Keep a tree by a reference, with what is said of it; return the commit."""
        said = json.dumps(about).encode()  # ASCII: names may be any bytes
        commit = self.made("commit-tree", "-F", "-", tree, fed=said)
        self._run("update-ref", reference, commit)
        return commit

    def references(self, above: str) -> Iterator[tuple[str, str, str, dict[str, object]]]:
        """Yield the references below one: name, commit, tree, and what is said of each."""
        if not self._folder.exists():
            return
        form = "--format=%(refname)%00%(objectname)%00%(tree)%00%(contents)%00"
        listed = self._run("for-each-ref", form, above).decode(errors="replace")
        fields = iter(listed.replace("\0\n", "\0").split("\0"))
        for name, commit, tree, said in zip(fields, fields, fields, fields, strict=False):
            with suppress(ValueError):
                about = json.loads(said)
                if isinstance(about, dict):
                    yield name.removeprefix(above), commit, tree, about

    def drop(self, names: Iterable[str], above: str = REFERENCES) -> None:
        """Forget checkpoints, or other references; what they had goes with the next `prune`."""
        deleted = "".join(f"delete {above}{it}\n" for it in names).encode()
        sweep(self._folder)  # a lock that a killed git has left would end it
        self._run("update-ref", "--stdin", fed=deleted)

    def prune(self) -> None:
        """Remove what no checkpoint needs, unless it is younger than a day; pack the rest.

        Raises GitFailed.
        """
        sweep(self._folder)
        self._run("gc", "--quiet", "--prune=1.day.ago")
        for copy in self._folder.glob("index-*-*"):  # a kill has left it, unless it is in use
            with suppress(OSError):
                if time.time() - copy.lstat().st_ctime > SECONDS_PER_DAY:
                    copy.unlink()

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


def _stored(kind: str, blob: str, mode: int | None) -> StoredFile | None:
    """Return a file of a tree by the mode that git has, unless another one is kept beside it."""
    if kind == "000000":
        return None
    return StoredFile(blob, int(kind[-3:], 8) if mode is None else mode, kind == _LINK)


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
