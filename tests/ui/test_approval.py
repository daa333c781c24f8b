"""The approval float on a real screen: where it is, what it takes, what it leaves alone."""

import re

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Screen
from tests.ui.staged import CHAT, WITHOUT_HOST, approval, chat_text, draw, sent, wait_sent

DIFF = {
    "title": "edit src/io.py +1 -1",
    "lines": ["@@ -1,1 +1,1 @@", "-old line", "+new line"],
    "marks": [[0, 0, -1, "EcaDiffHunk"], [1, 0, -1, "EcaDiffDelete"], [2, 0, -1, "EcaDiffAdd"]],
    "path": "/tmp/io.py",
}


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Neovim with a file, no host, and no guard time."""
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings={"approval": {"guard": 0}})
    nvim.keys("")
    return nvim


def pending(nvim: Neovim, *items: object) -> None:
    draw(nvim, ["pending", list(items)])


def shown(screen: Screen) -> bool:
    return "a accept" in screen


def corner(screen: Screen) -> tuple[int, int]:
    """Where the float's lower right corner is."""
    return screen.find("╯")


def test_float_appears_without_taking_focus(stage: Neovim) -> None:
    before = stage.eval("win_getid()")
    pending(stage, approval())
    screen = stage.wait_screen(shown)
    assert "allow this?" in screen
    assert "$ ls t1" in screen
    assert corner(screen) == (21, 79)
    assert (stage.eval("win_getid()"), stage.mode) == (before, "n")


