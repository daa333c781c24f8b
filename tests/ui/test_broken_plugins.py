"""What fails in the user's own configuration never stops the chat.

Autocommands, `vim.notify`, `vim.ui`, tree-sitter, syntax files, the bell, the clipboard.
"""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.talk import start_chat
from tests.ui.test_comfort import allow_an_edit, go_on
from tests.ui.view import CHAT, View, assistant, open_view

from eca_nvim.chat.vocabulary import ops

BROKEN = """
_G.failing = function() error('mistake of the user') end
local function on(events, pattern)
  vim.api.nvim_create_autocmd(events, { pattern = pattern, callback = failing })
end
on('FileType', 'eca-*')
on({ 'BufNew', 'BufFilePost', 'LspAttach', 'Syntax', 'TabNew' }, '*')
on({ 'TabEnter', 'TabClosed', 'BufReadPost' }, '*')
on('User', '[Ee]ca*')
vim.cmd([[autocmd FileType eca-* silent! unmap nothing]])
vim.cmd([[autocmd FileType eca-* throw 'thrown by the user']])
for _, name in ipairs({ 'start', 'get_string_parser', 'get_parser' }) do
  vim.treesitter[name] = failing
end
vim.treesitter.language.add, vim.treesitter.query.parse = failing, failing
vim.filetype.match, vim.ui.select, vim.ui.input, vim.ui.open = failing, failing, failing, failing
vim.notify = failing
vim.api.nvim_ui_send = failing
rawset(vim.fn, 'chansend', failing)
_G.uses = {}
local function clipboard(name)
  return function() table.insert(uses, name) return {} end
end
vim.g.clipboard = {
  name = 'slow',
  copy = { ['+'] = clipboard('copy'), ['*'] = clipboard('copy') },
  paste = { ['+'] = clipboard('paste'), ['*'] = clipboard('paste') },
}
vim.o.clipboard = 'unnamedplus'
"""


def said(nvim: Neovim) -> list[str]:
    """Return the messages about failures, and forget all."""
    lines = nvim.messages().splitlines()
    nvim.command("messages clear")
    return [line for line in lines if "mistake" in line or "thrown" in line]


@pytest.mark.either_nvim
def test_a_conversation_is_held_in_spite_of_a_broken_configuration(
    start_nvim: StartNeovim, quick_demo: list[str]
) -> None:
    told = {"notify": "always", "bell": True}
    settings = {"approval": {**told, "guard": 0}, "turn": told}
    nvim = start_chat(start_nvim, quick_demo, settings=settings, init=BROKEN)
    allow_an_edit(nvim)
    go_on(nvim)
    nvim.keys(":Eca undo-turn<CR>")
    nvim.wait_screen("u undo")
    nvim.keys("u")
    nvim.wait_screen("undone in 1 file")
    go_on(nvim)
    assert nvim.lua("return uses") == []
    lines = said(nvim)
    assert len(lines) == len(set(lines)) <= 4
    assert all(line.startswith("eca: ") for line in lines)


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    """Open a chat without a host, then break everything."""
    view = open_view(start_nvim)
    view.nvim.lua(BROKEN)
    return view


CODE = "```python\nprint(1)\n```\n\n```lua\nx = 1\n```\n[this](https://example.org/x)\n"


def test_lists_and_questions_that_fail_are_one_line(view: View) -> None:
    nvim = view.nvim
    nvim.lua("require('eca.ui.choose').one('x', { 1 }, tostring, function(it) chosen = it end)")
    nvim.lua("require('eca.ui.choose').line({ prompt = 'x' }, function(it) answer = { it } end)")
    nvim.wait_until("answer and chosen == nil")
    nvim.lua("vim.wait(0)")
    go_on(nvim)
    # Lines about what else is broken, as an autocommand for LspAttach, may come meanwhile.
    assert [line for line in said(nvim) if "vim.ui" in line] == [
        "eca: vim.ui.select has failed, nothing was asked: mistake of the user",
        "eca: vim.ui.input has failed, nothing was asked: mistake of the user",
    ]


def test_code_is_coloured_as_far_as_that_goes(view: View) -> None:
    """Without tree-sitter by a syntax file, also if an autocommand for it fails."""
    view.draw(*assistant(1, CODE))
    used = (
        "vim.iter(vim.api.nvim_list_bufs()):any(function(it) return vim.bo[it].syntax == 'lua' end)"
    )
    view.nvim.wait_until(used)
    view.nvim.lua("vim.wait(0)")
    go_on(view.nvim)
    assert len(said(view.nvim)) == 1


def test_the_clipboard_is_used_only_for_a_yank(view: View) -> None:
    """A link that nothing opens is in the register for `p`, not in that of the clipboard."""
    nvim = view.nvim
    view.draw(*assistant(1, CODE))
    nvim.keys("<C-w>k/this<CR>gx")
    nvim.wait_until("vim.fn.execute('messages'):find('yanked, as no program') ~= nil")
    assert nvim.lua("return { vim.fn.getreg('\"'), uses }") == ["https://example.org/x", []]
    nvim.keys("gg/print<CR>")
    nvim.lua("vim.g.clipboard = nil")
    nvim.lua(
        "vim.fn.setreg = (function(set) return function(name, ...)"
        " if name == '+' then failing() end return set(name, ...) end end)(vim.fn.setreg)"
    )
    nvim.keys("gy")
    nvim.lua("vim.wait(0)")
    go_on(nvim)
    line = 'eca: not in register + but in ", press p: mistake of the user'
    assert line in said(nvim)  # perhaps with a word on the colours of the code


def test_a_damaged_parser_or_query_is_no_fault_of_the_chat(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    """Neovim's own plugin for Lua files starts tree-sitter (0.12), also in a file of a diff."""
    for place, content in (
        ("parser/lua.so", "no library"),
        ("queries/c/highlights.scm", "(no_such_node) @x\n((("),
        ("queries/vim/injections.scm", "((("),
    ):
        path = tmp_path / "broken" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    view = open_view(start_nvim, init=f"vim.opt.runtimepath:prepend('{tmp_path}/broken')")
    fences = "".join(f"```{name}\nlet x = 1\n```\n" for name in ("lua", "c", "vim", "lua"))
    view.draw(*assistant(1, f"{fences}\nthe end\n"))
    view.nvim.wait_screen("the end")
    for name in ("lua", "c", "vim"):
        file = tmp_path / f"a.{name}"
        file.write_text("let x = 1\n")
        shown = ops.ShowDiff(CHAT, name, str(file), "let x = 1\n", "let x = 2\n", "changed")
        view.draw(shown)
        view.nvim.wait_until("vim.wo.diff and vim.fn.tabpagenr('$') == 2")
        view.nvim.lua("vim.wait(50)")
        go_on(view.nvim)
        view.nvim.command("tabclose")
    assert [it for it in view.nvim.messages().splitlines() if it] == []
