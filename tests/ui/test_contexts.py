"""Contexts in a real Neovim: tokens in the prompt, the cursor that follows."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.beside import collected, open_beside
from tests.ui.staged import CHAT, WITHOUT_HOST, wait_sent

pytestmark = pytest.mark.either_nvim

ADD_LINES = "require('eca').add_context(require('eca.context.here').of_lines(0, ...))"


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    return open_beside(start_nvim, workspace)


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


def test_vim_completes_a_path_after_the_sign(stage: Neovim) -> None:
    stage.keys("<C-w>li@cod<C-x><C-f><C-y><Esc>")
    assert stage.eval("getline('.')") == "@code.txt"


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


def test_a_range_goes_with_the_next_prompt_alone(stage: Neovim, workspace: Path) -> None:
    stage.keys(":2,3EcaChat<CR>")
    stage.keys("<C-w>h:2,3EcaChat<CR>")
    stage.wait_screen("@code.txt:2-3")
    stage.keys("iwhy?<C-s>")
    (prompt,) = wait_sent(stage, "prompt")
    assert prompt["text"] == "why?\n@code.txt:2-3"
    lines = {"type": "file", "path": str(workspace / "code.txt"), "first": 2, "last": 3}
    assert [it for it in prompt["contexts"] if it["type"] == "file"] == [
        {**lines, "token": "@code.txt:2-3"}
    ]
    assert [it["type"] for it in collected(stage)] == ["cursor"]


def test_a_range_goes_with_a_prompt_that_is_not_typed_in_the_draft(stage: Neovim) -> None:
    stage.keys(":2,3EcaChat<CR>ilater<Esc><C-w>h:4EcaChat<CR><C-w>h:EcaChat third done<CR>")
    (prompt,) = wait_sent(stage, "prompt")
    assert prompt["text"] == "third done\n@code.txt:4\n@code.txt:2-3"
    assert [it.get("first") for it in prompt["contexts"]] == [None, 4, 2]
    assert stage.eval("getline(1, '$')") == ["later"]
    stage.keys(":Eca queue next<CR>u:Eca steer again<CR>")
    prompts = wait_sent(stage, "prompt", 3)
    assert [it["text"] for it in prompts[1:]] == ["next", "again\n@code.txt:4\n@code.txt:2-3"]


@pytest.mark.parametrize(
    "keys",
    [
        ":2,3EcaChat<CR>isee<Esc>:cd my\\ notes<CR><C-s>",
        ":2,3EcaChat<CR>isee<Esc><C-w>h:cd my\\ notes<CR>:EcaChat see<CR>",
        ":lcd my\\ notes<CR>:2,3EcaChat<CR>isee<Esc><C-s>",
        ":lcd my\\ notes<CR>:2,3EcaChat<CR><C-w>h:EcaChat see<CR>",
    ],
)
def test_a_range_means_the_same_lines_in_any_folder(
    stage: Neovim, workspace: Path, keys: str
) -> None:
    (workspace / "my notes" / "code.txt").write_text("other")
    stage.keys(keys)
    (prompt,) = wait_sent(stage, "prompt")
    lines = [(it["path"], it["first"]) for it in prompt["contexts"] if "first" in it]
    assert lines == [(str(workspace / "code.txt"), 2)]
    assert prompt["text"].startswith("see\n@")


def test_a_range_is_named_though_a_longer_one_is(stage: Neovim) -> None:
    stage.keys(":2,4EcaChat<CR>jA0<Esc><C-w>h:2,4EcaChat<CR><C-w>h:2,4EcaChat<CR>")
    assert stage.eval("getline(1, '$')") == ["", "@code.txt:2-40", "@code.txt:2-4"]


def test_a_range_with_a_prompt_goes_with_that_alone(stage: Neovim) -> None:
    stage.keys(":Eca add<CR>:2,3EcaChat why?<CR>")
    (prompt,) = wait_sent(stage, "prompt")
    assert prompt["text"] == "why? @code.txt:2-3"
    assert [it.get("token") for it in prompt["contexts"]] == [None, None, "@code.txt:2-3"]
    assert [it["type"] for it in collected(stage)] == ["file", "cursor"]  # added: it stays


def test_selected_lines_are_added_by_plug(stage: Neovim) -> None:
    stage.keys("2GVj")
    stage.keys(":EcaChat<CR>")
    stage.wait_screen("@code.txt:2-3")


def test_selected_lines_go_along_to_the_chat(stage: Neovim) -> None:
    stage.lua("vim.keymap.set('x', '<F5>', '<Plug>(EcaChat)')")
    stage.keys("2GVj<F5>")
    stage.wait_screen("@code.txt:2-3")
    assert stage.eval("&filetype") == "eca-input"


def test_prompts_carry_them(stage: Neovim) -> None:
    stage.keys("2G:EcaChat look at @code.txt:1-1<CR>")
    (prompt,) = wait_sent(stage, "prompt")
    assert [item["type"] for item in prompt["contexts"]] == ["cursor", "file"]


@pytest.mark.parametrize("kind", ["scratch", "terminal", "unnamed"])
def test_buffers_without_a_file_are_read_when_sent(stage: Neovim, kind: str) -> None:
    make = {"scratch": "new | set bt=nofile", "terminal": "terminal cat", "unnamed": "new"}[kind]
    stage.command(make)
    buffer = stage.eval("bufnr()")
    stage.lua(ADD_LINES)
    stage.keys("i")
    stage.input("told later")
    stage.wait_until(f"vim.fn.getbufline({buffer}, 1)[1]:find('told later')")
    (item,) = [item for item in collected(stage) if item["type"] == "buffer"]
    assert item["content"].startswith("told later")
    stage.command(f"bwipeout! {buffer}")
    assert [item for item in collected(stage) if item["type"] == "buffer"] == []


def test_lines_of_a_buffer_without_a_file(stage: Neovim) -> None:
    stage.command("new | call setline(1, ['one', 'two', 'three'])")
    stage.lua(ADD_LINES, 2, 3)
    (item,) = [item for item in collected(stage) if item["type"] == "buffer"]
    assert item["content"] == "two\nthree"
