"""The checkpoint store: trees of a workspace, byte for byte, whatever is in it."""

import os
import shutil
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.launch import REPOSITORY

from eca_nvim.review.checkpoint_store import LATE, CheckpointStore
from eca_nvim.review.git import GitFailed
from eca_nvim.review.snapshots import Snapshot
from eca_nvim.review.workspace import storable_files

NAMES = ["a", "b.txt", "dir", "-r", "ünï", " space", "new\nline", "*", 'q"uote', ".GIT", "GIT~1"]
NAMES += ["\udcff", "x" * 255, ".git ", ".gitattributes", ":(x", ":!a"]
ODD = {".GIT"}
"""Names that git does not store, wherever they are in a path."""


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=b")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def files(root: Path) -> dict[str, tuple[bytes, int | None]]:
    """Return the content and the permissions of all regular files, and where links lead."""
    return {
        str(path): content_of(path)
        for path in root.rglob("*")
        if (path.is_file() or path.is_symlink()) and ".git" not in path.parts
    }


def content_of(path: Path) -> tuple[bytes, int | None]:
    if path.is_symlink():
        return os.fsencode(path.readlink()), None
    return path.read_bytes(), stat.S_IMODE(path.stat().st_mode)


def changed(
    before: Mapping[str, tuple[bytes, int | None]], after: Mapping[str, tuple[bytes, int | None]]
) -> dict[str, tuple[object, object]]:
    return {
        path: (before.get(path), after.get(path))
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    }


def told(
    store: CheckpointStore, old: str, new: str, root: Path
) -> dict[str, tuple[object, object]]:
    """Return what the store says has changed, with the contents."""

    def whole(file: Snapshot) -> object:
        return None if file.blob is None else (file.content, None if file.is_link else file.mode)

    found = store.changes(old, new, [str(root)])
    return {path: (whole(before), whole(after)) for path, (before, after) in found.items()}


@pytest.fixture
def store(tmp_path: Path) -> CheckpointStore:
    return CheckpointStore(tmp_path / "store", os.getpid())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


PLACES = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3)
CONTENTS = st.sampled_from([b"", b"a\n", b"a\r\n", b"\0\xff", b"$Id$\n", b"x" * 5000])
TARGETS = st.sampled_from(["dir", "..", "/etc/passwd", "gone\n", "\udcff"])
MODES = st.sampled_from([0o644, 0o755, 0o600, 0o640, 0o444])
Edits: TypeAlias = list[tuple[list[str], bytes | str | None, int]]
EDITS = st.lists(st.tuples(PLACES, CONTENTS | TARGETS | st.none(), MODES), max_size=8)


def edit(root: Path, edits: Edits) -> None:
    """Write files and links, and delete; each gives way to what is written, whatever it is."""
    for parts, content, mode in edits:
        path = root.joinpath(*parts)
        for above in reversed([*path.parents][: len(parts) - 1]):
            if above.is_file() or above.is_symlink():
                above.unlink()
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        if content is None:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.symlink_to(content)
        else:
            path.write_bytes(content)
            path.chmod(mode)


@settings(max_examples=20, deadline=None)
@given(EDITS, EDITS)
def test_what_differs_is_told_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, first: Edits, second: Edits
) -> None:
    folder = tmp_path_factory.mktemp("store")
    root, store = folder / "work", CheckpointStore(folder / "store", 1)
    root.mkdir()
    git(root, "init", "-q")
    taken, seen = [], []
    for edits in (first, second, []):
        edit(root, edits)
        taken.append(store.take_here([str(root)]))
        seen.append(files(root))
    assert told(store, taken[1].id, taken[2].id, root) == {}
    expected = {
        path: change
        for path, change in changed(seen[0], seen[1]).items()
        if not ODD & {*Path(path).parts}
    }
    assert told(store, taken[0].id, taken[1].id, root) == expected
    odd = {path for path in seen[1] if ODD & {*Path(path).parts}}
    assert odd <= taken[1].refused.keys()


