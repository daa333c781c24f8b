"""The way into the float that asks, shown on the screen, and the way back."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.screen import Value
from tests.support.script import Steps, expect, handshake, progress, text, turn
from tests.ui.staged import (
    CHAT,
    WITHOUT_HOST,
    answer_to,
    approval,
    chat_text,
    draw,
    sent,
    wait_sent,
)
from tests.ui.talk import done, say, start_chat, tool, wait_idle

WAY_IN = re.compile(r"allow this\?.* · (\S.*) to answer")


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Open a chat beside a file at 80 columns, the user in its input, without guard time."""
    settings = {"approval": {"guard": 0}}
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings=settings, columns=80, lines=24)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    draw(nvim, *chat_text("hello"))
    return nvim


def ask(nvim: Neovim, *items: Value) -> None:
    draw(nvim, ["pending", list(items)])


def way_in(nvim: Neovim) -> str:
    """Read from the float's title what leads into it."""
    found = WAY_IN.search(nvim.wait_screen(WAY_IN).text())
    assert found
    return found[1]


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    ("before", "way"), [("", "g<CR>"), ("<C-w>k", "g<CR>"), ("<C-w>h", ":Eca approval")]
)
def test_it_is_answered_with_the_keys_on_the_screen(stage: Neovim, before: str, way: str) -> None:
    stage.keys(before)
    here = stage.eval("win_getid()")
    ask(stage, approval())
    assert way_in(stage) == way
    stage.keys(way + ("<CR>" if way.startswith(":") else ""))
    screen = stage.wait_screen(lambda it: "a allow" in it and "to answer" not in it)
    key = screen.text().split(" allow  ")[0][-1]
    stage.keys(key)
    assert wait_sent(stage, "decide") == [answer_to("t1", choice="allow")]
    ask(stage)
    stage.wait_until(f"vim.fn.win_getid() == {here}")


def test_the_way_is_the_one_of_the_mode_and_of_the_users_keys(stage: Neovim) -> None:
    ask(stage, approval())
    assert way_in(stage) == "g<CR>"
    stage.keys("i")
    stage.wait_screen("<Esc>g<CR> to answer")
    stage.lua("vim.keymap.set('i', '<F5>', '<Plug>(EcaApproval)')")
    stage.keys("<Esc>i")
    stage.wait_screen("· <F5> to answer")
    stage.keys("<F5>")
    stage.wait_screen(lambda it: "a allow" in it and "to answer" not in it)
    assert stage.mode == "n"


def test_the_way_leaves_a_mode_in_which_keys_are_text(stage: Neovim) -> None:
    stage.keys("<C-w>hi")
    ask(stage, approval())
    stage.wait_screen("· <Esc>:Eca approval")
    stage.keys("<Esc>:terminal<CR>i")
    stage.wait_screen("· <C-\\><C-n>:Eca approval")
    stage.keys("<C-\\><C-n>:Eca approval<CR>a")
    wait_sent(stage, "decide")
    stage.command("bwipeout!")


@pytest.mark.either_nvim
@pytest.mark.parametrize("key", ["a", "A", "r", "R", "d"])
def test_keys_of_what_waits_go_there_from_the_transcript(stage: Neovim, key: str) -> None:
    ask(stage, approval(paths=["/x"], remember=["ls"]))
    stage.wait_screen("a allow")
    stage.keys("<C-w>k" + key)
    stage.wait_screen(lambda it: "a allow" in it and "to answer" not in it)
    assert sent(stage, "decide") == sent(stage, "diff") == []


def test_such_a_key_begins_the_guard_of_the_float_again(stage: Neovim) -> None:
    stage.lua("_G.now = 1e18 vim.uv.hrtime = function() return _G.now end")
    ask(stage, approval())
    stage.wait_screen("a allow")
    stage.lua("require('eca').setup({ approval = { guard = 300 } }) _G.now = _G.now + 1e9")
    stage.keys("<C-w>kar")
    assert sent(stage, "decide") == []
    stage.lua("_G.now = _G.now + 1e9")
    stage.keys("a")
    wait_sent(stage, "decide")