def test_float_lies_over_the_chat_when_it_is_open(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.command("wincmd h")
    pending(stage, approval())
    screen = stage.wait_screen(shown)
    transcript = stage.lua("return require('eca.windows').shown()")
    row, _column = stage.lua("return vim.api.nvim_win_get_position(...)", transcript)
    height = stage.lua("return vim.api.nvim_win_get_height(...)", transcript)
    assert corner(screen)[0] in (row + height, row + height - 1)
    assert corner(screen)[1] == 79
    stage.lua("require('eca').hide()")
    stage.wait_screen(lambda screen: shown(screen) and corner(screen) == (21, 79))


@pytest.mark.parametrize(
    ("keys", "mode"), [("ihello", "i"), (":ech", "c"), ("d", "no"), ("v", "v"), ("R", "R")]
)
def test_mode_and_typing_go_on(stage: Neovim, keys: str, mode: str) -> None:
    stage.input(keys)
    stage.wait_for(lambda: stage.mode == mode, f"mode {mode}")
    pending(stage, approval())
    stage.wait_screen(shown)
    assert stage.mode == mode
    stage.keys("<Esc>")


def test_typing_in_insert_mode_is_not_disturbed(stage: Neovim) -> None:
    stage.keys("Oab")
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.keys("cd<Esc>")
    assert stage.buffer_lines()[0] == "abcd"


def test_terminal_mode_goes_on(stage: Neovim) -> None:
    stage.command("terminal cat")
    stage.keys("i")
    stage.wait_for(lambda: stage.mode == "t", "terminal mode")
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.input("typed<CR>")
    stage.wait_screen(lambda screen: screen.text().count("typed") == 2)
    assert stage.mode == "t"


@pytest.mark.parametrize("keys", ["<C-w>o", ":only<CR>", ":split<CR>", ":vsplit<CR>:only<CR>"])
def test_float_survives_window_commands(stage: Neovim, keys: str) -> None:
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.keys(keys)
    stage.wait_screen(lambda screen: shown(screen) and corner(screen) == (21, 79))


def test_float_follows_to_other_tab_pages_and_sizes(stage: Neovim) -> None:
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.command("tabnew")
    stage.wait_screen(shown)
    stage.command("tabclose")
    stage.wait_screen(shown)
    stage.resize(100, 30)
    stage.wait_screen(lambda screen: shown(screen) and corner(screen) == (27, 99))
    floats = "vim.tbl_filter(function(w) return vim.api.nvim_win_get_config(w).relative ~= '' end"
    assert stage.lua(f"return #{floats}, vim.api.nvim_list_wins())") == 1


@pytest.mark.parametrize("keys", ["q", ":q<CR>", "<C-w>c", ":close<CR>"])
def test_closing_it_by_hand_leaves_it_pending(stage: Neovim, keys: str) -> None:
    before = stage.eval("win_getid()")
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.command("Eca approval")
    stage.keys(keys)
    stage.wait_screen(lambda screen: not shown(screen))
    stage.command("split | only")
    assert not shown(stage.screen)
    assert sent(stage, "approve") == sent(stage, "reject") == []
    stage.command("Eca approval")
    stage.wait_screen(shown)
    assert stage.eval("win_getid()") != before


@pytest.mark.parametrize(
    ("key", "intent", "payload"),
    [
        ("a", "approve", {"chat": CHAT, "id": "t1", "remember": False}),
        ("A", "approve", {"chat": CHAT, "id": "t1", "remember": True}),
        ("r", "reject", {"chat": CHAT, "id": "t1"}),
        ("Ruse rg<CR>", "reject", {"chat": CHAT, "id": "t1", "reason": "use rg"}),
        ("d", "diff", {"chat": CHAT, "id": "t1"}),
    ],
)
def test_keys_answer(stage: Neovim, key: str, intent: str, payload: object) -> None:
    before = stage.eval("win_getid()")
    pending(stage, approval(remember=["ls"], **DIFF))
    stage.wait_screen(shown)
    stage.command("Eca approval")
    stage.keys(key)
    assert wait_sent(stage, intent) == [payload]
    if intent != "diff":
        stage.wait_screen(lambda screen: not shown(screen))
        assert stage.eval("win_getid()") == before


def test_reject_without_a_reason_leaves_it_pending(stage: Neovim) -> None:
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.command("Eca approval")
    stage.keys("R<Esc>")
    assert shown(stage.screen)
    assert sent(stage, "reject") == []


def test_what_cannot_be_remembered_has_no_such_key(stage: Neovim) -> None:
    pending(stage, approval())
    screen = stage.wait_screen(shown)
    assert "remember" not in screen
    assert "diff" not in screen
    stage.command("Eca approval")
    stage.keys("A")
    assert sent(stage, "approve") == []
    stage.take_errors()


def test_says_what_remembering_remembers(stage: Neovim) -> None:
    pending(stage, approval(remember=["git commit", "git push"]))
    screen = stage.wait_screen(shown)
    assert "A remember " in screen
    assert "A remembers: git commit, git push" in screen


def test_guard_swallows_keys_under_the_users_hands(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, settings={"approval": {"guard": 60_000}})
    pending(nvim, approval("t1"))
    nvim.wait_screen(shown)
    nvim.command("Eca approval")
    nvim.keys("ar")
    assert sent(nvim, "approve") == sent(nvim, "reject") == []
    assert shown(nvim.screen)


def test_guard_of_300_ms_is_the_default_and_ends(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST)
    assert nvim.lua("return require('eca.config').get().approval.guard") == 300
    pending(nvim, approval("t1"), approval("t2"))
    nvim.wait_screen(shown)
    nvim.command("Eca approval")
    started = nvim.lua("return vim.uv.hrtime()")
    nvim.wait_until(f"vim.uv.hrtime() - {started} > 320e6")
    nvim.keys("aa")  # the second `a` meets the next question too early
    assert wait_sent(nvim, "approve") == [{"chat": CHAT, "id": "t1", "remember": False}]
    nvim.wait_screen("(2/2)")
    assert shown(nvim.screen)


def test_several_wait_in_line(stage: Neovim) -> None:
    before = stage.eval("win_getid()")
    pending(stage, *(approval(f"t{number}") for number in (1, 2, 3)))
    stage.wait_screen("allow this? (1/3)")
    stage.command("Eca approval")
    stage.keys("a")
    stage.wait_screen("allow this? (2/3)")
    pending(stage, approval("t2"), approval("t3"))
    stage.wait_screen("allow this? (1/2)")
    stage.keys("r")
    stage.wait_screen("allow this? (2/2)")
    pending(stage, approval("t3"))
    stage.wait_screen(re.compile(r"allow this\? ─"))
    stage.keys("a")
    stage.wait_screen(lambda screen: not shown(screen))
    assert stage.eval("win_getid()") == before
    assert [payload["id"] for payload in sent(stage, "approve")] == ["t1", "t3"]


def test_a_command_is_its_own_title(stage: Neovim) -> None:
    stage.lua("require('eca').setup({ approval = { notify = false } })")
    pending(stage, approval(title="$ make", lines=["$ make"]))
    assert stage.wait_screen(shown).text().count("$ make") == 1


def test_expired_ones_disappear_at_once(stage: Neovim) -> None:
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.command("Eca approval")
    pending(stage)
    stage.wait_screen(lambda screen: not shown(screen))
    assert stage.eval("&buftype") == ""


def test_late_answer_is_not_sent(stage: Neovim) -> None:
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.command("Eca approval")
    stage.keys("R")
    pending(stage)
    stage.wait_screen(lambda screen: not shown(screen))
    stage.keys("too late<CR>")
    stage.wait_screen("does not wait for an answer")
    assert sent(stage, "reject") == []


@pytest.mark.parametrize(("keys", "column"), [("A", 9), ("0i", 0), ("0wi", 2)])
def test_insert_mode_comes_back_after_an_answer(stage: Neovim, keys: str, column: int) -> None:
    stage.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'a line to' })")
    stage.command("inoremap <F5> <Cmd>Eca approval<CR>")
    stage.keys(keys)
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.keys("<F5>")
    stage.wait_for(lambda: stage.mode == "n", "normal mode in the float")
    stage.keys("a")
    stage.wait_for(lambda: stage.mode == "i", "insert mode again")
    stage.keys("X<Esc>")
    assert stage.buffer_lines()[0] == "a line to"[:column] + "X" + "a line to"[column:]


