"""Contexts of every kind in a real Neovim: what is a token, what is read, and what is marked."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.beside import collected, open_beside
from tests.ui.staged import CHAT

MOST = 256 * 1024


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    return open_beside(start_nvim, workspace)


def typed(nvim: Neovim, text: str) -> list[Mapping[str, Value]]:
    """Return the contexts of a prompt that its text names."""
    return [item for item in collected(nvim, text) if item.get("token")]


def one(nvim: Neovim, text: str) -> Mapping[str, Value]:
    (item,) = typed(nvim, text)
    return item


def test_words_that_are_no_tokens(stage: Neovim, workspace: Path) -> None:
    """Files with such names are there: they are not what is meant."""
    for name in ("property", "app.route", "types", "123", "example.org", "diff", "a:12", "a b"):
        (workspace / name).write_text("x")
    code = "```python\n@property\n@code.txt @diff #code.txt\n```"
    tilde = "~~~~\n@code.txt\n~~~\n@code.txt\n~~~~ no end\n@code.txt"
    for text in (
        "mail me@example.org or (you@code.txt), not git@example.org:code.txt",
        "see #123 and # code.txt and x#code.txt",
        '@app.route("/x") @app.route("code.txt")',
        code,
        f"  {code}\n{tilde}",
        "``` `x` ```\n```\n@code.txt",
        "@ code.txt, a @ code.txt and @",
        "@mcp:// @:// @1://x @buffer:0 @buffer:999 @buffer:1x @buffer:code.txt",
        "@terminal:1 @terminal:0 @terminal:x",
    ):
        assert typed(stage, text) == [], text
    stage.command("messages clear")
    for text in ("@pytest.fixture", "@app.get @x.setter @Override", "@types/node @babel/core"):
        assert typed(stage, text) == [], text
    assert "not found" not in stage.messages()
    typed(stage, "see @nope.txt, @src/nope and @nope/ in\n```\n@gone.txt\n```")
    stage.wait_until("vim.fn.execute('messages'):find('not sent', 1, true)")
    assert "not found: @nope.txt, @src/nope, @nope/" in stage.messages()
    assert "@gone.txt" not in stage.messages()
    after = one(stage, f"{code}\nthen @code.txt")
    assert after["token"] == "@code.txt"


def test_words_that_are_tokens(stage: Neovim, workspace: Path) -> None:
    for name in ("diff", "a:12", "a", "x.PNG"):
        (workspace / name).write_text("x")
    root = str(workspace)
    assert one(stage, "@./diff")["path"] == f"{root}/diff"
    assert one(stage, "@a:12") == {"type": "file", "path": f"{root}/a:12", "token": "@a:12"}
    assert one(stage, "@a:3-")["first"] == 3
    assert one(stage, "(see @x.PNG).")["path"] == f"{root}/x.PNG"
    mention = {"type": "mention", "path": f"{root}/my notes", "token": "#my\\ notes/"}
    assert one(stage, "in #my\\ notes/, please") == mention
    resource = {"type": "resource", "uri": "mock://r1", "token": "@mock://r1"}
    assert one(stage, "read @mock://r1.") == resource
    assert one(stage, "@diff")["folder"] == root
    (workspace / "out").symlink_to("/etc")
    assert one(stage, "@out/passwd")["written"] == f"{root}/out/passwd"
    write = "return require('eca.context.tokens').write(...)"
    for name in ("diff", "buffer:1", "terminal:1", "a:12", "my notes"):
        (workspace / name).mkdir(exist_ok=True) if " " in name else (workspace / name).touch()
        kind = "directory" if " " in name else "file"
        token = stage.lua(write, {"type": kind, "path": f"{root}/{name}"})
        assert one(stage, token)["path"] == f"{root}/{name}"


def test_lists_are_read_when_the_prompt_is_sent(stage: Neovim) -> None:
    stage.lua("""
      vim.fn.setqflist({}, ' ', { title = 'make', items = {
        { bufnr = 1, lnum = 2, col = 3, type = 'E', text = 'boom\\27[31m' },
        { text = 'just a line' },
      } })
      vim.diagnostic.set(vim.api.nvim_create_namespace('x'), 1, {
        { lnum = 2, col = 0, severity = 2, message = 'unused', source = 'lint' },
        { lnum = 3, col = 0, severity = 1, message = 'two\\nlines' },
      })
    """)
    stage.keys("2GVj<Esc><C-w>l")
    quickfix, diagnostics, selected = typed(stage, "@quickfix @diagnostics @selection")
    assert quickfix["label"] == "quickfix list: make (@quickfix)"
    assert quickfix["content"] == "code.txt:2:3: error: boom [31m\njust a line"
    assert diagnostics["content"] == (
        "code.txt:4:1: error: two lines\ncode.txt:3:1: warning: unused [lint]"
    )
    assert selected["content"] == "second línea 😀 end\nthird line"
    assert selected["label"].endswith("code.txt:2-3 (@selection)")
    stage.lua("vim.fn.setqflist({}, 'f') vim.diagnostic.reset()")
    stage.command("wincmd h | normal! gg")
    assert typed(stage, "@quickfix @diagnostics @selection") == []
    for fault in ("the quickfix list is empty", "no diagnostics", "nothing is selected"):
        assert fault in stage.messages()


def test_buffers_are_read_as_they_are(stage: Neovim) -> None:
    stage.command("call setline(2, 'not written')")
    assert one(stage, "see @buffer:1:2-3.")["content"] == "not written\nthird line"
    stage.command("set nomodified | new | call setline(1, 'scratch')")
    assert one(stage, f"@buffer:{stage.eval('bufnr()')}")["content"] == "scratch"
    stage.command("bwipeout!")
    stage.command("messages clear")
    for buf in ("x", 999, [1], -3):
        assert others(stage, {"type": "buffer", "buf": buf}) == []
        stage.lua("require('eca').add_context(...)", {"type": "buffer", "buf": buf})
    assert "context not sent: buffer: there is no buffer x" in stage.messages()
    assert others(stage, {"type": "selection"}) == []
    assert others(stage, {"type": "diff"})[0]["type"] == "diff"


def others(nvim: Neovim, item: Mapping[str, Value]) -> list[Mapping[str, Value]]:
    """Return the context of a prompt that other code adds."""
    found: list[Mapping[str, Value]] = nvim.lua(
        "return require('eca.context').collect('other', '', { ... })", item
    )
    return [it for it in found if it["type"] != "cursor"]


FILL = """
local name, count, line = ...
vim.cmd('new')
local buf = vim.api.nvim_get_current_buf()
if name == 'terminal' then
  vim.o.scrollback = 100000
  local channel = vim.api.nvim_open_term(buf, {})
  vim.api.nvim_chan_send(channel, table.concat(vim.fn['repeat']({ line }, count), '\\r\\n'))
  vim.wait(20000, function()
    return vim.api.nvim_buf_line_count(buf) >= count
  end)
