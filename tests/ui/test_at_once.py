"""What a script has just done is visible at once in what `require('eca')` returns."""

from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.screen import Value
from tests.support.script import ask, expect, handshake, text, turn
from tests.support.servers import ScriptedServer
from tests.ui.talk import asks, prompts, start_chat, wait_idle

READ = """
local eca = require('eca')
local function state()
  local status, id = eca.status(), eca.status().chat
  local listed = vim.iter(eca.chats()):find(function(chat) return chat.id == id end)
  assert(listed.state == status.state and vim.g.eca_status.state == status.state)
  assert(status.pending == #eca.pending())
  return { status.state, status.pending }
end
"""
QUESTION = {"chatId": "$chat", "question": "Which?", "requestId": "q-1", "allowFreeform": True}


def run(nvim: Neovim, code: str) -> Value:
    """Run code in one tick of Neovim."""
    return nvim.lua(READ + code)


def start(start_nvim: StartNeovim, server: ScriptedServer) -> Neovim:
    nvim = start_chat(start_nvim, server, settings={"approval": {"guard": 0}})
    nvim.wait_until("require('eca').status().server == 'ready'")
    return nvim


def test_a_prompt_a_steer_a_stop_and_a_new_chat(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(
        handshake(),
        turn(text("the answer")),
        turn(expect("chat/promptSteer"), expect("chat/promptStop")),
    )
    nvim = start(start_nvim, server)
    assert run(nvim, "eca.send('one') return state()") == ["running", 0]
    is_idle = "function() return require('eca').status().state == 'idle' end"
    assert nvim.lua(f"return vim.wait(50000, {is_idle}, 5)") is True
    assert "the answer" in nvim.lua("return require('eca').transcript()")
    both = "eca.send('two') local sent = state() eca.send('three') return { sent, state() }"
    assert run(nvim, both) == [["running", 0], ["running", 0]]
    nvim.wait_for(lambda: server.received("chat/promptSteer"), "the second to steer")
    assert prompts(server) == ["one", "two"]
    assert run(nvim, "eca.stop() return state()") == ["stopping", 0]
    wait_idle(nvim)
    assert run(nvim, "local id = eca.new() return { eca.status().chat == id, state() }") == [
        True,
        ["idle", 0],
    ]
    assert run(nvim, "eca.send('x') eca.stop() return state()") == ["stopping", 0]


def test_answers(start_nvim: StartNeovim, scripted_server: PrepareScript) -> None:
    question = [*ask("chat/askQuestion", QUESTION), *expect("chat/promptStop")]
    server = scripted_server(handshake(), turn(asks("a"), asks("b"), asks("c"), question))
    nvim = start(start_nvim, server)
    nvim.lua("require('eca').send('go')")
    nvim.wait_until("#require('eca').pending() == 4")
    digest = "require('eca.state.mirror').pending()[1].digest"
    changed = f"_G.right, {digest} = {digest}, 'of something else' "
    assert run(nvim, changed + "eca.approve() return state()") == ["waiting", 3]
    nvim.wait_until("#require('eca').pending() == 4")  # refused: it is pending again
    nvim.wait_screen("has changed since you saw it")
    answers = """
    eca.approve()
    local approved = state()
    eca.reject()
    local rejected = state()
    eca.answer('this')
    return { approved, rejected, state() }
    """
    nvim.lua(f"{digest} = _G.right")
    assert run(nvim, answers) == [["waiting", 3], ["waiting", 2], ["waiting", 1]]
    nvim.wait_for(server.answers, "the answer")
    assert run(nvim, "return state()") == ["waiting", 1]
    assert run(nvim, "eca.approve() return state()") == ["running", 0]
    nvim.wait_for(lambda: len(server.received("chat/toolCallApprove")) == 2, "both approvals")
    nvim.lua("require('eca').stop()")
    wait_idle(nvim)


def test_nothing_is_expected_of_a_host_that_does_not_start(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(settings={"python": "/no/python"})
    assert run(nvim, "eca.send('one') return state()") == ["idle", 0]
    nvim.take_errors()
