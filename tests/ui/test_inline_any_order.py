"""Whatever is typed beside the text of inline completion, the buffer has just that."""

from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.test_inline import fill, offer, offered, start, text

KEYS = {"\n": "<CR>", " ": "<Space>", "<": "<lt>"}
ACCEPTS = {"all": "<F2>", "word": "<F3>", "line": "<F4>"}
TEXTS = st.text("ab( <é😀\n", min_size=1, max_size=12).filter(lambda it: bool(it.strip()))
STEPS = st.lists(
    st.one_of(
        st.just("next"),  # the letter that is drawn next
        st.sampled_from(["word", "line", "all", "back", "left", "dismiss"]),
        st.sampled_from("abz(é"),
    ),
    max_size=8,
)


@dataclass
class Model:
    """What stands before and behind the cursor, and what is drawn there."""

    before: str
    behind: str
    drawn: str | None

    def typed(self, letter: str) -> None:
        self.before += letter
        rest = self.drawn[1:] if self.drawn and self.drawn[0] == letter else None
        self.drawn = rest or None

    def moved(self, step: str) -> None:
        """Leave what is drawn: by an erased letter, or another place."""
        at_start = self.before.endswith("\n") or not self.before
        if step == "back":
            self.before, self.drawn = self.before[:-1], None
        elif not at_start:
            self.before, self.behind = self.before[:-1], self.before[-1] + self.behind
            self.drawn = None


@pytest.fixture
def nvim(start_nvim: StartNeovim) -> Neovim:
    return start(start_nvim, "", init="vim.o.backspace = 'indent,eol,start'")


@pytest.mark.either_nvim
@given(TEXTS, STEPS)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_keys_beside_a_drawn_text(nvim: Neovim, what: str, steps: list[str]) -> None:
    fill(nvim, "")
    offer(nvim, "ggix", what)
    model = Model("x", "", what)
    for step in steps:
        if step in ACCEPTS:
            nvim.keys(ACCEPTS[step])
            taken = text(nvim)[len(model.before) : len(text(nvim)) - len(model.behind)]
            if model.drawn is None:
                assert taken == ""
                continue
            assert taken, "something of it"
            assert model.drawn.startswith(taken)
            assert step != "all" or taken == model.drawn
            model.before, model.drawn = model.before + taken, model.drawn[len(taken) :] or None
        elif step in ("back", "left"):
            nvim.keys("<BS>" if step == "back" else "<Left>")
            model.moved(step)
        elif step == "dismiss":
            nvim.keys("<F5>")
            model.drawn = None
        else:
            letter = (model.drawn or "z")[0] if step == "next" else step
            nvim.keys(KEYS.get(letter, letter))
            model.typed(letter)
        assert text(nvim) == model.before + model.behind
        assert offered(nvim) == model.drawn
