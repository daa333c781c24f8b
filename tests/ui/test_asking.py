"""Questions about lines, answered in a float beside them."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import expect, fail, gate, handshake, text, turn
from tests.ui.previewed import ended, lines_of, start, text_of
from tests.ui.staged import draw, sent, wait_sent

CODE = "local names = load()\nnames = sort(names)\n\nshow(names)\n"
ANSWER = "It sorts **in place**:\n\n```lua\nsort(names)\n"
KEYS = "dK go in  dA ask on  dC chat  dY copy  dP put  dX close"
KINDS = """
return vim.tbl_map(function(it) return it.kind .. ' ' .. it.state end, require('eca').previews())
"""
FLOAT = """
local found = {}
for _, win in ipairs(vim.api.nvim_list_wins()) do
  local config = vim.api.nvim_win_get_config(win)
  if config.relative ~= '' then
    table.insert(found, { config.row, config.col, config.width, config.height })
  end
end
return found
"""


def test_a_question_is_answered_beside_its_line(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path, tmp_path: Path
) -> None:
    file, gates = workspace / "names.lua", [tmp_path / "first", tmp_path / "second"]
    file.write_text(CODE)
    unknown = [*expect("chat/inlinePrompt"), *fail("chat/inlinePrompt", -32601, "unknown")]
    first = [*gate(gates[0]), *text(ANSWER), *gate(gates[1]), *text("```\n")]
    server = scripted_server(
        *(handshake(), unknown, turn(first), turn(text("Never."))),
        *(expect("chat/delete"), turn(text("On."))),
    )
    nvim = start_nvim(str(file), settings={"server": {"command": server.command}}, columns=80)
    nvim.keys("2G:Eca ask why?<CR>")
    nvim.wait_screen("answer · line 2 · waits for the answer")
    nvim.keys("Gotyped meanwhile")
    gates[0].write_text("")
    nvim.wait_screen("It sorts in place:")
    nvim.keys(" too<Esc>")
    assert lines_of(nvim)[4:] == ["typed meanwhile too"], "focus and keys stay in the file"
    nvim.keys("dY")
    nvim.wait_screen("no complete code block")
    gates[1].write_text("")
    screen = nvim.wait_screen(KEYS)
    assert all(any(line in row for row in text_of(screen)) for line in CODE.split("\n"))
    [asked] = server.received("chat/prompt")
    assert asked["params"]["agent"] == "plan"
    assert "line 2" in asked["params"]["message"]
    nvim.keys("dY")
    assert nvim.eval("getreg('\"')") == "sort(names)\n"
    nvim.keys("2GdP")
    nvim.wait_screen("1 change")
    nvim.keys("dO")
    assert lines_of(nvim)[1:3] == ["names = sort(names)", "sort(names)"]
    nvim.keys("dAever?<CR>")
    nvim.wait_screen("Never.")
    assert server.received("chat/prompt")[1]["params"]["message"] == "ever?"
    nvim.keys("dK")
    assert nvim.eval("&filetype") == "eca-answer"
    nvim.keys("ggdK")
    assert nvim.eval("expand('%:t')") == "names.lua"
    assert nvim.lua(KINDS) == ["ask ready"]
    assert nvim.lua("return require('eca').chats()") == []
    nvim.keys("dC")
    nvim.wait_for(lambda: server.received("chat/delete"), "the end of its session")
    nvim.keys("iand now?<C-s>")
    nvim.wait_screen("On.")
    message = server.received("chat/prompt")[-1]["params"]["message"]
    assert all(part in message for part in ("why?", "sort(names)", "ever?", "and now?"))
    assert nvim.lua(KINDS) == []
    assert len(nvim.lua("return require('eca').chats()")) == 1


@pytest.fixture
def nvim(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    file = workspace / "words.txt"
    file.write_text("".join(f"word {number}\n" for number in range(1, 61)))
    return start(start_nvim, file)


def ask(nvim: Neovim, line: int, said: str = "", state: str = "ready", fault: str = "") -> str:
    """Ask about a line, and answer as the host would."""
    count = len(sent(nvim, "ask_in_place"))
    nvim.keys(f":{line}Eca ask why {line}?<CR>")
    place = str(wait_sent(nvim, "ask_in_place", count + 1)[-1]["id"])
    draw(nvim, ["place_answer", place, state, said, "", fault])
    if state != "streaming":
        nvim.wait_until(f"changed[#changed] == '{state}'")
    return place


def test_the_float_goes_where_it_hides_nothing(nvim: Neovim) -> None:
    long = "\n".join(f"- item {number}" for number in range(30))
    nvim.keys("G")
    ask(nvim, 60, long)
    rows = text_of(nvim.wait_screen(" more "))
    assert rows[20].startswith("╰"), "above the last line"
    assert rows[21] == "word 60"
    nvim.keys("gg")
    nvim.wait_until("#vim.api.nvim_list_wins() == 1")
    nvim.keys("G")
    nvim.wait_screen("item 0")
    nvim.keys("4k")
    nvim.wait_screen("word 56")
    ask(nvim, 50, "beside")
    nvim.wait_screen("beside")
    one, other = sorted(nvim.lua(FLOAT))
    assert one[0] + one[3] + 2 <= other[0], "two answers do not cover each other"
    nvim.wait_for(lambda: {"word 50", "word 56", "word 60"} <= {*text_of(nvim.screen)}, "the lines")
    nvim.keys("50GdX:set nowrap splitbelow<CR>G:split<CR>:resize 2<CR>")
    nvim.wait_screen("item 0")
    nvim.keys(":close<CR>:set columns=120 lines=7<CR>:58<CR>zt")
    nvim.wait_for(lambda: "item 0" in nvim.screen and "word 60" in nvim.screen, "it beside them")
    nvim.keys(":set columns=30 lines=8<CR>G")
    nvim.wait_screen("why 60?")
    [[row, column, width, height]] = nvim.lua(FLOAT)
    assert 0 <= row <= row + height + 2 <= 7
    assert 0 <= column <= column + width + 2 <= 30


def test_an_answer_ends_with_its_buffer(nvim: Neovim) -> None:
    nvim.keys(":1Eca ask why<CR>")
    place = wait_sent(nvim, "ask_in_place")[-1]["id"]
    draw(nvim, ["place_answer", place, "streaming", "one", "", ""])
    nvim.keys("dK<C-w>H")  # a window as any other
    draw(nvim, ["place_answer", place, "streaming", " two", "", ""])
    nvim.wait_screen("one two")
    assert nvim.lua("return vim.api.nvim_win_get_config(0).relative") == ""
    nvim.keys(":silent! %bdelete!<CR>")
    draw(nvim, ["place_answer", place, "streaming", "late", "", ""])
    nvim.wait_until("#require('eca').previews() == 0")
    nvim.keys(":edit words.txt<CR>:1Eca ask why<CR>")
    place = wait_sent(nvim, "ask_in_place", 2)[-1]["id"]
    draw(nvim, ["place_answer", place, "streaming", "three", "", ""])
    nvim.wait_screen("three")
    nvim.keys(":bwipeout!<CR>")
    nvim.wait_until("#vim.api.nvim_list_wins() == 1")


def test_an_answer_outlives_edits_and_windows(nvim: Neovim) -> None:
    place = ask(nvim, 3, "Because.")
    nvim.wait_screen("answer · line 3")
    nvim.keys("ggOnew<Esc>")
    nvim.wait_screen("answer · line 4")
    nvim.keys("4Gdd")
    nvim.wait_screen("Because.")
    nvim.keys("u:write<CR>:edit<CR>")
    nvim.wait_screen("answer · line 4")
    nvim.keys("dK:q<CR>")
    nvim.wait_screen("word 3   answer: dK shows it")
    nvim.keys("dKdK")
    nvim.wait_screen("Because.")
    nvim.keys(":tabnew<CR>")
    nvim.wait_until("#vim.api.nvim_list_wins() == 2")
    nvim.keys("dK:tabclose<CR>")
    nvim.wait_screen("Because.")
    nvim.keys("do")
    nvim.wait_screen("an answer changes nothing")
    nvim.keys(":enew!<CR>")
    nvim.wait_until("#vim.api.nvim_list_wins() == 1")
    other = ask(nvim, 1, fault="the server has ended because of\x1b something", state="failed")
    nvim.wait_screen("dR again  dI edit  dC chat  dX close")
    nvim.keys("dI<C-u>else?<CR>")
    again = wait_sent(nvim, "ask_in_place", 3)[-1]
    assert (again["id"], again["question"]) == (other, "else?")
    nvim.wait_screen("waits for the answer")
    nvim.keys("dC")
    nvim.wait_screen("wait for the answer, or stop it")
    nvim.keys("dQ")
    assert wait_sent(nvim, "stop_answer")[-1] == {"id": other}
    draw(nvim, ["place_answer", other, "failed", "", "", "stopped"])
    nvim.wait_screen("stopped")
    mine, theirs = (f"{nvim.launch.cwd}/{name}.txt" for name in ("words", "theirs"))
    nvim.keys(":edit words.txt<CR>:write<CR>:buffer #<CR>")
    draw(nvim, ["changed_meanwhile", [mine], 0, 60_000])
    draw(nvim, ["changed_meanwhile", [mine, theirs], 2, 60_000])
    nvim.wait_screen("changed meanwhile: theirs.txt, 2 more; :Eca checkpoints")
    nvim.keys("dX")
    assert ended(nvim) is False, "the other one stands"
    nvim.keys(":bwipeout! words.txt<CR>")
    assert wait_sent(nvim, "stop_answer", 3)[-1] == {"id": place, "closes": True}
    draw(nvim, ["place_answer", place, "ready", "late", "", ""])
    nvim.wait_until("#require('eca').previews() == 0")
    assert ended(nvim)


@pytest.mark.either_nvim
@pytest.mark.parametrize("reread", [":edit!", ":checktime"])
def test_an_answer_outlives_a_file_that_is_shorter_by_now(nvim: Neovim, reread: str) -> None:
    ask(nvim, 50, "Because.")
    nvim.keys("50G")
    nvim.wait_screen("answer · line 50")
    (nvim.launch.cwd / "words.txt").write_text("one\n")
    nvim.keys(f":set autoread<CR>{reread}<CR>")
    nvim.wait_screen("answer · line 1")
    nvim.keys(":undo<CR>gg:redo<CR>G")
    nvim.wait_screen("answer · line 1")
    assert "Error" not in nvim.messages()


def test_from_a_float_that_was_entered_as_any_window_keys_lead_back(nvim: Neovim) -> None:
    nvim.keys(":3split<CR>:resize 3<CR><C-w>j3G")
    ask(nvim, 3, "So:\n\n```\nnew\n```\n")
    nvim.wait_screen("answer · line 3")
    nvim.keys(":3wincmd w<CR>")
    assert nvim.eval("&filetype") == "eca-answer"
    nvim.keys("dKdK")
    assert nvim.eval("&filetype") == "eca-answer"
    nvim.keys(":2wincmd w<CR>:3wincmd w<CR>")
    nvim.keys("dK")
    assert nvim.eval("[expand('%:t'), winnr()]") == ["words.txt", 2]
    nvim.keys(":3wincmd w<CR>")
    nvim.keys("dP")
    nvim.wait_until("#require('eca').previews() == 2")
    assert nvim.eval("expand('%:t')") == "words.txt"
    nvim.keys(":1wincmd w<CR>:3wincmd w<CR>:1close<CR>")
    nvim.keys("dK")
    assert nvim.eval("expand('%:t')") == "words.txt", "where the user was is gone: to the lines"
