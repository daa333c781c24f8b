"""The float that asks, on a real screen: its place, its keys, and what it leaves alone."""

import re
from collections.abc import Mapping

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Screen, Value
from tests.ui.staged import (
    BLOCK,
    CHAT,
    WITHOUT_HOST,
    answer_to,
    approval,
    chat_text,
    draw,
    sent,
    wait_sent,
)

DIFF: Mapping[str, Value] = {
    "title": "edit src/io.py +1 -1",
    "lines": ["@@ -1,1 +1,1 @@", "-old line", "+new line"],
    "marks": [[0, 0, -1, "EcaDiffHunk"], [1, 0, -1, "EcaDiffDelete"], [2, 0, -1, "EcaDiffAdd"]],
    "paths": ["/tmp/io.py"],
}
CLOCK = "_G.now = 1e9 vim.uv.hrtime = function() return _G.now end "
"""A clock that stands still unless the test moves it."""


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Neovim with a file, no host, and no guard time."""
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings={"approval": {"guard": 0}})
    nvim.keys("")
    return nvim


def pending(nvim: Neovim, *items: object) -> None:
    draw(nvim, ["pending", list(items)])


def shown(screen: Screen) -> bool:
    return "a allow" in screen


def corner(screen: Screen) -> tuple[int, int]:
    """Where the float's lower right corner is."""
    return screen.find("╯")


def test_float_appears_without_taking_focus(stage: Neovim) -> None:
    before = stage.eval("win_getid()")
    pending(stage, approval())
    screen = stage.wait_screen(shown)
    assert "allow this?" in screen
    assert "$ ls t1" in screen
    assert corner(screen) == (21, 99)
    assert (stage.eval("win_getid()"), stage.mode) == (before, "n")


@pytest.mark.parametrize("key", "HJKL")
def test_a_float_that_is_made_a_window_is_a_float_again(stage: Neovim, key: str) -> None:
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.keys(f":Eca approval<CR><C-w>{key}iv<Esc>")
    stage.wait_screen(lambda it: shown(it) and "╯" in it)
    pending(stage, approval("t2"))
    stage.wait_screen(lambda it: shown(it) and "$ ls t2" in it and "╯" in it)
    stage.keys("a")
    assert wait_sent(stage, "decide")[-1] == answer_to("t2", choice="allow")
    assert stage.eval("len(filter(getwininfo(), 'v:val.winrow == 1 && v:val.wincol == 1'))") == 1


