"""Tree changes: what happened to files between two trees, as far as that can be undone.

Rules kept here:
- A file that a tree lacks may have been there, too, but ignored or refused: it counts as made only
  if nothing says so, and as deleted only if it is gone.
- What was there is unknown if a command has changed what git ignores, or has added such a file. So
  it is of an old file in a folder that is new, or has changed: the folder may have been moved in.
"""

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cache, partial
from pathlib import Path, PurePath
from stat import S_ISLNK, S_ISREG
from typing import Final, TypeAlias

from msgspec.structs import replace

from eca_nvim.review.checkpoint_store import Change, Checkpoint, CheckpointStore, Tree
from eca_nvim.review.git import GitFailed, list_project
from eca_nvim.review.snapshots import Blobs, Snapshot, take_snapshot
from eca_nvim.review.turn_changes import UNSEEN, FileRecord

UNSTORED: Final = "what is there now is not stored, and stays"
_IGNORE_FILE = ".gitignore"
MOST_NAMED: Final = 1000
"""Paths that a checkpoint names: what is missing in it, and what a turn has changed."""

Found: TypeAlias = Mapping[str, Change]


class TreeRequest:
    """A tree that was asked for; `tree` or `fault` is set once it is done.

    asked: when that was (ns since 1970). is_prompt: as a prompt was sent.
    """

    def __init__(self, about: Mapping[str, object] | None = None) -> None:
        self.about = about
        self.is_prompt = about is not None and about["kind"] == "prompt"
        self.asked = time.time_ns()
        self.tree: Tree | None = None
        self.fault: str | None = None
        self._then: list[Callable[[], object]] = []

    @property
    def is_done(self) -> bool:
        """Whether it was taken, or could not be."""
        return self.tree is not None or self.fault is not None

    def when_done(self, then: Callable[[], object]) -> None:
        """Call back once it is done, now if it is."""
        if self.is_done:
            then()
        else:
            self._then.append(then)

    def settle(self, tree: Tree | None, fault: str | None = None) -> None:
        """Note that it was taken, or why not."""
        self.tree, self.fault = tree, fault
        for then in self._then:
            then()
        self._then.clear()


def compare(
    store: CheckpointStore,
    before: Tree,
    after: Tree,
    asked: Sequence[str] = (),
    look: Callable[[str], Snapshot] | None = None,
) -> Found:
    """Return the files that differ between two trees, the second of which is of now; blocks.

    asked: files that are also returned if they are the same in both. look: returns a file that is
    there, although the second tree lacks it. Raises GitFailed.
    """
    look = look or partial(take_snapshot, blobs=Blobs(store.read), follow=False)
    roots = [it for it in before.roots if it in after.roots]
    is_same = before.id == after.id  # as after most commands: git need not look
    changes = {} if is_same else dict(store.changes(before.id, after.id, roots))
    for path, file in (it for root in roots for it in store.files(before.id, root, asked)):
        if not file.is_link:
            changes.setdefault(path, (file, file))
    was, now = before.refused, after.refused
    for path in {*now, *was} - changes.keys():
        gone = path not in now and not _is_there(path)
        if gone or (path in now and changed_at(path) >= before.began):
            changes[path] = (Snapshot(), Snapshot())
    gone_blobs = {old.digest for old, new in changes.values() if new.is_absent}
    older = {path for path, it in changes.items() if _is_older(path, it, gone_blobs, before)}
    brought = {*_brought(older, roots, before)}
    kept = {
        path: it
        for path, it in changes.items()
        if path in now or path in brought or (path not in older and _is_changed(path, it, before))
    }
    hidden = _hidden(kept, roots)
    files = dict[str, Change]()
    for path, (old, new) in kept.items():
        if path in brought & hidden:
            continue  # it was there
        place, above = _placed(path, roots)
        fault = None if before.is_late(path) else was.get(path)
        earlier = _state(old, place, fault, above)
        if earlier.is_absent and path in hidden | brought:
            earlier = UNSEEN
        later = _state(new, place, now.get(path))
        if later.is_absent and _is_there(path):  # git ignores it now
            later = look(path)
        files[path] = (earlier, later)
    return files


def _placed(path: str, roots: Iterable[str]) -> tuple[str, int]:
    """Return the real path of a file, no link is below its root; and how many folders are there.

    All of them that are empty go with it: no tree has any.
    """
    root = next(it for it in roots if path.startswith(f"{it}/"))
    return os.path.realpath(root) + path.removeprefix(root), path.count("/") - root.count("/") - 1


