"""The float that asks, for choices with long names: what will be done is seen first."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import WITHOUT_HOST, answer_to, approval, chat_text, draw, sent, wait_sent

COMMAND = "for i in 1 2 3; do " + "; ".join(f"step {number}" for number in range(70)) + "; done"
ALWAYS = f"2 always  Yes, and don't ask again for commands that start with `{COMMAND}`"
OFFERS = [
    {"id": "y", "name": "Yes, proceed", "kind": "allow_once"},
    {"id": "p", "name": ALWAYS.partition("  ")[2], "kind": "allow_always"},
    {"id": "n", "name": "No, and tell Codex what to do differently", "kind": "reject_once"},
]


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    settings = {"approval": {"guard": 0}}
    nvim = start_nvim(settings=settings, columns=160, lines=40, init=WITHOUT_HOST)
    draw(nvim, *chat_text("hello"))
    return nvim


def test_a_choice_that_repeats_the_command_does_not_push_it_away(stage: Neovim) -> None:
    lines = [f"$ {COMMAND}", "cwd: /workspace"]
    draw(stage, ["pending", [approval(choices=OFFERS, listed=True, title=lines[0], lines=lines)]])
    screen = stage.wait_screen("$ for i in 1 2 3; do step 0; step 1;")
    assert "step 0; step 1;…" in screen  # the choice, cut
    assert "3 reject  No, and tell Codex what to do differently" in screen
    stage.command("Eca approval")
    rows = stage.buffer_lines()
    assert rows[-3:] == [*lines, ALWAYS], "its whole name comes last"
    stage.keys("G")
    screen = stage.wait_screen("cwd: /workspace")
    assert "│ 2 always  Yes, and" in screen, "it is ours, without a bar"
    stage.keys("2")
    assert wait_sent(stage, "decide") == [answer_to("t1", choice="p")]
    assert len(sent(stage, "decide")) == 1
