"""The files that an agent has used: the float, the API and the event."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import AssertScreen, StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, draw, wait_sent
from tests.ui.talk import Value

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.render.panel_rows import used_file_rows
from eca_nvim.chat.vocabulary.call_details import Use
from eca_nvim.chat.vocabulary.turn_events import UsageReported


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    settings = {"approval": {"guard": 0}}
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings=settings, columns=80)
    nvim.lua(f"require('eca.chat.buffers').ensure('{CHAT}')")
    return nvim


def show(nvim: Neovim, table: Value) -> None:
    nvim.command("Eca files")
    (asked,) = wait_sent(nvim, "files")
    assert asked["chat"] == CHAT
    draw(nvim, ["answer", asked["request"], table])


def used(workspace: Path, *names: str) -> Value:
    """Return what the host answers after these files were read."""
    chat = Chat(CHAT, RenderSettings(folders=(str(workspace),)))
    for name in names:
        chat.used.note(str(workspace / name), Use.READ)
    return used_file_rows(chat, {})


def test_files_are_listed_and_opened(
    stage: Neovim, workspace: Path, assert_screen: AssertScreen
) -> None:
    chat = Chat(
        CHAT, RenderSettings(folders=(str(workspace),)), usage=UsageReported(34_120, 200_000)
    )
    for number in range(1, 5):
        chat.turn.number = number
        chat.used.begin_turn(number)
        chat.used.note(str(workspace / "README.md"), Use.READ)
        chat.used.note(f"/etc/{number}", Use.RUN)
    calc = str(workspace / "src" / "calc.py")
    for use in (*Use, Use.READ, Use.WRITTEN):
        chat.used.note(calc, use)
    chat.used.add_lines(calc, 10, 2)
    show(stage, used_file_rows(chat, {}))
    stage.wait_screen("files of this chat")
    assert_screen(stage, "files_used")
    stage.keys("gg<CR>")
    stage.wait_screen("files of this chat")
    stage.keys("jj<CR>")
    assert stage.eval("expand('%:t')") == "calc.py"
    assert "files of this chat" not in stage.screen


def test_a_file_that_is_gone_is_told(stage: Neovim, workspace: Path) -> None:
    show(stage, used(workspace, "src/gone.py", "src/gone.py", "src/calc.py"))
    stage.wait_screen("files of this chat")
    stage.keys("<CR>")
    stage.wait_screen("src/gone.py does not exist any more")
    assert stage.eval("bufexists('src/gone.py')") == 0
    stage.keys("j<CR>")
    assert stage.eval("expand('%:t')") == "calc.py"


def test_a_key_that_comes_too_soon_opens_nothing(stage: Neovim, workspace: Path) -> None:
    stage.lua("require('eca.config').setup({ approval = { guard = 600000 } })")
    show(stage, used(workspace, "src/calc.py"))
    stage.wait_screen("files of this chat")
    stage.keys("<CR>")
    stage.wait_screen("files of this chat")
    stage.keys("q")
    assert stage.eval("expand('%:t')") == "README.md"


def test_who_goes_on_keeps_his_keys(stage: Neovim, workspace: Path) -> None:
    stage.command("Eca files")
    (asked,) = wait_sent(stage, "files")
    stage.keys("A<CR>")
    draw(stage, ["answer", asked["request"], used(workspace, "src/calc.py")])
    stage.lua("return 1")
    assert stage.mode == "i"
    stage.keys("<Esc>")
    stage.wait_screen("the list was not opened, as you kept typing: ask again")


def test_no_files_are_said(stage: Neovim) -> None:
    show(stage, used(Path("/workspace")))
    stage.wait_screen("the agent of this chat has not used any files")


def test_without_a_chat_there_is_nothing(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST)
    nvim.command("Eca files")
    nvim.wait_screen("no chat yet")


LISTEN = """
vim.g.heard = {}
vim.api.nvim_create_autocmd('User', { pattern = 'EcaFilesUsed', callback = function(event)
  local heard = vim.g.heard
  heard[#heard + 1] = event.data
  vim.g.heard = heard
end })
"""


def test_the_view_keeps_the_files_and_announces_them_once_a_frame(stage: Neovim) -> None:
    def file(path: str, turn: int, heat: float, **counts: int) -> Value:
        return {"path": path, "outside": False, "turn": turn, "heat": heat, **counts}

    def files(chat: str = f"'{CHAT}'") -> Value:
        return stage.lua(f"return require('eca').files({chat})")

    def heard() -> Value:
        return stage.eval("g:heard")

    stage.lua(LISTEN)
    assert files() == []
    assert files("'nobody'") == []
    assert files("") == []
    a, b = file("/w/a", 1, 1.0, read=1), file("/w/b", 1, 2.0, read=1, written=1)
    draw(stage, ["used", CHAT, 1, [a], []], ["used", CHAT, 1, [b], []])
    draw(stage, ["used", CHAT, 1, [file("/w/replayed", 0, 0.0, read=7)], []])
    stage.wait_until("#require('eca').files('c1') == 3")
    none = {"read": 0, "written": 0, "mentioned": 0, "run": 0}
    assert files() == [{**none, **b}, {**none, **a}, {**none, **file("/w/replayed", 0, 0, read=7)}]
    assert heard() == [{"chat": CHAT, "turn": 1, "files": [{**none, **b}, {**none, **a}]}]
    writers = "return require('eca.state.used_files').writers(...)"
    assert [stage.lua(writers, path) for path in ("/w/a", "/w/b", "/w/c")] == [[], [CHAT], []]
    draw(stage, ["used", CHAT, 3, [], []])
    stage.wait_until("require('eca').files('c1')[1].heat == 0.5")
    assert [it["heat"] for it in files()] == [0.5, 0.25, 0]
    assert len(heard()) == 1, "cooling is not a use"
    draw(stage, ["used", CHAT, 3, [file("/w/a", 3, 1.25, read=2)], ["/w/b"]])
    stage.wait_until("#vim.g.heard == 2")
    assert [it["path"] for it in files()] == ["/w/a", "/w/replayed"]
    assert heard()[1]["files"] == [{**none, **file("/w/a", 3, 1.25, read=2)}]
    stage.lua("require('eca.view.host_gone').show()")
    assert files() == [], "another host counts its turns from 1 again"
    draw(stage, ["used", CHAT, 1, [a], []])
    stage.wait_until("#require('eca').files('c1') == 1")
    draw(stage, ["forget", CHAT])
    stage.wait_until("#require('eca').files('c1') == 0")
