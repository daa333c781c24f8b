"""A login with a key: in no file, buffer, register, history or log, and never on the screen."""

from __future__ import annotations

import pytest
from tests.support.client import TIMEOUT
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import (
    ask,
    expect,
    handshake,
    leave,
    status,
    text,
    turn,
)
from tests.support.servers import ScriptedServer
from tests.ui.logging_in import (
    HISTORIES,
    KEY,
    OPTIONS,
    PASTED,
    TYPED,
    answers,
    assert_clean,
    assert_no_file_has_it,
    is_cancelled,
    nothing_of_the_key,
    start,
    starts,
    takes_key,
    takes_models,
    type_key,
    wait_asked,
    wants_key,
)
from tests.ui.talk import draft, lines_of, prompts, say, wait_idle, wait_line

ASKS = "Paste your API Key"
MODELS = "Inform one or more models"


def begin(start_nvim: StartNeovim, server: ScriptedServer) -> Neovim:
    """Start a login that waits for a key, with the cursor in the empty input."""
    nvim = start(start_nvim, server)
    say(nvim, "/login z-ai")
    wait_asked(nvim, ASKS)
    return nvim


def test_a_key_is_nowhere_but_with_the_server(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(
        *(handshake(), starts(wants_key()), takes_key(), takes_models()),
        *(turn(text("answer")), turn(text("later"))),
    )
    nvim = begin(start_nvim, server)
    with nothing_of_the_key(nvim):
        nvim.wait_screen("> type the secret, hidden · <C-s> asks")
        nvim.keys(":Eca queue for later<CR>")
        nvim.wait_screen("⧗ for later")
        nvim.keys("i")
        type_key(nvim)
        nvim.keys("<C-f><CR>")  # no window for command lines opens
        wait_asked(nvim, MODELS)
        assert prompts(server) == ["/login z-ai", KEY]
        assert not server.received("chat/promptSteer")
        assert "contexts" not in server.received("chat/prompt")[1]["params"]
        assert f"✓ {ASKS} → *****" in lines_of(nvim)
        nvim.keys("<Esc>uuUU.<Esc>")
        assert draft(nvim) == ""
        nvim.keys("iglm-4")
        nvim.wait_screen("Answer> glm-4")
        nvim.keys("<C-s><Esc>")
        wait_line(nvim, "Login successful!")
        assert f"✓ {MODELS} → glm-4" in lines_of(nvim)
        nvim.wait_for(lambda: prompts(server)[2:] == ["glm-4", "for later"], "what waited")
        wait_idle(nvim)


@pytest.mark.either_nvim
@pytest.mark.parametrize("way", ["typed", "pasted", "sent", "float", "normal paste"])
def test_every_way_to_the_request_asks_for_it_hidden(
    way: str, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), starts(wants_key()), takes_key(), takes_models())
    nvim = begin(start_nvim, server)
    with nothing_of_the_key(nvim):
        if way in ("typed", "pasted"):
            nvim.keys("i")
        elif way == "sent":
            nvim.keys("i<C-s>")
        elif way == "float":
            nvim.keys("g<CR>i")
        if way in ("pasted", "normal paste"):
            nvim.paste(f"{KEY}\n")
        else:
            type_key(nvim)
        nvim.wait_screen(f"{ASKS} (hidden): {'*' * len(KEY)}")
        nvim.keys("<CR><Esc>")
        wait_asked(nvim, MODELS)
        assert prompts(server) == ["/login z-ai", KEY]
        nvim.keys("<Esc>:new<CR>.")
        assert_clean("\n".join(nvim.buffer_lines()))


def test_a_word_is_not_sent_to_a_model_meanwhile(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), starts(wants_key()), takes_key(), takes_models())
    nvim = begin(start_nvim, server)
    nvim.lua("require('eca.input.field').set_draft(vim.api.nvim_get_current_buf(), 'sk-word')")
    nvim.keys("<C-s>")
    nvim.wait_screen(f"(hidden): {'*' * len('sk-word')}")
    nvim.keys("<Esc>")
    assert draft(nvim) == "sk-word", "it is not lost"
    for command in ("EcaChat", "Eca steer", "Eca queue"):
        nvim.keys(f":{command} {TYPED}<CR>")
        nvim.wait_screen(f"(hidden): {'*' * len(TYPED)}")
        nvim.keys("<Esc>")
    assert_clean("\n".join(nvim.lua(HISTORIES)))
    assert prompts(server) == ["/login z-ai"]
    nvim.keys(f":EcaChat {TYPED}<CR>{PASTED}<CR>")
    wait_asked(nvim, MODELS)
    assert prompts(server) == ["/login z-ai", KEY]