def test_mouse_goes_into_it(stage: Neovim) -> None:
    pending(stage, approval())
    row, column = stage.wait_screen(shown).find("$ ls")
    stage.click(row, column)
    stage.keys("a")
    assert len(wait_sent(stage, "approve")) == 1


def test_diff_lines_are_coloured(stage: Neovim) -> None:
    draw(stage, *chat_text("hello"), ["pending", [approval(**DIFF)]])
    screen = stage.wait_screen(shown)
    assert "Added" in screen.groups_at(*screen.find("+new"))
    assert "Removed" in screen.groups_at(*screen.find("-old"))
    assert "d diff" in screen


def test_long_commands_wrap_and_scroll(stage: Neovim) -> None:
    command = "$ " + " ".join(f"word{number}" for number in range(400))
    pending(stage, approval(title="run a long one", lines=[command]))
    screen = stage.wait_screen(shown)
    more = re.search(r"… (\d+) more lines, scroll to see", screen.text())
    assert more
    assert "word399" not in screen
    stage.command("Eca approval")
    stage.keys("G$")
    screen = stage.wait_screen("word399")
    assert "more lines" not in screen
    stage.keys("gg0")
    stage.wait_screen(more.group())


def test_long_diffs_say_how_to_see_all(stage: Neovim) -> None:
    lines = [f"+line {number}" for number in range(30)]
    pending(stage, approval(**{**DIFF, "lines": lines, "marks": []}))
    stage.wait_screen(re.compile(r"… 15 more lines, d shows all"))


def test_who_asks_is_told(stage: Neovim) -> None:
    pending(stage, approval(tool="shell_command", agent="explorer"))
    stage.wait_screen("shell_command · subagent explorer")
    draw(
        stage,
        ["status", CHAT, {"title": "Fix the tests", "state": "waiting"}],
        ["status", "c2", {"title": "Another", "state": "waiting"}],
        *chat_text("hello"),
        ["open", "c2", 1, "note", [], 0, None],
        ["pending", [approval(chat="c2", tool="jira/search")]],
    )
    stage.wait_screen("jira/search · chat 2 Another")


def test_what_to_look_at_twice_is_told(stage: Neovim) -> None:
    draw(stage, *chat_text("hello"))
    pending(stage, approval(title="unknown tool", warnings=["outside the workspace: /etc/passwd"]))
    screen = stage.wait_screen("! outside the workspace: /etc/passwd")
    assert "DiagnosticWarn" in screen.groups_at(*screen.find("! outside"))
    assert "unknown tool" in screen


def test_our_own_words_come_before_the_agents(stage: Neovim) -> None:
    forged = ["$ rm -r x", "A remembers: nothing"]
    pending(stage, approval(title="$ rm -r x", lines=forged, remember=["rm"]))
    rows = stage.wait_screen(shown).lines()
    told = [row for row in rows if "A remembers" in row]
    assert "A remembers: rm" in told[0]
    assert "A remembers: nothing" in told[1]


def test_tabs_and_spaces_at_the_end_are_seen(stage: Neovim) -> None:
    pending(stage, approval(lines=["$ rm x ", "\ty"]))
    stage.wait_screen("$ rm x·")
    assert "→       y" in stage.screen


def test_all_of_a_chat_are_accepted_at_once(stage: Neovim) -> None:
    pending(stage, approval("t1"), approval("t2"), approval("t3", chat="c2"))
    stage.wait_screen("* all 2")
    stage.command("Eca approval")
    stage.keys("*")
    assert [it["id"] for it in wait_sent(stage, "approve", 2)] == ["t1", "t2"]
    screen = stage.wait_screen("(3/3)")
    assert "* all" not in screen
    pending(stage, approval("t3", chat="c2"))
    stage.keys("*")
    assert len(sent(stage, "approve")) == 2
    stage.take_errors()


