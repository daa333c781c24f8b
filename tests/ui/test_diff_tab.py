"""The diff tab page on a real screen: what is compared, what answers, what is left behind."""

import signal
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Screen, Value
from tests.ui.staged import CHAT, WITHOUT_HOST, answer_to, approval, draw, request, sent, wait_sent

BEFORE = "".join(f"line {number}\n" for number in range(1, 31))
AFTER = BEFORE.replace("line 20\n", "line twenty\n")
LAYOUT = """
return {
  vim.fn.tabpagenr('$'), vim.fn.winlayout(), vim.api.nvim_get_current_win(),
  vim.api.nvim_win_get_cursor(0), vim.api.nvim_get_current_buf(), vim.fn.winrestcmd(),
}
"""
OPTIONS = ["diff", "foldmethod", "foldenable", "wrap", "scrollbind", "cursorbind"]
OPTIONS += ["winbar", "foldcolumn"]


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    """Neovim with two windows of a file, no host, and no guard time."""
    (workspace / "code.txt").write_text(BEFORE)
    settings = {"approval": {"guard": 0}}
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings=settings, columns=160, lines=40)
    nvim.command("vsplit | split | wincmd j | normal! G")
    return nvim


def show(
    nvim: Neovim,
    path: Path,
    before: str = BEFORE,
    after: str = AFTER,
    kind: str = "changed",
    fault: str | None = None,
    remark: str | None = None,
    *,
    pending: bool = True,
    remember: bool = True,
) -> Screen:
    """Draw what the host draws when a diff of call t1 was asked for."""
    remembered: dict[str, Value] = {"remember": ["edit_file"]} if remember else {}
    items = [approval(path=str(path), **remembered)] if pending else []
    shown = [
        "diff",
        CHAT,
        "t1",
        str(path),
        before,
        after,
        kind,
        request() if pending else None,
        fault,
        remark,
    ]
    draw(nvim, ["pending", items], shown)
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")
    nvim.keys("")
    return nvim.wait_screen("]c")


def diff_rows(nvim: Neovim) -> list[int]:
    """Rows of the current window that vimdiff colours as changed."""
    code = """
    local changed = function(row) return vim.fn.diff_hlID(row, 1) > 0 end
    return vim.tbl_filter(changed, vim.fn.range(1, vim.fn.line('$')))
    """
    rows: list[int] = nvim.lua(code)
    return rows


def test_shows_the_file_beside_the_proposal(stage: Neovim, workspace: Path) -> None:
    screen = show(stage, workspace / "code.txt")
    assert "code.txt  now" in screen
    assert "proposed" in screen
    assert "a accept  A remember  r reject  R say why  q close  ]c next" in screen
    assert stage.eval("map(range(1, winnr('$')), 'getwinvar(v:val, \"&diff\")')") == [1, 1]
    assert "line twenty" in screen
    assert stage.eval("line('.')") == 20
    assert diff_rows(stage) == [20]
    stage.keys("<C-w>h")
    assert stage.eval("expand('%:p')") == str(workspace / "code.txt")
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
    assert wait_sent(stage, "approve")


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
    show(stage, workspace / "code.txt", after=AFTER.replace("line 5\n", "line five\n"))
    assert stage.eval("line('.')") == 5
    stage.keys("]c")
    assert stage.eval("line('.')") == 20
    stage.keys("[c")
    assert stage.eval("line('.')") == 5
    stage.keys("dp<C-w>h")
    assert stage.buffer_lines()[4] == "line five"
    stage.keys("u]cdo")
    assert stage.buffer_lines()[4] == "line 5"
    assert stage.buffer_lines()[19] == "line twenty"
    stage.command("edit!")


