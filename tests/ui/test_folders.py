"""Another project in the same Neovim: offered, and added only by the user."""

from pathlib import Path

import pytest
from tests.support.factories import StartNeovim
from tests.ui.view import View, open_view

from eca_nvim.chat.vocabulary import ops

ADDED = "require('eca.host.workspace').folders()"


@pytest.fixture
def other(workspace: Path) -> Path:
    """Make another project, in a folder with a blank in its name."""
    folder = workspace.parent / "other one"
    (folder / ".git").mkdir(parents=True)
    (folder / "x.txt").write_text("x")
    return folder


@pytest.fixture
def view(start_nvim: StartNeovim, workspace: Path, other: Path) -> View:
    (workspace / ".git").mkdir(exist_ok=True)
    view = open_view(start_nvim, "README.md", columns=80, lines=24)
    view.nvim.lua("require('eca.host.workspace').first()")
    return view


def say(view: View, text: str) -> str:
    """Send a prompt, and return what is said below the windows."""
    view.nvim.command("messages clear")
    view.nvim.lua("require('eca').send(...)", text)
    return str(view.nvim.eval("execute('messages')")).strip()


def answer(view: View, folders: list[str] | None) -> None:
    view.draw(ops.Answer(view.sent("change_folder")[-1]["request"], folders))


@pytest.mark.parametrize("way", ["tabnew | tcd", "cd", "edit"])
def test_another_project_is_offered_once_and_never_added_by_itself(
    view: View, other: Path, way: str
) -> None:
    assert say(view, "one") == ""
    view.nvim.command("wincmd t")
    target = other / "x.txt" if way == "edit" else other
    view.nvim.lua("vim.cmd(...)", f"{way} {str(target).replace(' ', chr(92) + ' ')}")
    assert say(view, "two") == "eca: :Eca folder add lets the agents work in other one, too"
    assert say(view, "three") == ""
    assert view.sent("change_folder") == []
    before = view.nvim.lua(f"return {ADDED}")
    view.nvim.keys("<Esc>:Eca folder add<CR>")
    wanted = {"path": str(other), "removed": False}
    assert wanted.items() <= view.sent("change_folder")[-1].items()
    answer(view, None)
    assert view.nvim.lua(f"return {ADDED}") == before
    view.nvim.keys(":Eca folder add<CR>")
    answer(view, [str(other)])
    view.nvim.wait_until(f"#{ADDED} == 2")
    assert view.nvim.lua(f"return {ADDED}") == [*before, str(other)]
    view.nvim.keys(":Eca folder remove<CR>")
    assert {"path": str(other), "removed": True}.items() <= view.sent("change_folder")[-1].items()


def test_a_folder_is_typed_with_completion(view: View, other: Path) -> None:
    (other / "a b").mkdir()
    assert view.nvim.eval("getcompletion('Eca folder ', 'cmdline')") == ["add", "remove"]
    lead = str(other / "a").replace(" ", "\\ ")
    [found] = view.nvim.lua(
        "return vim.fn.getcompletion('Eca folder add ' .. ..., 'cmdline')", lead
    )
    assert found == f"{lead}\\ b/"
    view.nvim.lua("vim.cmd('Eca folder add ' .. ...)", found)
    assert view.sent("change_folder")[-1]["path"] == str(other / "a b")
    view.nvim.command("messages clear")
    view.nvim.keys(":Eca folder ad x<CR>:Eca folder /tmp<CR>")
    told = str(view.nvim.eval("execute('messages')"))
    assert told.count("folder takes 'add' or 'remove', and a folder") == 2
    assert len(view.sent("change_folder")) == 1