def test_the_keys_are_listed(stage: Neovim) -> None:
    stage.keys("g?")
    stage.wait_screen(re.compile(r"g<CR> +go to the pending request"))


def test_the_float_lists_its_own_keys(stage: Neovim) -> None:
    stage.lua("vim.keymap.set('i', '<F5>', '<Plug>(EcaApproval)')")
    stage.keys("ione")
    ask(stage, approval(paths=["/x"]))
    stage.wait_screen("<F5> to answer")
    stage.keys("<F5>g?")
    screen = stage.wait_screen("hide the float and leave the request pending")
    assert re.search(r"R +reject and say what to do instead", screen.text())
    assert "remember for this session" not in screen
    stage.keys("g?")
    stage.wait_screen(lambda it: "leave the request pending" not in it)
    stage.keys("a")
    wait_sent(stage, "decide")
    ask(stage)
    stage.wait_for(lambda: stage.mode == "i", "insert mode, where the user came from")


def test_unsaved_changes_of_each_file_are_told(stage: Neovim, workspace: Path) -> None:
    paths = [str(workspace / name) for name in ("other", "README.md")]
    item = approval(paths=paths, lines=["+new"])
    ask(stage, item)
    assert "unsaved" not in stage.wait_screen("a allow")
    stage.keys("<C-w>hAmore<Esc>")
    stage.wait_screen("! README.md has unsaved changes")
    stage.command("write")
    stage.wait_screen(lambda it: "a allow" in it and "unsaved" not in it)


# --- after an answer ----------------------------------------------------------------------------


def in_float(nvim: Neovim) -> bool:
    return bool(nvim.lua("return vim.api.nvim_win_get_config(0).relative ~= ''"))


def go_in(nvim: Neovim, *items: Value) -> None:
    ask(nvim, *items)
    nvim.wait_screen("to answer")
    nvim.command("Eca approval")
    nvim.wait_screen(lambda it: "a allow" in it and "to answer" not in it)


def test_five_requests_in_a_row_are_accepted_without_leaving(stage: Neovim) -> None:
    go_in(stage, approval("t1"))
    win = stage.eval("win_getid()")
    for number in range(1, 6):
        stage.wait_screen(f"$ ls t{number}")
        stage.keys("a")
        stage.wait_screen("answered · next …")
        ask(stage)  # the host has handled it; the next request comes a moment later
        ask(stage, *([approval(f"t{number + 1}")] if number < 5 else []))
    assert [it["digest"] for it in wait_sent(stage, "decide", 5)] == [f"t{n}" for n in range(1, 6)]
    assert stage.eval("win_getid()") == win
    stage.wait_until("vim.api.nvim_win_get_config(0).relative == ''")
    stage.wait_screen(lambda it: "answered" not in it)


def test_what_comes_next_is_guarded_again(stage: Neovim) -> None:
    go_in(stage, approval("t1"))
    stage.keys("a")
    stage.lua("require('eca').setup({ approval = { guard = 60000 } })")
    ask(stage, approval("t2"))
    stage.wait_screen("$ ls t2")
    stage.keys("ar")
    assert [it["digest"] for it in sent(stage, "decide")] == ["t1"]
    assert in_float(stage)


def test_no_answer_is_taken_in_between(stage: Neovim) -> None:
    stage.lua("require('eca.approval.pause').LENGTH = 60000")
    go_in(stage, approval("t1", paths=["/x"], remember=["ls"]))
    stage.keys("a")
    stage.wait_screen("answered · next …")
    stage.keys("aArRdq")
    assert in_float(stage)
    assert len(sent(stage, "decide")) == 1
    assert sent(stage, "diff") == []


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    ("before", "keys", "typed"),
    [
        ("ione <Esc>", "Atwo", "one two"),
        ("ione ", "two", "one two"),
        ("i", "<lt>|\\", "<|\\"),
        ("ione ", "über", "one über"),
        ("ione ", "два 日本", "one два 日本"),
    ],
)
def test_other_keys_leave_and_go_where_they_were_typed_for(
    stage: Neovim, before: str, keys: str, typed: str
) -> None:
    stage.lua("require('eca.approval.pause').LENGTH = 60000")
    stage.lua("vim.keymap.set('i', '<F5>', '<Plug>(EcaApproval)')")
    stage.keys(before)
    ask(stage, approval("t1"))
    stage.wait_screen("to answer")
    stage.keys("g<CR>" if before.endswith("<Esc>") else "<F5>")
    stage.wait_screen(lambda it: "a allow" in it and "to answer" not in it)
    stage.keys("a")
    stage.wait_screen("answered · next …")
    stage.keys(keys)
    stage.wait_screen(lambda it: typed in it and "answered" not in it)
    assert stage.mode == "i"
    assert stage.buffer_lines()[0] == typed