else
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.fn['repeat']({ line }, count))
  vim.bo[buf].modified = false
end
return buf
"""


@pytest.mark.either_nvim
def test_long_texts_are_cut_and_both_sides_know(stage: Neovim) -> None:
    def sent(token: str) -> list[str]:
        content: str = one(stage, token)["content"]
        assert MOST - 1000 < len(content.encode()) < MOST + 200
        return content.splitlines()

    scratch = stage.lua(FILL, "scratch", 100_000, "é" * 50)
    *lines, note = sent(f"@buffer:{scratch}")
    assert note == f"[cut: this is the first {len(lines)} of 100000 lines]"
    assert set(lines) == {"é" * 50}
    assert f"context cut: @buffer:{scratch}: the first {len(lines)} of" in stage.messages()
    stage.command("close")
    terminal = stage.lua(FILL, "terminal", 100_000, "0123456789")
    *lines, note = sent(f"@buffer:{terminal}")
    assert note.startswith(f"[cut: this is the last {len(lines)} of ")
    assert lines[-1] == "0123456789"
    assert sent(f"@terminal:{terminal}") == [*lines, note]
    stage.command("bwipeout!")
    long = stage.lua(FILL, "scratch", 1, "é" * 3_000_000)
    line, note = sent(f"@buffer:{long}")
    assert set(line) == {"é"}
    assert note == f"[cut: this is the first {len(line.encode())} bytes of line 1]"
    stage.command("close")
    stage.lua("vim.fn.setqflist(vim.fn['repeat']({ { text = ('y'):rep(90) } }, 100000))")
    *lines, note = sent("@quickfix")
    assert note == f"[cut: this is the first {len(lines)} of 100000]"


def test_what_is_missing_is_marked_before_it_is_sent(stage: Neovim, workspace: Path) -> None:
    text = "see @code.txt and @buffer:1\n@nope.txt here\nme@x.org #code.txt #gone.txt #1\n"
    text += "```\n@code.txt in\n```"
    stage.lua(
        "require('eca.input.field').put_back(require('eca.chat.buffers').get('c1').input, ...)",
        text,
    )
    screen = stage.wait_screen("@code.txt in")
    group = screen.groups_at
    assert "Identifier" in group(*screen.find("@code.txt and"))
    assert "Identifier" in group(*screen.find("@buffer:1"))
    assert "@buffer:1 → code.txt" in screen
    assert "DiagnosticWarn" in group(*screen.find("@nope.txt"))
    assert "DiagnosticWarn" not in group(*screen.find("here"))
    assert screen.find("not found")[0] == screen.find("@nope.txt")[0]
    assert "Identifier" in group(*screen.find("#code.txt"))
    assert "DiagnosticWarn" in group(*screen.find("#gone.txt"))
    assert "DiagnosticWarn" not in group(*screen.find("#1"))
    assert "Identifier" not in group(*screen.find("@x.org"))
    assert "Identifier" not in group(*screen.find("@code.txt in"))
    (workspace / "nope.txt").write_text("x")
    (workspace / "gone.txt").write_text("x")
    stage.command("redraw!")
    stage.wait_screen(lambda screen: "not found" not in screen)


def test_an_entry_of_the_line_whose_file_is_gone_is_marked(stage: Neovim, workspace: Path) -> None:
    (workspace / "later.txt").write_text("x")
    stage.keys(":Eca add later.txt<CR>:Eca add @diff<CR>:Eca add @quickfix<CR>")
    screen = stage.wait_screen("@later.txt · @diff · @quickfix")
    assert "Identifier" in screen.groups_at(*screen.find("@later.txt"))
    (workspace / "later.txt").unlink()
    stage.lua("require('eca.window.winbar').refresh(...)", CHAT)
    stage.wait_screen(
        lambda screen: "DiagnosticWarn" in screen.groups_at(*screen.find("@later.txt"))
    )
    stage.keys(":Eca add! @diff<CR>:Eca add! quickfix<CR>")
    stage.wait_screen(lambda screen: "@diff" not in screen and "@quickfix" not in screen)