def test_neovim_goes_on_while_it_is_typed(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    """Another chat streams on, and the login ends: what is typed then goes nowhere."""
    crash = [*expect("chat/prompt"), *status("running"), *text("streamed on"), *leave(7)]
    server = scripted_server(handshake(), starts(wants_key()), crash)
    nvim = begin(start_nvim, server)
    with nothing_of_the_key(nvim):
        nvim.keys("i")
        type_key(nvim)
        nvim.lua("require('eca').send('hello', { chat = require('eca').new() })")
        nvim.wait_until("#require('eca').pending() == 0")
        assert nvim.mode == "c"
        nvim.keys("<CR><Esc>")
        nvim.wait_until("vim.fn.execute('messages'):find('no longer pending') ~= nil")
        transcripts = nvim.lua(
            "return vim.tbl_map(function(it) return require('eca').transcript(it.id) end,"
            " require('eca').chats())"
        )
        assert "streamed on" in "\n".join(transcripts)
        assert prompts(server) == ["/login z-ai", "hello"]


def test_no_macro_gets_it(start_nvim: StartNeovim, scripted_server: PrepareScript) -> None:
    server = scripted_server(handshake(), starts(wants_key()), takes_key())
    nvim = begin(start_nvim, server)
    with nothing_of_the_key(nvim):
        nvim.keys("qbi<C-s><Esc>q")
        nvim.wait_screen("stop recording first")
        assert nvim.mode == "n"
        nvim.keys("i")
        type_key(nvim)
        nvim.keys("<CR><Esc>")
        wait_asked(nvim, MODELS)


def test_neovim_may_end_while_it_is_typed(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim = begin(start_nvim, scripted_server(handshake(), starts(wants_key())))
    nvim.keys("i")
    type_key(nvim)
    nvim.lua("vim.schedule(function() vim.cmd('qa!') end)")
    nvim.child.wait(TIMEOUT)
    assert_no_file_has_it(nvim)


def test_a_choice_is_made_in_the_float(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    which = {"chatId": "$chat", "question": "Select the provider:", "options": OPTIONS}
    asks = ask("chat/askQuestion", {**which, "allowFreeform": False, "requestId": "r1"})
    server = scripted_server(handshake(), starts(), asks, wants_key(), takes_key(), takes_models())
    nvim = start(start_nvim, server)
    say(nvim, "/login")
    wait_asked(nvim, "Select the provider:")
    with nothing_of_the_key(nvim):
        nvim.keys("g<CR>2")
        wait_asked(nvim, ASKS)
        assert server.answers()[0]["result"] == {"answer": "z-ai", "cancelled": False}
        nvim.lua("require('eca').answer(...)", KEY)
        wait_asked(nvim, MODELS)
        assert prompts(server) == ["/login", KEY]


@pytest.mark.either_nvim
@pytest.mark.parametrize("asks", [True, False], ids=["asks", "waits"])
def test_a_stop_cancels_it(
    asks: bool, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    which = {"chatId": "$chat", "question": "Which?", "options": OPTIONS, "requestId": "r1"}
    if asks:
        login = [*starts(), *ask("chat/askQuestion", which), *is_cancelled()]
    else:
        cancel = [*expect("chat/prompt"), *text("cancel\n", role="user"), *is_cancelled()]
        login = [*starts(wants_key()), *cancel, *answers("idle")]
    server = scripted_server(handshake(), login, turn(text("answer")))
    nvim = start(start_nvim, server)
    say(nvim, "/login")
    wait_asked(nvim, "Which?" if asks else ASKS)
    nvim.keys("<Esc><C-c>")
    wait_line(nvim, "Login cancelled")
    wait_idle(nvim)
    assert prompts(server) == (["/login"] if asks else ["/login", "cancel"])
    say(nvim, "hello")
    nvim.wait_for(lambda: prompts(server)[-1] == "hello", "an ordinary prompt")