def test_keys_of_more_than_one_key_leave_too(stage: Neovim) -> None:
    stage.lua("require('eca.approval.pause').LENGTH = 60000")
    go_in(stage, approval("t1"))
    stage.keys("a")
    stage.wait_screen("answered · next …")
    stage.keys("<C-w>k")
    stage.wait_screen(lambda it: "answered" not in it)
    assert stage.eval("&filetype") == "eca-chat"


@pytest.mark.parametrize("guard", [0, -1])
def test_a_float_with_no_guard_time_closes_by_itself(guard: int, stage: Neovim) -> None:
    stage.lua("require('eca.approval.pause').LENGTH = 1")
    go_in(stage, approval("t1"))
    stage.lua("require('eca').setup({ approval = { guard = ... } })", guard)
    stage.keys("a")
    stage.wait_for(lambda: not in_float(stage), "the float is closed")


@pytest.mark.either_nvim
@pytest.mark.parametrize("by_user", [False, True])
def test_a_float_that_is_closed_in_between_leaves_nothing(by_user: bool, stage: Neovim) -> None:
    stage.lua("require('eca.approval.pause').LENGTH = 60000")
    go_in(stage, approval("t1"))
    stage.keys("a")
    ask(stage)
    stage.wait_screen("answered · next …")
    stage.command("quit" if by_user else "tabnew | tabonly")
    stage.wait_screen(lambda it: "answered" not in it)
    assert stage.lua("return #vim.api.nvim_get_autocmds({ group = 'eca.prompt' })") == 0


def test_the_mode_comes_back_when_nothing_follows(stage: Neovim) -> None:
    stage.lua("vim.keymap.set('i', '<F5>', '<Plug>(EcaApproval)')")
    stage.keys("ione two<Left>")
    ask(stage, approval("t1"))
    stage.wait_screen("to answer")
    stage.keys("<F5>a")
    stage.wait_for(lambda: stage.mode == "i", "insert mode again")
    stage.keys("X")
    assert stage.buffer_lines()[0] == "one twXo"


def test_a_click_on_a_key_answers(stage: Neovim) -> None:
    stage.keys("ityped")
    ask(stage, approval(), approval("t2"))
    screen = stage.wait_screen("r reject")
    title, accept = screen.find("allow this?"), screen.find("a allow")
    for row, column in (title, (accept.row, accept.column - 2), (accept.row - 1, accept.column)):
        stage.click(row, column)
    assert sent(stage, "decide") == []
    stage.keys("<C-w>ji")
    stage.click(accept.row, accept.column + 3)
    assert wait_sent(stage, "decide") == [answer_to("t1", choice="allow")]
    screen = stage.wait_screen(lambda it: "run ls t2" in it)
    stage.click(*screen.find("r reject"))
    assert wait_sent(stage, "decide", 2)[1] == answer_to("t2", choice="reject")
    ask(stage)
    stage.wait_for(lambda: stage.mode == "i", "insert mode, where the user came from")


# --- with a whole plugin and a server -----------------------------------------------------------


