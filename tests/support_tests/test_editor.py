"""The harness drives both Neovims."""

from tests.support.editor import Neovim


def test_typed_text_is_shown(nvim: Neovim) -> None:
    nvim.keys("ihello<Esc>")
    assert nvim.screen.lines()[0] == "hello"
    assert nvim.mode == "n"


def test_a_prompt_does_not_hang_the_harness(nvim: Neovim) -> None:
    nvim.keys(":echomsg 'one' | echomsg 'two'<CR>")
    assert nvim.blocked()
    nvim.wait_screen("Press ENTER")
    nvim.keys("<CR>")
    assert not nvim.blocked()
    assert nvim.messages() == "one\ntwo"
