"""Windows of the chat: how they open and close, without losing anything."""

import re
from pathlib import Path

import pytest
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.staged import approval, draw
from tests.ui.view import CHAT, View, assistant, numbered, open_view, start_view, user

from eca_nvim.chat.vocabulary import ops

DIFF = """
local path = vim.fn.getcwd() .. '/code'
require('eca.diff').show({
  chat = 'one', id = 't', path = path, before = 'a', after = 'b', kind = 'changed',
})
"""


def sizes(view: View) -> dict[str, tuple[int, int]]:
    """Return width and height by what a window shows."""
    code = """
    local found = {}
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      local _, kind = require('eca.chat.buffers').of_buffer(vim.api.nvim_win_get_buf(win))
      local size = { vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) }
      found[kind or 'file'] = size
    end
    return found
    """
    return {name: tuple(size) for name, size in view.nvim.lua(code).items()}


@pytest.mark.parametrize(("columns", "width"), [(100, 60), (160, 64), (200, 80), (300, 100)])
def test_the_chat_takes_its_part_of_the_right_side(
    start_nvim: StartNeovim, columns: int, width: int
) -> None:
    view = open_view(start_nvim, "notes", columns=columns)
    assert view.windows() == ["notes", "chat", "input"]
    assert view.current() == "input"
    assert sizes(view)["chat"][0] == width
    assert sizes(view)["input"] == (width, 4)


@pytest.mark.parametrize(
    ("columns", "lines", "settings", "found"),
    [
        (80, 24, {}, {"chat": (41, 17), "file": (38, 22)}),
        (90, 24, {}, {"chat": (50, 17), "file": (39, 22)}),
        (80, 24, {"width": 60}, {"chat": (60, 17), "file": (19, 22)}),
        (80, 44, {}, {"chat": (80, 17), "file": (80, 19)}),
        (80, 44, {"layout": "right"}, {"chat": (41, 37), "file": (38, 42)}),
        (80, 44, {"width": 0.4}, {"chat": (41, 37), "file": (38, 42)}),
        (100, 44, {}, {"chat": (60, 37), "file": (39, 42)}),
    ],
)
def test_on_a_narrow_screen_code_and_chat_share_it(
    start_nvim: StartNeovim,
    columns: int,
    lines: int,
    settings: dict[str, Value],
    found: dict[str, tuple[int, int]],
) -> None:
    """Both get half of its columns, or of its rows where there are many, unless the user said."""
    view = open_view(start_nvim, "notes", columns=columns, lines=lines, settings=settings)
    assert {name: size for name, size in sizes(view).items() if name in found} == found


@pytest.mark.parametrize(
    ("layout", "order"),
    [
        ("left", ["chat", "input", "notes"]),
        ("top", ["chat", "input", "notes"]),
        ("bottom", ["notes", "chat", "input"]),
        ("right", ["notes", "chat", "input"]),
        ("current", ["chat", "input"]),
        ("tab", ["chat", "input"]),
        ("float", ["notes", "input", "chat"]),
    ],
)
def test_layouts(start_nvim: StartNeovim, layout: str, order: list[str]) -> None:
    view = open_view(start_nvim, "notes", settings={"layout": layout})
    assert view.windows() == order
    assert view.current() == "input"
    assert view.nvim.eval("tabpagenr('$')") == (2 if layout == "tab" else 1)


@pytest.mark.parametrize(
    ("modifiers", "order"),
    [
        ("vertical topleft", ["chat", "input", "notes"]),
        ("topleft", ["chat", "input", "notes"]),
        ("botright", ["notes", "chat", "input"]),
        ("tab", ["chat", "input"]),
    ],
)
def test_modifiers_of_the_command_win(
    start_nvim: StartNeovim, modifiers: str, order: list[str]
) -> None:
    view = start_view(start_nvim, "notes", settings={"layout": "float"})
    view.nvim.keys(f":{modifiers} EcaChat<CR>")
    assert view.windows() == order
    floating = "return vim.api.nvim_win_get_config(0).relative ~= ''"
    assert view.nvim.lua(floating) is False


@pytest.mark.parametrize(("columns", "lines"), [(60, 24), (40, 12), (20, 6), (80, 8)])
def test_without_room_it_floats_and_never_fails(
    start_nvim: StartNeovim, columns: int, lines: int
) -> None:
    view = open_view(start_nvim, columns=columns, lines=lines)
    assert view.current() == "input"
    view.draw(*assistant(1, "a\nb"))
    view.nvim.keys("ihello<Esc>")
    assert view.draft() == "hello"


@pytest.mark.parametrize("keys", [":q<CR>", "<C-w>c", "ZZ", "q"])
def test_leaving_the_transcript_hides_both(start_nvim: StartNeovim, keys: str) -> None:
    view = open_view(start_nvim, "notes")
    view.nvim.keys(f"idraft<Esc><C-w>k{keys}")
    view.nvim.wait_until("#vim.api.nvim_list_wins() == 1")
    assert view.current() == "notes"
    view.draw(*assistant(1, "while away"))
    view.nvim.keys(":EcaChat<CR>")
    assert view.windows() == ["notes", "chat", "input"]
    assert view.draft() == "draft"
    assert view.lines() == ["while away"]


