"""The option `follow`: shows files beside the chat as the agent changes them."""

import re
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import content, handshake, turn
from tests.ui.staged import WITHOUT_HOST, draw
from tests.ui.talk import say, start_chat, wait_idle, wait_line

SHOWN = """
local names = {}
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  local buf = vim.api.nvim_win_get_buf(win)
  if vim.bo[buf].buftype == '' then
    table.insert(names, vim.fs.basename(vim.api.nvim_buf_get_name(buf)))
  end
end
return names
"""
LINE = """
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
  if vim.endswith(name, ...) then
    return vim.api.nvim_win_get_cursor(win)[1]
  end
end
"""
MARKS = """
local buf = vim.fn.bufnr(...)
if buf < 0 then
  return {}
end
local space = vim.api.nvim_create_namespace('eca.editor.follow_agent')
return vim.tbl_map(function(mark)
  return { mark[2] + 1, mark[4].end_row }
end, vim.api.nvim_buf_get_extmarks(buf, space, 0, -1, { details = true }))
"""


@pytest.fixture
def workspace(workspace: Path) -> Path:
    (workspace / "base.txt").write_text("base\n")
    for name in ("a.txt", "b.txt"):
        text = "".join(f"{name} line {number}\n" for number in range(1, 101))
        (workspace / name).write_text(text)
    return workspace


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    """Neovim with a file and a chat beside it, the cursor in the input, and no host."""
    settings = {"follow": True}
    nvim = start_nvim("base.txt", init=WITHOUT_HOST, settings=settings, columns=160, lines=40)
    nvim.keys(":EcaChat<CR>")
    return nvim


def change(nvim: Neovim, path: Path, *places: tuple[int, int], done: bool = True) -> None:
    """Let a tool change a file of the chat that is shown."""
    chat = nvim.eval("g:eca_status.chat")
    draw(nvim, ["place", chat, str(path), [list(place) for place in places], done])


def wait_shown(nvim: Neovim, *names: str) -> None:
    nvim.wait_for(lambda: nvim.lua(SHOWN) == list(names), f"windows of {names}")


def test_the_file_appears_at_the_change_and_focus_stays(stage: Neovim, workspace: Path) -> None:
    stage.keys("ihello")
    change(stage, workspace / "a.txt", (50, 1), done=False)
    wait_shown(stage, "a.txt")
    screen = stage.wait_screen("a.txt line 50")
    assert stage.lua(LINE, "a.txt") == 50
    assert (stage.mode, stage.eval("&filetype")) == ("i", "eca-input")
    assert stage.lua(MARKS, "a.txt") == []
    assert "hello" in screen
    change(stage, workspace / "a.txt", (50, 2), (70, 0), (90, 3))
    stage.wait_for(lambda: stage.lua(MARKS, "a.txt") == [[50, 51], [90, 92]], "marks")
    screen = stage.screen
    assert "DiffAdd" in screen.groups_at(*screen.find("a.txt line 50"))
    stage.keys(" world<Esc>")
    assert stage.eval("getline(1)") == "hello world"
    assert stage.eval("getbufvar('a.txt', '&buflisted')") == 1
    assert stage.eval("bufname('a.txt')") == "a.txt"


def test_only_the_last_of_many_changes_is_shown(stage: Neovim, workspace: Path) -> None:
    chat = stage.eval("g:eca_status.chat")
    places = [["place", chat, str(workspace / f"{name}.txt"), [[5, 1]], True] for name in "ab"]
    draw(stage, *places)
    wait_shown(stage, "b.txt")
    assert stage.eval("bufloaded('a.txt')") == 0


def test_marks_go_with_the_next_turn_and_with_edits(stage: Neovim, workspace: Path) -> None:
    change(stage, workspace / "a.txt", (5, 1))
    stage.wait_for(lambda: stage.lua(MARKS, "a.txt"), "marks")
    draw(stage, ["emit", "EcaTurnStarted", {"chat": "c"}])
    stage.wait_for(lambda: not stage.lua(MARKS, "a.txt"), "no marks")
    change(stage, workspace / "a.txt", (5, 1))
    stage.wait_for(lambda: stage.lua(MARKS, "a.txt"), "marks")
    stage.keys("<C-w>hx")
    stage.wait_for(lambda: not stage.lua(MARKS, "a.txt"), "no marks")
    stage.command("edit!")


