"""The tour of the demo agent, with keys: what a new user sees first."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.talk import lines_of, say, start_chat, wait_idle, wait_line

pytestmark = pytest.mark.either_nvim


@pytest.fixture
def chat(start_nvim: StartNeovim, quick_demo: list[str]) -> Neovim:
    """Open a chat with the demo agent, beside a file with a finding."""
    nvim = start_chat(start_nvim, quick_demo, "src/calc.py", columns=160, lines=40)
    finding = "{ lnum = 4, col = 4, severity = 1, message = 'no such name', source = 'lint' }"
    nvim.lua(f"vim.diagnostic.set(vim.api.nvim_create_namespace('x'), 1, {{ {finding} }})")
    nvim.wait_until("require('eca').status().server == 'ready'")
    return nvim


def waiting(nvim: Neovim) -> None:
    """Wait until the agent waits for the user, and takes keys for an answer."""
    nvim.wait_until(
        "vim.iter(require('eca.state.mirror').pending()):any(require('eca.approval').guard_is_over)"
    )


def demo_file(nvim: Neovim, name: str) -> Path:
    """Return a file of the demo's folder, which a tool call names."""
    [folder] = Path(nvim.launch.variables()["TMPDIR"]).glob("eca-demo-*")
    return folder / name


def test_it_greets_and_tells_what_to_try(chat: Neovim) -> None:
    chat.wait_screen("Say hello to see what I can do.")
    say(chat, "hello")
    wait_line(chat, "Stop me with")
    wait_idle(chat)
    screen = chat.wait_screen("Hello! I am the demo agent of this plugin.")
    assert "**" not in screen.text()


def test_it_edits_a_real_file_when_it_is_accepted(chat: Neovim) -> None:
    say(chat, "fix the greeting")
    waiting(chat)
    path = demo_file(chat, "greet.py")
    assert "name.lower()" in path.read_text()
    chat.wait_screen("edit")
    assert any(line.startswith("▸ thought") for line in lines_of(chat))
    chat.keys("<C-w>kgg/? edit<CR>a")
    wait_line(chat, "✓ edit")
    wait_line(chat, "by your name")
    wait_idle(chat)
    assert "name.lower()" not in path.read_text()


def test_a_place_of_a_call_leads_to_its_file_and_line_from_any_folder(chat: Neovim) -> None:
    say(chat, "fix the greeting")
    waiting(chat)
    path = demo_file(chat, "greet.py")
    chat.keys("<C-w>kgg/? edit<CR>a")
    wait_line(chat, "by your name")
    wait_idle(chat)
    changed = 1 + path.read_text().splitlines().index('    return "Hello, " + name + "!"')
    edit, window = "gg/✓ edit<CR>", chat.eval("winnr()")
    chat.keys(f"{edit}zo")
    wait_line(chat, "-    return")
    for keys, line in (
        (f"{edit}0gf", changed),
        (f"{edit}fg<CR>", changed),
        ("gg/+    return<CR>gf", changed),
        ("gg/+    return<CR><CR>", changed),
        ("gg/^ def greet<CR><CR>", changed - 1),
        ("gg/✓ read<CR>fg<CR>", changed - 1),  # it names no line: where the user was
    ):
        chat.command(f"1wincmd w | enew | {window}wincmd w")
        chat.keys(keys)
        chat.wait_until("vim.fn.expand('%:t') == 'greet.py'")
        assert [chat.eval("expand('%:p')"), chat.eval("line('.')")] == [str(path), line], keys
    chat.keys(f":{window}wincmd w<CR>{edit}0<CR>")
    chat.wait_for(lambda: "+    return" not in "".join(lines_of(chat)), "the closed block")


def test_it_leaves_the_file_alone_when_it_is_rejected(chat: Neovim) -> None:
    say(chat, "fix the greeting")
    waiting(chat)
    chat.keys("<C-w>kgg/? edit<CR>r")
    wait_line(chat, "⊘ edit")
    wait_idle(chat)
    assert "name.lower()" in demo_file(chat, "greet.py").read_text()


def test_the_whole_diff_opens_and_accepts(chat: Neovim) -> None:
    say(chat, "fix the greeting")
    waiting(chat)
    chat.keys("<C-w>kgg/? edit<CR>gd")
    chat.wait_until("vim.fn.tabpagenr('$') == 2 and vim.wo.diff")
    notice, now, then = (chat.buffer_lines(chat.eval(f"winbufnr({it})")) for it in (1, 2, 3))
    assert notice[0].startswith("! outside the workspace: "), "what the float warns of"
    assert "name.lower()" in "\n".join(now)
    assert "name.lower()" not in "\n".join(then)
    chat.keys(":Eca approve<CR>")
    chat.wait_for(lambda: "name.lower()" not in demo_file(chat, "greet.py").read_text(), "the edit")


def test_it_runs_a_real_command(chat: Neovim) -> None:
    say(chat, "run it")
    waiting(chat)
    chat.keys(":Eca approve<CR>")
    wait_line(chat, "✓ $ ")
    wait_line(chat, "It said:")
    wait_idle(chat)
    assert any("world" in line.lower() for line in lines_of(chat))


def test_it_reports_the_editors_diagnostics(chat: Neovim) -> None:
    say(chat, "diagnostics")
    wait_line(chat, "no such name")
    assert any("calc.py:5" in line for line in lines_of(chat))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (":Eca answer Lua<CR>", "**Lua**: a fine choice."),
        (":lua require('eca').answer()<CR>", "Never mind, then."),
    ],
)
def test_it_asks_and_takes_the_answer(chat: Neovim, keys: str, said: str) -> None:
    say(chat, "ask me something")
    waiting(chat)
    chat.keys(keys)
    wait_line(chat, said)
    wait_idle(chat)


def test_two_tools_run_at_once(chat: Neovim) -> None:
    say(chat, "parallel")
    waiting(chat)
    wait_line(chat, "✓ read")
    chat.keys(":Eca approve<CR>")
    wait_line(chat, "Two tools ran")
    assert demo_file(chat, "plan.md").exists()


def test_a_failing_model_is_shown(chat: Neovim) -> None:
    say(chat, "fail")
    wait_line(chat, "401 invalid api key")
    wait_idle(chat)


def test_a_crash_is_told_and_a_restart_goes_on(chat: Neovim) -> None:
    say(chat, "crash")
    wait_line(chat, "the server ended")
    assert "crashing on request" in chat.lua("return require('eca').transcript()")
    chat.keys(":Eca restart<CR>")
    chat.wait_until("require('eca').status().server == 'ready'")
    say(chat, "fail")
    wait_line(chat, "401 invalid api key")


def test_a_flood_is_drawn_to_its_last_token(chat: Neovim) -> None:
    say(chat, "stream 20000")
    wait_line(chat, "line 19992")
    wait_idle(chat)


def test_a_flood_is_stopped(chat: Neovim) -> None:
    say(chat, "stream 1000000")
    wait_line(chat, "100")
    chat.keys("<C-c>")
    wait_idle(chat)
    say(chat, "fail")
    wait_line(chat, "401 invalid api key")
