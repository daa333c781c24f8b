"""A turn that changes several files, reviewed and undone through the whole plugin."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.processes import wait_gone
from tests.ui.talk import say, start_chat, wait_idle, wait_line

pytestmark = pytest.mark.either_nvim


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the demo agent makes its folder."""
    path = tmp_path / "home"
    path.mkdir()
    return path


def start(start_nvim: StartNeovim, demo_server: list[str], home: Path) -> tuple[Neovim, Path]:
    """Start the demo and give Neovim and the demo's folder."""
    server = {"command": demo_server, "env": {"TMPDIR": str(home)}}
    settings = {"server": server, "approval": {"guard": 0}}
    nvim = start_chat(start_nvim, demo_server, settings=settings, columns=160, lines=40)
    nvim.wait_until("require('eca').status().server == 'ready'")
    (folder,) = home.iterdir()
    return nvim, folder


def approve_all(nvim: Neovim, turns: int = 5) -> None:
    """Accept one call after the other, each from where the user is."""
    for _ in range(turns):
        call = nvim.wait_until("(require('eca').pending()[1] or {}).id")
        nvim.command("Eca approve")
        nvim.wait_until(f"(require('eca').pending()[1] or {{}}).id ~= {call!r}")
    wait_idle(nvim)


def changes(nvim: Neovim) -> list[str]:
    """List the changes and give the rows, with names for buffers."""
    before = nvim.eval("getqflist({'id': 0}).id")
    nvim.command("Eca changes")
    nvim.wait_until(f"vim.fn.getqflist({{ id = 0 }}).id ~= {before}")
    nvim.wait_until("vim.bo.buftype == 'quickfix'")
    code = """
    return vim.tbl_map(function(item)
      local name = item.bufnr > 0 and vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr)) or ''
      return ('%s:%d %s'):format(name, item.lnum, item.text)
    end, vim.fn.getqflist())
    """
    rows: list[str] = nvim.lua(code)
    return rows


def test_a_refactoring_is_reviewed_and_undone(
    start_nvim: StartNeovim, demo_server: list[str], home: Path
) -> None:
    nvim, folder = start(start_nvim, demo_server, home)
    before = contents(folder)
    say(nvim, "refactor")
    approve_all(nvim)
    wait_line(nvim, "lists it all: keep, revert")
    wait_idle(nvim)
    after = contents(folder)
    assert sorted(after) == ["NOTES.md", "greet.py", "greeting.py"]
    assert changes(nvim) == [
        ":0 turn 1: refactor",
        "greeting.py:1 +2 -0  new file",
        "greet.py:5 +1 -3  from greeting import greet",
        "NOTES.md:1 moved from README.md",
        "NOTES.md:4 +1 -0  greeting.py greets, greet.py runs.",
    ]
    nvim.keys("3Gr")
    nvim.wait_screen(", not written yet; u there undoes it")
    nvim.command(f"buffer {folder}/greet.py | silent write")
    assert (folder / "greet.py").read_text() == before["greet.py"]
    assert len(changes(nvim)) == 4
    nvim.command("Eca undo-turn")
    screen = nvim.wait_screen("undo turn 1: refactor")
    assert sum("restored" in line for line in screen.lines()) == 0
    nvim.keys("u")
    nvim.wait_screen("turn 1 undone in 3 files")
    assert contents(folder) == before
    nvim.command("Eca undo-turn 1")
    nvim.wait_screen("redo turn 1")
    nvim.keys("u")
    nvim.wait_screen("turn 1 redone in 3 files")
    assert contents(folder) == {**after, "greet.py": before["greet.py"]}


LISTEN = """
vim.g.used = vim.empty_dict()
vim.api.nvim_create_autocmd('User', { pattern = 'EcaFilesUsed', callback = function(event)
  local used = vim.g.used
  for _, file in ipairs(event.data.files) do
    used[vim.fs.basename(file.path)] = file
  end
  vim.g.used = used
end })
"""


def test_the_files_of_a_turn_are_counted(
    start_nvim: StartNeovim, demo_server: list[str], home: Path
) -> None:
    nvim, folder = start(start_nvim, demo_server, home)
    nvim.lua(LISTEN)
    nvim.command("Eca trust")
    say(nvim, "refactor")
    wait_line(nvim, "lists it all: keep, revert")
    wait_idle(nvim)
    nvim.wait_until("vim.g.used['greet.py'] and vim.g.used['greet.py'].written >= 1")
    files = nvim.lua("return require('eca').files()")
    assert {Path(it["path"]).name: it for it in files} == nvim.eval("g:used")
    assert [it["heat"] for it in files] == sorted((it["heat"] for it in files), reverse=True)
    assert {it["turn"] for it in files} == {1}
    nvim.command("Eca files")
    screen = nvim.wait_screen("files of this chat")
    assert "turn 1" in screen
    rows = [line for line in screen.lines() if "written" in line and "│" in line]
    assert "greet.py" in rows[0]
    assert "+2 -4" in rows[0]
    nvim.keys("<CR>")
    assert nvim.eval("expand('%:p')") == str(folder / "greet.py")


@pytest.mark.whole_start
def test_no_temporary_file_outlives_neovim(
    start_nvim: StartNeovim, demo_server: list[str], home: Path
) -> None:
    temporary = home.parent / "temporary"
    temporary.mkdir()
    big = "x" * 100_000
    nvim = start_chat(
        start_nvim,
        demo_server,
        settings={
            "server": {"command": demo_server, "env": {"TMPDIR": str(home)}},
            "approval": {"guard": 0},
        },
        environment={"TMPDIR": str(temporary)},
    )
    nvim.wait_until("require('eca').status().server == 'ready'")
    (folder,) = home.iterdir()
    with (folder / "greet.py").open("a") as file:
        file.write(f"# {big}\n")
    say(nvim, "fix the greeting")
    nvim.wait_until("require('eca').pending()[1]")
    approve_all(nvim, 1)
    wait_line(nvim, "now greets you")
    wait_idle(nvim)
    started = nvim.child.descendants()
    nvim.quit()
    assert not wait_gone(started, timeout=60)
    assert not list(temporary.glob("**/eca-*"))
