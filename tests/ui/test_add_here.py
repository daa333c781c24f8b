"""`:Eca add` guesses what is meant from where it is called."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.beside import open_beside
from tests.ui.test_context_line import on_line

OIL = """
package.loaded.oil = {
  get_current_dir = function() return vim.fn.getcwd() .. '/' end,
  get_entry_on_line = function(_, row)
    local name = vim.fn.getline(row)
    return name ~= '' and { name = name, type = 'file' } or nil
  end,
}
vim.cmd('new')
vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'code.txt', 'my notes', 'gone.txt' })
vim.bo.filetype, vim.bo.modified = 'oil', false
"""

NETRWS_OWN = {"E31: No such mapping"}
"""netrw's errors while it opens, which it hides."""


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    return open_beside(start_nvim, workspace)


def added(nvim: Neovim, keys: str = ":Eca add<CR>") -> list[str]:
    """Type some keys, and return what they put on the context line; it is empty again then."""
    nvim.command("messages clear")
    nvim.keys(keys)
    labels = on_line(nvim)
    nvim.lua("for _, it in ipairs(...) do require('eca').remove_context(it) end", labels)
    assert on_line(nvim) == []
    return labels


def go_to(nvim: Neovim, text: str) -> None:
    assert nvim.eval(f"search('\\V{text}', 'cw')"), nvim.buffer_lines()


def test_an_entry_of_netrw(stage: Neovim, workspace: Path) -> None:
    (workspace / "a\nb.txt").write_text("x")
    stage.command("runtime plugin/netrwPlugin.vim")
    for style in (0, 1, 3):
        stage.command(f"let g:netrw_liststyle = {style}")
        stage.command(f"silent Explore {workspace}")
        stage.wait_until("vim.bo.filetype == 'netrw'")
        assert set(stage.take_errors()) <= NETRWS_OWN
        go_to(stage, "code.txt")
        before = stage.eval("getcurpos()")
        assert added(stage) == ["@code.txt"], style
        assert stage.eval("getcurpos()") == before
        go_to(stage, "my notes")
        assert added(stage) == ["@my\\ notes/"], style
        stage.command("silent bwipeout!")
        stage.command("edit code.txt")


def test_an_entry_inside_netrws_tree(stage: Neovim, workspace: Path) -> None:
    stage.command("let g:netrw_liststyle = 3 | runtime plugin/netrwPlugin.vim")
    stage.command(f"silent Explore {workspace}")
    stage.wait_until("vim.bo.filetype == 'netrw'")
    assert set(stage.take_errors()) <= NETRWS_OWN
    go_to(stage, "my notes")
    stage.keys("<CR>")
    stage.wait_until("vim.fn.search('to do', 'nw') > 0")
    assert set(stage.take_errors()) <= NETRWS_OWN
    go_to(stage, "to do")
    assert added(stage) == ["@my\\ notes/to\\ do.txt"]


def test_an_entry_of_oil(stage: Neovim) -> None:
    stage.lua(OIL)
    assert added(stage) == ["@code.txt"]
    assert added(stage, "ggVj:Eca add<CR>") == ["@code.txt", "@my\\ notes/"]
    assert added(stage, "G:Eca add<CR>") == []
    stage.wait_screen("there is no file or folder in this line")
    stage.lua("package.loaded.oil.get_current_dir = function() end")
    assert added(stage, "gg:Eca add<CR>") == []


TREES = {
    "NvimTree": """
        package.loaded['nvim-tree.api'] = { tree = { get_node_under_cursor = function()
          return { absolute_path = PATHS[vim.fn.line('.')] }
        end } }""",
    "neo-tree": """
        package.loaded['neo-tree.sources.manager'] = { get_state_for_window = function()
          return { tree = { get_node = function(_, row) return { path = PATHS[row] } end } }
        end }""",
    "minifiles": """
        package.loaded['mini.files'] = { get_fs_entry = function(_, row)
          return { path = PATHS[row] }
        end }""",
    "snacks_picker_list": """
        local picker = { list = { win = { win = vim.api.nvim_get_current_win() } } }
        function picker.current() return { file = PATHS[vim.fn.line('.')] } end
        package.loaded['snacks.picker'] = {
          get = function() return { { list = { win = {} } }, picker } end,
          util = { path = function(item) return item.file end },
        }""",
}


