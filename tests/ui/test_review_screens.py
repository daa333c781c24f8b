"""Screens of a review: a turn with a real host, and conflicts."""

from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import AssertScreen, PrepareScript, StartNeovim
from tests.support.script import Steps, expect, handshake, turn
from tests.support.servers import ScriptedServer
from tests.ui.staged import CHAT, WITHOUT_HOST, draw
from tests.ui.talk import asks, done, say, start_chat, wait_idle

WIDTHS = (80, 160)
PLAIN = WITHOUT_HOST + "vim.o.statusline = '%t %m'"
"""Neovims shorten a status line of their own each in its way."""
EDITED = {
    "type": "fileChange",
    "path": "$workspace/src/calc.py",
    "diff": "@@ -1,2 +1,3 @@\n def add(a, b):\n+    # exact\n     return a + b\n"
    "@@ -5,2 +6,3 @@\n def sub(a, b):\n+    # exact\n     return a - b\n",
    "linesAdded": 2,
    "linesRemoved": 0,
}
CALLS = {
    "edit": ("edit_file", {"path": "$workspace/src/calc.py"}),
    "new": ("write_file", {"path": "$workspace/src/new module.py"}),
    "gone": ("edit_file", {"path": "$workspace/gone.txt"}),
    "move": (
        "move_file",
        {"source": "$workspace/README.md", "destination": "$workspace/docs/NOTES.md"},
    ),
    "image": ("write_file", {"path": "$workspace/picture.png"}),
}
Change = Callable[[Path], None]
MODELS = ("mock/mock-2", "mock/mock-1")
"""What is chosen in each turn, which tells the server that the files are changed."""
MORE = {"more": ("edit_file", {"path": "$workspace/src/new module.py"})}


def change_files(folder: Path) -> None:
    """Do what the calls of the first turn say."""
    calc = folder / "src" / "calc.py"
    calc.write_text(calc.read_text().replace("return", "# exact\n    return"))
    (folder / "src" / "new module.py").write_text("ANSWER = 42\n")
    (folder / "gone.txt").unlink()
    (folder / "docs").mkdir()
    (folder / "README.md").rename(folder / "docs" / "NOTES.md")
    (folder / "picture.png").write_bytes(b"\x89PNG\0after")


def change_more(folder: Path) -> None:
    (folder / "src" / "new module.py").write_text('"""Answers."""\n\nANSWER = 42\n')


def calls(*names: str) -> Steps:
    """Let the agent ask for calls, and end them when the test has changed the files."""
    asked, ended = Steps(), Steps()
    for name in names:
        tool, arguments = {**CALLS, **MORE}[name]
        details = {"details": EDITED} if name == "edit" else {}
        asked += asks(name, tool, arguments=arguments, **details)
        ended += done(name, "ok", tool, arguments=arguments, **details)
    approved = expect("chat/toolCallApprove") * len(names)
    return [*asked, *approved, *expect("chat/selectedModelChanged"), *ended]


def play(
    nvim: Neovim, server: ScriptedServer, prompt: str, asked: Collection[str], change: Change
) -> None:
    """Have a turn change files after the server heard that its calls may run, before they end."""
    turn_number = len(server.received("chat/prompt"))
    heard = len(server.received("chat/toolCallApprove"))
    say(nvim, prompt)
    nvim.wait_until(f"#require('eca').pending() == {len(asked)}")
    nvim.lua("require('eca').approve({ all = true })")
    approved = heard + len(asked)
    nvim.wait_for(lambda: len(server.received("chat/toolCallApprove")) == approved, "the approvals")
    change(nvim.launch.cwd)
    nvim.command(f"Eca model {MODELS[turn_number]}")
    wait_idle(nvim)


@pytest.fixture
def server(scripted_server: PrepareScript) -> ScriptedServer:
    return scripted_server(handshake(), turn(calls(*CALLS)), turn(calls(*MORE)))


@pytest.fixture
def start(
    start_nvim: StartNeovim, server: ScriptedServer, workspace: Path
) -> Callable[[int], Neovim]:
    """Start Neovim, have two turns change files, and hide the chat."""

    def play_both(columns: int) -> Neovim:
        (workspace / "gone.txt").write_text("one\ntwo\n")
        (workspace / "picture.png").write_bytes(b"\x89PNG\0before")
        settings = {"approval": {"guard": 0}}
        nvim = start_chat(
            start_nvim, server, "src/mod.lua", settings=settings, columns=columns, lines=24
        )
        nvim.wait_until("require('eca').status().server == 'ready'")
        play(nvim, server, "tidy up", CALLS, change_files)
        play(nvim, server, "say what it is", MORE, change_more)
        nvim.command("Eca hide")
        return nvim

    return play_both


