"""Paths that complete a prompt: how they are written, found in an index, and read from folders."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from eca_nvim.chat.vocabulary.completion import CompletionItem, ItemKind
from eca_nvim.review import workspace
from eca_nvim.session.completion.names import FolderIndex
from eca_nvim.session.completion.paths import Writer, path_item, path_items

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _no_own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what the machine's user told git out of this."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


def make(folder: Path, *names: str | bytes) -> None:
    for name in names:
        path = folder / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


async def indexed(*folders: Path) -> list[FolderIndex]:
    indexes = [FolderIndex(str(folder)) for folder in folders]
    for index in indexes:
        await index.refresh()
    return indexes


async def items(query: str, *folders: Path, most: int = 99) -> list[CompletionItem]:
    writer = Writer(str(folders[0]))
    return path_items(query, await indexed(*folders), writer, most, lambda: None)


async def texts(query: str, *folders: Path) -> list[str]:
    return [item.text for item in await items(query, *folders)]


# --- what is listed -----------------------------------------------------------------------------


async def test_a_repository_has_what_git_does_not_ignore(tmp_path: Path) -> None:
    root = tmp_path / "root"
    make(root, "known", "new", "a.log", "build/made", "nested/inner", "gone")
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    git(root, "init", "-q")
    git(root, "add", "known", "gone")
    git(root / "nested", "init", "-q")
    (root / "gone").unlink()
    assert await texts("", root) == ["nested/", ".gitignore", "known", "new"]


async def test_a_listing_runs_no_program_of_the_repository(tmp_path: Path) -> None:
    root, monitor, ran = tmp_path / "root", tmp_path / "monitor", tmp_path / "ran"
    make(root, "file")
    git(root, "init", "-q")
    monitor.write_text(f"#!/bin/sh\ntouch {ran}\n")
    monitor.chmod(0o755)
    git(root, "config", "core.fsmonitor", str(monitor))
    assert await texts("", root) == ["file"]
    assert not ran.exists()


async def test_other_folders_are_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    make(root, "a", "sub/b", "node_modules/c", ".git/d")
    (root / "link").symlink_to(root / "sub")
    assert await texts("", root) == ["sub/", "a", "link/", "sub/b"]
    monkeypatch.setattr(workspace, "MOST_NAMES", 1)
    assert len(await texts("", root)) == 1
    monkeypatch.setattr(workspace, "LIMIT", -1.0)
    assert await texts("", root) == []


async def test_all_folders_of_the_workspace_are_searched(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    make(one, "src/calc.py")
    make(other, "calc.py", "x")
    assert await texts("calc", one, other) == [str(other / "calc.py"), "src/calc.py"]


async def test_more_letters_find_less(tmp_path: Path) -> None:
    make(tmp_path, "calc.py", "call.py", "zz")
    (index,) = await indexed(tmp_path)
    writer = Writer(str(tmp_path))

    def found(query: str) -> list[str]:
        return [it.text for it in path_items(query, [index], writer, 99, lambda: None)]

    assert found("ca") == ["calc.py", "call.py"]
    assert found("cac") == ["calc.py"]
    assert found("z") == ["zz"]
    assert found("") == ["calc.py", "call.py", "zz"]
    assert found("c") == ["calc.py", "call.py"]


# --- how they are written -----------------------------------------------------------------------


async def test_hostile_names_break_nothing(tmp_path: Path) -> None:
    fine = ["-rf", "a b", "it's", '"q"', "a\u202eb", "🙂", "`x`", "$(x)", "%", "a\\ b", "{{x}}"]
    make(tmp_path, *fine, "new\nline", "tab\t", "\x1b[31m", b"bad\xff", "folder name/x")
    git(tmp_path, "init", "-q")
    found = await items("", tmp_path)
    assert {it.text for it in found} == {
        *fine,
        "folder name/",
        "folder name/x",
    }
    labels = {it.text: it.label for it in found}
    assert labels["a\u202eb"] == "a<U+202E>b"
    assert labels["a\\ b"] == "a\\ b"
    assert await texts("folder n", tmp_path) == ["folder name/", "folder name/x"]
    assert await texts("./folder name/", tmp_path) == ["./folder name/x"]
    read = {it.removeprefix("./") for it in await texts("./", tmp_path)}
    assert read == {it.text for it in found if it.text != "folder name/x"} | {".git/"}
    for query in ("*", "(", "[a-", "\\", "\0", "\n", "a\n", "~", "..", "\udcff", "x" * 5000):
        await texts(query, tmp_path)


def test_paths_are_as_short_as_tokens_read_them(tmp_path: Path) -> None:
    writer = Writer("/place/here")
    home = str(tmp_path / "home")
    assert writer.written("/place/here/src/calc.py") == "src/calc.py"
    assert writer.written("/place/hereafter") == "/place/hereafter"
    assert writer.written(f"{home}/notes") == "~/notes"
    for name in ("~", "~x"):
        assert writer.written(f"/place/here/{name}") == f"./{name}"
    assert writer.absolute("~/notes") == f"{home}/notes"
    assert writer.absolute("./a") == "/place/here/./a"
    assert writer.absolute("/a") == "/a"


# --- drilling in --------------------------------------------------------------------------------


async def test_a_slash_lists_the_folder(tmp_path: Path) -> None:
    make(tmp_path, "src/calc.py", "src/sub/x.py", "xsrc/other")
    assert await texts("src/", tmp_path) == ["src/sub/", "src/calc.py", "src/sub/x.py"]
    # There is no such folder: its letters are searched.
    assert (await texts("sc/", tmp_path))[0] == "src/"


async def test_a_folder_is_seen_from_the_working_folder(tmp_path: Path) -> None:
    make(tmp_path, "in/outer", "sub/in/inner", "sub/x", "y")
    indexes = await indexed(tmp_path)

    def found(query: str) -> list[str]:
        writer = Writer(str(tmp_path / "sub"))
        return [it.text for it in path_items(query, indexes, writer, 99, lambda: None)]

    assert found("in/") == ["in/inner"]
    assert found("")[:3] == ["in/", "x", "in/inner"]
    assert str(tmp_path / "y") in found("")


async def test_only_files_and_folders_are_offered(tmp_path: Path) -> None:
    make(tmp_path, "file")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to("nowhere")
    assert await texts("", tmp_path) == await texts("f", tmp_path) == ["file"]
    assert await texts("./", tmp_path) == ["./file"]


async def test_a_path_from_a_root_reads_that_folder(tmp_path: Path) -> None:
    root = tmp_path / "project"
    make(root, ".hidden", "made/it", "src/calc.py", "src/call.py")
    (root / ".gitignore").write_text("made/\n")
    git(root, "init", "-q")
    make(tmp_path / "home", "notes.md", "sub/x")
    assert await texts("./", root) == [
        "./made/",
        "./src/",
        "./.git/",
        "./.gitignore",
        "./.hidden",
    ]
    assert await texts("./made/", root) == ["./made/it"]
    assert await texts("./src/al", root) == ["./src/calc.py", "./src/call.py"]
    assert await texts("../", root) == ["../home/", "../project/"]
    assert await texts("~/", root) == ["~/sub/", "~/notes.md"]
    assert await texts(f"{root}/sr", root) == [f"{root}/src/"]
    assert await texts("/no such folder/", root) == []


async def test_an_item_exists(tmp_path: Path) -> None:
    make(tmp_path, "src/calc.py")
    writer = Writer(str(tmp_path))
    folder = path_item(str(tmp_path / "src"), writer)
    assert folder == CompletionItem("src/", "src/", ItemKind.FOLDER)
    for name in ("gone", "a\0b", "a\nb", "\udcff"):
        assert path_item(str(tmp_path / name), writer) is None
    for path in ("", ".", "src"):
        assert path_item(path, writer) is None


async def test_no_more_than_asked_for(tmp_path: Path) -> None:
    make(tmp_path, *(f"file{number}" for number in range(20)))
    assert len(await items("", tmp_path, most=5)) == 5
    assert len(await items("f", tmp_path, most=5)) == 5
