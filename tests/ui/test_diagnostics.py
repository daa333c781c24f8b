"""The diagnostics of this Neovim that the agent gets."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value

COLLECT = """
local path, folders = ...
return require('eca.editor.lookups').diagnostics(path ~= vim.NIL and path or nil, folders)
"""
SET = """
local path, found = ...
local buf = vim.fn.bufadd(path)
vim.diagnostic.set(vim.api.nvim_create_namespace('tests'), buf, found)
"""
ONE = {"lnum": 0, "col": 0, "end_lnum": 0, "end_col": 3, "severity": 1, "message": "wrong"}


def report(nvim: Neovim, path: Path, *found: Mapping[str, Value]) -> None:
    """Let a linter report something of a file, which is not loaded for it."""
    nvim.lua(SET, str(path), list(found))


def test_all_of_a_diagnostic_is_told(nvim: Neovim, workspace: Path) -> None:
    report(nvim, workspace / "README.md", {**ONE, "source": "lint", "code": 12})
    assert nvim.lua(COLLECT, str(workspace / "README.md"), []) == [
        {
            "path": str(workspace / "README.md"),
            "start_line": 0,
            "start_column": 0,
            "end_line": 0,
            "end_column": 3,
            "severity": "error",
            "message": "wrong",
            "source": "lint",
            "code": "12",
        }
    ]


def test_all_severities(nvim: Neovim, workspace: Path) -> None:
    report(nvim, workspace / "README.md", *({**ONE, "severity": level} for level in (4, 3, 2, 1)))
    found = nvim.lua(COLLECT, None, [str(workspace)])
    assert sorted(item["severity"] for item in found) == ["error", "hint", "information", "warning"]


@pytest.mark.parametrize("loaded", [False, True])
def test_columns_count_utf16_units(nvim: Neovim, workspace: Path, loaded: bool) -> None:
    path = workspace / "wide.txt"
    path.write_text("plain\nä😀x\n")
    start, end = len("ä".encode()), len("ä😀".encode())
    report(nvim, path, {**ONE, "lnum": 1, "end_lnum": 1, "col": start, "end_col": end})
    if loaded:
        nvim.command("edit wide.txt")
    (found,) = nvim.lua(COLLECT, str(path), [])
    assert (found["start_column"], found["end_column"]) == (1, 3)
    assert nvim.eval(f"bufloaded('{path}')") == loaded


def test_end_may_be_missing(nvim: Neovim, workspace: Path) -> None:
    report(nvim, workspace / "README.md", {"lnum": 2, "col": 4, "message": "here"})
    (found,) = nvim.lua(COLLECT, str(workspace / "README.md"), [])
    assert (found["end_line"], found["end_column"]) == (2, 4)


def test_files_that_are_gone_are_told_as_they_were(nvim: Neovim, workspace: Path) -> None:
    report(nvim, workspace / "gone.txt", {**ONE, "lnum": 5, "col": 3})
    (found,) = nvim.lua(COLLECT, None, [str(workspace)])
    assert (found["path"], found["start_line"]) == (str(workspace / "gone.txt"), 5)


def test_only_files_of_the_workspace(nvim: Neovim, workspace: Path, tmp_path: Path) -> None:
    for path in (workspace / "README.md", tmp_path / "workspace-not.txt", tmp_path / "other.txt"):
        report(nvim, path, ONE)
    nvim.command("edit fugitive://x/y")
    nvim.lua("vim.diagnostic.set(vim.api.nvim_create_namespace('x'), 0, { ... })", ONE)
    found = nvim.lua(COLLECT, None, [str(workspace)])
    assert [item["path"] for item in found] == [str(workspace / "README.md")]
    assert len(nvim.lua(COLLECT, str(tmp_path / "other.txt"), [str(workspace)])) == 1
    assert nvim.lua(COLLECT, str(workspace / "clean.txt"), [str(workspace)]) == []


@pytest.mark.parametrize("name", ["a%20b.txt", "a b.txt", "ünï😀.txt", "$HOME.txt", "[x]*.txt"])
def test_names_with_special_characters(start_nvim: StartNeovim, workspace: Path, name: str) -> None:
    nvim = start_nvim()
    for there in (False, True):
        if there:
            (workspace / name).write_text("text\n")
        report(nvim, workspace / name, ONE)
        (found,) = nvim.lua(COLLECT, str(workspace / name), [])
        assert found["path"] == str(workspace / name)


def test_linked_folders_are_the_same_folder(nvim: Neovim, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(workspace)
    report(nvim, tmp_path / "link" / "README.md", ONE)
    report(nvim, tmp_path / "link" / "gone.txt", ONE)
    assert len(nvim.lua(COLLECT, None, [str(workspace)])) == 2
    assert len(nvim.lua(COLLECT, str(workspace / "gone.txt"), [])) == 1
