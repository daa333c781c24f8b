"""What the float lists: the choices of an agent, what answers by them, titles and rows."""

import re

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import (
    WITHOUT_HOST,
    answer_to,
    approval,
    draw,
    sent,
    wait_sent,
)
from tests.ui.test_approval import pending


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Neovim with a file, no host, and no guard time."""
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings={"approval": {"guard": 0}})
    nvim.keys("")
    return nvim


def test_choices_whose_names_say_more_are_listed_and_answered_by_number(stage: Neovim) -> None:
    always = "Always Allow Bash(echo *) and access to /workspace/with/a/long/name/that/wraps"
    offers = [
        {"id": "y", "name": "Yes, proceed", "kind": "allow_once"},
        {"id": "p", "name": always, "kind": "allow_always"},
        {"id": "u", "name": "Always allow for user: echo *", "kind": "allow_always"},
        {"id": "n", "name": "No", "kind": "reject_once"},
    ]
    pending(stage, approval(choices=offers, listed=True))
    screen = stage.wait_screen("1 allow   Yes, proceed")
    assert "3 always  Always allow for user: echo *" in screen
    assert "1 allow  2 always  3 always  4 reject" in screen
    stage.command("Eca approval")
    assert f"2 always  {always}" in stage.buffer_lines()
    stage.keys("A")  # two are of its kind
    assert sent(stage, "decide") == []
    stage.keys("3")
    assert wait_sent(stage, "decide") == [answer_to("t1", choice="u")]
    pending(stage, approval("t2", choices=offers, listed=True))
    stage.wait_screen("$ ls t2")
    stage.command("Eca approval")
    stage.keys("r")
    assert wait_sent(stage, "decide", 2)[1] == answer_to("t2", choice="n")


def test_a_request_comes_back_when_a_buffer_was_opened_in_its_float(stage: Neovim) -> None:
    pending(stage, approval())
    stage.wait_screen("$ ls t1")
    stage.keys(":Eca approval<CR>:enew<CR>")
    draw(stage, ["pending", [approval()]])
    stage.wait_screen("$ ls t1")
    stage.keys("a")
    assert wait_sent(stage, "decide") == [answer_to("t1", choice="allow")]


@pytest.mark.parametrize(
    ("typed", "choice"),
    [
        (":Eca choose 2<CR>", "s"),
        (":Eca choose<CR>", "s"),
        ("2<F5>", "s"),
        (":Eca approve!<CR>", "s"),
    ],
)
def test_a_choice_is_made_from_anywhere(stage: Neovim, typed: str, choice: str | None) -> None:
    offers = [
        {"id": "y", "name": "Yes", "kind": "allow_once"},
        {"id": "s", "name": "Allow for this session", "kind": "allow_always"},
    ]
    stage.lua("vim.ui.select = function(items, _, done) done(items[2]) end")
    stage.keys(":map <lt>F5> <lt>Plug>(EcaChoose)<CR>")
    pending(stage, approval(choices=offers, listed=True))
    stage.wait_screen("2 always  Allow for this session")
    stage.keys(":Eca choose 7<CR>")
    stage.wait_screen("there is no choice '7', but 1 allow Yes, 2 always Allow for this session")
    stage.keys("<CR>" + typed)
    chosen = {} if choice is None else {"choice": choice}
    assert wait_sent(stage, "decide") == [answer_to("t1", **chosen)]


LYING = [
    {"id": "reject_once", "name": "Reject", "kind": "allow_always"},
    {"id": "4", "name": "Allow once", "kind": "reject_once"},
    {"id": "allow_always", "name": "No, stop", "kind": "allow_once"},
    {"id": "never", "name": "Never", "kind": "allow_once"},
]


def test_a_choice_is_what_its_kind_says(stage: Neovim) -> None:
    """Names and ids are the agent's: one that looks like a kind is no kind."""
    stage.lua(
        """
        vim.ui.select = function(items, options, done)
          _G.listed = vim.tbl_map(options.format_item, items)
        end
        """
    )
    pending(stage, approval(choices=LYING, listed=True))
    stage.wait_screen("1 always  Reject")
    stage.keys(":Eca choose<CR>")
    listed = ["always  Reject", "reject  Allow once", "allow   No, stop", "allow   Never"]
    assert stage.lua("return _G.listed") == listed

    def chosen(name: str | int) -> object:
        stage.lua("require('eca.host').sent = {}")
        stage.lua("require('eca').choose({ choice = ... })", name)
        answers = [it["choice"] for it in sent(stage, "decide")]
        draw(stage, ["pending", []], ["pending", [approval(choices=LYING, listed=True)]])
        return answers

    assert chosen("reject_once") == ["4"]
    assert chosen("allow_always") == ["reject_once"]
    assert chosen(4) == chosen("never") == ["never"]
    for name in ("allow_once", "reject_always", "5", "04x"):
        assert chosen(name) == [], name
    assert "eca: several choices are 'allow_once', name" in stage.messages()
    assert "eca: there is no choice 'reject_always', bu" in stage.messages()


@pytest.mark.parametrize("focused", [False, True])
def test_the_title_of_the_narrowest_float_counts_what_is_left_out(
    stage: Neovim, focused: bool
) -> None:
    content = {"title": "allow this? (1/2)", "rest": "d shows all"}
    title_of = "return require('eca.approval.prompt_content').title(..., 5, {}, {})"
    of = title_of.format(str(focused).lower(), "{}")
    for room in range(9, 60):
        title = stage.lua(of.format(room), content)
        assert re.search(r" · (\+5|… 5 more lines)", title)
        assert stage.lua("return vim.api.nvim_strwidth(...)", title) <= room


def test_words_of_our_own_rows_are_not_cut(stage: Neovim) -> None:
    warning = "outside the workspace: /etc/some/where, unsaved changes, and a folder"
    words = warning.split(" ")
    pending(stage, approval("t1", warnings=[" ".join([*words, "x" * 90, "end"])]))
    stage.wait_screen("to answer")
    for columns in range(40, 100, 3):
        stage.resize(columns, 30)
        stage.keys("")
        shown = " ".join(line.replace("│", " ") for line in stage.screen.lines()).split()
        assert [word for word in words if word not in shown] == [], columns
