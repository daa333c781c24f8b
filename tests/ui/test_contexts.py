"""Contexts in a real Neovim: tokens in the prompt, the cursor that follows, the context line."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.staged import CHAT, WITHOUT_HOST, wait_sent

from eca_nvim.chat.contexts import parse_context

CODE = "first line\nsecond línea 😀 end\nthird line\nfourth\n"


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    """Neovim in a file of code, the chat open beside it, no host; the code window is current."""
    (workspace / "code.txt").write_text(CODE)
    (workspace / "my notes").mkdir()
    (workspace / "my notes" / "to do.txt").write_text("x")
    nvim = start_nvim("code.txt", init=WITHOUT_HOST, columns=120)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.keys("<C-w>h")
    return nvim


def collected(nvim: Neovim, text: str = "") -> list[Mapping[str, Value]]:
    """Return what a prompt would carry; all of it must be what the host understands."""
    found: list[Mapping[str, Value]] = nvim.lua(
        "return require('eca.contexts').collect(...)", CHAT, text
    )
    assert all(parse_context(item) for item in found)
    return found


def cursor(nvim: Neovim) -> tuple[list[int], list[int]]:
    """Return start and end of the cursor context."""
    (item,) = [item for item in collected(nvim) if item["type"] == "cursor"]
    return item["start"], item["end"]


def test_cursor_is_where_the_user_was_in_code(stage: Neovim, workspace: Path) -> None:
    stage.keys("2Gfe<C-w>l")
    (item,) = collected(stage)
    assert item["path"] == str(workspace / "code.txt")
    assert (item["start"], item["end"]) == ([2, 2], [2, 2])
    stage.keys("<C-w>h3G$<C-w>l")
    assert cursor(stage) == ([3, 10], [3, 10])


def test_columns_count_utf16_units(stage: Neovim) -> None:
    stage.keys("2G$<C-w>l")
    assert cursor(stage)[0] == [2, len("second línea 😀 en".encode("utf-16-le")) // 2 + 1]


@pytest.mark.parametrize(
    "elsewhere", ["terminal", "copen", "new", "help", "lua vim.cmd.edit('foo://y')"]
)
def test_cursor_does_not_follow_into_other_kinds_of_windows(
    stage: Neovim, workspace: Path, elsewhere: str
) -> None:
    stage.keys("3G")
    stage.command("split")
    stage.command(elsewhere)
    stage.keys("<C-\\><C-n>gg")
    (item,) = collected(stage)
    assert item["path"] == str(workspace / "code.txt")
    assert item["start"][0] == 3


def test_cursor_follows_to_another_file_and_back(stage: Neovim, workspace: Path) -> None:
    stage.command("edit README.md")
    assert collected(stage)[0]["path"] == str(workspace / "README.md")
    stage.command("edit code.txt")
    assert collected(stage)[0]["path"] == str(workspace / "code.txt")


def test_cursor_is_known_after_its_window_is_gone(stage: Neovim) -> None:
    stage.command("set hidden | vsplit")
    stage.keys("2G<C-w>l")
    stage.command("wincmd p | close")
    stage.keys("<C-w>h4G")
    assert cursor(stage)[0][0] == 4


def test_cursor_goes_back_to_the_file_before_one_that_is_gone(
    stage: Neovim, workspace: Path
) -> None:
    stage.keys("3G")
    stage.command("split README.md | bwipeout")
    stage.keys("<C-w>l")
    assert collected(stage)[0]["path"] == str(workspace / "code.txt")
    assert cursor(stage)[0][0] == 3


def test_cursor_in_insert_mode(stage: Neovim) -> None:
    stage.keys("4GA")
    assert cursor(stage) == ([4, 7], [4, 7])
    stage.keys("<Esc>")


@pytest.mark.parametrize(
    ("keys", "start", "end"),
    [
        ("ggwvj", [1, 7], [2, 8]),
        ("2G$v0", [2, 1], [2, 20]),
        ("2GVj", [2, 1], [3, 11]),
        ("3GVk", [2, 1], [3, 11]),
        ("ggl<C-v>jl", [1, 2], [2, 4]),
        ("2Gf😀v", [2, 14], [2, 16]),
    ],
)
@pytest.mark.parametrize("leave", ["<C-w>l", "<Esc><C-w>l", "y<C-w>l", ""])
def test_selection_goes_along(
    stage: Neovim, keys: str, start: list[int], end: list[int], leave: str
) -> None:
    stage.keys(keys + leave)
    assert cursor(stage) == (start, end)


@pytest.mark.parametrize("after", ["<Esc>G", "d", "<Esc>xu", "r-"])
def test_selection_is_dropped_when_the_user_went_on(stage: Neovim, after: str) -> None:
    stage.keys("ggwvj" + after + "<C-w>l")
    start, end = cursor(stage)
    assert start == end


def test_cursor_can_be_turned_off(start_nvim: StartNeovim, workspace: Path) -> None:
    settings = {"contexts": {"cursor": False}}
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings=settings)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    assert collected(nvim) == []
    assert [item["type"] for item in collected(nvim, "see @cursor")] == ["cursor"]


def test_tokens(stage: Neovim, workspace: Path) -> None:
    text = (
        "look at @code.txt, (@code.txt:2-3) @code.txt:4. @my\\ notes/ @my\\ notes/to\\ do.txt "
        "@https://example.org/x?y=1. @nothing.txt me@code.txt @code.txt"
    )
    items = [item for item in collected(stage, text) if item["type"] != "cursor"]
    code, folder = str(workspace / "code.txt"), str(workspace / "my notes")
    assert items == [
        {"type": "file", "path": code, "token": "@code.txt"},
        {"type": "file", "path": code, "first": 2, "last": 3, "token": "@code.txt:2-3"},
        {"type": "file", "path": code, "first": 4, "last": 4, "token": "@code.txt:4"},
        {"type": "directory", "path": folder, "token": "@my\\ notes/"},
        {"type": "file", "path": f"{folder}/to do.txt", "token": "@my\\ notes/to\\ do.txt"},
        {"type": "web", "url": "https://example.org/x?y=1", "token": "@https://example.org/x?y=1"},
    ]


def test_tokens_of_odd_names_run_nothing(stage: Neovim) -> None:
    text = "@$(touch owned) @`touch owned` @%:p @# @<cfile> @" + "x" * 100_000 + " @..."
    assert [item["type"] for item in collected(stage, text)] == ["cursor"]


def test_tokens_are_coloured_while_they_name_something(stage: Neovim) -> None:
    stage.keys("<C-w>l")
    stage.keys("iread @code.txt:1-2 and @nothing now<Esc>")
    screen = stage.wait_screen("@nothing")
    assert "Identifier" in screen.groups_at(*screen.find("@code.txt:1-2"))
    assert "Identifier" not in screen.groups_at(*screen.find("@nothing"))
    assert "Identifier" not in screen.groups_at(*screen.find(" and"))
    stage.keys("0f@x")
    stage.wait_screen(
        lambda screen: "Identifier" not in screen.groups_at(*screen.find("code.txt:1-2"))
    )


def test_range_is_added_to_the_context(stage: Neovim, workspace: Path) -> None:
    stage.keys(":2,3EcaChat<CR>")
    item = {"type": "file", "path": str(workspace / "code.txt"), "first": 2, "last": 3}
    assert item in collected(stage)
    stage.wait_screen("@code.txt:2-3")
    stage.keys("<C-w>h:2,3EcaChat<CR>")
    assert collected(stage).count(item) == 1


def test_selected_lines_are_added_by_plug(stage: Neovim) -> None:
    stage.keys("2GVj")
    stage.keys(":EcaChat<CR>")
    stage.wait_screen("@code.txt:2-3")


def test_prompts_carry_them(stage: Neovim) -> None:
    stage.keys("2G:EcaChat look at @code.txt:1-1<CR>")
    (prompt,) = wait_sent(stage, "prompt")
    assert [item["type"] for item in prompt["contexts"]] == ["cursor", "file"]


@pytest.mark.parametrize("kind", ["scratch", "terminal", "unnamed"])
def test_buffers_without_a_file_are_read_when_sent(stage: Neovim, kind: str) -> None:
    make = {"scratch": "new | set bt=nofile", "terminal": "terminal cat", "unnamed": "new"}[kind]
    stage.command(make)
    buffer = stage.eval("bufnr()")
    stage.lua(
        "require('eca.context_line').add(..., require('eca.contexts').of_lines(0))",
        CHAT,
    )
    stage.keys("i")
    stage.input("told later")
    stage.wait_until(f"vim.fn.getbufline({buffer}, 1)[1]:find('told later')")
    (item,) = [item for item in collected(stage) if item["type"] == "text"]
    assert item["content"].startswith("told later")
    stage.command(f"bwipeout! {buffer}")
    assert [item for item in collected(stage) if item["type"] == "text"] == []


def test_lines_of_a_buffer_without_a_file(stage: Neovim) -> None:
    stage.command("new | call setline(1, ['one', 'two', 'three'])")
    stage.lua(
        "require('eca.context_line').add(..., require('eca.contexts').of_lines(0, 2, 3))", CHAT
    )
    (item,) = [item for item in collected(stage) if item["type"] == "text"]
    assert item["content"] == "two\nthree"


ADD = "return require('eca').add_context(...)"
REMOVE = "return require('eca').remove_context(...)"


def on_line(nvim: Neovim) -> list[str]:
    """Return what stands on the context line, as it is written."""
    labels: list[str] = nvim.lua("return require('eca.context_line').labels(...)", CHAT)
    return labels


def test_contexts_are_taken_off_by_command_with_completion(stage: Neovim) -> None:
    stage.keys(":Eca add code.txt:1-2<CR>:Eca add my notes/to do.txt<CR>:4Eca add<CR>")
    assert on_line(stage) == ["@code.txt:1-2", "@my\\ notes/to\\ do.txt", "@code.txt:4-4"]
    assert stage.eval("getcompletion('Eca add! @code', 'cmdline')") == [
        "@code.txt:1-2",
        "@code.txt:4-4",
    ]
    stage.keys(":Eca add! @code.txt:4-4<CR>")
    assert on_line(stage) == ["@code.txt:1-2", "@my\\ notes/to\\ do.txt"]
    stage.keys(":Eca! add my notes/to do.txt<CR>")
    assert on_line(stage) == ["@code.txt:1-2"]
    stage.wait_screen(lambda screen: "to\\ do.txt" not in screen)
    stage.keys(":Eca add!<CR>")
    stage.wait_screen(lambda screen: "@code.txt:1-2" not in screen)
    assert on_line(stage) == []
    stage.keys(":Eca add! code.txt<CR>")
    stage.wait_screen("code.txt is not on the context line")


def test_what_was_taken_off_is_not_sent(stage: Neovim) -> None:
    stage.keys(":Eca add code.txt:1-2<CR>:Eca add! code.txt<CR>:EcaChat go<CR>")
    (prompt,) = wait_sent(stage, "prompt")
    assert [item["type"] for item in prompt["contexts"]] == ["cursor"]


@pytest.mark.parametrize(
    ("what", "left"),
    [
        ("@code.txt:1-2", ["@README.md"]),
        ("code.txt:1-2", ["@README.md"]),
        ("code.txt", ["@README.md"]),
        ("README.md", ["@code.txt:1-2"]),
        ({"type": "file", "path": "README.md"}, ["@code.txt:1-2"]),
        ({"type": "file", "path": "code.txt", "first": 1, "last": 2}, ["@README.md"]),
        ("nothing.txt", ["@code.txt:1-2", "@README.md"]),
        (7, ["@code.txt:1-2", "@README.md"]),
    ],
)
def test_contexts_are_taken_off_in_lua(
    stage: Neovim, workspace: Path, what: Value, left: list[str]
) -> None:
    stage.keys(":Eca add code.txt:1-2<CR>:Eca add README.md<CR>")
    if isinstance(what, dict):
        what = {**what, "path": str(workspace / what["path"])}
    assert stage.lua(REMOVE, what) is (len(left) == 1)
    assert on_line(stage) == left


SELECT = """
local wanted = ...
vim.ui.select = function(items, options, done)
  _G.shown = vim.tbl_map(options.format_item, items)
  for index, line in ipairs(_G.shown) do
    if line:find(wanted, 1, true) == 1 then
      return done(items[index])
    end
  end
  done(nil)
