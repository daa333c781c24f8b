"""Numbers that Neovim cannot represent do no harm."""

from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import content, handshake, text, turn
from tests.ui.talk import say, start_chat, wait_line

ODD = (2**64, -(2**63) - 1, 10**400, 1e308)


def test_a_chat_goes_on_after_odd_numbers(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    usages = [
        content({"type": "usage", "sessionTokens": odd, "limit": {"context": odd, "output": 1}})
        for odd in ODD
    ]
    server = scripted_server(handshake(), turn(text("first\n"), *usages, text("\nlast")))
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_line(nvim, "last")
