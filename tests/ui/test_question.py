"""Questions of the agent on a real screen: options by number, free text, cancelling."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.staged import WITHOUT_HOST, answer_to, draw, question, sent, wait_sent


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Neovim without a host, and without guard time."""
    return start_nvim(init=WITHOUT_HOST, settings={"approval": {"guard": 0}})


def ask(nvim: Neovim, **fields: Value) -> None:
    """Let a question wait, and go into its float."""
    draw(nvim, ["pending", [question(**fields)]])
    nvim.wait_screen("x cancel")
    nvim.command("Eca approval")


def test_question_and_options_are_shown_without_taking_focus(stage: Neovim) -> None:
    draw(stage, ["pending", [question()]])
    screen = stage.wait_screen("the agent asks")
    assert "Which colour?" in screen
    assert "1 red  warm" in screen
    assert "2 blue" in screen
    assert "1-2 choose  i type answer  x cancel  q hide" in screen
    assert stage.eval("&buftype") == ""
    assert stage.mode == "n"


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    ("keys", "text"),
    [("1", "red"), ("2", "blue"), ("G<CR>", "blue"), ("ia green one<C-s>", "a green one")],
)
def test_answers(stage: Neovim, keys: str, text: str) -> None:
    ask(stage)
    stage.keys(keys)
    assert wait_sent(stage, "answer") == [answer_to("q1", text=text)]
    stage.wait_screen(lambda screen: "the agent asks" not in screen)


def test_cancelling_answers_without_a_text(stage: Neovim) -> None:
    ask(stage)
    stage.keys("x")
    assert wait_sent(stage, "answer") == [answer_to("q1")]


def test_escape_in_the_answer_leaves_the_question(stage: Neovim) -> None:
    ask(stage)
    stage.keys("inot yet<Esc>")
    stage.wait_screen("Answer> not yet")
    stage.wait_screen("the agent asks")
    assert sent(stage, "answer") == []


def test_without_free_text_there_is_no_such_key(stage: Neovim) -> None:
    ask(stage, freeform=False)
    assert "i type answer" not in stage.screen
    stage.keys("<CR>")  # the cursor is on the question, not on an option
    assert sent(stage, "answer") == []


def test_more_options_than_digits_are_chosen_with_the_cursor(stage: Neovim) -> None:
    ask(stage, options=[[f"option {number}", ""] for number in range(1, 13)])
    stage.wait_screen("1-9 choose  <CR> this line")
    stage.wait_screen("12 option 12")
    stage.keys("G<CR>")
    assert wait_sent(stage, "answer")[0]["text"] == "option 12"


def test_question_goes_when_it_is_dismissed(stage: Neovim) -> None:
    ask(stage)
    draw(stage, ["pending", []])
    stage.wait_screen(lambda screen: "the agent asks" not in screen)
    assert stage.eval("winnr('$')") == 1


def test_long_questions_wrap_and_their_lines_stay(stage: Neovim) -> None:
    text = "first line\n" + "word " * 60 + "\n<last> %#Error# line"
    ask(stage, detail=text)
    stage.wait_screen("first line")
    stage.wait_screen("<last> %#Error# line")


def test_answer_command_offers_the_options(stage: Neovim) -> None:
    draw(stage, ["pending", [question()]])
    stage.wait_screen("the agent asks")
    stage.keys(":Eca answer<CR>")
    stage.wait_screen("answer in my own words")
    stage.keys("2<CR>")
    assert wait_sent(stage, "answer")[0]["text"] == "blue"


def test_answer_command_asks_for_own_words(stage: Neovim) -> None:
    draw(stage, ["pending", [question(options=[])]])
    stage.wait_screen("the agent asks")
    stage.keys(":Eca answer<CR>")
    stage.wait_screen("Answer>")
    stage.keys("mauve<C-s>")
    assert wait_sent(stage, "answer")[0]["text"] == "mauve"


def test_answering_nothing_is_said(stage: Neovim) -> None:
    stage.lua("require('eca.approval.question').open()")
    stage.wait_screen("no pending question")
