"""Any edits in and around a preview, then what is accepted."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.previewed import FILE, start, tables

from eca_nvim.chat.text.rewritten import hunks


@pytest.fixture
def file(workspace: Path) -> Path:
    file = workspace / "words.txt"
    file.write_text(FILE)
    return file


@pytest.fixture
def nvim(start_nvim: StartNeovim, file: Path) -> Neovim:
    return start(start_nvim, file)


TEXT = st.sampled_from(["", "}", "a", "  b", "ü"])
LINES = st.lists(TEXT, max_size=4)
SETUP = """
local before, first, last = ...
vim.cmd('enew!')
vim.bo.bufhidden = 'wipe'
vim.api.nvim_buf_set_lines(0, 0, -1, false, before)
return require('eca').rewrite({ range = { first, last }, prompt = 'x' })
"""
READY = """
local id, hunks = ...
require('eca.preview').set({ id = id, state = 'ready', hunks = hunks })
"""
EDIT = """
for _, edit in ipairs(...) do
  vim.api.nvim_buf_set_lines(0, edit[1], edit[2], true, edit[3])
end
vim.cmd.doautocmd('TextChanged')
"""
END = """
local act, id = ...
for _, preview in ipairs(require('eca').previews()) do
  if preview.id == id then
    require('eca')[act]({ id = id })
  end
end
for _, preview in ipairs(require('eca').previews()) do
  require('eca').drop({ id = preview.id })
end
return vim.api.nvim_buf_get_lines(0, 0, -1, false)
"""


@st.composite
def outside(draw_from: st.DrawFn) -> tuple[list[str], ...]:
    """Return lines above, in and below a region, the new ones, and what those around become.

    These are no lines of the answer: such would count as accepted.
    """
    above, below = draw_from(LINES), draw_from(LINES)
    old = draw_from(st.lists(TEXT, min_size=1, max_size=6))
    new = draw_from(st.lists(TEXT, min_size=1, max_size=6))
    others = st.lists(st.sampled_from(["x", "yy", "ü!"]), max_size=4)
    return above, old, below, new, draw_from(others), draw_from(others)


def edits_between(start: int, before: list[str], after: list[str]) -> list[Value]:
    """Return edits that make some lines others, each of one line or a few."""
    return [
        [start + hunk.first, start + hunk.last, hunk.lines]
        for hunk in reversed(hunks(before, after))
    ]


def test_edits_around_it_change_nothing_of_it(nvim: Neovim) -> None:
    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(outside(), st.sampled_from(["accept", "drop"]))
    def check(texts: tuple[list[str], ...], act: str) -> None:
        above, old, below, new, above_then, below_then = texts
        first = len(above) + 1
        made = nvim.lua(SETUP, [*above, *old, *below], first, first + len(old) - 1)
        nvim.lua(READY, made, tables(old, new))
        nvim.lua(EDIT, edits_between(len(above) + len(old), below, below_then))
        nvim.lua(EDIT, edits_between(0, above, above_then))
        left = nvim.lua(END, act, made)
        assert left == [*above_then, *(new if act == "accept" else old), *below_then]

    check()


@st.composite
def inside(draw_from: st.DrawFn) -> tuple[list[str], list[str], list[Value], list[Value]]:
    """Return lines, new ones, edits, and the edited lines with the number of the old line or -1."""
    old = draw_from(st.lists(TEXT, min_size=1, max_size=6))
    new = draw_from(st.lists(TEXT, min_size=1, max_size=6))
    now: list[Value] = [[number, text] for number, text in enumerate(old)]
    edits: list[Value] = []
    for _ in range(draw_from(st.integers(0, 3))):
        at = draw_from(st.integers(0, len(now)))
        what = draw_from(st.sampled_from(["insert", "delete", "change"]))
        if what == "insert":
            edits.append([at, at, ["new"]])
            now[at:at] = [[-1, "new"]]
        elif at < len(now) and what == "change":
            edits.append([at, at + 1, ["changed"]])
            now[at] = [-1, "changed"]
        elif at < len(now) and len(now) > 1:
            edits.append([at, at + 1, []])
            del now[at]
    return old, new, edits, now


def model(old: Sequence[str], new: Sequence[str], now: Sequence[Value]) -> list[str]:
    """Return the lines once all hunks are accepted whose old lines still stand."""
    left = [*now]
    for hunk in reversed(hunks(old, new)):
        places = {number: at for at, (number, _) in enumerate(left) if number >= 0}
        wanted = range(hunk.first, hunk.last)
        if not wanted:
            at = places[hunk.first - 1] + 1 if hunk.first - 1 in places else places.get(hunk.first)
            if at is not None:
                left[at:at] = [[-1, line] for line in hunk.lines]
        elif all(number in places for number in wanted):
            first = places[hunk.first]
            if [places[number] - first for number in wanted] == list(range(len(wanted))):
                left[first : first + len(wanted)] = [[-1, line] for line in hunk.lines]
    return [text for _, text in left]


def test_edits_in_it_keep_what_they_touch(nvim: Neovim) -> None:
    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(inside(), st.booleans())
    def check(texts: tuple[list[str], list[str], list[Value], list[Value]], below: bool) -> None:
        old, new, edits, now = texts
        around = ["below"] if below else []
        made = nvim.lua(SETUP, [*old, *around], 1, len(old))
        nvim.lua(READY, made, tables(old, new))
        nvim.lua(EDIT, edits)
        left = nvim.lua(END, "accept", made)
        edited = [*(text for _, text in now), *around]
        expected = [*model(old, new, now), *around] or [""]
        has_ended = all(number < 0 for number, _ in now)
        assert left == expected or (has_ended and left == edited)

    check()


def test_what_runs_is_drawn_also_when_its_lines_have_just_been_deleted(nvim: Neovim) -> None:
    nvim.keys(":1,3Eca rewrite louder<CR>")
    nvim.wait_until("(require('eca').previews()[1] or {}).state == 'streaming'")
    nvim.lua(
        """
        vim.api.nvim_buf_set_lines(0, 0, 3, true, {})
        require('eca.preview.standing').redraw(vim.api.nvim_get_current_buf())
        """
    )
    nvim.wait_until("#require('eca').previews() == 0")
