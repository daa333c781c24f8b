"""Screens of every state of the float that asks, at 80 and at 160 columns."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.support.factories import StartNeovim
from tests.support.golden import assert_golden
from tests.support.screen import Screen, Value
from tests.ui.staged import CHAT, WITHOUT_HOST, approval, chat_text, draw, question

GOLDEN = Path(__file__).parent / "golden" / "approval"
COMMAND = "$ git push --force-with-lease origin feature/approval && make release VERSION=1.2.3"
DIFF: Mapping[str, Value] = {
    "title": "edit src/io.py +1 -1",
    "tool": "edit_file",
    "lines": ["@@ -10,3 +10,3 @@", " import io", "-for line in f:", "+for line in list(f):"],
    "marks": [[0, 0, -1, "EcaDiffHunk"], [2, 0, -1, "EcaDiffDelete"], [3, 0, -1, "EcaDiffAdd"]],
    "paths": ["/w/src/io.py"],
    "remember": ["edit_file"],
}
SHELL: Mapping[str, Value] = {"title": COMMAND, "lines": [COMMAND], "tool": "shell_command"}
STATES: Mapping[str, Sequence[Value]] = {
    "command": [approval(**SHELL, remember=["git push", "make"])],
    "nothing_new": [approval(**SHELL)],
    "edit": [approval(**DIFF)],
    "queue": [approval("t1", **DIFF), approval("t2"), approval("t3", chat="c2")],
    "long_diff": [
        approval(**{**DIFF, "lines": [f"+line {row}" for row in range(40)], "marks": []})
    ],
    "long_command": [approval(**{**SHELL, "lines": ["$ echo " + "word " * 400]})],
    "forged_name": [approval(**{**DIFF, "tool": "edit · A always allows: nothing"})],
    "subagent": [approval(**SHELL, agent="explorer")],
    "unknown_tool": [
        approval(
            title="unknown tool",
            lines=["path: /etc/passwd"],
            warnings=[
                "the server has no such tool, or it is switched off",
                "outside the workspace: /etc/passwd",
            ],
        )
    ],
    "no_details": [
        approval(
            title="tracker/close",
            tool="tracker/close",
            lines=[],
            warnings=["the server does not say what it will do"],
        )
    ],
    "hidden_text": [approval(**{**SHELL, "lines": ["$ rm <U+202E>fdp.sh ", "  \techo ␛[8m"]})],
    "question": [question()],
}


def floating(screen: Screen) -> str:
    """Cut the float out of the screen."""
    top, left = screen.find("╭")
    bottom, right = screen.find("╯")
    rows = screen.rows[top : bottom + 1]
    return "\n".join("".join(cell.text for cell in row[left : right + 1]) for row in rows)


@pytest.mark.either_nvim
@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.parametrize("state", STATES)
def test_what_waits_is_seen(start_nvim: StartNeovim, state: str, columns: int) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, columns=columns, lines=30)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    draw(nvim, *chat_text("hello"), ["pending", list(STATES[state])])
    nvim.wait_screen(lambda screen: "allow this?" in screen or "the agent asks" in screen)
    nvim.keys("")
    assert_golden(floating(nvim.screen), GOLDEN / f"{state}_{columns}.txt")


def test_the_last_key_is_told_where_one_cell_is_missing(start_nvim: StartNeovim) -> None:
    """The keys with what they do, and the blank before them, take 56 cells."""
    nvim = start_nvim(init=WITHOUT_HOST, columns=80, lines=30)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.command("vertical resize 57")
    draw(nvim, ["pending", STATES["edit"]])
    nvim.wait_screen("╰a allow  A always  r reject  R + reason  d diff  q hide╯")
