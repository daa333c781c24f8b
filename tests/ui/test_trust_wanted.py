"""A server whose configuration wants trust: the user is asked once."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import CONFIG, Steps, handshake, send, text, turn
from tests.support.servers import ScriptedServer
from tests.ui.talk import say, start_chat, wait_idle, wait_line

pytestmark = pytest.mark.either_nvim

QUESTION = "WITHOUT ASKING you. Allow that in this project?"
WANTS = send("config/updated", {"chat": {**CONFIG["chat"], "selectTrust": True}})


def trust(nvim: Neovim) -> object:
    return nvim.lua("return require('eca').status().trust")


def sent_trust(server: ScriptedServer) -> list[object]:
    """Return what each prompt said of trust."""
    return [it["params"].get("trust") for it in server.received("chat/prompt")]


def claims() -> Steps:
    """Say of the chat that it is trusted, in all the ways a server has."""
    told = {"chatId": "$chat", "chat": {"selectTrust": True}, "trust": True}
    return [*send("config/updated", told), *send("chat/opened", told)]


def test_a_server_that_says_a_chat_is_trusted_changes_nothing(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), turn(claims(), text("one")), turn(text("two")))
    nvim = start_chat(start_nvim, server)
    for words, answer in (("first", "one"), ("second", "two")):
        say(nvim, words)
        wait_line(nvim, answer)
        wait_idle(nvim)
    assert trust(nvim) is False
    assert "TRUST" not in nvim.screen
    assert sent_trust(server) == [False, False]


def test_a_server_that_wants_trust_is_one_question(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), WANTS, turn(text("one")), turn(text("two")))
    nvim = start_chat(start_nvim, server)
    nvim.keys("itypi")
    screen = nvim.wait_screen(QUESTION)
    nvim.keys("ng")  # the question took neither focus nor keys
    nvim.wait_screen("typing")
    assert ("1 No" in screen, "2 Yes" in screen, "TRUST" in screen) == (True, True, False)
    nvim.keys("<C-s>")
    wait_line(nvim, "one")
    wait_idle(nvim)
    nvim.keys("<Esc>:EcaChat!<CR>")
    nvim.wait_screen(QUESTION)  # it ended with the turn, and without an answer it is no for now
    nvim.command("Eca answer Yes")
    nvim.wait_screen("TRUST")
    say(nvim, "again")
    wait_line(nvim, "two")
    assert sent_trust(server) == [False, True]


def test_the_answer_is_kept(start_nvim: StartNeovim, scripted_server: PrepareScript) -> None:
    server = scripted_server(handshake(), WANTS, turn(text("one")))
    places = {"XDG_STATE_HOME": str(server.journal.parent / "state")}
    first = start_chat(start_nvim, server, environment=places)
    first.wait_screen(QUESTION)
    first.command("Eca answer Yes")
    first.wait_screen("TRUST")
    first.finish()
    second = start_chat(start_nvim, server, environment=places)
    second.wait_screen("TRUST")
    assert QUESTION not in second.screen
    second.keys(":Eca trust off<CR>")
    second.wait_until("require('eca').status().trust == false")
    second.finish()
    third = start_chat(start_nvim, server, environment=places)
    say(third, "hello")
    wait_line(third, "one")
    assert trust(third) is False
    assert QUESTION not in third.screen
    assert sent_trust(server) == [False]
