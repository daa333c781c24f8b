"""Changes in the quickfix list: kept, reverted, found."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.listed import LINES, change, file_lines, make_file, rows, show, start_stage, wait_row
from tests.ui.staged import CHAT, draw, sent, wait_sent
from tests.ui.talk import Value

pytestmark = pytest.mark.either_nvim


@pytest.fixture
def file(workspace: Path) -> Path:
    return make_file(workspace)


@pytest.fixture
def stage(start_nvim: StartNeovim, file: Path) -> Neovim:
    return start_stage(start_nvim, file.parent)


TITLE = "changes of the agent"
KEYS = "a keep  r revert  c comment  s send  g? keys"


def write(nvim: Neovim, path: Path) -> None:
    nvim.lua("vim.cmd.buffer(vim.fn.bufnr(...)) vim.cmd.write()", str(path))


def test_changes_are_listed_by_turn(stage: Neovim, file: Path) -> None:
    show(
        stage,
        change(file),
        change(file, key="k9", turn=2, prompt="more", line=9, count=3, added=3, removed=0),
        change(file, key="gone", turn=2, prompt="more", line=12),
        change(file.parent / "new.txt", key="new", turn=2, prompt="more", kind="new", text="new"),
        change(file / "gone", key="below", turn=2, prompt="more", kind="deleted", text="deleted"),
    )
    assert rows(stage) == [
        "turn 1: shout",
        "+1 -1  LINE 5",
        "turn 2: more",
        "+3 -0  LINE 5",
        "+1 -1  LINE 5",
        "+1 -1  new",
        "+1 -1  deleted",
    ]
    screen = stage.wait_screen("code.txt|9-11| +3 -0")
    assert "code.txt/gone|" in screen  # a file is where its folder was
    assert "|| turn 1: shout" in screen
    assert stage.eval("w:quickfix_title") == f"{TITLE}  {KEYS}"
    stage.keys("<CR>")
    assert (stage.eval("bufname()"), stage.eval("line('.')")) == ("code.txt", 5)
    stage.keys(":cnext<CR>")
    assert stage.eval("line('.')") == 9


def test_the_title_names_the_users_own_keys(stage: Neovim, file: Path) -> None:
    stage.command("nmap <Leader>x <Plug>(EcaChangeKeep)")
    stage.command("autocmd FileType qf nmap <buffer> <C-x> <Plug>(EcaChangeComment)")
    show(stage, change(file))
    title = rf"{TITLE}  \x keep  r revert  <C-x> comment  s send  g? keys"
    assert stage.eval("w:quickfix_title") == title
    stage.keys(r"\x")
    wait_row(stage, 1, "kept")
    assert stage.eval("w:quickfix_title") == title
    stage.keys(":bwipeout<CR>")
    stage.lua("require('eca').setup({ keymaps = false })")
    show(stage, change(file))
    assert stage.eval("w:quickfix_title") == rf"{TITLE}  \x keep  <C-x> comment"


def test_nothing_to_list_is_said(stage: Neovim) -> None:
    show(stage, command="Eca changes 3")
    assert sent(stage, "changes")[-1]["turn"] == 3
    stage.wait_screen("no changes left to review")
    stage.command("Eca changes revert")
    stage.wait_screen("open the list first with :Eca changes")


def test_who_goes_on_is_not_taken_to_the_list(stage: Neovim, file: Path) -> None:
    stage.command("Eca changes")
    (asked,) = wait_sent(stage, "changes")
    stage.keys("Otyped")
    draw(stage, ["answer", asked["request"], [change(file)]])
    stage.keys(" on<Esc>")
    stage.wait_until("vim.fn.execute('messages'):find('the list was not opened')")
    assert stage.buffer_lines()[0] == "typed on"


def test_a_change_that_is_kept_is_not_listed_again(stage: Neovim, file: Path) -> None:
    show(stage, change(file))
    stage.keys("a")
    assert wait_sent(stage, "keep") == [{"chat": CHAT, "keys": ["k5"]}]
    wait_row(stage, 1, "kept")
    assert stage.eval("line('.')") == 2


def test_a_change_is_reverted_in_its_buffer(stage: Neovim, file: Path) -> None:
    show(stage, change(file))
    assert stage.eval(f"bufloaded('{file}')") == 0
    stage.keys("r")
    wait_row(stage, 1, "reverted")
    stage.wait_screen("reverted in code.txt, not written yet; u there undoes it")
    assert file_lines(stage, file) == LINES
    assert "LINE 5" in file.read_text()
    assert stage.eval("&buftype") == "quickfix"
    stage.keys("<CR>")
    assert stage.eval("&modified") == 1
    stage.keys("u")
    assert stage.eval("getline(5)") == "LINE 5"
    stage.keys("<C-r>")
    stage.command("write")
    assert file.read_text() == "\n".join(LINES) + "\n"


def test_a_change_that_moved_is_found(stage: Neovim, file: Path) -> None:
    stage.command("edit code.txt")
    show(stage, change(file))
    stage.command("wincmd p | call append(0, ['a', 'b', 'LINE 5']) | wincmd p")
    stage.keys("r")
    wait_row(stage, 1, "reverted")
    assert file_lines(stage, file) == ["a", "b", "LINE 5", *LINES]
    stage.command("wincmd p | edit!")


@pytest.mark.parametrize("edit", ["5s/.*/mine/", "5delete", "%delete"])
def test_a_change_that_is_gone_says_so(stage: Neovim, file: Path, edit: str) -> None:
    stage.command("edit code.txt")
    show(stage, change(file))
    stage.command(f"wincmd p | {edit} | wincmd p")
    before = file_lines(stage, file)
    stage.keys("r")
    stage.wait_screen("the change was not found")
    assert file_lines(stage, file) == before
    assert rows(stage)[1] == "+1 -1  LINE 5"
    stage.command("wincmd p | edit!")


def test_the_change_under_the_cursor_of_a_file(stage: Neovim, file: Path) -> None:
    show(stage, change(file))
    stage.command("wincmd p | edit code.txt | 4")
    stage.command("Eca changes revert")
    stage.wait_screen("no change under the cursor")
    stage.command("5 | Eca changes revert")
    wait_row(stage, 1, "reverted")
    assert stage.buffer_lines() == LINES
    stage.command("edit!")


def test_the_line_of_a_turn_stands_for_all_of_it(stage: Neovim, file: Path) -> None:
    file.write_text("\n".join(LINES).upper() + "\n")
    upper = [line.upper() for line in LINES]
    around = {"above": upper[1:4], "below": upper[5:8]}
    nine = {"before": ["line 9"], "after": ["LINE 9"], "above": upper[5:8], "below": upper[9:12]}
    show(
        stage,
        change(file, **around),
        change(file, key="k9", line=9, **nine),
        change(file, key="other", turn=2, line=12),
    )
    stage.keys("ggr")
    wait_row(stage, 1, "reverted")
    wait_row(stage, 2, "reverted")
    assert rows(stage)[4] == "+1 -1  LINE 5"
    lines = file_lines(stage, file)
    assert (lines[4], lines[8], lines[11]) == ("line 5", "line 9", "LINE 12")
    stage.keys("a")
    assert sorted(wait_sent(stage, "keep")[0]["keys"]) == ["k5", "k9"]
    stage.command("wincmd p | edit code.txt | edit!")


def test_how_many_files_were_reverted_is_said(stage: Neovim, file: Path) -> None:
    other = file.with_name("other.txt")
    other.write_text(file.read_text())
    show(stage, change(file), change(other, key="other"))
    stage.keys("ggr")
    stage.wait_screen("reverted in 2 files, not written yet; u there undoes it")


def test_lines_put_in_and_taken_out(stage: Neovim, file: Path) -> None:
    inserted = {"count": 1, "before": [], "after": ["LINE 5"], "removed": 0}
    show(stage, change(file, **inserted))
    stage.keys("r")
    wait_row(stage, 1, "reverted")
    assert file_lines(stage, file) == LINES[:4] + LINES[5:]
    removed = {"count": 0, "before": ["line 5"], "after": [], "added": 0}
    show(stage, change(file, key="back", **removed))
    stage.keys("r")
    wait_row(stage, 1, "reverted")
    assert file_lines(stage, file) == LINES
    stage.command("wincmd p | edit code.txt | edit!")


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        (b"a\r\nb\r\n", b"a\r\nB\r\n", {"before": ["b\r"], "after": ["B\r"], "above": ["a\r"]}),
        (b"a\r\nb\n", b"a\r\nB\n", {"before": ["b"], "after": ["B"], "above": ["a\r"]}),
        (b"a\nb", b"a\nB\n", {"before": ["b"], "after": ["B"], "before_ends": False}),
        (b"a\nb\n", b"a\nB", {"before": ["b"], "after": ["B"], "after_ends": False}),
        (b"a\nb", b"a\nb\n", {"before": ["b"], "after": ["b"], "before_ends": False}),
        (b"a\nb\xe9\n", b"a\nB\xe9\n", {"before": ["bé"], "after": ["Bé"]}),
        (b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfa\nB\n", {"before": ["b"], "after": ["B"]}),
        (b"a\n\n", b"a\nB\n", {"before": [""], "after": ["B"]}),
    ],
)
def test_what_is_reverted_and_written_is_the_file_before(
    stage: Neovim, workspace: Path, before: bytes, after: bytes, fields: Mapping[str, Value]
) -> None:
    path = workspace / "odd.txt"
    path.write_bytes(after)
    show(stage, change(path, **{"line": 2, "above": ["a"], "below": [], **fields}))
    stage.keys("r")
    wait_row(stage, 1, "reverted")
    write(stage, path)
    assert path.read_bytes() == before


def test_a_file_that_became_empty_is_filled_again(stage: Neovim, workspace: Path) -> None:
    path = workspace / "empty.txt"
    path.write_bytes(b"")
    whole = {"line": 1, "count": 0, "before": ["a", "b"], "after": [], "above": [], "below": []}
    show(stage, change(path, **whole))
    stage.keys("r")
    wait_row(stage, 1, "reverted")
    assert file_lines(stage, path) == ["a", "b"]
    write(stage, path)
    assert path.read_bytes() == b"a\nb\n"


def test_a_file_that_was_made_is_put_back_by_the_host(stage: Neovim, workspace: Path) -> None:
    path = workspace / "new.txt"
    show(stage, change(path, kind="new", turn=3))
    stage.keys("r")
    (asked,) = wait_sent(stage, "plan_undo")
    assert (asked["turn"], asked["paths"]) == (3, [str(path)])


def test_what_a_turn_did_to_whole_files_is_put_back_by_the_host(stage: Neovim, file: Path) -> None:
    def other(name: str, kind: str, **fields: Value) -> dict[str, Value]:
        path = file.parent / name
        return change(path, **{"key": f"{name} {kind}", "kind": kind, "line": 1, **fields})

    show(
        stage,
        change(file),
        other("new.txt", "new", text="new file"),
        other("to.txt", "moved", text="moved from from.txt"),
        other("to.txt", "lines"),
        other("gone.txt", "deleted"),
        other("picture.png", "other", text="changed, binary"),
        other("later.txt", "new", turn=2),
    )
    stage.keys("ggr")
    (asked,) = wait_sent(stage, "plan_undo")
    names = [Path(path).name for path in asked["paths"]]
    assert (asked["turn"], names) == (1, ["gone.txt", "new.txt", "picture.png", "to.txt"])
    assert [row for row in rows(stage) if "reverted" in row] == ["reverted  +1 -1  LINE 5"]
    assert file_lines(stage, file) == LINES
    assert stage.eval(f"bufloaded('{file.parent}/to.txt')") == 0
    stage.command("wincmd p | edit code.txt | edit!")


def test_lines_under_the_cursor_are_meant_before_their_file(stage: Neovim, file: Path) -> None:
    show(stage, change(file, key="new", kind="new", line=5, turn=1), change(file, turn=2))
    stage.command("wincmd p | edit code.txt | 5 | Eca changes revert")
    stage.wait_screen("reverted in code.txt, not written yet; u there undoes it")
    assert stage.buffer_lines() == LINES
    assert sent(stage, "plan_undo") == []
    stage.command("edit!")


def test_keys_mean_what_they_mean_in_other_lists(stage: Neovim, file: Path) -> None:
    show(stage, change(file))
    stage.lua("vim.fn.setqflist({ { text = 'other' } })")
    stage.keys("a<Esc>")
    assert "E21" in stage.take_errors()[0]
    assert sent(stage, "keep") == []
    stage.keys(":colder<CR>")
    stage.keys("2Ga")
    assert wait_sent(stage, "keep")
    stage.command("cclose | copen | 2")
    stage.keys("a")
    assert len(wait_sent(stage, "keep", 2)) == 2


def test_keys_of_the_list_are_told(stage: Neovim, file: Path) -> None:
    show(stage, change(file))
    stage.keys("g?")
    screen = stage.wait_screen("revert the change")
    assert "send all comments" in screen


def test_the_list_opens_from_the_chat(stage: Neovim, file: Path) -> None:
    stage.command("EcaChat")
    show(stage, change(file))
    assert stage.eval("winheight(0)") == 10
    stage.keys("<CR>")
    assert stage.eval("expand('%:t')") == "code.txt"
    assert stage.eval("&winfixbuf") == 0


@pytest.mark.parametrize("start", ["", "wincmd p"], ids=["from the chat", "from the file"])
def test_a_chat_that_floats_does_not_cover_the_list(stage: Neovim, file: Path, start: str) -> None:
    stage.resize(60, 24)
    stage.command("EcaChat")
    stage.command(start)
    show(stage, change(file))
    assert stage.eval("map(range(1, winnr('$')), 'winbufnr(v:val)->bufname()')") == [
        "README.md",
        "",
    ]