def _state(file: Snapshot, place: str, fault: str | None = None, missing: int = 0) -> Snapshot:
    if file.is_absent and fault is not None:
        return Snapshot(fault=fault)
    return replace(file, place=place, missing=missing if file.is_absent else 0)


def _is_older(path: str, change: Change, moved: Collection[str | None], before: Tree) -> bool:
    """Return whether only one tree has a file that is older: git may have ignored it before.

    moved: the contents of files that are gone.
    """
    old, new = change
    is_new = old.is_absent and not new.is_absent and new.digest not in moved
    return is_new and changed_at(path) < before.began  # ns since 1970


def _brought(older: Iterable[str], roots: Sequence[str], before: Tree) -> Iterator[str]:
    """Yield older files that may have come with their folder: to move that changes no file."""

    @cache
    def has_come(folder: str) -> bool:
        above = str(Path(folder).parent)
        return folder not in roots and (changed_at(folder) >= before.began or has_come(above))

    yield from (path for path in older if has_come(str(Path(path).parent)))


def _is_changed(path: str, change: Change, before: Tree) -> bool:
    """Return whether a file has changed, rather than what git ignores."""
    is_missing = change[1].is_absent and not change[0].is_absent
    return not is_missing or not _is_there(path) or changed_at(path) >= before.began


def _hidden(changes: Mapping[str, Change], roots: Sequence[str]) -> Set[str]:
    """Return files that a tree lacks and git may have ignored then. Raises GitFailed.

    It would ignore them if nobody had added them, or a `.gitignore` above them has shown them.
    """
    hidden, made = set[str](), {path for path, (old, _) in changes.items() if old.is_absent}
    for root in roots if made else ():
        with suppress(GitFailed):
            names = list_project(root, ("--cached", "--ignored")).split(b"\0")
            hidden |= made & {f"{root}/{os.fsdecode(it)}" for it in names}
    for shown in (path for path, it in changes.items() if _shows_more(path, it)):
        above = shown.removesuffix(_IGNORE_FILE)
        hidden |= {path for path in made if path.startswith(above) and path != shown}
    return hidden


def _shows_more(path: str, change: Change) -> bool:
    """Return whether git may have ignored files before that it now lists.

    It has not if lines were only added, and none of them is an exception (`!`).
    """
    if PurePath(path).name != _IGNORE_FILE:
        return False
    before, after = ((it.content or b"").splitlines() for it in change)
    left = iter(after)
    was_kept = all(line in left for line in before)
    return not was_kept or any(it.startswith(b"!") for it in {*after} - {*before})


def _is_there(path: str) -> bool:
    """Return whether there is a file or a link, in no folder that is a link."""
    try:
        mode = os.lstat(path).st_mode
        return (S_ISREG(mode) or S_ISLNK(mode)) and not Path(path).parent.is_symlink()
    except (OSError, ValueError):
        return False


def changed_at(path: str) -> int:
    """Return when a file was changed last (ns since 1970), 0 if there is none."""
    try:
        return os.lstat(path).st_ctime_ns
    except (OSError, ValueError):
        return 0


def what_goes_back(
    store: CheckpointStore, checkpoint: Checkpoint, now: Tree
) -> Mapping[str, FileRecord]:
    """Return the files that can be what they were at a checkpoint, so that nothing is lost.

    A file that is there but not stored would be: it has a fault. Raises GitFailed.
    """
    told = checkpoint.about.get("refused")
    lacks = dict.fromkeys(map(str, told), "") if isinstance(told, list) else None
    is_vague = lacks is None or len(lacks) >= MOST_NAMED  # not all that it lacks is named
    then = Tree(checkpoint.tree, now.roots, checkpoint.time, checkpoint.time, lacks or {})
    found = compare(store, then, now, look=lambda _: Snapshot(fault=UNSTORED))
    files = {
        path: FileRecord(earlier, later)
        for path, (earlier, later) in found.items()
        if earlier.fault is None and not (is_vague and earlier.is_absent)
    }
    gone = {path for path, file in files.items() if file.before.is_absent}
    for path, file in files.items():
        inner = (f"{above}/{name}" for above, _, names in os.walk(path) for name in names)
        if file.after.is_absent and any(it not in gone for it in inner):
            files[path] = FileRecord(file.before, Snapshot(fault=UNSTORED))
    return files
