"""Reverting, undo and redo: the file that is written is one or the other, to the byte."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.listed import change, show, start_stage, wait_row
from tests.ui.talk import Value

Fields = Mapping[str, Value]

CRLF: tuple[bytes, bytes, Fields] = (
    b"a\r\nb\n",
    b"a\r\nB\r\n",
    {"before": ["b"], "after": ["B\r"], "above": ["a\r"]},
)
CASES = {
    "line ends that became alike": CRLF,
    "line ends that became different": (
        b"a\r\nb\r\n",
        b"a\r\nB\n",
        {"before": ["b\r"], "after": ["B"], "above": ["a\r"]},
    ),
    "an end that was put": (
        b"a\nb",
        b"a\nB\n",
        {"before": ["b"], "after": ["B"], "before_ends": False},
    ),
    "only an end that was put": (
        b"a\nb",
        b"a\nb\n",
        {"before": ["b"], "after": ["b"], "before_ends": False},
    ),
    "an end that was taken": (
        b"a\nb\n",
        b"a\nB",
        {"before": ["b"], "after": ["B"], "after_ends": False},
    ),
    "only an end that was taken": (
        b"a\nb\n",
        b"a\nb",
        {"before": ["b"], "after": ["b"], "after_ends": False},
    ),
    "an end that is in no line of the change": (
        b"a\nb\nc",
        b"a\nB\nc",
        {"before": ["b"], "after": ["B"], "below": ["c"]},
    ),
    "both ends": (
        b"a\r\nb",
        b"a\r\nB\r\n",
        {"before": ["b"], "after": ["B\r"], "above": ["a\r"], "before_ends": False},
    ),
    "another encoding": (
        b"a\nb\xe9\n",
        "a\nB€\n".encode(),
        {"before": ["bé"], "after": ["B€"], "latin1": True},
    ),
    "a byte order mark": (
        b"\xef\xbb\xbfa\nb",
        b"\xef\xbb\xbfa\nB\n",
        {"before": ["b"], "after": ["B"], "before_ends": False},
    ),
}
OPTIONS = "[&fileformat, &endofline, &fixendofline, &fileencoding, &bomb]"


@pytest.fixture
def path(workspace: Path) -> Path:
    return workspace / "odd.txt"


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    return start_stage(start_nvim, workspace)


def list_changes(nvim: Neovim, path: Path, after: bytes, *several: Fields) -> None:
    """Write what the agent left and list its changes; their second line is meant by default."""
    path.write_bytes(after)
    about = {"line": 2, "above": ["a"], "below": []}
    keys = [f"k{number}" for number in range(len(several))]
    pairs = zip(keys, several, strict=True)
    show(nvim, *(change(path, key=key, **{**about, **fields}) for key, fields in pairs))


def revert(nvim: Neovim, path: Path, *changed: int) -> None:
    """Revert rows of the list (the first change is row 1), then go to the file."""
    for row in changed:
        nvim.keys(f"{row + 1}Gr")
        wait_row(nvim, row, "reverted")
    nvim.lua("vim.cmd.wincmd('p') vim.cmd.buffer(vim.fn.bufnr(...))", str(path))


def written(nvim: Neovim, path: Path, keys: str = "") -> bytes:
    """Type keys, write the buffer and give the bytes of the file."""
    nvim.keys(f"{keys}:write<CR>")
    return path.read_bytes()


@pytest.mark.either_nvim
@pytest.mark.parametrize(("before", "after", "fields"), CASES.values(), ids=CASES.keys())
def test_undo_and_redo_of_a_revert_give_each_file_again(
    stage: Neovim, path: Path, before: bytes, after: bytes, fields: Fields
) -> None:
    list_changes(stage, path, after, fields)
    revert(stage, path, 1)
    assert written(stage, path) == before
    assert written(stage, path, "u") == after
    assert written(stage, path, "<C-r>") == before
    assert written(stage, path, "u") == after


@pytest.mark.either_nvim
@pytest.mark.parametrize(("before", "after", "fields"), CASES.values(), ids=CASES.keys())
def test_a_revert_that_is_undone_leaves_nothing_to_write(
    stage: Neovim, path: Path, before: bytes, after: bytes, fields: Fields
) -> None:
    list_changes(stage, path, after, fields)
    revert(stage, path, 1)
    reverted = stage.eval(OPTIONS)
    stage.keys("u")
    assert stage.eval("&modified") == 0
    stage.keys("<C-r>")
    assert (stage.eval(OPTIONS), stage.eval("&modified")) == (reverted, 1)
    assert stage.eval("undotree().seq_last") == 1
    stage.command("edit!")
    assert path.read_bytes() == after


TWICE: tuple[Fields, Fields] = (
    {"line": 1, "before": ["x"], "after": ["A\r"], "above": [], "below": ["b\r"]},
    {"line": 3, "before": ["y"], "after": ["C\r"], "above": ["b\r"], "below": []},
)
ENCODED: tuple[Fields, Fields] = (
    {"line": 1, "before": ["é"], "after": ["€"], "above": [], "below": ["b"], "latin1": True},
    {"line": 3, "before": ["c"], "after": ["C€"], "above": ["b"], "below": [], "latin1": True},
)


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    ("after", "several", "order", "parts"),
    [
        (b"A\r\nb\r\nC\r\n", TWICE, (1, 2), (b"x\nb\r\nC\r\n", b"x\nb\r\ny\n")),
        (b"A\r\nb\r\nC\r\n", TWICE, (2, 1), (b"A\r\nb\r\ny\n", b"x\nb\r\ny\n")),
        ("€\nb\nC€\n".encode(), ENCODED, (1, 2), ("é\nb\nC€\n".encode(), b"\xe9\nb\nc\n")),
        ("€\nb\nC€\n".encode(), ENCODED, (2, 1), ("€\nb\nc\n".encode(), b"\xe9\nb\nc\n")),
    ],
)
def test_each_of_two_reverts_is_undone_by_itself(
    stage: Neovim,
    path: Path,
    after: bytes,
    several: Sequence[Fields],
    order: Sequence[int],
    parts: tuple[bytes, bytes],
) -> None:
    one, both = parts
    list_changes(stage, path, after, *several)
    revert(stage, path, *order)
    assert written(stage, path) == both
    assert written(stage, path, "u") == one
    assert written(stage, path, "u") == after
    assert written(stage, path, "<C-r>") == one
    assert written(stage, path, "<C-r>") == both
    assert written(stage, path, "2u") == after
    stage.command("undo 2 | write")  # in one step: no event for the text before it is written
    assert path.read_bytes() == both


def test_a_turn_is_undone_at_once(stage: Neovim, path: Path) -> None:
    list_changes(stage, path, b"A\r\nb\r\nC\r\n", *TWICE)
    stage.keys("ggr")
    wait_row(stage, 1, "reverted")
    revert(stage, path)
    assert written(stage, path) == b"x\nb\r\ny\n"
    assert written(stage, path, "u") == b"A\r\nb\r\nC\r\n"
    assert written(stage, path, "<C-r>") == b"x\nb\r\ny\n"


def test_a_revert_under_the_cursor_is_undone_in_insert_mode(stage: Neovim, path: Path) -> None:
    before, after, fields = CRLF
    list_changes(stage, path, after, fields)
    revert(stage, path)
    stage.keys(":2<CR>:Eca changes revert<CR>")
    assert written(stage, path) == before
    stage.keys("i<C-o>u")
    assert (stage.mode[0], stage.eval("&fileformat")) == ("i", "dos")
    assert written(stage, path, "<Esc>") == after


def test_a_revert_stays_what_it_was_on_its_branch_of_the_undo_tree(
    stage: Neovim, path: Path
) -> None:
    before, after, fields = CRLF
    list_changes(stage, path, after, fields)
    revert(stage, path, 1)
    assert written(stage, path, "uggIx<Esc>") == b"x" + after
    assert written(stage, path, "uggIy<Esc>") == b"y" + after
    assert written(stage, path, ":undo 1<CR>") == before
    assert written(stage, path, "ggIz<Esc>") == b"z" + before
    assert written(stage, path, ":undo 2<CR>") == b"x" + after
    assert written(stage, path, ":undo 4<CR>") == b"z" + before


def test_options_that_the_user_sets_are_his(stage: Neovim, path: Path) -> None:
    _, after, fields = CASES["an end that was put"]
    list_changes(stage, path, after, fields)
    revert(stage, path, 1)
    stage.keys(":set fileformat=dos<CR>")
    assert written(stage, path, "2GAx<Esc>") == b"a\r\nbx"
    assert written(stage, path, "u") == b"a\r\nb"
    assert written(stage, path, "u") == b"a\r\nB\r\n"


def test_a_file_that_is_read_again_has_its_ends_on_both_sides(stage: Neovim, path: Path) -> None:
    before, after, fields = CRLF
    list_changes(stage, path, after, fields)
    revert(stage, path, 1)
    assert written(stage, path, ":edit!<CR>u") == before
    assert written(stage, path, "<C-r>") == after
    assert written(stage, path, "2u") == after


def test_a_file_that_is_opened_again_has_no_revert(stage: Neovim, path: Path) -> None:
    _, after, fields = CRLF
    list_changes(stage, path, after, fields)
    revert(stage, path, 1)
    stage.keys(":bdelete!<CR>")
    stage.lua("vim.cmd.edit(...)", str(path))
    stage.keys(":set fileformat=unix<CR>")
    assert written(stage, path, "ggIx<Esc>") == b"xa\nB\n"
    assert written(stage, path, "u") == b"a\nB\n"


@pytest.mark.parametrize("left", ["bdelete!", "bwipeout!"])
def test_nothing_is_watched_for_a_file_that_was_left(stage: Neovim, path: Path, left: str) -> None:
    _, after, fields = CRLF
    list_changes(stage, path, after, fields)
    revert(stage, path, 1)
    watchers = "return #vim.api.nvim_get_autocmds({ event = 'BufWritePre', buffer = 0 })"
    assert stage.lua(watchers) == 1
    stage.keys(f":{left}<CR>")
    stage.lua("vim.cmd.edit(...)", str(path))
    assert stage.lua(watchers) == 0


def test_what_is_undone_out_of_sight_can_be_reverted_again(stage: Neovim, path: Path) -> None:
    before, after, fields = CRLF
    list_changes(stage, path, after, fields)
    stage.keys("2Gr")
    wait_row(stage, 1, "reverted")
    stage.lua("vim.api.nvim_buf_call(vim.fn.bufnr(...), vim.cmd.undo)", str(path))
    stage.keys("r")
    revert(stage, path)
    assert written(stage, path) == before
    assert written(stage, path, "u") == after
