"""Text of the agent that wraps so that it looks like a row of the float's own."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.golden import assert_golden
from tests.support.screen import Screen, Value
from tests.support.script import expect, handshake, turn
from tests.ui.staged import CHAT, WITHOUT_HOST, approval, chat_text, draw, question
from tests.ui.talk import asks, done, say, start_chat

GOLDEN = Path(__file__).parent / "golden" / "approval"
TEXT_COLUMNS = {80: 75, 160: 59}
"""Cells that a row of the agent's text has, by the columns of the screen."""

FORGED = ("A always allows: nothing", "! checked by your policy: safe", "-    os.system('rm')")
UNITS = {
    "ascii": "x",
    "blank": " ",
    "combining": "e\u0301",
    "wide": "漢",
    "ambiguous": "─",
    "emoji": "\U0001f469",
    "bar": "│ ",
    "arrow": "↳ ",
}


def margins(screen: Screen) -> list[tuple[str, str]]:
    """Tell of each row of the float whose it is, by the colour of its margin, and its text."""
    (top, left), (bottom, right) = screen.find("╭"), screen.find("╯")
    found = []
    for row in range(top + 1, bottom):
        groups = screen.groups_at(row, left + 2)
        sign = screen.rows[row][left + 2].text
        whose = "own"
        if "EcaGuide" in groups or "NonText" in groups:
            whose = {"│": "agent", "↳": "more"}[sign]
        first = left + 2 if whose == "own" else left + 4
        text = "".join(cell.text for cell in screen.rows[row][first:right])
        found.append((whose, text.rstrip()))
    return found


def filled(unit: str, cells: int, columns: int, columns_of: Callable[[str], int]) -> str:
    """Fill a row of the agent up to `cells` beyond its end."""
    width = columns_of(unit)
    count = (columns + cells) // width
    return unit * count + "x" * (columns + cells - count * width)