def test_a_closed_input_comes_back(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.nvim.keys(":q<CR>")
    assert view.windows() == ["notes", "chat"]
    view.nvim.keys(":EcaChat<CR>")
    assert view.windows() == ["notes", "chat", "input"]
    assert view.current() == "input"
    assert sizes(view)["input"][1] == 4


def test_only_the_input_left_gets_its_transcript_back(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.nvim.keys("<C-w>o")
    assert view.windows() == ["input"]
    view.nvim.keys(":EcaChat<CR>")
    assert view.windows() == ["chat", "input"]
    assert view.current() == "input"


def test_only_of_another_window_loses_nothing(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.draw(*assistant(1, "kept"))
    view.nvim.keys("<C-w>h<C-w>o")
    assert view.windows() == ["notes"]
    view.nvim.keys(":Eca toggle<CR>")
    view.nvim.wait_screen("kept")
    assert view.windows() == ["notes", "chat", "input"]


def test_closing_the_tab_page_loses_nothing(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", settings={"layout": "tab"})
    view.draw(*assistant(1, "kept"))
    view.nvim.keys(":tabclose<CR>")
    assert view.windows() == ["notes"]
    view.nvim.keys(":EcaChat<CR>")
    view.nvim.wait_screen("kept")


@pytest.mark.parametrize("asked", [False, True])
def test_the_last_windows_can_be_quit(asked: bool, start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, settings={"layout": "current"})
    if asked:
        draw(view.nvim, ["pending", [approval(chat=CHAT)]])
        view.nvim.wait_screen("allow this?")
    view.nvim.keys("idraft<Esc>")
    view.nvim.input("<C-w>k:q<CR>")
    assert view.nvim.child.wait(10) == 0


def test_quitting_the_last_windows_is_refused_in_a_line_if_a_file_has_changes(
    start_nvim: StartNeovim,
) -> None:
    view = open_view(start_nvim, settings={"layout": "current"})
    view.nvim.command("let b = bufadd('notes') | call bufload(b) | call setbufline(b, 1, 'text')")
    view.nvim.keys("<C-w>k:q<CR>")
    view.nvim.wait_screen("eca: Neovim stays: notes has unsaved changes")
    assert view.windows() == ["input"]


def test_an_input_that_is_alone_can_be_quit(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    view.nvim.keys("idraft<Esc><C-w>o")
    view.nvim.input(":q<CR>")
    assert view.nvim.child.wait(10) == 0


def test_quitting_all_does_not_complain_of_a_draft(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    view.nvim.keys("idraft<Esc>")
    view.nvim.input(":qa<CR>")
    assert view.nvim.child.wait(10) == 0


def test_hiding_the_only_windows_leaves_a_buffer(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", settings={"layout": "current"})
    view.nvim.keys(":Eca hide<CR>")
    assert view.windows() == ["notes"]


def test_a_chat_per_tab_page_and_one_in_two(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.nvim.keys(":tabnew<CR>:EcaChat<CR>")
    view.draw(*assistant(1, "seen in both"))
    view.nvim.wait_screen("seen in both")
    view.nvim.keys(":Eca hide<CR>:tabprevious<CR>")
    view.nvim.wait_screen("seen in both")
    assert view.windows() == ["notes", "chat", "input"]


def test_another_chat_takes_the_same_windows(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.draw(*assistant(1, "first chat"))
    view.nvim.keys("ione<Esc>:EcaChat!<CR>")
    assert view.windows() == ["notes", "chat", "input"]
    assert "first chat" not in view.nvim.screen
    view.open(CHAT)
    view.nvim.wait_screen("first chat")
    assert view.draft() == "one"


def test_windows_of_the_user_keep_their_options(start_nvim: StartNeovim) -> None:
    view = start_view(start_nvim, "notes", init="vim.o.number = true vim.o.cursorline = true")
    view.open()
    view.nvim.keys(":Eca hide<CR>:new<CR>")
    code = "return { vim.wo.number, vim.wo.cursorline, vim.wo.winfixbuf, vim.wo.winbar }"
    assert view.nvim.lua(code) == [True, True, False, ""]


def test_equalizing_keeps_the_input_small(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.nvim.keys("<C-w>=")
    assert sizes(view)["input"] == (64, 4)


def test_drawing_moves_no_one(start_nvim: StartNeovim) -> None:
    """Ops for a chat that was never opened draw into its hidden buffer."""
    view = start_view(start_nvim, "notes")
    view.nvim.keys("i")
    view.draw(*assistant(1, "from afar"), ops.SetQueue(CHAT, [("queue", "more")]))
    assert view.current() == "notes"
    assert view.nvim.mode == "i"
    assert view.lines() == ["from afar"]


def test_reading_and_writing_its_buffers_is_harmless(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    view.draw(*assistant(1, "lost"))
    view.nvim.keys("idraft<Esc>:write<CR>:edit!<CR>")
    assert "E382" in view.nvim.take_errors()[0]
    assert view.draft() == "draft"
    view.nvim.keys("<C-w>k:edit<CR>")
    assert view.sent("open_chat")[-1] == {"chat": CHAT, "redraw": True}
    view.draw(ops.AppendText(CHAT, 1, "on its way"))
    assert view.lines() == [""]
    view.draw(ops.ClearChat(CHAT), *assistant(1, "drawn again"))
    assert view.lines() == ["drawn again"]


def test_a_wiped_chat_is_made_anew(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.draw(*assistant(1, "gone"))
    view.nvim.command(f"bwipeout! {view.buffer()}")
    view.nvim.keys(":EcaChat<CR>")
    assert {"chat": CHAT, "redraw": True} in view.sent("open_chat")
    view.draw(ops.ClearChat(CHAT), *assistant(1, "drawn again"))
    view.nvim.wait_screen("drawn again")


def frame_rows(view: View) -> list[int]:
    """Return the rows of the screen where a float begins or ends; the two share a line."""
    lines = view.nvim.screen.lines()
    return [row for row, line in enumerate(lines) if re.search("[╭├╰]", line)]


def test_floats_share_their_room(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, settings={"layout": "float"})
    view.nvim.wait_screen("type here")
    before = frame_rows(view)
    view.nvim.keys("i" + "x<CR>" * 6)
    view.nvim.wait_screen(lambda _: frame_rows(view) != before)
    after = frame_rows(view)
    assert (after[0], after[2]) == (before[0], before[2])
    assert after[1] == before[1] - 4


def test_floats_keep_their_margins(start_nvim: StartNeovim) -> None:
    """The sign of the input, and the margin that no line of the transcript can imitate."""
    view = open_view(start_nvim, "notes", settings={"layout": "float"})
    view.draw(*assistant(1, "hello"))
    view.nvim.wait_screen("│> type here")
    view.nvim.resize(120, 30)
    view.nvim.wait_screen(lambda it: it.width == 120 and "│> type here" in it)
    view.nvim.wait_screen("│   hello")


def test_floats_fit_a_screen_that_shrinks(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, settings={"layout": "float"})
    view.nvim.resize(50, 14)
    view.nvim.wait_screen(lambda _: len(frame_rows(view)) == 3)


def test_leaving_a_float_hides_both(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", settings={"layout": "float"})
    view.nvim.keys("<C-w>w:q<CR>")
    view.nvim.wait_until("#vim.api.nvim_list_wins() == 1")
    assert view.current() == "notes"


def test_a_height_that_the_user_gave_is_kept(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    view.nvim.keys(":resize 9<CR>ionetwo")
    assert sizes(view)["input"][1] == 9


@pytest.mark.parametrize(
    "keys", ["<C-w>jimore<C-s>", ":EcaChat more<CR>", ":Eca steer more<CR>", ":Eca queue more<CR>"]
)
def test_who_sends_sees_the_answer(start_nvim: StartNeovim, keys: str) -> None:
    view = open_view(start_nvim, "notes")
    view.draw(*assistant(1, numbered(1, 100)))
    view.nvim.keys("<C-w>kgg")
    view.nvim.keys(keys)
    view.draw(*user(2, "more"), *assistant(3, numbered(200, 300)))
    view.nvim.wait_screen("line 300")


def test_other_code_that_sends_leaves_the_reader_alone(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.draw(*assistant(1, numbered(1, 100)))
    view.nvim.keys("<C-w>kgg")
    view.nvim.lua("require('eca').send('more')")
    view.draw(*user(2, "more"))
    assert view.nvim.eval("[line('w0'), line('.')]") == [1, 1]


@pytest.mark.parametrize("more", ["blank", "localoptions"])
def test_a_session_leaves_no_dead_windows_and_no_names(
    start_nvim: StartNeovim, tmp_path: Path, more: str
) -> None:
    session = tmp_path / "session.vim"
    earlier = open_view(start_nvim, "notes")
    earlier.nvim.lua(DIFF)
    earlier.nvim.wait_screen("code (after)")
    earlier.nvim.command(f"set sessionoptions+={more} | mksession {session}")
    view = start_view(start_nvim)
    view.nvim.keys(f":source {session}<CR>")
    assert not view.nvim.blocked(), "Neovim waits for a key"
    view.nvim.wait_until("#vim.api.nvim_list_wins() == 1")
    assert "eca://" not in view.nvim.command("ls!")
    view.open()
    view.draw(*user(1, "again"))
    assert view.windows() == ["notes", "chat", "input"]
    assert view.current() == "input"


def test_a_neovim_that_changes_no_file_has_a_chat(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "-M", "notes")
    view.draw(*assistant(1, "answer"), ops.RestoreDraft(CHAT, "kept"))
    view.nvim.keys("Ityped <Esc>")
    assert view.draft() == "typed kept"
    assert view.lines() == ["answer"]
    view.nvim.keys("g?")
    view.nvim.wait_screen("list the keys")
    view.nvim.keys("q")
    assert view.windows() == ["notes", "chat", "input"]
