"""The workspace: which files are found, without any other effect."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from eca_nvim.review import workspace
from eca_nvim.review.workspace import list_files, storable_files

IGNORED = ("a.log", "build/made", "sub/b.log", "sub/build/made")
BROKEN_GIT = b"\x7fELF, not really"


@pytest.fixture(autouse=True)
def _no_own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what the machine's user told git out of this."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def repository(root: Path) -> Path:
    """Make a repository with files that git ignores in it."""
    git(root, "init", "-q")
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    make(root, "kept", "sub/kept", *IGNORED)
    return root


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"content")


def found(*folders: Path) -> set[str]:
    """Return the names of the files that are found, from the first folder."""
    return {os.path.relpath(path, folders[0]) for folder in folders for path in walked(folder)}


def walked(folder: Path) -> list[str]:
    """Return the ordinary files that are listed."""
    listed = os.fsdecode(list_files(str(folder))).split("\0")
    paths = [folder / name for name in listed if name]
    return [str(it) for it in paths if it.is_file() and not it.is_symlink()]


# --- what is a file -------------------------------------------------------------------------------


def test_all_folders_are_walked(root: Path, tmp_path: Path) -> None:
    make(tmp_path, "root/file", "other/file")
    assert found(root, tmp_path / "other") == {"file", "../other/file"}


def test_only_ordinary_files_are_found(root: Path, tmp_path: Path) -> None:
    make(tmp_path, "root/file", "elsewhere/file")
    (root / "to_file").symlink_to("file")
    (root / "to_folder").symlink_to(tmp_path / "elsewhere")
    (root / "nowhere").symlink_to("nothing")
    os.mkfifo(root / "fifo")
    assert found(root) == {"file"}


@pytest.mark.parametrize("name", ["not\udcffutf-8", "two\nlines"])
def test_names_that_cannot_be_shown_are_found(root: Path, name: str) -> None:
    make(root, "file", name, f"folder{name}/file")
    assert found(root) == {"file", name, f"folder{name}/file"}


# --- what is no work of anybody -------------------------------------------------------------------


@pytest.mark.parametrize("name", [".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__"])
def test_folders_of_tools_are_left_out(root: Path, name: str) -> None:
    make(root, "file", f"{name}/file", f"sub/{name}/deep/file", f"{name}s/file")
    assert found(root) == {"file", f"{name}s/file"}


@pytest.mark.parametrize("mark", ["CACHEDIR.TAG", "pyvenv.cfg"])
def test_folders_that_can_be_made_again_are_left_out(root: Path, mark: str) -> None:
    make(root, mark, "file", f"cache/{mark}", "cache/file", "cache/deep/file")
    assert found(root) == {mark, "file"}


def test_what_git_ignores_is_left_out(repository: Path) -> None:
    assert found(repository) == {".gitignore", "kept", "sub/kept"}
    assert found(repository / "sub") == {"kept"}


def test_a_repository_in_another_or_in_none_has_its_own_say(
    repository: Path, tmp_path: Path
) -> None:
    names = {"inner/file", "inner/kept.log", "inner/.gitignore"}
    (tmp_path / "none").mkdir()
    for root in (repository, tmp_path / "none"):
        inner = root / "inner"
        make(inner, "file", "kept.log", "made/file")
        git(inner, "init", "-q")
        (inner / ".gitignore").write_text("made/\n")
    stored = storable_files(str(repository), 1 << 20, {})
    assert stored.keys() == {".gitignore", "kept", "sub/kept", *names}
    assert found(tmp_path / "none") == names


def test_what_git_keeps_all_the_same_is_found(repository: Path) -> None:
    git(repository, "add", "-f", "build/made", "a.log")
    make(repository, "build/other")
    assert found(repository) == {".gitignore", "kept", "sub/kept", "build/made", "a.log"}


def test_ignored_names_may_be_any(repository: Path) -> None:
    (repository / ".gitignore").write_text('*.log\nbuild/\n*"é\n', encoding="utf-8")
    make(repository, 'a\t"é')
    assert found(repository) == {".gitignore", "kept", "sub/kept"}


@pytest.mark.parametrize("ignores", ["root/\n", "*\n"])
def test_a_workspace_that_a_repository_around_it_ignores_is_stored(
    root: Path, tmp_path: Path, ignores: str
) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text(ignores)
    make(root, "file", "sub/file")
    refused = dict[str, str]()
    assert storable_files(str(root), 1 << 20, refused).keys() == {"file", "sub/file"}
    assert refused == {}


# --- git, which may be anything -------------------------------------------------------------------


def without_git(monkeypatch: pytest.MonkeyPatch, tools: Path) -> None:
    monkeypatch.setenv("PATH", str(tools))


def with_broken_git(monkeypatch: pytest.MonkeyPatch, tools: Path) -> None:
    (tools / "git").write_bytes(BROKEN_GIT)
    (tools / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))


@pytest.mark.parametrize("spoil", [without_git, with_broken_git])
def test_nothing_needs_git(
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[pytest.MonkeyPatch, Path], None],
) -> None:
    (tmp_path / "tools").mkdir()
    spoil(monkeypatch, tmp_path / "tools")
    assert found(repository) == {".gitignore", "kept", "sub/kept", *IGNORED}


def test_git_ends_with_the_look(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "git").write_text(f"#!/bin/sh\necho $$ > '{tmp_path}/pid'\nexec sleep 60\n")
    (tmp_path / "git").chmod(0o755)

    for seconds in (1, 4, 16, 64):  # it may start late
        monkeypatch.setattr(workspace, "LIMIT", seconds)
        walked(repository)
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            break
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"])
def test_git_does_not_hear_of_the_callers_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    git(repository, "add", "-f", "a.log")
    monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert found(repository) == {".gitignore", "kept", "sub/kept", "a.log"}


def test_a_look_runs_no_program_of_the_repository(repository: Path, tmp_path: Path) -> None:
    monitor, ran = tmp_path / "monitor", tmp_path / "ran"
    monitor.write_text(f"#!/bin/sh\n: > '{ran}'\n")
    monitor.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(monitor))
    git(repository, "ls-files", "--others")
    assert ran.exists(), "git itself runs it"
    ran.unlink()
    assert found(repository) == {".gitignore", "kept", "sub/kept"}
    assert not ran.exists()


# --- what cannot be listed ------------------------------------------------------------------------


def test_a_walk_ends_in_time(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(root, "file")
    monkeypatch.setattr(workspace, "LIMIT", 0)
    assert walked(root) == []


def test_a_missing_folder_is_no_fault(root: Path) -> None:
    make(root, "file")
    assert found(root, root / "missing", root / "file") == {"file"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_an_unreadable_folder_is_no_fault(root: Path) -> None:
    make(root, "file", "secret/file")
    (root / "secret").chmod(0)
    assert found(root) == {"file"}
    (root / "secret").chmod(0o700)


@pytest.mark.parametrize("name", [".gitignore", ".git/info/exclude", "sub/folder/.gitignore"])
def test_git_does_not_wait_for_a_named_pipe(repository: Path, name: str) -> None:
    (repository / name).unlink(missing_ok=True)
    (repository / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(repository / name)
    # A git that waits would take all the time: no folder is looked at after that.
    assert str(repository / "sub" / "kept") in walked(repository)


def test_where_nothing_can_be_looked_at_git_lists_nothing() -> None:
    assert list_files("x" * 1000) == b""
