"""`:Eca login` to a provider of an ECA server: a key that is hidden, a page, and the way out."""

import pytest
from tests.support import script
from tests.support.factories import PrepareScript, StartNeovim
from tests.ui.logging_in import (
    KEY,
    RECORD_INTENTS,
    nothing_of_the_key,
    type_key,
    wait_asked,
)
from tests.ui.talk import draft, lines_of, start_chat, wait_idle, wait_line

LIST, LOGIN, INPUT, LOGOUT = (f"providers/{it}" for it in ("list", "login", "loginInput", "logout"))
URL = "https://login.example.org/device?state=" + "abcdef" * 40
METHODS = [{"key": "device", "label": "Device flow"}, {"key": "api", "label": "API key"}]
FIELDS = [
    {"key": "api-key", "label": "API Key", "type": "secret"},
    {"key": "models", "label": "Models", "type": "text"},
]


KEPT = {"status": "authenticated", "type": "api-key", "source": "config"}


def provider(name: str, status: str) -> script.Value:
    login = {"methods": METHODS}
    return {"id": name, "label": name.title(), "auth": {"status": status}, "login": login}


def answers(method: str, result: script.Value) -> script.Steps:
    return [*script.expect(method), *script.reply(method, result)]


@pytest.mark.either_nvim
def test_a_key_and_a_page(start_nvim: StartNeovim, scripted_server: PrepareScript) -> None:
    listed = [provider("openai", "unauthenticated"), provider("google", "authenticated")]
    choose = answers(LOGIN, {"action": "choose-method", "methods": METHODS})
    page = {"action": "device-code", "url": URL, "code": "AB-12", "message": "Log in"}
    done = script.send("providers/updated", provider("openai", "authenticated"))
    has = answers(LIST, {"providers": listed})
    kept = {**provider("google", "authenticated"), "auth": KEPT}
    out = script.send("providers/updated", kept)
    logout = [*script.expect(LOGOUT), *out, *script.reply(LOGOUT, {})]
    server = scripted_server(
        *(script.handshake(), has, has),
        *(choose, answers(LOGIN, {"action": "input", "fields": FIELDS})),
        *(script.expect(INPUT), script.stderr(f"the key is {KEY}\n")),
        script.reply(INPUT, {"action": "done"}),
        *(has, choose, answers(LOGIN, page), script.expect("chat/prompt"), done),
        *(script.reply("chat/prompt", {"chatId": "$chat", "status": "prompting"}),),
        *(script.status("running"), script.text("At work."), script.status("idle")),
        *(has, choose, has, has, logout),
    )
    settings = {"log_level": "debug", "approval": {"guard": 0}}
    nvim = start_chat(start_nvim, server, settings=settings, init=RECORD_INTENTS, columns=80)
    nvim.keys("idraft of mine<Esc>:Eca login<CR>")
    nvim.wait_screen("1: Openai  unauthenticated")
    nvim.keys("1<CR>")
    nvim.wait_screen("Log in to openai")
    with nothing_of_the_key(nvim):
        nvim.keys(":Eca approval<CR>2")
        wait_asked(nvim, "openai: API Key")
        assert draft(nvim) == "draft of mine"
        nvim.keys(":Eca approval<CR>i")
        type_key(nvim)
        nvim.keys("<CR>")
        wait_asked(nvim, "openai: Models")
        nvim.keys(":Eca approval<CR>i")
        nvim.wait_screen("Answer> ")
        nvim.keys("gpt")
        nvim.wait_screen("Answer> gpt")
        nvim.keys("<C-s><Esc>")
        wait_line(nvim, "You are logged in.")
        wait_idle(nvim)
        assert draft(nvim) == "draft of mine"
        sent = {"provider": "openai", "data": {"api-key": KEY, "models": "gpt"}}
        assert server.received(INPUT)[0]["params"] == sent

        nvim.lua("vim.ui.open = function(target) vim.g.opened = target end")
        nvim.keys(":Eca login openai<CR>")
        nvim.wait_until("#require('eca').pending() == 1")
        nvim.keys(":Eca approval<CR>1")
        wait_line(nvim, "The code to type there: AB-12")
        lines = lines_of(nvim)
        at = lines.index(next(line for line in lines if URL in line))
        assert "login.example.org:" in lines[at - 1]
        assert nvim.eval("get(g:, 'opened', '')") == ""
        nvim.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid(require('eca').chats()[1].buf))")
        nvim.keys(f"{at + 1}G0gx")
        assert nvim.wait_until("vim.g.opened") == URL
        nvim.keys(":EcaChat hello<CR>")  # a prompt is no answer, and a login no turn
        nvim.wait_until("vim.fn.execute('messages'):find('opening') ~= nil")
        wait_line(nvim, "At work.")
        nvim.wait_for(lambda: lines_of(nvim).count("You are logged in.") == 2, "the second login")

        nvim.keys(":Eca login openai<CR>")
        nvim.wait_until("#require('eca').pending() == 1")
        nvim.keys(":Eca approval<CR>x")
        nvim.wait_until("#require('eca').pending() == 0")
        nvim.keys(":Eca logout<CR>")
        nvim.wait_screen("1: Google  authenticated")
        nvim.keys("1<CR>")
        wait_line(nvim, "Still logged in to google: remove its key from ECA's config file.")
        assert server.received(LOGOUT)[0]["params"] == {"provider": "google"}
