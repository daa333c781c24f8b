"""What commands make of folders, links, large files and lists of what git ignores."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.review.test_checkpoint_store import git
from tests.review.watched import Watched

from eca_nvim.review.checkpoint_store import CheckpointStore
from eca_nvim.review.tree_changes import what_goes_back


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return what is in a folder; folders have no content."""
    found = {str(it.relative_to(folder)): it for it in folder.rglob("*")}
    kept = {name: it for name, it in found.items() if ".git" not in it.parts}
    return {name: None if it.is_dir() else it.read_bytes() for name, it in kept.items()}


@pytest.fixture
def repository(watched: Watched) -> Path:
    subprocess.run(["git", "init", "-q", str(watched.folder)], check=True)
    return watched.folder


def there_and_back(watched: Watched, change: Callable[[Path], None]) -> None:
    """Let a command change the folder; all of it is undone, and done again."""
    before = tree(watched.folder)
    watched.command(lambda: change(watched.folder))
    after = tree(watched.folder)
    assert before != after
    assert {it["conflict"] for it in watched.plan().values()} == {None}
    assert {path for _, path, *_ in watched.listed()} == watched.plan().keys()
    watched.undo()
    assert {it["conflict"] for it in watched.plan().values()} == {None}
    assert tree(watched.folder) == before
    watched.undo()
    assert tree(watched.folder) == after


def file_to_folder(folder: Path) -> None:
    (folder / "a").unlink()
    (folder / "a").mkdir()
    (folder / "a" / "x").write_text("x\n")
    (folder / "a" / "deep").mkdir()
    (folder / "a" / "deep" / "y").write_text("y\n")


def folder_to_file(folder: Path) -> None:
    (folder / "d" / "x").unlink()
    (folder / "d" / "e" / "y").unlink()
    (folder / "d" / "e").rmdir()
    (folder / "d").rmdir()
    (folder / "d").write_text("a file now\n")


def moved_into_itself(folder: Path) -> None:
    (folder / "a").rename(folder / "tmp")
    (folder / "a").mkdir()
    (folder / "tmp").rename(folder / "a" / "x")


def renamed_by_case_and_locked(folder: Path) -> None:
    (folder / "a").rename(folder / "A")
    (folder / "A").chmod(0o400)


def second_name(folder: Path) -> None:
    (folder / "second").hardlink_to(folder / "a")
    (folder / "a").write_text("in both\n")


def ignored_from_now_on(folder: Path) -> None:
    (folder / ".gitignore").write_text("a\n")
    (folder / "a").write_text("not stored any more\n")


@pytest.mark.parametrize(
    "change",
    [
        *(file_to_folder, folder_to_file, moved_into_itself, renamed_by_case_and_locked),
        *(second_name, ignored_from_now_on),
    ],
)
def test_what_is_where_something_else_was_is_taken_back_and_done_again(
    watched: Watched, repository: Path, change: Callable[[Path], None]
) -> None:
    watched.put("d/x", b"x\n")
    watched.put("d/e/y", b"y\n")
    there_and_back(watched, change)


UNKNOWN = "its original text is unknown"


@pytest.mark.parametrize("now", [b"secret\n!secret\n", b"", None, b"!secret\nsecret\n"])
def test_a_file_that_was_ignored_before_is_not_deleted(
    watched: Watched, repository: Path, now: bytes | None
) -> None:
    watched.put(".gitignore", b"secret\n!secret\nsecret\n")
    watched.put("secret", b"mine\n")
    watched.turn()
    watched.command(watched.change(**{".gitignore": now, "secret": b"theirs\n"}))
    assert watched.plan().get("secret", {"fault": UNKNOWN})["fault"] == UNKNOWN


def test_nor_one_that_a_new_list_shows(watched: Watched, repository: Path) -> None:
    watched.put(".gitignore", b"secret\n")
    watched.put("d/secret", b"mine\n")
    watched.turn()
    watched.command(watched.change(**{"d__.gitignore": b"!secret\n", "d__secret": b"theirs\n"}))
    planned = watched.plan()
    assert planned["secret"]["fault"] == UNKNOWN
    assert planned[".gitignore"]["fault"] is None


def test_nor_one_that_is_added_though_it_is_ignored(watched: Watched, repository: Path) -> None:
    watched.put(".gitignore", b"secret\n")
    watched.put("secret", b"mine\n")
    watched.turn()

    def change() -> None:
        (repository / "secret").write_text("theirs\n")
        (repository / "new").write_text("new\n")
        subprocess.run(["git", "-C", str(repository), "add", "-f", "secret", "new"], check=True)

    watched.command(change)
    faults = {name: it["fault"] for name, it in watched.plan().items()}
    assert faults == {"secret": UNKNOWN, "new": None}


def test_what_is_ignored_from_now_on_is_neither_listed_nor_deleted(
    watched: Watched, repository: Path
) -> None:
    watched.put(".gitignore", b"x\n")
    watched.turn()
    watched.command(watched.change(**{".gitignore": b"x\na\nnew\n", "new": b"new\n"}))
    assert list(watched.plan()) == [".gitignore"]


@pytest.mark.parametrize("first", [b"small\n", b"x" * (3 << 20), None])
def test_a_file_that_is_too_large_now_is_listed(
    watched: Watched, repository: Path, first: bytes | None
) -> None:
    assert watched.trees.store is not None
    watched.trees.store._most_bytes = 1 << 20
    if first is not None:
        watched.put("big", first)
    watched.turn()
    watched.command(watched.change(big=b"y" * (2 << 20)))
    planned = watched.plan()["big"]
    assert "it is larger than 1 MiB" in (planned["conflict"], planned["fault"])