@pytest.mark.parametrize(
    ("key", "intent", "payload"),
    [
        ("a", "approve", answer_to("t1", remember=False)),
        ("A", "approve", answer_to("t1", remember=True)),
        ("r", "reject", answer_to("t1")),
        ("Rno<CR>", "reject", answer_to("t1", reason="no")),
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
        assert "allow this?" not in stage.screen
    else:
        assert sent(stage, "approve") == sent(stage, "reject") == []
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
    assert "a accept" in screen
    stage.keys("gt")
    stage.wait_screen("allow this?")
    stage.keys("gT")
    stage.wait_screen(lambda screen: "allow this?" not in screen)


def test_keys_go_when_it_waits_no_more(stage: Neovim, workspace: Path) -> None:
    show(stage, workspace / "code.txt")
    draw(stage, ["pending", []])
    stage.wait_screen(lambda screen: "a accept" not in screen and "q close" in screen)
    stage.keys("q")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    assert sent(stage, "approve") == []


def test_without_anything_to_remember(stage: Neovim, workspace: Path) -> None:
    screen = show(stage, workspace / "code.txt", remember=False)
    assert "A remember" not in screen


def test_edits_of_the_proposal_are_told_to_go_nowhere(stage: Neovim, workspace: Path) -> None:
    show(stage, workspace / "code.txt")
    stage.keys("Omine<Esc>a")
    stage.wait_screen("your edits of the proposed code.txt go nowhere")


def test_applied_changes_show_the_real_file_on_the_right(stage: Neovim, workspace: Path) -> None:
    (workspace / "code.txt").write_text(AFTER)
    screen = show(stage, workspace / "code.txt", pending=False)
    assert "code.txt  before" in screen
    assert "after" in screen
    assert "a accept" not in screen
    assert stage.eval("&buftype") == "nofile"
    stage.keys("<C-w>l")
    assert stage.eval("expand('%:p')") == str(workspace / "code.txt")
    assert diff_rows(stage) == [20]
    stage.keys("<C-w>hq")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")


def test_new_files(stage: Neovim, workspace: Path) -> None:
    screen = show(stage, workspace / "new.txt", "", "one\ntwo\n", "new")
    assert "new file" in screen
    assert "one" in screen
    assert diff_rows(stage) == [1, 2]
    stage.keys("a")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    assert not (workspace / "new.txt").exists()


def test_deletions(stage: Neovim, workspace: Path) -> None:
    screen = show(stage, workspace / "code.txt", BEFORE, "", "deleted")
    assert "to be deleted" in screen
    assert "line 1" in screen
    assert stage.buffer_lines() == [""]


def test_dos_files_are_compared_without_their_line_ends(stage: Neovim, workspace: Path) -> None:
    path = workspace / "dos.txt"
    path.write_bytes(BEFORE.replace("\n", "\r\n").encode())
    screen = show(stage, path, BEFORE.replace("\n", "\r\n"), AFTER.replace("\n", "\r\n"))
    assert "^M" not in screen
    assert diff_rows(stage) == [20]
    assert stage.eval("&fileformat") == "dos"
    stage.keys("<C-w>h")
    assert stage.eval("expand('%:p')") == str(path)


def test_ends_of_last_lines_are_told(stage: Neovim, workspace: Path) -> None:
    path = workspace / "open.txt"
    path.write_text("one\ntwo")
    screen = show(stage, path, "one\ntwo", "one\ntwo\n")
    assert "! adds the newline at the end" in screen
    stage.keys("q")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    path.write_text("one\ntwo\n")
    draw(stage, ["diff", CHAT, "t1", str(path), "one\ntwo\n", "one\n2", "changed", request(), None])
    stage.wait_screen("drops the newline at the end")
    assert diff_rows(stage) == [2]


def test_large_files_are_compared(stage: Neovim, workspace: Path) -> None:
    before = "".join(f"    value = {number}\n" for number in range(10_000))
    after = before.replace("= 7777\n", "= 'changed'\n")
    (workspace / "large.py").write_text(before)
    stage.lua(
        """
        local chat, id, path, before, after = ...
        require('eca.diff').show({
          chat = chat, id = id, path = path, before = before, after = after,
          kind = 'changed', pending = false,
        })
        """,
        *[CHAT, "t1", str(workspace / "large.py"), before, after],
    )
    stage.wait_screen("'changed'")
    assert diff_rows(stage) == [7778]


def test_a_diff_that_does_not_apply_shows_the_hunks(stage: Neovim, workspace: Path) -> None:
    hunks = "@@ -1,1 +1,1 @@\n-other\n+thing\n"
    fault = "hunk 1 (line 1) does not fit the %{file}"
    screen = show(stage, workspace / "code.txt", BEFORE, hunks, fault=fault)
    assert fault in screen
    assert "+thing" in screen
    assert "line 1" in screen
    assert stage.eval("&diff") == 0
    assert "Added" in screen.groups_at(*screen.find("+thing"))
    stage.keys("r")
    wait_sent(stage, "reject")


@pytest.mark.parametrize(
    "name",
    [
        "100% %{x}.txt",
        "a b#c.txt",
        'it\'s "q".txt',
        "a|b<Esc>.txt",
        "[ab]*?.txt",
        "$HOME~.txt",
        "ünï.txt",
        "a\u200db\u202etxt.exe",
        "new\nline.txt",
    ],
)
def test_names_with_special_characters(stage: Neovim, workspace: Path, name: str) -> None:
    (workspace / name).write_text(BEFORE)
    screen = show(stage, workspace / name)
    shown = name.replace("\u200d", "<U+200D>").replace("\u202e", "<U+202E>").replace("\n", " ")
    assert f"{shown}  now" in screen
    stage.keys("<C-w>h")
    assert stage.eval("expand('%:p')") == str(workspace / name)
    stage.keys("<C-w>la")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")


def test_swap_files_ask_nothing(stage: Neovim, start_nvim: StartNeovim, workspace: Path) -> None:
    options = f"set swapfile updatecount=200 directory={workspace}//"
    other = start_nvim()
    other.command(f"{options} | edit code.txt | call setline(1, 'lost') | preserve")
    other.kill(signal.SIGKILL)
    assert list(workspace.glob("*.swp"))
    stage.command(options)
    show(stage, workspace / "code.txt")
    assert not stage.blocked()
    stage.keys("<C-w>h")
    assert stage.eval("expand('%:p')") == str(workspace / "code.txt")


def test_hidden_buffers_with_changes_are_compared(stage: Neovim, workspace: Path) -> None:
    stage.command("edit code.txt | call setline(1, 'mine') | hide edit README.md")
    mine = BEFORE.replace("line 1\n", "mine\n", 1)
    show(stage, workspace / "code.txt", mine, AFTER.replace("line 1\n", "mine\n", 1))
    assert diff_rows(stage) == [20]
    stage.keys("<C-w>h")
    assert stage.buffer_lines()[0] == "mine"
    assert stage.eval("&modified") == 1
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
    assert stage.lua(LAYOUT) == before