def test_float_lies_over_the_chat_when_it_is_open(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.command("wincmd h")
    pending(stage, approval())
    screen = stage.wait_screen(shown)
    transcript = stage.lua("return require('eca.window').shown()")
    row, _column = stage.lua("return vim.api.nvim_win_get_position(...)", transcript)
    height = stage.lua("return vim.api.nvim_win_get_height(...)", transcript)
    assert corner(screen)[0] in (row + height, row + height - 1)
    assert corner(screen)[1] == 99
    stage.lua("require('eca').hide()")
    stage.wait_screen(lambda screen: shown(screen) and corner(screen) == (21, 99))


@pytest.mark.either_nvim
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
    stage.wait_screen(lambda screen: shown(screen) and corner(screen) == (21, 99))


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


@pytest.mark.either_nvim
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
    assert sent(stage, "decide") == []
    stage.command("Eca approval")
    stage.wait_screen(shown)
    assert stage.eval("win_getid()") != before


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    ("key", "intent", "payload"),
    [
        ("a", "decide", answer_to("t1", choice="allow")),
        ("A", "decide", answer_to("t1", choice="always")),
        ("r", "decide", answer_to("t1", choice="reject")),
        ("Ruse rg<CR>", "decide", answer_to("t1", choice="reject", reason="use rg")),
        ("d", "diff", {"chat": CHAT, "block": BLOCK}),
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
        stage.wait_until(f"vim.fn.win_getid() == {before}")
        assert not shown(stage.screen)


def test_reject_without_a_reason_leaves_it_pending(stage: Neovim) -> None:
    pending(stage, approval())
    stage.wait_screen(shown)
    stage.command("Eca approval")
    stage.keys("R<Esc>")
    assert shown(stage.screen)
    assert sent(stage, "decide") == []


def test_what_cannot_be_remembered_has_no_such_key(stage: Neovim) -> None:
    pending(stage, approval())
    screen = stage.wait_screen(shown)
    assert "always" not in screen
    assert "diff" not in screen
    stage.command("Eca approval")
    for key in "Ad":
        stage.keys(key)
        stage.wait_screen(f"{key} does nothing for this request: g? lists its keys")
    assert sent(stage, "decide") == []
    stage.keys("a")
    assert wait_sent(stage, "decide") == [answer_to("t1", choice="allow")]


def test_says_what_remembering_remembers(stage: Neovim) -> None:
    pending(stage, approval(remember=["git commit", "git push"]))
    screen = stage.wait_screen(shown)
    assert "A always " in screen
    assert "A always allows in all chats: git commit, git push" in screen


def test_guard_swallows_keys_under_the_users_hands(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, settings={"approval": {"guard": 60_000}})
    pending(nvim, approval("t1"))
    nvim.wait_screen(shown)
    nvim.command("Eca approval")
    nvim.keys("ar")
    assert sent(nvim, "decide") == []
    assert shown(nvim.screen)


def test_guard_of_300_ms_is_the_default_and_ends(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=CLOCK + WITHOUT_HOST)
    assert nvim.lua("return require('eca.config').get().approval.guard") == 300
    pending(nvim, approval("t1"), approval("t2"))
    nvim.wait_screen(shown)
    nvim.command("Eca approval")
    nvim.lua("_G.now = _G.now + 320e6")
    nvim.keys("aa")  # the second `a` comes too early for the next request
    assert wait_sent(nvim, "decide") == [answer_to("t1", choice="allow")]
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
    stage.wait_until(f"vim.fn.win_getid() == {before}")
    assert not shown(stage.screen)
    assert [payload["digest"] for payload in sent(stage, "decide")] == ["t1", "t2", "t3"]


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


@pytest.mark.either_nvim
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
    assert len(wait_sent(stage, "decide")) == 1


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
    more = re.search(r"… \d+ more lines · :Eca approval", screen.text())
    assert more
    assert "word399" not in screen
    stage.command("Eca approval")
    stage.wait_screen("more lines, scroll to read")
    stage.keys("G$")
    screen = stage.wait_screen("word399")
    assert "more lines" not in screen
    stage.keys("gg0")
    stage.wait_screen("more lines, scroll to read")


def test_long_diffs_say_how_to_see_all(stage: Neovim) -> None:
    lines = [f"+line {number}" for number in range(30)]
    pending(stage, approval(**{**DIFF, "lines": lines, "marks": []}))
    stage.wait_screen("… 15 more lines")
    stage.command("Eca approval")
    stage.wait_screen("… 15 more lines, d shows all")


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
    forged = ["$ rm -r x", "A always allows: nothing"]
    pending(stage, approval(title="$ rm -r x", lines=forged, remember=["rm"]))
    rows = stage.wait_screen(shown).lines()
    told = [row for row in rows if "A always allows" in row]
    assert "A always allows in all chats: rm" in told[0]
    assert "A always allows: nothing" in told[1]


def test_tabs_and_spaces_at_the_end_are_seen(stage: Neovim) -> None:
    pending(stage, approval(lines=["$ rm x ", "\ty"]))
    stage.wait_screen("$ rm x·")
    stage.wait_screen("→     y")  # its tab stops are counted from the bar


@pytest.mark.parametrize("after", [":tabnew<CR>", "<C-w>p", "<C-w>t:only<CR>", "q", "d"])
def test_neovim_lives_after_the_help_of_the_float(stage: Neovim, after: str) -> None:
    """A panel that was closed while it was left let Neovim 0.12 use freed memory."""
    pending(stage, approval(**DIFF))
    stage.wait_screen(shown)
    stage.command("Eca approval")
    windows = stage.lua("return #vim.api.nvim_list_wins()")
    stage.keys("g?")
    stage.wait_until(f"#vim.api.nvim_list_wins() == {windows + 1}")
    stage.keys("q")
    stage.wait_until(f"#vim.api.nvim_list_wins() == {windows}")
    stage.keys(after)
    stage.keys("<Esc>:tabnew<CR>:tabprevious<CR><C-w>p")
    for _ in range(3):
        stage.lua("for _ = 1, 50 do vim.api.nvim_create_buf(true, true) end")
        stage.keys("<C-w>p")
    assert stage.eval("1 + 1") == 2