def test_all_that_a_checkpoint_has_is_undone(watched: Watched) -> None:
    watched.put("big", b"x" * (17 << 20))
    watched.turn()
    watched.command(watched.change(big=b"y"))
    watched.undo()
    assert (watched.folder / "big").stat().st_size == 17 << 20
    watched.undo()
    assert (watched.folder / "big").read_bytes() == b"y"


LINKS = ("link", "gone", "kept")


def links_and_files(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").write_text("file\n")
    (folder / "gone").unlink()
    (folder / "kept").unlink()
    (folder / "kept").symlink_to("c")
    (folder / "a").unlink()
    (folder / "a").symlink_to("b")
    (folder / "new").symlink_to("nowhere")


def folder_to_link(folder: Path) -> None:
    (folder / "d" / "e").rename(folder / "elsewhere")
    (folder / "d" / "x").unlink()
    (folder / "d").rmdir()
    (folder / "d").symlink_to("elsewhere")


def link_to_folder(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").mkdir()
    (folder / "link" / "x").write_text("x\n")


@pytest.mark.parametrize("change", [links_and_files, folder_to_link, link_to_folder])
def test_links_are_taken_back_and_done_again(
    watched: Watched, repository: Path, change: Callable[[Path], None]
) -> None:
    watched.put("d/x", b"x\n")
    watched.put("d/e/y", b"y\n")
    for name in LINKS:
        (repository / name).symlink_to("b")
    watched.turn()
    before, target = links(repository), (repository / "b").read_bytes()
    watched.command(lambda: change(repository))
    after = links(repository)
    again = {name for name, it in watched.plan().items() if it["what"] == "link"}
    assert again == {name for name in before if name in LINKS and before[name] != after.get(name)}
    # What is behind a new link now goes back once that is gone.
    assert {(it["conflict"], it["fault"]) for it in watched.plan().values()} == {(None, None)}
    watched.undo()
    assert links(repository) == before
    assert (repository / "b").read_bytes() == target
    watched.undo()
    assert links(repository) == after


def links(folder: Path) -> dict[str, bytes | None]:
    """Return what is in a folder; of links where they lead."""
    kept = {str(it.relative_to(folder)): it for it in folder.rglob("*") if ".git" not in it.parts}
    return {
        name: os.fsencode(it.readlink())
        if it.is_symlink()
        else None
        if it.is_dir()
        else it.read_bytes()
        for name, it in kept.items()
    }


@pytest.mark.parametrize("origin", ["../outside", "ignored/inside"])
@pytest.mark.parametrize("waits", [True, False])
def test_a_folder_that_was_moved_in_is_listed_and_stays(
    watched: Watched, repository: Path, origin: str, waits: bool
) -> None:
    watched.put(".gitignore", b"ignored\n")
    watched.put(f"{origin}/deep/x", b"x\n")
    watched.put("moved/y", b"y\n")
    watched.turn()

    def change() -> None:
        (repository / origin).rename(repository / "brought")
        (repository / "moved").rename(repository / "away")

    watched.command(change, waits=waits)
    faults = {name: it["fault"] for name, it in watched.plan().items()}
    assert faults == {"x": UNKNOWN, "y": None}
    assert watched.outcomes(watched.turn_of(-1))["brought/deep/x"] == UNKNOWN
    assert (repository / "brought/deep/x").read_bytes() == b"x\n"
    assert (repository / "moved/y").read_bytes() == b"y\n"


def test_nor_is_a_folder_taken_for_one_that_was_moved_in(
    watched: Watched, repository: Path
) -> None:
    watched.put(".gitignore", b"ignored\n")
    watched.put("ignored/old", b"mine\n")
    watched.turn()
    watched.command(watched.change(**{".gitignore": b"", "ignored__new": b"theirs\n"}))
    assert watched.plan().keys() == {".gitignore", "new"}


def test_a_name_in_another_case_is_another_file(watched: Watched, repository: Path) -> None:
    for it in (["add", "a"], ["config", "core.ignoreCase", "true"]):
        subprocess.run(["git", "-C", str(repository), *it], check=True)
    there_and_back(watched, renamed_by_case_and_locked)


def test_a_link_that_git_leaves_out_is_listed(watched: Watched, repository: Path) -> None:
    watched.put(".gitmodules", b"[submodule]\n")
    watched.turn()

    def change() -> None:
        (repository / ".gitmodules").unlink()
        (repository / ".gitmodules").symlink_to("a")

    watched.command(change)
    assert watched.plan()[".gitmodules"]["conflict"] == "git cannot store it"


def test_what_git_ignores_since_then_and_nobody_has_changed_does_not_go_back(
    tmp_path: Path,
) -> None:
    root, store = tmp_path / "work", CheckpointStore(tmp_path / "store", os.getpid())
    root.mkdir()
    git(root, "init", "-q")
    (root / "mine").write_text("mine")
    tree = store.take([str(root)])
    then = store.keep(tree.id, tree.began, {"refused": []})
    (root / ".gitignore").write_text("mine\n")
    found = what_goes_back(store, then, store.take([str(root)]))
    assert found.keys() == {str(root / ".gitignore")}