@pytest.mark.parametrize("tree", TREES)
def test_an_entry_of_a_file_tree(stage: Neovim, tree: str) -> None:
    stage.lua("""
        vim.cmd('new')
        vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'a drawn file', 'a drawn folder', 'top' })
        _G.PATHS = { vim.fn.getcwd() .. '/code.txt', vim.fn.getcwd() .. '/my notes' }""")
    stage.lua(TREES[tree])
    stage.command(f"setlocal filetype={tree}")
    assert added(stage, "gg:Eca add<CR>") == ["@code.txt"]
    assert added(stage, "j:Eca add<CR>") == ["@my\\ notes/"]
    assert added(stage, "G:Eca add<CR>") == []
    stage.wait_screen("there is no file or folder in this line")
    if tree != "snacks_picker_list":
        assert len(added(stage, "ggVj:Eca add<CR>")) == 2
    stage.lua(
        "for name in pairs(package.loaded) do "
        "if name:find('^nvim%-tree') or name:find('^neo%-tree') or name:find('^mini') "
        "or name:find('^snacks') then package.loaded[name] = nil end end"
    )
    assert added(stage, "gg:Eca add<CR>") == []  # its functions are not those that we know


def test_a_file_tree_that_is_not_known_is_not_added(stage: Neovim) -> None:
    stage.command("new | setlocal filetype=nerdtree")
    assert added(stage) == []
    stage.wait_screen("which file is meant in nerdtree is not known")


@pytest.mark.parametrize("window", ["copen", "lopen"])
def test_an_item_of_a_list(stage: Neovim, workspace: Path, window: str) -> None:
    stage.lua(
        """
        local items = {
          { filename = 'code.txt', lnum = 2, text = 'one' },
          { filename = 'code.txt', lnum = 3, end_lnum = 4, text = 'two' },
          { filename = 'README.md', text = 'whole' },
          { text = 'no file' },
        }
        if ... == 'copen' then vim.fn.setqflist(items) else vim.fn.setloclist(0, items) end
        """,
        window,
    )
    stage.command(window)
    assert added(stage, "gg:Eca add<CR>") == ["@code.txt:2"]
    assert added(stage, "ggVG:Eca add<CR>") == ["@code.txt:2", "@code.txt:3-4", "@README.md"]
    assert added(stage, "G:Eca add<CR>") == []
    stage.wait_screen("there is no file or folder in this line")


def test_other_places(stage: Neovim, workspace: Path) -> None:
    assert added(stage) == ["@code.txt"]
    assert added(stage, ":2,3Eca add<CR>") == ["@code.txt:2-3"]
    stage.lua("vim.keymap.set({ 'n', 'x' }, '<F5>', '<Plug>(EcaAddContext)')")
    assert added(stage, "2GVj<F5>") == ["@code.txt:2-3"]
    for name in ("diff", "@quickfix", "diagnostics", "@https://e.org", "mock://r1", "my notes"):
        assert len(added(stage, f":Eca add {name}<CR>")) == 1, name
    stage.command("new | call setline(1, 'scratch')")
    number = stage.eval("bufnr()")
    assert added(stage) == [f"@buffer:{number}"]
    assert added(stage, f":Eca add buffer:{number}<CR>") == [f"@buffer:{number}"]
    stage.command("bwipeout! | terminal cat")
    assert added(stage) == [f"@terminal:{stage.eval('bufnr()')}"]
    stage.keys(":Eca add<CR>")
    stage.wait_screen(f"@terminal:{stage.eval('bufnr()')} cat")
    stage.command("bwipeout!")
    stage.command("edit code.txt")
    stage.keys(":Eca add nope.txt<CR>")
    stage.wait_screen("not found: nope.txt")
