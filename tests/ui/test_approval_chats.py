"""The float with several chats and requests, and other ways to answer."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, approval, draw, sent, wait_sent
from tests.ui.test_approval import corner, pending, shown

pytestmark = pytest.mark.either_nvim


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Neovim with a file, no host, and no guard time."""
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings={"approval": {"guard": 0}})
    nvim.keys("")
    return nvim


def test_all_of_a_chat_are_accepted_at_once(stage: Neovim) -> None:
    pending(stage, approval("t1"), approval("t2"), approval("t3", chat="c2"))
    stage.wait_screen("* all 2")
    stage.command("Eca approval")
    stage.keys("*")
    assert [it["digest"] for it in wait_sent(stage, "decide")] == ["t1"]
    stage.wait_screen("not all was on the screen, asked one by one: 1")
    stage.wait_screen("run ls t2")
    stage.keys("a")
    assert [it["digest"] for it in wait_sent(stage, "decide", 2)] == ["t1", "t2"]
    screen = stage.wait_screen("(3/3)")
    assert "* all" not in screen
    pending(stage, approval("t3", chat="c2"))
    stage.keys("*")
    assert len(sent(stage, "decide")) == 2
    stage.take_errors()


def test_all_means_what_was_seen_whole(stage: Neovim) -> None:
    long = [f"line {number}" for number in range(200)]
    pending(stage, approval("t1"), approval("t2", lines=long), approval("t3", cut=True))
    stage.wait_screen("* all 3")
    stage.command("Eca approval")
    for shown_next in ("line 1", "run ls t3"):
        stage.keys("q")
        stage.wait_screen(shown_next)
        stage.command("Eca approval")
        stage.keys("*")
    assert [it["digest"] for it in wait_sent(stage, "decide")] == ["t1"]


@pytest.mark.parametrize("command", ["approve-all", "approve-all!"])
def test_the_command_for_all_leaves_what_was_not_seen_whole(stage: Neovim, command: str) -> None:
    long = [f"line {number}" for number in range(200)]
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    pending(stage, approval("t1"), approval("t2", lines=long), approval("t3", cut=True))
    stage.wait_screen("* all 3")
    stage.command(f"Eca {command}")
    stage.wait_screen("not all was on the screen, asked one by one: 2")
    for shown_next in ("line 1", "run ls t3"):
        stage.wait_screen(shown_next)
        stage.command(f"Eca {command}")
        stage.command("Eca approval")
        stage.keys("q")
    assert [it["digest"] for it in wait_sent(stage, "decide")] == ["t1"]


def test_what_was_scrolled_to_its_end_was_seen(stage: Neovim) -> None:
    long = [f"line {number}" for number in range(200)]
    pending(stage, approval("t1", lines=long), approval("t2"))
    stage.wait_screen("* all 2")
    stage.command("Eca approval")
    stage.keys("*")
    assert sent(stage, "decide") == []
    stage.keys("G")
    stage.wait_screen("line 199")
    stage.keys("gg*")
    assert sent(stage, "decide") == [], "the middle was never on the screen"
    stage.keys("".join(["<C-f>"] * 30))
    stage.wait_screen("line 199")
    stage.keys("gg*")
    assert [it["digest"] for it in wait_sent(stage, "decide")] == ["t1"]


