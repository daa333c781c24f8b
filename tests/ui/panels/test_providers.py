"""The panel of providers: models, prices, logging in and out."""

import pytest
from tests.support import script
from tests.support.factories import PrepareReplay, PrepareScript, StartNeovim
from tests.ui.panels.test_window import lines
from tests.ui.talk import start_chat

LIST, LOGIN, INPUT, LOGOUT = (f"providers/{it}" for it in ("list", "login", "loginInput", "logout"))
PANEL = "eca://panel/providers"
KEY = {"key": "api-key", "label": "API Key", "type": "secret"}
KEPT = {"status": "authenticated", "type": "api-key", "source": "config"}


def provider(**auth: str) -> script.Value:
    login = {"methods": [{"key": "api", "label": "Enter API key"}]}
    models = [{"id": "glm", "cost": {"input": 6e-7, "output": 2.2e-6}}]
    return {"id": "z-ai", "label": "Z-AI", "auth": auth, "login": login, "models": models}


def answers(method: str, result: script.Value) -> script.Steps:
    return [*script.expect(method), *script.reply(method, result)]


@pytest.mark.either_nvim
def test_what_the_real_server_lists(start_nvim: StartNeovim, replay: PrepareReplay) -> None:
    server = {"command": replay("providers").command}
    nvim = start_nvim(settings={"server": server}, columns=80)
    nvim.keys(":EcaChat<CR><Esc>")
    nvim.wait_until("require('eca').status().model == 'mock/mock-1'")
    nvim.keys(":Eca providers<CR>")
    screen = nvim.wait_screen("providers of eca: 2 of 15 ready")
    assert "<CR> models" in screen
    assert "▸ mock                 logged in          key in ECA's config file  3 models" in screen
    nvim.keys("<CR>")
    nvim.wait_screen("● mock-1                           $1 in $2 out       thinks, sees images")
    nvim.keys("4j<CR>")
    nvim.wait_until("require('eca').status().model == 'mock/mock-2'")
    nvim.wait_screen("● mock-2")
    assert all(nvim.lua("return vim.fn.strdisplaywidth(...)", it) < 80 for it in lines(nvim, PANEL))
    listed = nvim.lua("return require('eca').providers()")
    assert len(listed) == 15
    mock = {"id": "mock", "name": "mock", "server_name": "eca", "logged_in": True, "models": 3}
    assert mock | {"source": "config"} in listed


@pytest.mark.either_nvim
def test_a_login_is_asked_in_the_chat_and_a_logout_says_what_stays(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    out = {"providers": [provider(status="unauthenticated")]}
    server = scripted_server(
        *(script.handshake(), answers(LIST, out), answers(LIST, out)),
        answers(LOGIN, {"action": "input", "fields": [KEY]}),
        *(script.expect(INPUT), script.send("providers/updated", provider(**KEPT))),
        *(
            script.reply(INPUT, {"action": "done"}),
            answers(LIST, {"providers": [provider(**KEPT)]}),
        ),
        *(script.expect(LOGOUT), script.send("providers/updated", provider(**KEPT))),
        script.reply(LOGOUT, {}),
    )
    nvim = start_chat(start_nvim, server, settings={"approval": {"guard": 0}}, columns=80)
    nvim.keys("<Esc>:Eca providers<CR>")
    nvim.wait_screen("▸ Z-AI                 not logged in")
    nvim.keys("i")
    nvim.wait_screen("z-ai: API Key")
    assert nvim.lua("return vim.bo.filetype") == "eca-input"
    nvim.keys(":Eca approval<CR>i")
    nvim.keys("sk-1<CR>")
    nvim.wait_screen("▸ Z-AI                 logged in          key in ECA's config file  1 model")
    nvim.keys("<Esc>:Eca providers<CR>x")
    nvim.wait_screen("Log out of Z-AI?")
    nvim.keys("1<CR>")
    nvim.wait_screen("Still logged in to z-ai: remove its key from ECA's config file.")
    assert [it["params"] for it in server.received(LOGOUT)] == [{"provider": "z-ai"}]