def test_a_hostile_repository_runs_nothing_and_changes_no_content(
    store: CheckpointStore, root: Path, tmp_path: Path
) -> None:
    trap, ran = tmp_path / "trap", tmp_path / "ran"
    trap.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    trap.chmod(0o755)
    for key, value in {
        "core.fsmonitor": str(trap),
        "core.hooksPath": str(tmp_path),
        "core.autocrlf": "true",
        "filter.evil.clean": str(trap),
        "filter.evil.smudge": str(trap),
        "filter.evil.required": "true",
        "core.excludesFile": "/dev/null",
    }.items():
        git(root, "config", key, value)
    for name in ("post-index-change", "pre-commit", "reference-transaction"):
        (tmp_path / name).write_text(trap.read_text())
        (tmp_path / name).chmod(0o755)
    attributes = "* filter=evil text eol=crlf ident working-tree-encoding=UTF-16\n"
    (root / ".gitattributes").write_text(attributes)
    (root / "file").write_bytes(b"a\r\nb\n$Id: x$\n\xff\xfe")
    ran.unlink(missing_ok=True)
    empty = store.take([])
    tree = store.take([str(root)])
    assert not ran.exists()
    found = store.changes(empty.id, tree.id, [str(root)])
    assert not found  # only one of them has the folder
    (root / "file").write_bytes(b"")
    (path, change) = next(iter(told(store, tree.id, store.take([str(root)]).id, root).items()))
    assert path == str(root / "file")
    assert change == ((b"a\r\nb\n$Id: x$\n\xff\xfe", 0o644), (b"", 0o644))
    assert not ran.exists()


def test_repositories_inside_are_stored_as_files(store: CheckpointStore, root: Path) -> None:
    for name, commits in (("inner", True), ("empty", False)):
        (root / name).mkdir()
        git(root / name, "init", "-q")
        (root / name / "file").write_text(name)
        if commits:
            git(root / name, "add", "file")
            git(root / name, "commit", "-qm", "x")
    git(root, "add", "inner")  # a gitlink
    before = store.take([str(root)])
    for name in ("inner", "empty"):
        (root / name / "file").write_text("other")
    found = told(store, before.id, store.take([str(root)]).id, root)
    assert found == {
        str(root / name / "file"): ((name.encode(), 0o644), (b"other", 0o644))
        for name in ("inner", "empty")
    }
    shutil.rmtree(root / "inner" / ".git")
    assert told(store, before.id, store.take([str(root)]).id, root) == found