def test_all_does_not_mean_what_has_only_just_come_up(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.lua("require('eca').setup({ approval = { guard = 60000 } })")
    pending(stage, approval("t1"), approval("t2"))
    stage.wait_screen("* all 2")
    stage.command('execute "normal \\<Plug>(EcaApproveAll)"')
    stage.wait_screen("skipped requests that have just appeared: 2")
    assert sent(stage, "decide") == []


def test_approve_all_means_the_chat_and_with_a_bang_every_chat(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    pending(stage, approval("t1"), approval("t2", chat="c2"))
    stage.wait_screen(shown)
    stage.command("Eca approve-all")
    assert [it["digest"] for it in wait_sent(stage, "decide")] == ["t1"]
    pending(stage, approval("t2", chat="c2"))
    stage.command("Eca approve-all")
    stage.wait_screen("no pending request")
    stage.command("Eca approve-all!")
    assert [it["digest"] for it in wait_sent(stage, "decide", 2)] == ["t1", "t2"]


@pytest.mark.parametrize("act", ["Eca approve", "normal \\y"])
def test_what_is_asked_on_the_screen_is_what_is_answered(stage: Neovim, act: str) -> None:
    stage.lua("vim.keymap.set('n', '\\\\y', '<Plug>(EcaApprove)')")
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    pending(stage, approval("first", chat="c2"), approval("second", chat="c3"))
    stage.wait_screen("run ls first")
    stage.command(act)
    assert wait_sent(stage, "decide")[0]["digest"] == "first"


def test_mapped_keys_are_guarded_too(start_nvim: StartNeovim) -> None:
    settings = {"approval": {"guard": 60_000}}
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings=settings)
    nvim.lua("vim.keymap.set('n', 'y', '<Plug>(EcaApprove)')")
    pending(nvim, approval())
    nvim.wait_screen(shown)
    nvim.keys("y")
    nvim.wait_screen("the request has just appeared: press again to answer")
    assert sent(nvim, "decide") == []


# --- being called -------------------------------------------------------------------------------


def test_a_hidden_chat_calls_with_a_line(stage: Neovim) -> None:
    draw(stage, ["status", CHAT, {"title": "Fix", "state": "waiting"}], ["pending", [approval()]])
    stage.wait_screen("eca: approval needed: run ls t1 (Fix)")


def test_a_chat_in_view_calls_nobody(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.command("wincmd h")
    for focused in (True, False):
        stage.request("nvim_ui_set_focus", focused)
        pending(stage, approval(f"t{focused}"))
        stage.wait_screen(f"$ ls t{focused}")
        assert "eca: approval needed:" not in stage.screen


@pytest.mark.parametrize(("notify", "told"), [("always", True), (False, False)])
def test_the_option_says_when_a_line_is_shown(stage: Neovim, notify: object, told: bool) -> None:
    if notify:
        stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.lua("require('eca').setup({ approval = { notify = ... } })", notify)
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.keys("")
    assert ("eca: approval needed: run ls t1" in stage.screen) == told


def test_the_bell_rings_when_it_is_wanted(stage: Neovim) -> None:
    modern = stage.eval("exists('*nvim_ui_send')")
    if modern:
        stage.lua("_G.rung = ''; vim.api.nvim_ui_send = function(it) _G.rung = _G.rung .. it end")
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.lua("require('eca').setup({ approval = { bell = true } })")
    pending(stage, approval(), approval("t2"))
    if modern:
        stage.wait_until("_G.rung == '\\a'")
    else:
        stage.wait_for(lambda: stage.child.stderr() == "\a", "the bell")


def test_text_of_the_agent_is_harmless(stage: Neovim) -> None:
    nasty = "%#Error#%{execute('let g:owned=1')} \x1b[31mred\x07 `x` <Esc>"
    pending(stage, approval(title=nasty, lines=[nasty, "two\nlines"], remember=[nasty]))
    screen = stage.wait_screen(shown)
    assert "%#Error#%{execute" in screen
    assert "^[[31mred^G" in screen
    assert "[31mred  `x` <Esc>" in stage.eval("execute('messages')")
    assert stage.eval("exists('g:owned')") == 0


def test_without_the_float_the_blocks_have_the_keys(start_nvim: StartNeovim) -> None:
    settings = {"approval": {"float": False, "guard": 0}}
    nvim = start_nvim(init=WITHOUT_HOST, settings=settings)
    header = [["? ", "EcaToolWaiting"], ["run ls", "EcaToolName"]]
    draw(
        nvim,
        ["open", CHAT, 7, "tool", header, 0, None],
        ["body", CHAT, 7, ["$ ls"], [], ""],
        ["pending", [approval(block=7)]],
    )
    nvim.command("Eca approval")
    screen = nvim.wait_screen("? run ls")
    assert not shown(screen)
    nvim.keys("a")
    assert wait_sent(nvim, "decide")[0]["digest"] == "t1"


def test_nothing_waiting_is_said(stage: Neovim) -> None:
    stage.command("Eca approval")
    stage.wait_screen("no pending request")


def test_keys_of_a_block_are_guarded_too(stage: Neovim) -> None:
    ask = "return require('eca.approval').guard_is_over({ id = 't1', digest = 't1' })"
    assert stage.lua(ask) is False
    pending(stage, approval())
    stage.wait_screen(shown)
    assert stage.lua(ask) is True
    stage.lua("require('eca.config').setup({ approval = { guard = 60000 } })")
    assert stage.lua(ask) is False


def test_trust_says_what_it_means_and_what_it_does_not(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.command("Eca trust on")
    draw(stage, ["status", CHAT, {"trust": True, "state": "waiting"}])
    stage.wait_screen("trust on: tools of this chat run WITHOUT ASKING")
    pending(stage, approval())
    stage.command("Eca trust on")
    whole = "trust on: tools run WITHOUT ASKING (what waits still asks)"
    stage.wait_until(f"vim.fn.execute('messages'):find('{whole}', 1, true)")
    screen = stage.wait_screen("TRUST")
    assert "ErrorMsg" in screen.groups_at(*screen.find("TRUST"))


def test_a_selection_is_not_held_up_by_a_line(stage: Neovim) -> None:
    stage.input("v")
    stage.wait_for(lambda: stage.mode == "v", "visual mode")
    pending(stage, approval())
    stage.wait_screen(shown)
    assert "approval needed" not in stage.screen
    stage.keys("<Esc>")
    stage.wait_screen("eca: approval needed: run ls t1")


def test_the_request_of_the_chat_that_is_seen_comes_first(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    pending(stage, approval("t1", chat="c2"), approval("t2"))
    stage.wait_screen("$ ls t2")
    stage.lua("require('eca').open({ chat = ... })", "c2")
    stage.wait_screen("$ ls t1")


def test_another_chats_request_hides_no_input(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    pending(stage, approval("t1", chat="c2"))
    screen = stage.wait_screen("$ ls t1")
    transcript, input_window = stage.lua("return { require('eca.window').shown() }")
    row, _ = stage.lua("return vim.api.nvim_win_get_position(...)", transcript)
    height = stage.lua("return vim.api.nvim_win_get_height(...)", transcript)
    assert corner(screen)[0] <= row + height
    assert input_window