def edit(number: int) -> Iterator[Steps]:
    """Ask for one of several edits that the model made at once, as the real server does."""
    call, path = f"edit-{number}", "$workspace/src/calc.py"
    diff = f"@@ -{number} +{number} @@\n-line {number}\n+row {number}"
    change = {"type": "fileChange", "path": path, "linesAdded": 1, "linesRemoved": 1, "diff": diff}
    wanted = {"path": path, "original_content": f"line {number}", "new_content": f"row {number}"}
    fields = {"arguments": wanted, "details": change, "summary": "Editing"}
    yield tool("Run", call, "edit_file", manualApproval=True, **fields)
    yield progress("running", "Waiting for tool call approval")
    yield expect("chat/toolCallApprove")
    yield tool("Running", call, "edit_file", **fields)
    yield progress("running", "Calling tool")
    yield done(call, "Successfully replaced content", "edit_file", **fields)
    yield progress("running", "Generating")


def prepare(number: int) -> Steps:
    fields = {"argumentsText": "{", "summary": "Editing file"}
    return tool("Prepare", f"edit-{number}", "edit_file", **fields)


def test_a_turn_of_five_edits_is_answered_with_the_keys_on_the_screen(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    numbers = range(1, 6)
    asked = chain.from_iterable(map(edit, numbers))
    five = turn(text("I will edit."), *map(prepare, numbers), *asked, text("Done."))
    server = scripted_server(handshake(), five)
    settings = {"approval": {"guard": 0}}
    nvim = start_chat(start_nvim, server, "README.md", settings=settings, columns=80, lines=24)
    nvim.lua("require('eca.approval.pause').LENGTH = 60000")
    say(nvim, "edit five times")
    here = nvim.eval("win_getid()")
    nvim.wait_screen("+row 1")
    nvim.keys(way_in(nvim))
    win = nvim.eval("win_getid()")
    assert win != here
    for number in numbers:
        nvim.wait_screen(f"+row {number}")
        screen = nvim.wait_screen(" allow  ")
        assert nvim.eval("win_getid()") == win
        nvim.keys(screen.text().split(" allow  ")[0][-1])
    wait_idle(nvim)
    approved = [it["params"]["toolCallId"] for it in server.received("chat/toolCallApprove")]
    assert approved == [f"edit-{number}" for number in numbers]
    nvim.keys("<Esc>")
    nvim.wait_until(f"vim.fn.win_getid() == {here}")


GUARD = "require('eca').setup({ approval = { guard = ... } })"


@pytest.mark.either_nvim
@pytest.mark.parametrize("before", ["ione <Esc>", "ione "])
@pytest.mark.parametrize("gone", [False, True], ids=["after the last answer", "when it is gone"])
def test_one_key_too_many_types_nothing(stage: Neovim, before: str, gone: bool) -> None:
    stage.lua("vim.keymap.set('i', '<F5>', '<Plug>(EcaApproval)')")
    stage.keys(before)
    ask(stage, approval("t1"))
    stage.wait_screen("to answer")
    stage.keys("g<CR>" if before.endswith("<Esc>") else "<F5>")
    stage.wait_screen(lambda it: "a allow" in it and "to answer" not in it)
    if not gone:
        stage.keys("a")
    stage.lua(GUARD, 60000)
    ask(stage)
    stage.wait_screen(lambda it: "a allow" not in it and "answered" not in it)
    stage.keys("aar")
    stage.keys("AX")  # a key that answers nothing is typed where it was meant
    stage.wait_until("vim.api.nvim_win_get_config(0).relative == ''")
    typed = "one X" if before.endswith("<Esc>") else "one AX"
    stage.wait_until(f"vim.fn.getline(1) == '{typed}'")
    assert stage.mode == "i"


def test_keys_too_many_keep_the_moment(stage: Neovim) -> None:
    stage.lua("require('eca.approval.pause').LENGTH = 400")
    go_in(stage, approval("t1"))
    stage.keys("a")
    stage.lua("require('eca.approval.pause').LENGTH = 60000")
    ask(stage)
    stage.keys("a")
    stage.lua("vim.defer_fn(function() _G.over = true end, 400)")
    stage.wait_until("_G.over")
    stage.keys("a")
    assert in_float(stage)
    assert stage.mode == "n"
    stage.keys("<C-w>k")
    stage.wait_until("vim.api.nvim_win_get_config(0).relative == ''")