def wait_row(nvim: Neovim, text: str) -> None:
    nvim.wait_until(f"vim.api.nvim_get_current_line():find({text!r}, 1, true)")


def comment(nvim: Neovim, text: str) -> None:
    """Comment on what is under the cursor."""
    nvim.input("c")
    nvim.wait_screen("Comment on ")
    nvim.keys(f"{text}<CR>")
    nvim.wait_until(
        "vim.iter(vim.fn.getqflist()):any(function(it) return "
        f"it.text == 'comment, not sent: {text}' end)"
    )


@pytest.mark.either_nvim
@pytest.mark.parametrize("columns", WIDTHS)
def test_changes_and_what_was_done_with_them(
    start: Callable[[int], Neovim], assert_screen: AssertScreen, columns: int
) -> None:
    nvim = start(columns)
    nvim.keys(":Eca changes<CR>")
    nvim.wait_screen("turn 2: say what it is")
    assert_screen(nvim, f"review/changes_{columns}")
    nvim.keys("r")
    wait_row(nvim, "reverted")
    nvim.keys("ja")
    wait_row(nvim, "kept")
    nvim.keys("j")
    comment(nvim, "why a new file?")
    nvim.keys("gg")
    comment(nvim, "one thing at a time, please")
    nvim.keys(":echo<CR>")
    assert_screen(nvim, f"review/changes_done_{columns}")
    nvim.keys(":Eca changes<CR>")
    nvim.wait_screen("2 comments not sent yet")
    assert_screen(nvim, f"review/changes_again_{columns}")
    nvim.keys("ggr")
    nvim.wait_screen("undo turn 1: tidy up")
    assert_screen(nvim, f"review/revert_turn_{columns}")


@pytest.mark.either_nvim
@pytest.mark.parametrize("columns", WIDTHS)
def test_files(start: Callable[[int], Neovim], assert_screen: AssertScreen, columns: int) -> None:
    nvim = start(columns)
    nvim.keys(":Eca files<CR>")
    nvim.wait_screen("files of this chat")
    assert_screen(nvim, f"review/files_{columns}")


@pytest.mark.either_nvim
@pytest.mark.parametrize("columns", WIDTHS)
def test_conflicts(
    start_nvim: StartNeovim, workspace: Path, assert_screen: AssertScreen, columns: int
) -> None:
    nvim = start_nvim(init=PLAIN, columns=columns)
    for name in ("README.md", "src/calc.py"):
        path = workspace / name
        nvim.command(f"edit {name}")
        nvim.keys("Omine<Esc>")
        path.write_text(f"theirs\n{path.read_text()}")
        draw(nvim, ["files", CHAT, [str(path)]])
        nvim.wait_screen(f"{name} changed on disk")
    assert_screen(nvim, f"review/conflict_{columns}")
    nvim.input(":Eca conflicts<CR>")
    nvim.wait_screen("Changed on disk and in a buffer")
    assert_screen(nvim, f"review/conflicts_{columns}")
    nvim.input("2<CR>")
    nvim.wait_screen("2: take theirs")
    assert_screen(nvim, f"review/conflict_choice_{columns}")
    nvim.keys("3<CR>")
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")
    assert_screen(nvim, f"review/conflict_diff_{columns}")


@pytest.mark.either_nvim
@pytest.mark.parametrize("columns", WIDTHS)
def test_follow(
    start_nvim: StartNeovim, workspace: Path, assert_screen: AssertScreen, columns: int
) -> None:
    settings = {"follow": True}
    nvim = start_nvim("README.md", init=PLAIN, settings=settings, columns=columns)
    nvim.keys(":EcaChat<CR>")
    chat, path = nvim.eval("g:eca_status.chat"), workspace / "src" / "calc.py"
    path.write_text("".join(f"line {number}\n" for number in range(1, 41)))
    draw(nvim, ["place", chat, str(path), [[20, 2], [25, 1]], True])
    nvim.wait_screen("line 20")
    assert_screen(nvim, f"review/follow_{columns}")
    moved = workspace / "sums.py"
    path.rename(moved)
    ends = [str(path), str(moved)]
    draw(nvim, ["files", chat, ends, ends])
    nvim.wait_screen("calc.py was moved to sums.py")
    nvim.wait_until("vim.fn.bufwinid('^sums.py$') > 0")
    assert_screen(nvim, f"review/follow_moved_{columns}")
    moved.unlink()
    draw(nvim, ["files", chat, [str(moved)]])
    nvim.wait_screen("sums.py was deleted on disk")
    assert_screen(nvim, f"review/follow_deleted_{columns}")
