"""What was said in another chat and what a terminal shows, as contexts, with their sizes."""

import subprocess
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import Steps, content, handshake, turn
from tests.support.servers import ScriptedServer
from tests.ui.completed import menu
from tests.ui.talk import draft, prompts, say, start_chat, wait_idle

SETTINGS = {"contexts": {"cursor": False}, "approval": {"guard": 0}}
MARK = """
local buf, rows = ...
local namespace = vim.api.nvim_create_namespace('nvim.terminal.prompt')
for _, row in ipairs(rows) do
  vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {})
end
"""
"""Lua code that marks prompts as Neovim 0.11 does when a shell marks its own (OSC 133)."""


SHOWS = "table.concat(vim.api.nvim_buf_get_lines({}, 0, -1, false), ' '):find('{}', 1, true)"


def open_terminal(nvim: Neovim, text: str, where: str = "botright new") -> int:
    nvim.command(f"{where} | terminal printf '{text}'; cat")
    buf = int(nvim.eval("bufnr()"))
    nvim.wait_until(SHOWS.format(buf, text.rsplit("\\n", maxsplit=1)[-1]))
    return buf


def wait_prompts(nvim: Neovim, server: ScriptedServer, count: int) -> str:
    nvim.wait_for(lambda: len(prompts(server)) == count, f"prompt {count}")
    wait_idle(nvim)
    return str(server.received("chat/prompt")[-1]["params"])


@pytest.mark.either_nvim
def test_another_chat_and_a_terminal_are_sent(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), [*turn(), *turn(), *turn()])
    nvim = start_chat(start_nvim, server, settings=SETTINGS, columns=80)
    say(nvim, "why is it slow?")
    wait_idle(nvim)
    terminal = open_terminal(nvim, "one\\ntwo failed", "tabnew")
    nvim.command("tabprevious")
    nvim.command("Eca new")
    nvim.keys("i@ch")
    nvim.keys("a")
    nvim.wait_until("vim.fn.pumvisible() == 1")
    assert menu(nvim) == ["chat:1"], "not the chat itself"
    nvim.wait_screen("tokens · New chat")
    nvim.keys("<C-e>t:1 @term")
    nvim.wait_until("vim.fn.pumvisible() == 1")
    assert set(menu(nvim)) == {"terminal", f"terminal:{terminal}"}
    nvim.keys("<C-e>inal @chat:2 @chat:7<Esc>")
    nvim.keys("<C-s>")
    told = wait_prompts(nvim, server, 2)
    assert "another chat (@chat:1)" in told
    assert "## User\\n\\nwhy is it slow?" in told
    assert "one\\ntwo failed" in told
    said = nvim.messages()
    assert "context not sent: not found: @chat:7" in said
    assert "context not sent: nothing was said in chat 2 yet" in said

    # On the line above the input they have their sizes; a terminal that is gone is left out.
    nvim.command("Eca add terminal")
    nvim.wait_screen("@terminal ~")
    nvim.command(f"bwipeout! {terminal}")
    nvim.keys("iand<C-s><Esc>")
    nvim.wait_screen("no terminal: :terminal opens one")
    wait_prompts(nvim, server, 3)


def usage(limit: int) -> Steps:
    limits = {"limit": {"context": limit, "output": limit}}
    return content({"type": "usage", "sessionTokens": 10, **limits}, "system")


LISTS = """
vim.fn.setqflist({ { text = ('x'):rep(400) } })
vim.diagnostic.set(vim.api.nvim_create_namespace('x'), vim.fn.bufnr('calc.py'), {
  { lnum = 0, col = 0, message = ('y'):rep(800) },
})
local lines = vim.split(('0123456789'):rep(210, '\\n'), '\\n')
vim.api.nvim_buf_set_lines(vim.api.nvim_create_buf(true, true), 0, -1, false, lines)
"""


