"""Screens with trust on, at 80 and at 160 columns: it is always visible."""

import pytest
from tests.support.factories import AssertScreen, PrepareScript, StartNeovim
from tests.support.script import content, handshake, text, turn
from tests.ui.talk import done, say, start_chat, tool, wait_idle

USAGE = {"type": "usage", "sessionTokens": 34_000, "limit": {"context": 200_000}}
TITLE = "Make the flaky tests of the parser pass again"


@pytest.mark.either_nvim
@pytest.mark.parametrize("columns", [80, 160])
def test_trust_is_told_before_all_else(
    start_nvim: StartNeovim,
    scripted_server: PrepareScript,
    assert_screen: AssertScreen,
    columns: int,
) -> None:
    server = scripted_server(
        handshake(),
        turn(
            content({"type": "metadata", "title": TITLE}, "system"),
            tool("Run", manualApproval=False, arguments={"pattern": "parser", "path": "src"}),
            done(arguments={"pattern": "parser", "path": "src"}),
            content(USAGE, "system"),
            text("They pass."),
        ),
    )
    nvim = start_chat(start_nvim, server, columns=columns, lines=24)
    nvim.command("set statusline=%t")
    nvim.keys(":Eca trust on<CR>")
    nvim.wait_screen("TRUST")
    say(nvim, "go")
    nvim.wait_screen("They pass.")
    wait_idle(nvim)
    screen = nvim.wait_screen("Make the")
    assert "ErrorMsg" in screen.groups_at(*screen.find("TRUST"))
    assert_screen(nvim, f"trust/idle_{columns}")
    nvim.keys(":Eca trust off<CR>")
    nvim.wait_screen(lambda screen: "TRUST" not in screen)