end
"""


@pytest.mark.parametrize("how", ["<Esc>:Eca contexts<CR>", "<Esc>gC"])
def test_what_goes_along_is_listed_and_taken_away(stage: Neovim, how: str) -> None:
    stage.keys(":Eca add code.txt:1-2<CR>")
    stage.lua(SELECT, "@code.txt:1-2")
    stage.keys(f"<C-w>lisee @README.md and @README.md, now{how}")
    shown = stage.lua("return _G.shown")
    assert shown == ["@code.txt:1-2", "@cursor  always", "@README.md  in the prompt"]
    assert on_line(stage) == []
    stage.lua(SELECT, "@README.md")
    stage.keys(how)
    assert stage.buffer_lines() == ["see and , now"]
    stage.lua(SELECT, "@cursor")
    stage.keys(how)
    stage.wait_screen("contexts.cursor")


def test_what_goes_along_includes_the_draft(stage: Neovim) -> None:
    stage.keys("<C-w>lisee @README.md<Esc>")
    contexts = stage.lua("return require('eca').contexts()")
    assert [item["type"] for item in contexts] == ["cursor", "file"]


def test_the_chat_itself_is_no_context(stage: Neovim, workspace: Path) -> None:
    """From the chat's own windows the last code window's file is meant."""
    for window in ("<C-w>l", "<C-w>l<C-w>k"):
        stage.keys(f"{window}:Eca add<CR>")
        assert on_line(stage) == ["@code.txt"]
        stage.keys(":Eca add!<CR>")
        assert on_line(stage) == []
        stage.keys("<C-w>h")
    stage.keys("<C-w>l:lua require('eca.keys').run('AddContext')<CR>")
    assert on_line(stage) == ["@code.txt"]


@pytest.mark.parametrize(("select", "wanted"), [("", "@code.txt"), ("2GVj<Esc>", "@code.txt:2-3")])
def test_a_range_in_the_chat_means_what_was_selected_in_code(
    stage: Neovim, select: str, wanted: str
) -> None:
    stage.keys(f"gg{select}<C-w>lione<CR>two<Esc>Vk:EcaChat why?<CR>")
    assert on_line(stage) == [wanted]


def test_without_a_code_window_nothing_is_added(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, columns=120)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.keys(":Eca add<CR>")
    nvim.wait_screen("there is no code window to add from")
    assert on_line(nvim) == []
    nvim.keys(":1EcaChat why?<CR>")
    (prompt,) = wait_sent(nvim, "prompt")
    assert list(prompt["contexts"]) == []


def test_lines_of_a_file_are_optional_each(stage: Neovim, workspace: Path) -> None:
    path = str(workspace / "code.txt")
    for lines in ({"first": 3}, {"last": 2}, {"first": 3, "last": 99}, {"first": 4, "last": 2}):
        assert stage.lua(ADD, {"type": "file", "path": path, **lines})
    assert on_line(stage) == ["@code.txt:3-", "@code.txt:1-2", "@code.txt:3-4", "@code.txt:2-4"]
    stage.keys("<C-w>lityping goes on<Esc>")
    stage.wait_screen("@code.txt:3- ")
    assert len(collected(stage)) == 5
    assert stage.lua(REMOVE, "@code.txt:3-")


WRONG: list[tuple[Value, str]] = [
    ("code.txt", 'a context is a table, not "code.txt"'),
    ({}, "type nil is none of buffer, cursor, directory, file, text, web"),
    ({"type": "flie"}, 'type "flie" is none of'),
    ({"type": "file"}, "needs a path, a string, not nil"),
    ({"type": "file", "path": 3}, "needs a path, a string, not 3"),
    ({"type": "file", "path": "/is/not/there"}, "there is no /is/not/there"),
    ({"type": "file", "path": "my notes"}, "my notes is a directory: another type"),
    ({"type": "directory", "path": "code.txt"}, "code.txt is a file: another type"),
    ({"type": "file", "path": "code.txt", "first": 0}, "first is a line, counted from 1, not 0"),
    ({"type": "file", "path": "code.txt", "last": "3"}, 'counted from 1, not "3"'),
    ({"type": "file", "path": "code.txt", "last": 1.5}, "last is a line, counted from 1, not 1.5"),
    ({"type": "file", "path": "code.txt", "first": 5}, "no line 5, its last one is 4"),
    ({"type": "web", "url": "neovim.io"}, 'no address of a page: "neovim.io"'),
    ({"type": "text", "label": "log"}, "needs a content, a string, not nil"),
    ({"type": "buffer", "buf": 999}, "there is no buffer 999"),
    ({"type": "buffer", "buf": 0, "first": 99}, "has no line 99"),
]


@pytest.mark.parametrize(("item", "fault"), WRONG)
def test_what_is_no_context_is_told_and_not_added(stage: Neovim, item: Value, fault: str) -> None:
    assert stage.lua(ADD, item) is False
    assert on_line(stage) == []
    stage.wait_until(f"vim.fn.execute('messages'):find([=[{fault}]=], 1, true)")
    stage.lua("require('eca').send('go', { contexts = { ... } })", item)
    (prompt,) = wait_sent(stage, "prompt")
    assert [it["type"] for it in prompt["contexts"]] == ["cursor"]


def test_contexts_of_one_prompt_are_read_like_others(stage: Neovim, workspace: Path) -> None:
    path = str(workspace / "code.txt")
    items = [{"type": "buffer", "buf": 0, "first": 4}, {"type": "file", "path": path, "last": 2}]
    stage.lua("require('eca').send('go', { contexts = ... })", items)
    (prompt,) = wait_sent(stage, "prompt")
    _, text, file = prompt["contexts"]
    assert (text["type"], text["content"]) == ("text", "fourth")
    assert (file["type"], file["last"]) == ("file", 2)


@pytest.mark.parametrize("lines", ["4-2", "2-4", "2-99"])
def test_lines_are_put_in_order_and_end_where_the_file_does(stage: Neovim, lines: str) -> None:
    stage.keys(f":Eca add code.txt:{lines}<CR>")
    assert on_line(stage) == ["@code.txt:2-4"]


def test_lines_of_a_token_are_put_in_order(stage: Neovim) -> None:
    first, second = collected(stage, "@code.txt:3-1 @code.txt:0-2")[1:]
    assert (first["first"], first["last"]) == (1, 3)
    assert (second["first"], second["last"]) == (1, 2)


def test_lines_past_the_end_are_not_added(stage: Neovim) -> None:
    stage.keys(":Eca add code.txt:20-30<CR>")
    stage.wait_screen("code.txt has no line 20, its last one is 4")
    assert on_line(stage) == []
    stage.command("call append('$', repeat(['more'], 20))")
    stage.keys(":Eca add code.txt:20-30<CR>")
    assert on_line(stage) == ["@code.txt:20-24"]


def test_the_cursor_can_stand_on_the_line(start_nvim: StartNeovim, workspace: Path) -> None:
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings={"contexts": {"cursor": False}})
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.keys(":Eca add @cursor<CR>")
    assert [item["type"] for item in collected(nvim)] == ["cursor"]
    nvim.keys(":Eca add! @cursor<CR>")
    assert collected(nvim) == []
