"""A login with a key: in no file, buffer, register, history or log, and never on the screen."""

import pytest
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
from tests.ui.logging_in import (
    KEY,
    OPTIONS,
    answers,
    assert_clean,
    assert_forgotten,
    is_cancelled,
    nothing_of_the_key,
    start,
    starts,
    takes_key,
    takes_models,
    type_key,
    wait_login,
    wants_key,
)
from tests.ui.talk import draft, lines_of, prompts, say, wait_idle, wait_line


def test_a_key_is_nowhere_but_with_the_server(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(
        *(handshake(), starts(wants_key()), takes_key(), takes_models()),
        *(turn(text("answer")), turn(text("later"))),
    )
    nvim = start(start_nvim, server)
    nvim.keys("idraft of mine<Esc>:EcaChat /login z-ai<CR>")
    wait_login(nvim)
    with nothing_of_the_key(nvim):
        screen = nvim.wait_screen("? login")
        assert "draft of mine" not in screen
        assert "@" not in screen.lines()[screen.find("Login>").row - 1]
        nvim.keys(":Eca queue for later<CR>")
        nvim.wait_screen("⧗ for later")
        type_key(nvim)
        nvim.keys("<M-p><M-n><Esc>yy0Dpvly:s/x/y/e<CR>")
        nvim.wait_screen(f"Login> {'•' * len(KEY)}")
        nvim.keys("<C-s>")
        wait_line(nvim, "Inform one or more models")
        assert prompts(server) == ["/login z-ai", KEY]
        assert not server.received("chat/promptSteer")
        assert "contexts" not in server.received("chat/prompt")[1]["params"]
        assert lines_of(nvim).count("*****") == 1
        nvim.keys("u.")
        assert_clean(draft(nvim))
        nvim.keys("ccglm-4<C-s>")
        wait_line(nvim, "Login successful!")
        nvim.wait_for(lambda: prompts(server)[2:] == ["glm-4", "for later"], "what waited")
        nvim.wait_screen("> draft of mine")
        nvim.keys("<Esc>uuuuUU")
        assert_clean(draft(nvim))
        wait_idle(nvim)


def test_a_question_is_answered_in_the_input_and_never_by_a_key(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    which = {"chatId": "$chat", "question": "Select the provider:", "options": OPTIONS}
    asks = ask("chat/askQuestion", {**which, "allowFreeform": False, "requestId": "r1"})
    server = scripted_server(handshake(), starts(), asks, wants_key(), takes_key(), takes_models())
    nvim = start(start_nvim, server)
    say(nvim, "/login")
    nvim.wait_screen("Select the provider:")
    wait_login(nvim)
    with nothing_of_the_key(nvim):
        type_key(nvim)
        nvim.keys("<C-s><Esc>")
        nvim.wait_screen("not one of the options")
        assert prompts(server) == ["/login"]
        assert_forgotten(nvim)
        say(nvim, "z-ai")
        wait_line(nvim, "Paste your API Key")
        assert server.answers()[0]["result"] == {"answer": "z-ai", "cancelled": False}
        type_key(nvim)
        nvim.keys("<C-s><Esc>")
        wait_line(nvim, "Inform one or more models")
        say(nvim, "glm-4")
        wait_idle(nvim)
        assert prompts(server) == ["/login", KEY, "glm-4"]


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
    wait_login(nvim)
    if asks:
        nvim.wait_screen("Which?")
    with nothing_of_the_key(nvim):
        type_key(nvim)
        nvim.keys("<Esc><C-c>")
        nvim.wait_screen("what you typed was not sent")
        wait_line(nvim, "Login cancelled")
        wait_idle(nvim)
        assert prompts(server) == (["/login"] if asks else ["/login", "cancel"])
        assert draft(nvim) == ""
        say(nvim, "hello")
        nvim.wait_for(lambda: prompts(server)[-1] == "hello", "an ordinary prompt")


def test_a_crash_ends_it_and_other_chats_are_not_touched(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    crash = [*expect("chat/promptStop"), *leave(7)]
    server = scripted_server(
        *(handshake(), starts(wants_key()), expect("chat/prompt"), status("running"), crash),
    )
    nvim = start(start_nvim, server)
    nvim.keys("imine<Esc>:EcaChat /login z-ai<CR>")
    wait_login(nvim)
    with nothing_of_the_key(nvim):
        type_key(nvim)
        nvim.keys("<Esc>:EcaChat!<CR>ihello<Esc>")
        screen = nvim.wait_screen("> hello")
        assert "Login>" not in screen
        nvim.keys("<C-s>")
        nvim.wait_until("require('eca').status().state == 'running'")
        nvim.keys("<C-c>")
        nvim.wait_screen("exit code 7")
        nvim.wait_until("vim.fn.execute('messages'):find('what you typed was not') ~= nil")
        nvim.keys("[b")
        nvim.wait_screen("> mine")
        assert draft(nvim) == "mine"