def test_the_window_the_user_is_in_stays(stage: Neovim, workspace: Path) -> None:
    stage.keys("<C-w>h")
    change(stage, workspace / "a.txt", (5, 1))
    change(stage, workspace / "b.txt", (5, 1))
    stage.wait_until("vim.fn.bufloaded('b.txt') == 1")
    assert stage.lua(SHOWN) == ["base.txt"]
    stage.command("vsplit")
    change(stage, workspace / "b.txt", (5, 1))
    stage.wait_for(lambda: "b.txt" in stage.lua(SHOWN), "b.txt beside it")
    assert stage.eval("expand('%:t')") == "base.txt"
    stage.command("edit a.txt")
    change(stage, workspace / "a.txt", (60, 1))
    stage.wait_for(lambda: stage.lua(MARKS, "a.txt"), "marks")
    assert stage.eval("line('.')") == 1


@pytest.mark.parametrize("hidden", [True, False])
def test_unsaved_text_is_not_hidden_where_that_is_not_wanted(
    stage: Neovim, workspace: Path, hidden: bool
) -> None:
    stage.command("set hidden" if hidden else "set nohidden")
    stage.keys("<C-w>hOmine<Esc><C-w>l")
    change(stage, workspace / "a.txt", (5, 1))
    if hidden:
        wait_shown(stage, "a.txt")
        stage.command("bwipeout! base.txt")
    else:
        stage.wait_until("vim.fn.bufloaded('a.txt') == 1")
        assert stage.lua(SHOWN) == ["base.txt"]
        stage.command("wincmd h | edit!")


def test_a_window_is_made_where_the_chat_is_all_there_is(stage: Neovim, workspace: Path) -> None:
    stage.keys("<C-w>h:quit<CR>")
    change(stage, workspace / "a.txt", (5, 1))
    wait_shown(stage, "a.txt")
    assert stage.eval("&filetype") in ("eca-input", "eca-chat")


def test_other_chats_and_tab_pages_are_not_followed(stage: Neovim, workspace: Path) -> None:
    draw(stage, ["place", "other", str(workspace / "a.txt"), [[5, 1]], True])
    stage.command("tabnew")
    change(stage, workspace / "b.txt", (5, 1))
    stage.command("tabclose")
    change(stage, workspace / "b.txt", (9, 1))
    wait_shown(stage, "b.txt")
    assert stage.lua(LINE, "b.txt") == 9
    assert stage.eval("bufloaded('a.txt')") == 0


def test_a_file_that_is_gone_is_no_fault(stage: Neovim, workspace: Path) -> None:
    change(stage, workspace / "none.txt", (5, 1))
    change(stage, workspace / "a.txt", (5, 1))
    wait_shown(stage, "a.txt")


def move(nvim: Neovim, source: Path, destination: Path) -> None:
    """Let a tool move a file."""
    source.rename(destination)
    ends = [str(source), str(destination)]
    draw(nvim, ["files", nvim.eval("g:eca_status.chat"), ends, ends])


def test_a_window_of_ours_goes_on_with_a_file_that_is_moved(stage: Neovim, workspace: Path) -> None:
    change(stage, workspace / "a.txt", (50, 1))
    wait_shown(stage, "a.txt")
    move(stage, workspace / "a.txt", workspace / "c.txt")
    wait_shown(stage, "c.txt")
    assert stage.lua(LINE, "c.txt") == 50
    stage.wait_screen("a.txt was moved to c.txt; its buffer is kept")
    assert stage.eval("&filetype") == "eca-input"


def test_a_moved_file_that_is_changed_stays_in_its_window(stage: Neovim, workspace: Path) -> None:
    change(stage, workspace / "a.txt", (50, 1))
    wait_shown(stage, "a.txt")
    stage.command("wincmd h | vsplit base.txt | wincmd b")
    move(stage, workspace / "a.txt", workspace / "c.txt")
    change(stage, workspace / "c.txt", (70, 1))
    wait_shown(stage, "base.txt", "c.txt")
    assert stage.lua(LINE, "c.txt") == 70