def test_what_cannot_be_stored_costs_only_itself(
    store: CheckpointStore, root: Path, tmp_path: Path
) -> None:
    (root / "good").write_text("good")
    (root / "folder").mkdir()
    (root / "folder" / "file").write_text("below")
    before = store.take([str(root)])
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "socket"))
    (root / "link").symlink_to("/etc/passwd")
    (root / "large").write_bytes(b"x" * (2 << 20))
    (root / "folder").rename(tmp_path / "folder")
    (root / "folder").symlink_to(tmp_path / "folder")  # a path beyond a new link
    (root / "good").write_text("better")
    small = CheckpointStore(tmp_path / "store", os.getpid(), most_bytes=1 << 20)
    tree = small.take([str(root)])
    assert tree.refused == {str(root / "large"): "it is larger than 1 MiB"}
    assert told(small, before.id, tree.id, root) == {
        str(root / "good"): ((b"good", 0o644), (b"better", 0o644)),
        str(root / "folder" / "file"): ((b"below", 0o644), None),
        str(root / "folder"): (None, (os.fsencode(tmp_path / "folder"), None)),
        str(root / "link"): (None, (b"/etc/passwd", None)),
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_an_unreadable_file_is_named(store: CheckpointStore, root: Path) -> None:
    for number in range(9):
        (root / str(number)).write_text("x")
    (root / "4").chmod(0)
    assert store.take([str(root)]).refused == {str(root / "4"): "permission denied"}


@pytest.mark.parametrize("damage", ["lock", "index", "objects"])
def test_what_a_kill_leaves_behind_is_mended(
    store: CheckpointStore, root: Path, damage: str, tmp_path: Path
) -> None:
    (root / "a").write_text("a")
    before = store.take([str(root)])
    (index,) = (tmp_path / "store").glob("index-*")
    if damage == "lock":
        (tmp_path / f"store/refs/latest/{os.getpid()}.lock").write_text("")
    elif damage == "index":
        index.write_bytes(index.read_bytes()[:20])
    else:
        subprocess.run(
            ["find", str(tmp_path / "store/objects"), "-type", "f", "-delete"], check=True
        )
    (root / "b").write_text("b")
    tree = store.take([str(root)])
    assert tree.id != before.id
    (root / "b").unlink()
    assert told(store, tree.id, store.take([str(root)]).id, root) == {
        str(root / "b"): ((b"b", 0o644), None)
    }


def later_than_now(root: Path) -> int:
    """Return a moment after which files are changed from now on: their clock is a coarse one."""
    moment = time.time_ns()
    while (root / "clock").write_text("") or (root / "clock").stat().st_ctime_ns <= moment:
        pass
    (root / "clock").unlink()
    return moment


def test_what_is_written_while_files_are_read_is_not_in_the_tree(
    store: CheckpointStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("changed", "gone", "file", "folder/in"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("old")
    before, moment = store.take([str(root)]), later_than_now(root)

    def listed(folder: str, most_bytes: int, refused: dict[str, str]) -> object:
        found = storable_files(folder, most_bytes, refused)
        (root / "changed").write_text("new")
        (root / "gone").unlink()
        (root / "file").unlink()
        (root / "file").mkdir()
        (root / "file" / "in").write_text("new")
        shutil.rmtree(root / "folder")
        (root / "folder").write_text("new")
        return found

    monkeypatch.setattr("eca_nvim.review.checkpoint_store.storable_files", listed)
    tree = store.take([str(root)], moment)
    assert told(store, before.id, tree.id, root) == {}
    assert tree.refused.keys() >= {str(root / it) for it in ("changed", "gone")}
    assert {*tree.refused.values()} == {LATE}


@pytest.mark.parametrize("few", [True, False])
def test_what_is_written_after_the_moment_is_not_in_the_tree(
    store: CheckpointStore, root: Path, monkeypatch: pytest.MonkeyPatch, *, few: bool
) -> None:
    if not few:
        monkeypatch.setattr("eca_nvim.review.checkpoint_store.FEW", 0)
        monkeypatch.setattr("eca_nvim.review.checkpoint_store.FEW_AT_FIRST", 0)
    for name in ("changed", "same", "gone"):
        (root / name).write_text("old")
    before = store.take([str(root)])
    moment = later_than_now(root)
    (root / "changed").write_text("new")
    (root / "made").write_text("new")
    (root / "gone").unlink()
    tree = store.take([str(root)], moment)
    assert told(store, before.id, tree.id, root) == {}
    assert tree.refused == {str(root / it): LATE for it in ("changed", "made", "gone")}
    after = store.take([str(root)])
    assert told(store, tree.id, after.id, root) == {
        str(root / "changed"): ((b"old", 0o644), (b"new", 0o644)),
        str(root / "made"): (None, (b"new", 0o644)),
        str(root / "gone"): ((b"old", 0o644), None),
    }


TAKE = """
import sys
from pathlib import Path
from eca_nvim.review.checkpoint_store import CheckpointStore
store, root, process = sys.argv[1:]
tree = CheckpointStore(Path(store), int(process)).take([root])
print(tree.id)
"""


def take_elsewhere(store: Path, root: Path, process: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", TAKE, str(store), str(root), str(process)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "rplugin/python3")}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def test_two_neovims_use_one_store(root: Path, tmp_path: Path) -> None:
    for number in range(300):
        (root / f"{number}").write_text(str(number))
    both = [take_elsewhere(tmp_path / "store", root, process) for process in (1, 2)]
    ids = {it.communicate()[0] for it in both}
    assert [it.returncode for it in both] == [0, 0]
    assert len(ids) == 1


def test_checkpoints_are_kept_listed_and_dropped(
    store: CheckpointStore, root: Path, tmp_path: Path
) -> None:
    assert store.checkpoints() == []
    (root / "a").write_text("a")
    first = store.keep(store.take([str(root)]).id, 1, {"prompt": "one\0\n\udc80 two", "turn": 1})
    (root / "a").write_text("b")
    second = store.keep(store.take([str(root)]).id, 2, {"prompt": "", "turn": 2})
    again = CheckpointStore(tmp_path / "store", 77)
    assert again.checkpoints() == [second, first]
    again.drop([first.id])
    assert again.checkpoints() == [second]
    again.prune()
    _, after = again.changes(first.tree, second.tree, [str(root)])[str(root / "a")]
    assert after.content == b"b"
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700
    assert 0 < again.size() < 1 << 20


def test_without_git_a_line_says_so(
    store: CheckpointStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(GitFailed, match="git is not installed"):
        store.take([str(root)])


@pytest.mark.parametrize("name", ["a", ":(x", "*", "new\nline"])
def test_permissions_that_git_does_not_keep_are_told(
    store: CheckpointStore, root: Path, name: str
) -> None:
    (root / name).write_text("a")
    (root / name).chmod(0o600)
    before = store.take([str(root)])
    (root / name).chmod(0o640)
    assert told(store, before.id, store.take([str(root)]).id, root) == {
        str(root / name): ((b"a", 0o600), (b"a", 0o640))
    }
