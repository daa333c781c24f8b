"""All scenes of the demo in random order, on a real screen: nothing breaks or is left behind."""

import random
import re
import sys

import pytest
from tests.demo.client import WITHOUT_PAUSES
from tests.demo.test_any_order import PROMPTS, SHORT
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.talk import lines_of, say, start_chat, wait_line

pytestmark = pytest.mark.either_nvim

ASKED = "vim.iter(require('eca.state.mirror').pending()):any(require('eca.approval').guard_is_over)"
COUNT_ENDS = """
ended = 0
vim.api.nvim_create_autocmd('User', {
  pattern = 'EcaTurnFinished',
  callback = function() ended = ended + 1 end,
})
"""


def play(nvim: Neovim, prompt: str) -> None:
    """Say a prompt, and allow or answer whatever it asks, until its turn is over."""
    over = f"ended > {nvim.lua('return ended')}"
    say(nvim, SHORT.get(prompt, prompt))
    while nvim.wait_until(f"({ASKED}) and 'asked' or {over} and 'over'") != "over":
        is_question = nvim.lua("return require('eca').pending()[1].kind") == "question"
        nvim.keys(":Eca answer Lua<CR>" if is_question else ":Eca approve<CR>")
        nvim.wait_until(f"not ({ASKED})")


def test_the_whole_list_in_random_order(start_nvim: StartNeovim) -> None:
    nvim = start_chat(start_nvim, [sys.executable, *WITHOUT_PAUSES], columns=80, lines=24)
    nvim.lua(COUNT_ENDS)
    prompts = random.Random(7).sample(PROMPTS, len(PROMPTS))
    for prompt in [*prompts, *reversed(prompts)]:
        play(nvim, prompt)
    assert "That did not work" not in "\n".join(lines_of(nvim))
    say(nvim, "hello")
    wait_line(nvim, "Stop me with")


def test_the_demos_folder_counts_as_inside(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(columns=80, lines=24)
    nvim.keys(":Eca demo<CR>:EcaChat fix the greeting<CR>")
    nvim.wait_screen("allow this?")
    assert any(re.fullmatch(r"✓ read /.+/greet\.py", line) for line in lines_of(nvim))
    assert "outside" not in nvim.screen.text()