@pytest.mark.either_nvim
def test_sizes_are_shown_and_what_takes_half_of_the_window_is_said_before_it_is_sent(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    server = scripted_server(handshake(), [*turn(usage(1000)), *turn()])
    (workspace / "lib").mkdir()
    (workspace / "lib/a.py").write_text("x" * 4000)
    subprocess.run(["git", "-C", workspace, "init", "-q"], check=True)
    nvim = start_chat(start_nvim, server, "src/calc.py", settings=SETTINGS, columns=80)
    say(nvim, "hello")
    wait_idle(nvim)
    nvim.lua(LISTS)
    buf = nvim.eval("bufnr('$')")
    nvim.keys("<C-w>hggVj<Esc>")
    nvim.lua("require('eca').open()")
    nvim.keys("o@")
    nvim.wait_screen("lib/        ~1k tokens · folder")
    nvim.wait_screen("diff        ~")
    nvim.keys("<C-e>selection @quickfix<CR>@diagnostics<CR>@diff @lib/<Esc>")
    nvim.wait_screen("@selection @quickfix → ~108 tokens")
    nvim.wait_screen("@diagnostics → ~206 tokens")
    nvim.wait_screen("@diff @lib/ → ~1k tokens")
    nvim.wait_screen("~1k of 1k tokens: over half")
    (workspace / "lib/a.py").write_text("x" * 400)
    nvim.command("doautocmd <nomodeline> FocusGained")
    nvim.wait_screen("@diff @lib/ → ~114 tokens")
    nvim.wait_screen(lambda screen: "over half" not in str(screen))

    nvim.keys(f"ggdGi@buffer:{buf}")
    nvim.wait_screen("~578 of 1k tokens: over half")
    nvim.keys("<C-s>")
    nvim.wait_screen("~578 of 1k tokens: press again to send")
    assert draft(nvim) == f"@buffer:{buf}"
    assert len(prompts(server)) == 1
    nvim.keys("<C-s><Esc>")
    wait_prompts(nvim, server, 2)
    nvim.keys(f":EcaChat look at @buffer:{buf}<CR>")
    nvim.wait_screen("contexts take ~578 of 1k tokens: it is in the input")
    assert draft(nvim) == f"look at @buffer:{buf}"
    sizes = "return require('eca.context.sizes').words({ { type = 'file', path = ... } })"
    (workspace / "shot.png").write_bytes(b"x" * 9000)
    assert nvim.lua(sizes, str(workspace / "shot.png")) is None, "the model sees it as an image"
    assert nvim.lua(sizes, str(workspace / "src/calc.py")) == "~22 tokens"


def test_a_failing_command_is_a_prompt_in_one_gesture(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(settings={"server": {"command": ["sleep", "60"]}, **SETTINGS}, columns=80)
    nvim.command("nmap gA <Plug>(EcaTerminalPrompt)")
    nvim.keys("gA")
    assert "this is for the normal mode of a terminal" in nvim.messages()
    terminal = open_terminal(nvim, "$ ls\\na\\n$ make\\nfailed\\n$ end")
    for token in ("@terminal", "@chat:1", f"@terminal:{terminal}"):  # in a project's template
        nvim.lua("require('eca').open() vim.cmd.wincmd('p')")
        assert nvim.lua("return require('eca.context.stated').of(...).leads_out", token) is True
    nvim.command(f"call win_gotoid(bufwinid({terminal}))")
    nvim.keys("<C-\\><C-n>gA")
    asked = "What went wrong here, and what can be done about it?"
    nvim.wait_for(lambda: draft(nvim) == f"{asked}\n@terminal:{terminal}:1-5", "the whole end")
    nvim.keys("<Esc>ggdGiwhy<Esc>")
    nvim.lua(MARK, terminal, [0, 2, 4])
    nvim.command(f"call win_gotoid(bufwinid({terminal}))")
    nvim.keys("<C-\\><C-n>gA")
    nvim.wait_for(lambda: draft(nvim) == f"why\n@terminal:{terminal}:3-4", "the last command")
