"""The float with the files that a chat's tools used."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import AssertScreen, StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, draw, wait_sent
from tests.ui.talk import Value

from eca_nvim.chat.model.call_files import FileUse
from eca_nvim.review.files_used import use_segments


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    settings = {"approval": {"guard": 0}}
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings=settings, columns=80)
    nvim.lua(f"require('eca.chat.buffers').ensure('{CHAT}')")
    return nvim


def show(nvim: Neovim, *uses: Value) -> None:
    nvim.command("Eca files")
    (asked,) = wait_sent(nvim, "files")
    assert asked["chat"] == CHAT
    draw(nvim, ["answer", asked["request"], list(uses)])


def use(path: Path, reads: int = 0, changes: int = 0, added: int = 0, removed: int = 0) -> Value:
    words = use_segments(FileUse(reads, changes, added, removed))
    return {"path": str(path), "use": words}


def test_files_are_listed_and_opened(
    stage: Neovim, workspace: Path, assert_screen: AssertScreen
) -> None:
    show(
        stage,
        use(workspace / "src" / "calc.py", 3, 2, 10, 2),
        use(workspace / "README.md", 1),
        use(workspace / "new.py", 0, 1, 7),
    )
    stage.wait_screen("files of this chat")
    assert_screen(stage, "files_used")
    stage.keys("<CR>")
    assert stage.eval("expand('%:t')") == "calc.py"
    assert "files of this chat" not in stage.screen


def test_a_file_that_is_gone_is_told(stage: Neovim, workspace: Path) -> None:
    show(stage, use(workspace / "src" / "gone.py", 3), use(workspace / "src" / "calc.py", 1))
    stage.wait_screen("files of this chat")
    stage.keys("<CR>")
    stage.wait_screen("src/gone.py does not exist any more")
    assert stage.eval("bufexists('src/gone.py')") == 0
    stage.keys("j<CR>")
    assert stage.eval("expand('%:t')") == "calc.py"


def test_a_key_that_comes_too_soon_opens_nothing(stage: Neovim, workspace: Path) -> None:
    stage.lua("require('eca.config').setup({ approval = { guard = 600000 } })")
    show(stage, use(workspace / "src" / "calc.py", 3))
    stage.wait_screen("files of this chat")
    stage.keys("<CR>")
    assert "files of this chat" in stage.screen
    stage.keys("q")
    assert stage.eval("expand('%:t')") == "README.md"


def test_who_goes_on_keeps_his_keys(stage: Neovim, workspace: Path) -> None:
    stage.command("Eca files")
    (asked,) = wait_sent(stage, "files")
    stage.keys("A<CR>")
    draw(stage, ["answer", asked["request"], [use(workspace / "src" / "calc.py", 3)]])
    stage.lua("return 1")
    assert stage.mode == "i"
    stage.keys("<Esc>")
    stage.wait_screen("the list of files was not opened, as you kept typing: ask again")


def test_no_files_are_said(stage: Neovim) -> None:
    show(stage)
    stage.wait_screen("the tools of this chat have not used any files")


def test_without_a_chat_there_is_nothing(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST)
    nvim.command("Eca files")
    nvim.wait_screen("no chat yet")