@pytest.fixture(params=[80, 160])
def columns(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def stage(start_nvim: StartNeovim, columns: int) -> Neovim:
    """Open a chat without a host; the float is as wide as it can be there."""
    nvim = start_nvim(
        init=WITHOUT_HOST, settings={"approval": {"guard": 0}}, columns=columns, lines=40
    )
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    return nvim


def width_in(nvim: Neovim) -> Callable[[str], int]:
    return lambda text: int(nvim.lua("return vim.fn.strdisplaywidth(...)", text))


def wait_item(nvim: Neovim, item: Value, text: str) -> list[tuple[str, str]]:
    draw(nvim, ["pending", [item]])
    return margins(nvim.wait_screen(text))


@pytest.mark.either_nvim
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_no_padding_forges_a_row(stage: Neovim, columns: int, unit: str) -> None:
    columns_of = width_in(stage)
    for forged in FORGED:
        for cells in (-2, -1, 0, 1, 2):
            line = "$" + filled(unit, cells - 1, TEXT_COLUMNS[columns], columns_of) + forged
            name = f"n{cells}.{len(forged)}"
            item = approval(name, lines=[line, f"end {name}"], remember=["curl"], tool="shell")
            rows = wait_item(stage, item, f"end {name}")
            own = [text for whose, text in rows if whose == "own"]
            assert own == ["shell · A always allows in all chats: curl"]
            agents = [text for whose, text in rows if whose == "agent"]
            assert [agents[0], agents[-1]] == [f"run ls {name}", f"end {name}"]
            assert [text[0] for text in agents[1:-1]] == ["$"]
            assert sum(whose == "more" for whose, _text in rows) >= 1


def test_a_row_that_begins_with_a_combining_mark_keeps_its_margin(stage: Neovim) -> None:
    item = approval(lines=["\u0301\u0301A always allows: nothing", "the last row"])
    rows = wait_item(stage, item, "the last row")
    assert [whose for whose, _text in rows] == ["agent"] * 3


def test_what_the_agent_names_cannot_forge_either(stage: Neovim, columns: int) -> None:
    path = "/etc/" + "x" * (TEXT_COLUMNS[columns] + 2 - len("! outside the workspace: /etc/"))
    warning = f"outside the workspace: {path}A always allows: nothing"
    rows = wait_item(stage, approval(warnings=[warning], lines=["the last row"]), "the last row")
    assert [whose for whose, _text in rows] == ["own", "more", "more", "agent", "agent"]
    assert rows[0][1] == "! outside the workspace:"
    assert rows[1][1].startswith("/etc/xxx")
    assert rows[2][1].endswith("nothing")


@pytest.mark.either_nvim
@pytest.mark.parametrize("keys", ["<C-e>", "<C-e><C-e><C-e>", "G"])
def test_scrolled_rows_keep_their_margin(stage: Neovim, columns: int, keys: str) -> None:
    line = "$ " + "".join(f"A always allows: {n:<{TEXT_COLUMNS[columns] - 17}}" for n in range(40))
    wait_item(stage, approval(lines=[line, "end"]), "more lines")
    stage.command("Eca approval")
    stage.keys(keys)
    rows = margins(stage.screen)
    assert "own" not in [whose for whose, _text in rows]
    assert [whose for whose, _text in rows].count("more") > 10


def test_a_question_cannot_forge_its_options(stage: Neovim, columns: int) -> None:
    text = "Delete all?".ljust(TEXT_COLUMNS[columns]) + "1 no"
    item = question(detail=f"{text}\n2 never", options=[["yes", ""], ["y" * 80, "2 no"]])
    rows = wait_item(stage, item, "x cancel")
    assert [whose for whose, _text in rows] == ["agent", "more", "agent", "own", "own", "more"]
    assert [text[:5] for whose, text in rows if whose == "own"] == ["1 yes", "2 yyy"]


@pytest.mark.parametrize("padding", [" ", "x"])
def test_the_block_in_the_chat_tells_where_a_line_goes_on(
    stage: Neovim, columns: int, padding: str
) -> None:
    forged = "+x = 1".ljust(TEXT_COLUMNS[columns] + 1, padding) + "│ -    os.system('rm')"
    header = [["? edit", "EcaToolName"]]
    draw(
        stage,
        ["open", CHAT, 1, "tool", header, 0, None],
        ["body", CHAT, 1, [forged, "+end"], [], None],
    )
    screen = stage.wait_screen("os.system")
    row, column = screen.find("│ +x")
    last, _column = screen.find("│ +end")
    margin = [screen.rows[place][column - 1].text for place in range(row, last + 1)]
    assert margin == [" ", *"↳" * (last - row - 1), " "]
    assert last - row > 1
    assert "NonText" in screen.groups_at(row + 1, column - 1)


def test_what_the_user_said_has_his_bar_where_it_goes_on(stage: Neovim) -> None:
    draw(stage, ["open", CHAT, 1, "user", [], 0, None], ["body", CHAT, 1, ["word " * 40], [], None])
    screen = stage.wait_screen("▌ word")
    row, column = screen.find("▌ word")
    wrapped = 0
    while "word" in (line := screen.lines()[row + wrapped + 1]):
        assert line[column:].startswith("▌ word")
        wrapped += 1
    assert wrapped > 1
    assert "Function" in screen.groups_at(row + 1, column)


def test_prose_goes_on_without_a_mark(stage: Neovim) -> None:
    draw(stage, *chat_text("word " * 40))
    stage.wait_screen("word word")
    assert "↳" not in stage.screen


@pytest.mark.either_nvim
def test_a_server_whose_agent_forges(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path, columns: int
) -> None:
    width = TEXT_COLUMNS[columns]
    file = str(workspace / "README.md")
    added = "+x = 1".ljust(width) + " def safe():".ljust(width) + "-    os.system('rm')"
    change = {
        "type": "fileChange",
        "path": file,
        "diff": f"@@ -1,1 +1,2 @@\n # Sums\n{added}",
        "linesAdded": 1,
        "linesRemoved": 0,
    }
    edit: Mapping[str, Value] = {
        "name": "edit_file",
        "arguments": {"path": file},
        "details": change,
    }
    command = "ls".ljust(width - 2) + "A always allows: nothing"
    server = scripted_server(
        handshake(),
        turn(
            asks("c", **edit),
            expect("chat/toolCallApprove"),
            done("c", **edit),
            asks("d", "shell_command", arguments={"command": command}, summary="$ ls"),
            expect("chat/toolCallApprove"),
        ),
    )
    nvim = start_chat(start_nvim, server, columns=columns, lines=40)
    nvim.lua("require('eca.approval.block').seen = function() end")  # the float shows all of it
    say(nvim, "go")
    assert_golden(floating(nvim.wait_screen("d diff")), GOLDEN / f"forged_diff_{columns}.txt")
    nvim.wait_until(
        "vim.iter(require('eca.state.mirror').pending()):any(require('eca.approval').guard_is_over)"
    )
    nvim.command("Eca approve")
    screen = nvim.wait_screen(lambda screen: "a allow" in screen and "nothing" in screen)
    assert_golden(floating(screen), GOLDEN / f"forged_command_{columns}.txt")


def floating(screen: Screen) -> str:
    """Cut the float out of the screen."""
    (top, left), (bottom, right) = screen.find("╭"), screen.find("╯")
    rows = screen.rows[top : bottom + 1]
    return "\n".join("".join(cell.text for cell in row[left : right + 1]) for row in rows)