@pytest.mark.parametrize("where", ["inside", "unsaved"])
def test_a_window_the_user_is_at_stays_with_what_was_moved(
    stage: Neovim, workspace: Path, where: str
) -> None:
    stage.command("set nohidden")
    change(stage, workspace / "a.txt", (50, 1))
    wait_shown(stage, "a.txt")
    stage.keys("<C-w>h" if where == "inside" else "<C-w>hOmine<Esc><C-w>l")
    move(stage, workspace / "a.txt", workspace / "c.txt")
    stage.wait_screen("a.txt was moved to c.txt; its buffer is kept")
    change(stage, workspace / "b.txt", (5, 1))
    stage.wait_until("vim.fn.bufloaded('b.txt') == 1")
    assert stage.lua(SHOWN) == ["a.txt"]
    stage.command("bwipeout! a.txt")


def test_a_window_of_the_user_stays_with_what_was_moved(stage: Neovim, workspace: Path) -> None:
    change(stage, workspace / "b.txt", (5, 1))
    wait_shown(stage, "b.txt")
    stage.command("wincmd h | leftabove vsplit a.txt | wincmd b")
    move(stage, workspace / "a.txt", workspace / "c.txt")
    stage.wait_screen("a.txt was moved to c.txt; its buffer is kept")
    change(stage, workspace / "b.txt", (70, 1))
    stage.wait_for(lambda: stage.lua(LINE, "b.txt") == 70, "the next change")
    assert stage.lua(SHOWN) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("ours", [True, False])
def test_a_window_of_ours_says_that_its_file_is_deleted(
    stage: Neovim, workspace: Path, ours: bool
) -> None:
    path = workspace / "a.txt"
    text = path.read_text()
    if not ours:
        stage.command("wincmd h | edit a.txt | wincmd l")
    change(stage, path, (50, 1))
    stage.wait_screen("a.txt line 50")
    path.unlink()
    draw(stage, ["files", stage.eval("g:eca_status.chat"), [str(path)]])
    stage.wait_screen("a.txt was deleted on disk; its buffer is kept")
    remark = re.compile("a.txt line 50 .* deleted on disk ")
    assert bool(remark.search(stage.screen.text())) == ours
    path.write_text(text)
    draw(stage, ["files", stage.eval("g:eca_status.chat"), [str(path)]])
    stage.wait_screen(lambda screen: not remark.search(screen.text()))
    assert stage.lua(SHOWN) == ["a.txt"]


def test_nothing_happens_without_the_option(start_nvim: StartNeovim, workspace: Path) -> None:
    nvim = start_nvim("README.md", init=WITHOUT_HOST, columns=160)
    nvim.keys(":EcaChat<CR>")
    change(nvim, workspace / "a.txt", (5, 1))
    nvim.command("lua require('eca').setup({ follow = true })")
    change(nvim, workspace / "b.txt", (5, 1))
    wait_shown(nvim, "b.txt")
    assert nvim.eval("bufloaded('a.txt')") == 0


def test_the_option_counts_at_once_for_a_host_that_runs(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    edits = [edited(workspace / f"{name}.txt") for name in "ab"]
    server = scripted_server(handshake(), *(turn(content(edit)) for edit in edits))
    nvim = start_chat(start_nvim, server, "base.txt", columns=160)
    say(nvim, "change a")
    wait_line(nvim, "edit a.txt")
    wait_idle(nvim)
    nvim.command("lua require('eca').setup({ follow = true })")
    say(nvim, "change b")
    wait_shown(nvim, "b.txt")
    assert nvim.lua(LINE, "b.txt") == 50
    assert nvim.eval("bufloaded('a.txt')") == 0


def edited(path: Path) -> dict[str, object]:
    """Make what a server says when it has edited line 50 of a file."""
    diff = "@@ -50 +50 @@\n-before\n+after"
    change = {"type": "fileChange", "path": str(path), "diff": diff}
    return {
        "type": "toolCalled",
        "id": path.name,
        "name": "edit_file",
        "server": "eca",
        "origin": "native",
        "arguments": {"path": str(path)},
        "outputs": [],
        "error": False,
        "details": {**change, "linesAdded": 1, "linesRemoved": 1},
    }