def test_all_does_not_mean_what_has_only_just_come_up(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.lua("require('eca').setup({ approval = { guard = 60000 } })")
    pending(stage, approval("t1"), approval("t2"))
    stage.wait_screen("* all 2")
    stage.command('execute "normal \\<Plug>(EcaApproveAll)"')
    stage.wait_screen("2 only just came up: look first")
    assert sent(stage, "approve") == []


def test_approve_all_means_the_chat_and_with_a_bang_every_chat(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    pending(stage, approval("t1"), approval("t2", chat="c2"))
    stage.wait_screen(shown)
    stage.command("Eca approve-all")
    assert [it["id"] for it in wait_sent(stage, "approve")] == ["t1"]
    pending(stage, approval("t2", chat="c2"))
    stage.command("Eca approve-all")
    stage.wait_screen("nothing waits for approval")
    stage.command("Eca approve-all!")
    assert [it["id"] for it in wait_sent(stage, "approve", 2)] == ["t1", "t2"]


@pytest.mark.parametrize("act", ["Eca approve", "normal \\y"])
def test_what_is_asked_on_the_screen_is_what_is_answered(stage: Neovim, act: str) -> None:
    stage.lua("vim.keymap.set('n', '\\\\y', '<Plug>(EcaApprove)')")
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    pending(stage, approval("first", chat="c2"), approval("second"))
    stage.wait_screen("run ls first")
    stage.command(act)
    assert wait_sent(stage, "approve")[0]["id"] == "first"


def test_mapped_keys_are_guarded_too(start_nvim: StartNeovim) -> None:
    settings = {"approval": {"guard": 60_000}}
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings=settings)
    nvim.lua("vim.keymap.set('n', 'y', '<Plug>(EcaApprove)')")
    pending(nvim, approval())
    nvim.wait_screen(shown)
    nvim.keys("y")
    nvim.wait_screen("this has only just come up: look first")
    assert sent(nvim, "approve") == []


# --- being called -------------------------------------------------------------------------------


def test_a_hidden_chat_calls_with_a_line(stage: Neovim) -> None:
    draw(stage, ["status", CHAT, {"title": "Fix", "state": "waiting"}], ["pending", [approval()]])
    stage.wait_screen("eca: waits for you: run ls t1 (Fix)")


def test_a_chat_in_view_calls_only_who_looks_elsewhere(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.command("wincmd h")
    pending(stage, approval())
    stage.wait_screen(shown)
    assert "eca: waits for you:" not in stage.screen
    stage.request("nvim_ui_set_focus", False)
    pending(stage, approval(), approval("t2"))
    screen = stage.wait_screen("eca: waits for you: run ls t2")
    assert "run ls t1 (" not in screen
    stage.request("nvim_ui_set_focus", True)
    pending(stage, approval("t3"))
    stage.wait_screen("$ ls t3")
    assert "eca: waits for you: run ls t3" not in stage.screen


@pytest.mark.parametrize(("notify", "told"), [("always", True), (False, False)])
def test_the_option_says_when_a_line_is_shown(stage: Neovim, notify: object, told: bool) -> None:
    if notify:
        stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.lua("require('eca').setup({ approval = { notify = ... } })", notify)
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.keys("")
    assert ("eca: waits for you: run ls t1" in stage.screen) == told


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
    assert wait_sent(nvim, "approve")[0]["id"] == "t1"


def test_nothing_waiting_is_said(stage: Neovim) -> None:
    stage.command("Eca approval")
    stage.wait_screen("nothing waits for your word")


def test_keys_of_a_block_are_guarded_too(stage: Neovim) -> None:
    ask = "return require('eca.approval').ripe({ chat = 'c1', id = 't1' })"
    assert stage.lua(ask) is False
    pending(stage, approval())
    stage.wait_screen(shown)
    assert stage.lua(ask) is True
    stage.lua("require('eca.config').setup({ approval = { guard = 60000 } })")
    assert stage.lua(ask) is False


def test_trust_says_what_it_means_and_what_it_does_not(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.command("Eca trust on")
    stage.wait_screen("this chat is trusted: its tools run WITHOUT ASKING")
    pending(stage, approval())
    stage.command("Eca trust on")
    stage.wait_until("vim.fn.execute('messages'):find('what waits already still asks')")
    draw(stage, ["status", CHAT, {"trust": True, "state": "waiting"}])
    screen = stage.wait_screen("TRUST")
    assert "ErrorMsg" in screen.groups_at(*screen.find("TRUST"))


def test_a_selection_is_not_held_up_by_a_line(stage: Neovim) -> None:
    stage.input("v")
    stage.wait_for(lambda: stage.mode == "v", "visual mode")
    began = stage.lua("return vim.uv.hrtime()")
    pending(stage, approval())
    stage.wait_screen(shown)
    assert stage.lua("return vim.uv.hrtime()") - began < 2e9
    assert "waits for you" not in stage.screen
    stage.keys("<Esc>")
    stage.wait_screen("eca: waits for you: run ls t1")
