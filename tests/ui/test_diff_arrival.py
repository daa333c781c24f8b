"""A diff appears later than it was asked for: when it takes the focus, and where it returns to."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.diffed import AFTER, BEFORE
from tests.ui.staged import BLOCK, CHAT, WITHOUT_HOST, approval, draw, request, sent, wait_sent

NEVER = 600_000
"""A guard time in ms that no test outlasts."""
CLOCK = """
local real = vim.uv.hrtime
function vim.uv.hrtime() return real() + (vim.g.ahead or 0) * 1e6 end
"""
"""A clock that is `g:ahead` ms ahead."""
NOT_SHOWN = "the diff of code.txt was not opened, as you kept typing: ask again"


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    """Neovim in a file, with a change that waits, and <F5> that asks for its diff in any mode."""
    (workspace / "code.txt").write_text(BEFORE)
    nvim = start_nvim(
        "README.md", init=WITHOUT_HOST, settings={"approval": {"guard": 0}}, columns=160
    )
    nvim.command("noremap <F5> <Cmd>Eca diff<CR>")
    nvim.command("noremap! <F5> <Cmd>Eca diff<CR>")
    nvim.command("tnoremap <F5> <Cmd>Eca diff<CR>")
    item = approval(paths=[str(workspace / "code.txt")], remember=["edit_file"])
    draw(nvim, ["pending", [item]])
    nvim.wait_screen("allow this?")
    return nvim


def set_guard(nvim: Neovim, milliseconds: int) -> None:
    nvim.lua("require('eca.config').setup({ approval = { guard = ... } })", milliseconds)


def answer(nvim: Neovim, workspace: Path, call: str = "t1") -> None:
    """Draw what the host draws when it was asked for the diff of a call."""
    path = str(workspace / "code.txt")
    shown = ["diff", CHAT, call, path, BEFORE, AFTER, "changed", request(call)]
    draw(nvim, [*shown, None, None, None, [], True])
    nvim.lua("return 1")


def show(nvim: Neovim, workspace: Path, call: str = "t1") -> None:
    """Ask by a key, and come to the diff."""
    nvim.keys("<F5>")
    answer(nvim, workspace, call)
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")
    nvim.wait_screen("q close")


def test_keys_typed_since_go_where_they_were_typed(stage: Neovim, workspace: Path) -> None:
    stage.keys(":Eca diff<CR>")
    wait_sent(stage, "diff")
    stage.keys("Oa new")
    answer(stage, workspace)
    stage.keys(" line")
    assert stage.mode == "i"
    stage.keys("<Esc>")
    stage.wait_screen(NOT_SHOWN)
    assert stage.eval("tabpagenr('$')") == 1
    assert stage.buffer_lines()[0] == "a new line"
    assert sent(stage, "decide") == []
    show(stage, workspace)


@pytest.mark.either_nvim
@pytest.mark.parametrize("keys", ["j", "d", ":echo", "<C-w>w"])
def test_nobody_who_goes_on_is_taken_along(stage: Neovim, workspace: Path, keys: str) -> None:
    stage.command("split")
    stage.keys(":Eca diff<CR>")
    stage.keys(keys)
    before = stage.eval("[win_getid(), tabpagenr()]")
    mode = stage.mode
    answer(stage, workspace)
    assert stage.mode == mode
    stage.keys("<Esc>")
    stage.wait_screen(NOT_SHOWN)
    assert stage.eval("tabpagenr('$')") == 1
    if keys != "<C-w>w":
        assert stage.eval("[win_getid(), tabpagenr()]") == before


@pytest.mark.parametrize("mode", ["O", ":"])
def test_what_nobody_asked_for_takes_nobody_along(
    stage: Neovim, workspace: Path, mode: str
) -> None:
    stage.keys(mode)
    answer(stage, workspace)
    stage.keys("<Esc>")
    stage.wait_screen(NOT_SHOWN)
    assert stage.eval("tabpagenr('$')") == 1


@pytest.mark.either_nvim
@pytest.mark.parametrize("key", ["a", "A", "r", "q"])
def test_a_key_that_comes_too_soon_answers_nothing(
    stage: Neovim, workspace: Path, key: str
) -> None:
    set_guard(stage, NEVER)
    show(stage, workspace)
    stage.keys(key)
    assert stage.eval("tabpagenr('$')") == 2
    assert sent(stage, "decide") == []
    assert stage.mode == "n"
    set_guard(stage, 0)
    stage.keys("a")
    assert wait_sent(stage, "decide")


def test_a_diff_that_is_come_back_to_is_guarded_anew(stage: Neovim, workspace: Path) -> None:
    set_guard(stage, NEVER)
    stage.lua(CLOCK)
    show(stage, workspace)
    stage.keys("gt")
    stage.command(f"let g:ahead = {NEVER}")
    show(stage, workspace)
    assert stage.eval("tabpagenr()") == 2
    stage.keys("a")
    assert sent(stage, "decide") == []
    stage.command(f"let g:ahead = {2 * NEVER}")
    stage.keys("a")
    assert wait_sent(stage, "decide")


def test_a_command_waits_for_the_look_too(stage: Neovim, workspace: Path) -> None:
    show(stage, workspace)
    stage.command("nmap <F6> <Plug>(EcaApprove)")
    set_guard(stage, NEVER)
    stage.keys("<F6>")
    stage.wait_screen("the request has just appeared: press again to answer")
    assert sent(stage, "decide") == []


@pytest.mark.either_nvim
@pytest.mark.parametrize("leave", ["q", "a", ":q<CR>", ":tabclose<CR>", ":Eca approve<CR>"])
@pytest.mark.parametrize(
    ("typed", "column", "goes_on"),
    [("A more", 11, "# Sums moreX"), ("ione <Esc>0lli", 2, "onXe # Sums"), ("I", 0, "X# Sums")],
)
def test_insert_mode_goes_on_at_the_same_cursor(
    stage: Neovim, workspace: Path, leave: str, typed: str, column: int, goes_on: str
) -> None:
    stage.keys(typed)
    show(stage, workspace)
    assert stage.mode == "n"
    stage.keys(leave)
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    stage.wait_for(lambda: stage.mode == "i", "insert mode again")
    assert stage.eval("col('.') - 1") == column
    stage.keys("X")
    assert stage.buffer_lines()[0] == goes_on


def test_a_terminal_is_typed_in_again(stage: Neovim, workspace: Path) -> None:
    stage.command("terminal cat")
    stage.keys("i")
    show(stage, workspace)
    stage.keys("q")
    stage.wait_for(lambda: stage.mode == "t", "the terminal's mode again")
    stage.keys("<C-\\><C-n>")


def in_float(nvim: Neovim) -> bool:
    return bool(nvim.eval("nvim_win_get_config(0).relative") != "")


@pytest.mark.either_nvim
@pytest.mark.parametrize("leave", ["q", "a", ":q<CR>", ":Eca approve<CR>"])
def test_the_way_back_goes_through_the_float_to_before_it(
    stage: Neovim, workspace: Path, leave: str
) -> None:
    stage.command("inoremap <F6> <Cmd>Eca approval<CR>")
    stage.keys("A more<F6>")
    stage.wait_for(lambda: stage.mode == "n", "the float")
    stage.keys("d")
    wait_sent(stage, "diff")
    answer(stage, workspace)
    stage.wait_screen("q close")
    stage.keys(leave)
    stage.wait_for(lambda: in_float(stage), "the float")
    assert stage.mode == "n"
    if "q" in leave:
        stage.keys("a")
        assert wait_sent(stage, "decide")
    stage.wait_for(lambda: stage.mode == "i", "insert mode again")
    stage.keys("X")
    assert stage.buffer_lines()[0] == "# Sums moreX"


@pytest.mark.either_nvim
@pytest.mark.parametrize("follows", [False, True], ids=["nothing follows", "another follows"])
@pytest.mark.parametrize("way", ["", ":Eca approval<CR>"], ids=["from a file", "from the float"])
def test_keys_too_many_after_an_answer_type_nothing(
    stage: Neovim, workspace: Path, way: str, *, follows: bool
) -> None:
    if follows:
        paths = [str(workspace / "code.txt")]
        draw(stage, ["pending", [approval(paths=paths), approval("t2")]])
    stage.keys(way)
    show(stage, workspace)
    stage.keys("r")
    set_guard(stage, NEVER)
    stage.keys("aaA")
    assert len(wait_sent(stage, "decide")) == 1
    assert in_float(stage)
    assert stage.mode == "n"
    assert stage.eval("bufwinid('README.md')") != stage.eval("win_getid()")


def test_a_diff_from_normal_mode_leads_back_to_it(stage: Neovim, workspace: Path) -> None:
    show(stage, workspace)
    stage.command("inoremap <F6> <Cmd>Eca approve<CR>")
    stage.keys("i<F6>")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    stage.wait_for(lambda: stage.mode == "n", "normal mode again")


# --- which request -------------------------------------------------------------------------------


def test_in_a_diff_its_own_request_comes_first(stage: Neovim, workspace: Path) -> None:
    path = str(workspace / "code.txt")
    draw(stage, ["pending", [approval("one"), approval("two", paths=[path])]])
    stage.wait_screen("ls one")
    answer(stage, workspace, "two")
    stage.wait_screen("q close")
    stage.wait_screen(lambda screen: "allow this?" not in screen)
    stage.keys(":Eca approve<CR>")
    assert [it["digest"] for it in wait_sent(stage, "decide")] == ["two"]
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    draw(stage, ["pending", [approval("one")]])
    stage.wait_screen("ls one")


def test_a_hidden_request_is_asked_in_its_diff(stage: Neovim, workspace: Path) -> None:
    path = str(workspace / "code.txt")
    draw(stage, ["pending", [approval("one"), approval("t1", paths=[path])]])
    stage.wait_screen("ls one")
    stage.keys(":Eca approval<CR>q")
    stage.wait_screen("ls t1")
    stage.keys("q")
    stage.wait_screen(lambda screen: "allow this?" not in screen)
    answer(stage, workspace)
    stage.wait_screen("q close")
    stage.keys(":Eca reject<CR>")
    assert [it["digest"] for it in wait_sent(stage, "decide")] == ["t1"]


def test_the_diff_is_that_of_what_is_asked(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    other = approval("other", chat="c2", paths=["/x"])
    draw(stage, ["pending", [other, approval("mine", paths=["/y"])]])
    stage.wait_screen("ls mine")
    stage.command("wincmd h")
    stage.command("Eca diff")
    assert wait_sent(stage, "diff") == [{"chat": CHAT, "block": BLOCK}]
    stage.command("Eca approve")
    assert [it["digest"] for it in wait_sent(stage, "decide")] == ["mine"]


def test_on_a_block_the_host_hears_what_else_is_meant(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    draw(stage, ["open", CHAT, 7, "tool", [["✓ read a", "EcaToolName"]], 0, None])
    stage.wait_screen("✓ read a")
    stage.keys("<C-w>k:Eca diff<CR>")
    (wanted,) = wait_sent(stage, "diff")
    assert wanted == {"chat": CHAT, "block": 7, "instead": [CHAT, BLOCK]}
