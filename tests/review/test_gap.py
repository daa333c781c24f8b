"""What is done between a prompt and its tree: it is not in the tree, however it was done."""

import mmap
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.review.test_checkpoint_store import git, later_than_now, told
from tests.review.test_store_faults import PROCESS

from eca_nvim.review.checkpoint_store import LATE, UNKNOWN, CheckpointStore

LONG_AGO = (10**9, 10**9)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a project, and beside it what takes its place later; all of it is old."""
    for above, content in (("work", "old"), ("spare", "new")):
        for name in ("file", "folder/in", "folder/deep/in"):
            path = tmp_path / above / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
            os.utime(path, LONG_AGO)
    (tmp_path / "spare/empty/deep").mkdir(parents=True)
    git(tmp_path / "work", "init", "-q")
    return tmp_path / "work"


def write_and_set_back(file: Path, _: Path) -> None:
    file.write_text("new")
    os.utime(file, LONG_AGO)


def write_by_memory(file: Path, _: Path) -> None:
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 3) as memory:
        memory[:] = b"new"
        memory.flush()


def rename_over(file: Path, spare: Path) -> None:
    (spare / "file").replace(file)


def hard_link(file: Path, spare: Path) -> None:
    file.unlink()
    file.hardlink_to(spare / "file")


def hard_link_over(file: Path, spare: Path) -> None:
    (spare / "link").hardlink_to(spare / "file")
    (spare / "link").replace(file)


def copy_with_times(file: Path, spare: Path) -> None:
    shutil.copy2(spare / "file", file)


def link(file: Path, spare: Path) -> None:
    file.unlink()
    file.symlink_to(spare / "file")


def link_over(file: Path, spare: Path) -> None:
    (spare / "link").symlink_to(spare / "file")
    (spare / "link").replace(file)


def change_the_folder(file: Path, spare: Path) -> None:
    shutil.rmtree(file.parent / "folder")
    (spare / "folder").replace(file.parent / "folder")


def exchange_the_folder(file: Path, spare: Path) -> None:
    (file.parent / "folder").replace(spare / "away")
    (spare / "folder").replace(file.parent / "folder")


def exchange_an_inner_folder(file: Path, spare: Path) -> None:
    (file.parent / "folder/deep").replace(spare / "away")
    (spare / "folder/deep").replace(file.parent / "folder/deep")


def move_a_folder_in(file: Path, spare: Path) -> None:
    (spare / "folder").replace(file.parent / "other")


def move_the_folder_away(file: Path, spare: Path) -> None:
    (file.parent / "folder").replace(spare / "away")


def change_the_permissions(file: Path, _: Path) -> None:
    file.chmod(0o600)


def exchange_it_for_an_empty_one(file: Path, spare: Path) -> None:
    (file.parent / "folder").replace(spare / "away")
    (spare / "empty").replace(file.parent / "folder")


WAYS: Mapping[str, Callable[[Path, Path], None]] = {
    it.__name__: it
    for it in (
        write_and_set_back,
        write_by_memory,
        rename_over,
        hard_link,
        hard_link_over,
        copy_with_times,
        link,
        link_over,
        change_the_folder,
        exchange_the_folder,
        exchange_an_inner_folder,
        move_a_folder_in,
        move_the_folder_away,
        exchange_it_for_an_empty_one,
        change_the_permissions,
    )
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_done_after_the_prompt_is_not_in_its_tree(
    root: Path, tmp_path: Path, way: str
) -> None:
    store = CheckpointStore(tmp_path / "store", os.getpid())
    before, moment = store.take([str(root)]), later_than_now(root)
    WAYS[way](root / "file", tmp_path / "spare")
    tree = store.take([str(root)], moment)
    assert told(store, before.id, tree.id, root) == {}
    now = told(store, before.id, store.take([str(root)]).id, root)
    assert tree.refused == dict.fromkeys(now, LATE) != {}


@pytest.mark.parametrize("tick", [2 * 10**9, 0])
def test_what_another_neovim_has_stored_since_is_not_in_the_tree(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tick: int
) -> None:
    """Its tree is the latest that is known; tick: whether it is sure of the file's content."""
    monkeypatch.setattr("eca_nvim.review.checkpoint_store._TICK", tick)
    store = CheckpointStore(tmp_path / "store", os.getpid())
    before, moment = store.take([str(root)]), later_than_now(root)
    for name in ("file", "made"):
        (root / name).write_text("new")
    later_than_now(root)
    CheckpointStore(tmp_path / "store", PROCESS).take([str(root)])
    tree = store.take([str(root)], moment)
    assert told(store, before.id, tree.id, root) == {str(root / "file"): ((b"old", 0o644), None)}
    assert tree.refused == {str(root / name): UNKNOWN for name in ("file", "made")}
    after = told(store, before.id, store.take([str(root)]).id, root)
    assert after[str(root / "file")] == ((b"old", 0o644), (b"new", 0o644))
    assert after.keys() == tree.refused.keys()
