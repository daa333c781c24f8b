"""Subagents, tasks and questions with the whole plugin and the demo agent."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.talk import wait_line

pytestmark = pytest.mark.either_nvim


@pytest.fixture(params=[80, 160])
def columns(request: pytest.FixtureRequest) -> int:
    width: int = request.param
    return width


def start(start_nvim: StartNeovim, command: list[str], columns: int) -> Neovim:
    settings = {"server": {"command": command}, "approval": {"guard": 0}}
    return start_nvim(settings=settings, columns=columns, lines=40)


@pytest.fixture
def nvim(start_nvim: StartNeovim, quick_demo: list[str], columns: int) -> Neovim:
    return start(start_nvim, quick_demo, columns)


def text(nvim: Neovim) -> list[str]:
    code = "return vim.api.nvim_buf_get_lines(require('eca').chats()[1].buf, 0, -1, true)"
    lines: list[str] = nvim.lua(code)
    return lines


def test_the_approval_of_a_subagent_is_given_in_the_parents_chat(nvim: Neovim) -> None:
    nvim.keys(":EcaChat delegate<CR>")
    screen = nvim.wait_screen(
        lambda screen: "allow this?" in screen and "subagent explorer" in screen
    )
    assert "greet.py" in screen
    assert any(line.startswith("? agent explorer: exploring the workshop") for line in text(nvim))
    assert any(line.strip().startswith("? $ python") for line in text(nvim))
    nvim.keys("<Esc>:Eca approve<CR>")
    nvim.wait_until("require('eca').status().state == 'idle'")
    lines = text(nvim)
    assert any(line.startswith("✓ agent explorer: exploring the workshop") for line in lines)
    assert not any("I read the file first" in line for line in lines)
    assert "`greet.py` says: Hello, reader!" in lines
    assert nvim.lua("return #require('eca').chats()") == 1


def test_a_stop_ends_a_subagent(nvim: Neovim) -> None:
    nvim.keys(":EcaChat delegate<CR>")
    nvim.wait_screen("allow this?")
    nvim.keys("<Esc><C-c>")
    nvim.wait_until("require('eca').status().state == 'idle'")
    nvim.wait_screen(lambda screen: "allow this?" not in screen)
    wait_line(nvim, "⊘ agent explorer: exploring the workshop stopped")


def test_a_plan_is_one_list_and_a_line_above_the_input(
    start_nvim: StartNeovim, demo_server: list[str], columns: int
) -> None:
    nvim = start(start_nvim, demo_server, columns)  # its pauses let each step be seen
    nvim.keys(":EcaChat plan<CR>")
    nvim.wait_screen("▢ tasks 0/3 · doing: Read greet.py")
    nvim.wait_until("require('eca').status().state == 'idle'")
    nvim.wait_screen("✓ tasks 3/3")
    assert [line for line in text(nvim) if "tasks" in line] == [
        "✓ tasks 3/3",
        "All tasks are done.",
    ]
    nvim.keys("<Esc>:Eca tasks<CR>")
    nvim.wait_screen("✓ 1. Read greet.py  high")
    assert nvim.eval("getline('.')") == "✓ tasks 3/3"


def test_a_question_is_answered_in_the_input(nvim: Neovim) -> None:
    nvim.keys(":EcaChat ask me<CR>")
    nvim.wait_screen("Answer>")
    nvim.keys("iregisters<C-s>")
    nvim.wait_until("require('eca').status().state == 'idle'")
    lines = text(nvim)
    assert "✓ Which part of Neovim do you like best? → registers" in lines
    assert not any("ask Which part" in line for line in lines)
    nvim.wait_screen(lambda screen: "Answer>" not in screen and "> type here" in screen)


def test_a_dismissed_question_is_told(nvim: Neovim) -> None:
    nvim.keys(":EcaChat ask me<CR>")
    nvim.wait_screen("Answer>")
    nvim.lua("require('eca').answer()")
    nvim.wait_until("require('eca').status().state == 'idle'")
    assert "⊘ Which part of Neovim do you like best? not answered" in text(nvim)


def test_usage_is_shown(nvim: Neovim) -> None:
    nvim.keys(":EcaChat hello<CR>")
    nvim.wait_until("require('eca').status().tokens")
    nvim.keys("<Esc>:Eca usage<CR>")
    screen = nvim.wait_screen("compacted at 75%")
    assert "Tool definitions" in screen


def test_what_waits_is_edited_dropped_and_survives_a_stop(nvim: Neovim) -> None:
    nvim.keys(":EcaChat delegate<CR>")
    nvim.wait_screen("allow this?")
    nvim.keys("<Esc>:Eca steer lookout<CR>:Eca queue hello<CR>:Eca queue third<CR>")
    nvim.wait_screen("3 ⧗ third")
    nvim.keys(":Eca unqueue! 1<CR>")
    nvim.wait_screen(lambda screen: "2 ⧗ third" in screen and "lookout" not in screen)
    nvim.keys("<M-BS>")
    nvim.wait_screen(lambda screen: "⧗ hello" in screen and "> third" in screen)
    nvim.keys("<C-c>")
    nvim.wait_until("require('eca').status().state == 'idle'")
    nvim.wait_screen("⧗ hello")
    nvim.wait_screen("> third")
