"""Conversations: turns begin, wait, are steered and end, and the input works after each."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import (
    MODEL,
    Steps,
    content,
    expect,
    fail,
    gate,
    handshake,
    pause,
    progress,
    reply,
    send,
    status,
    stream,
    text,
    turn,
)
from tests.ui.talk import (
    asks,
    done,
    draft,
    lines_of,
    next_turn_works,
    prompts,
    say,
    start_chat,
    tool,
    wait_idle,
    wait_line,
)

pytestmark = pytest.mark.either_nvim

UNMAPPED = "vim.api.nvim_feedkeys('\\3', 'nt', false)"
"""A typed <C-c> as it arrives when Neovim looks for interrupts at that very moment."""
PRESS = """
local clock, now = vim.uv.hrtime, vim.uv.hrtime()
vim.uv.hrtime = function() return now end -- the keys come at one time, also on a busy machine
for _, how in ipairs({ ... }) do
  vim.api.nvim_feedkeys('\\3', how, false)
end
vim.defer_fn(function() vim.uv.hrtime, Waited = clock, true end, 100)
"""
COUNT_STOPS = """
Stops = 0
local host = require('eca.host')
local send = host.send
host.send = function(name, ...)
  Stops = Stops + (name == 'stop' and 1 or 0)
  return send(name, ...)
end
"""


def answer(**fields: str) -> Steps:
    """Answer the prompt, as usual but for the fields given."""
    usual = {"chatId": "$chat", "model": MODEL, "status": "prompting"}
    return reply("chat/prompt", usual | fields)


STOPPED = [
    *(*expect("chat/promptStop"), *text("Prompt stopped", role="system")),
    *(*status("stopping"), *progress("finished")),
]
RUNNING = [*expect("chat/prompt"), *status("running"), *answer()]


@dataclass(frozen=True)
class End:
    """How a turn ends: what the server does, and what the user types in which state."""

    steps: Steps
    state: str = ""
    keys: str = ""


FAREWELL = [*status("idle"), *progress("finished")]
ENDS = {
    "1: stopped, and no idle": End([*RUNNING, *STOPPED], "running", "<C-c>"),
    "1: a rejected call comes late": End(
        [*RUNNING, *asks(), *STOPPED, *pause(30), *tool("Rejected", reason="user")],
        "waiting",
        "<C-c>",
    ),
    "3: idle, finished, usage": End(
        [
            *(*RUNNING, *text("hi"), *FAREWELL),
            *content({"type": "usage", "sessionTokens": 5}, "system"),
        ],
    ),
    "5: a command that never runs": End(
        [*expect("chat/prompt"), *text("Costs: 0", role="system"), *FAREWELL, *answer()],
    ),
    "5: an error before the model": End(
        [
            *(*expect("chat/prompt"), *text("Error: no model", role="system")),
            *(*FAREWELL, *answer(model="error", status="error")),
        ],
    ),
    "6: rejected": End(
        [
            *(*RUNNING, *asks(), *expect("chat/toolCallReject"), *tool("Rejected", reason="user")),
            *(*text("Tool call rejected", role="system"), *FAREWELL),
        ],
        "waiting",
        ":Eca reject<CR>",
    ),
    "15: login": End(
        [
            *(*expect("chat/prompt"), *text("Login started", role="system")),
            *(*status("login"), *progress("finished")),
            *(*status("idle"), *reply("chat/prompt", {"chatId": "$chat", "status": "login"})),
        ],
    ),
    "32: the request fails": End([*expect("chat/prompt"), *fail("chat/prompt", -32603, "boom")]),
    "33: the answer alone, an error": End(
        [*expect("chat/prompt"), *answer(model="error", status="error")]
    ),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_every_end_of_a_turn_leaves_the_input_usable(
    end: End, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), end.steps, next_turn_works())
    nvim = start_chat(start_nvim, server)
    say(nvim, "one")
    nvim.wait_for(lambda: prompts(server) == ["one"], "the first prompt")
    if end.keys:
        nvim.wait_until(f"require('eca').status().state == '{end.state}'")
        nvim.keys(end.keys)
    wait_idle(nvim)
    say(nvim, "two")
    nvim.wait_for(lambda: prompts(server) == ["one", "two"], "the next prompt")
    wait_idle(nvim)
    assert draft(nvim) == ""
    assert not nvim.lua("return require('eca').pending()")


def test_an_error_answer_is_told(start_nvim: StartNeovim, scripted_server: PrepareScript) -> None:
    server = scripted_server(handshake(), expect("chat/prompt"), fail("chat/prompt", -1, "boom"))
    nvim = start_chat(start_nvim, server)
    say(nvim, "one")
    wait_line(nvim, "boom")


def test_prompts_typed_before_the_server_is_ready_are_sent_when_it_is(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    opened = tmp_path / "gate"
    welcome = reply("initialize", {"chatWelcomeMessage": "Welcome!"})
    late = [*expect("initialize"), *gate(opened), *welcome, *handshake()[2:]]
    server = scripted_server(late, turn(), turn())
    nvim = start_chat(start_nvim, server)
    say(nvim, "one")
    say(nvim, "two")
    nvim.wait_screen("one")
    assert nvim.lua("return require('eca').status().server") == "starting"
    opened.write_text("")
    nvim.wait_for(lambda: prompts(server) == ["one", "two"], "both prompts in order")
    wait_idle(nvim)


# --- while a turn runs ---------------------------------------------------------------------------


def test_a_second_prompt_steers_and_is_sent_when_nobody_read_it(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    unread = turn(asks(), expect("chat/promptSteer"), expect("chat/toolCallApprove"), done())
    server = scripted_server(handshake(), unread, turn())
    nvim = start_chat(start_nvim, server)
    say(nvim, "one")
    nvim.wait_until("require('eca').status().state == 'waiting'")
    say(nvim, "faster")
    nvim.wait_screen("↳ faster")
    nvim.wait_for(lambda: server.received("chat/promptSteer"), "the steer")
    assert prompts(server) == ["one"]
    nvim.keys(":Eca approve<CR>")
    nvim.wait_for(lambda: prompts(server) == ["one", "faster"], "the steer as a prompt")
    nvim.wait_screen(lambda screen: "↳" not in screen)


def test_what_waits_is_sent_one_by_one_and_no_command_steers(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    unread = turn(asks(), expect("chat/toolCallApprove"), done())
    server = scripted_server(handshake(), unread, turn(), turn(), turn(), turn())
    nvim = start_chat(start_nvim, server)
    say(nvim, "one")
    nvim.wait_until("require('eca').status().state == 'waiting'")
    for words in ("/first", "steer", "again", "/second"):
        say(nvim, words)
    screen = nvim.wait_screen("⧗ /second")
    assert "⧗ /first" in screen
    assert "↳ steer" in screen
    nvim.keys(":Eca approve<CR>")
    sent = ["one", "steer", "again", "/first", "/second"]
    nvim.wait_for(lambda: prompts(server) == sent, "every prompt by itself")
    wait_idle(nvim)
    steers = [it["params"]["message"] for it in server.received("chat/promptSteer")]
    assert steers == ["steer", "again"]


def test_a_steer_that_was_read_is_not_sent_again(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    read = turn(asks(), expect("chat/promptSteer"), text("faster\n", role="user"))
    server = scripted_server(handshake(), read, turn())
    nvim = start_chat(start_nvim, server)
    say(nvim, "one")
    nvim.wait_until("require('eca').status().state == 'waiting'")
    say(nvim, "faster")
    wait_idle(nvim)
    assert lines_of(nvim).count("faster") == 1
    say(nvim, "two")
    nvim.wait_for(lambda: prompts(server) == ["one", "two"], "the next prompt")


def test_a_queued_prompt_waits_for_the_end(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    first = turn(asks(), expect("chat/toolCallApprove"), done())
    server = scripted_server(handshake(), first, turn())
    nvim = start_chat(start_nvim, server)
    say(nvim, "one")
    nvim.wait_until("require('eca').status().state == 'waiting'")
    nvim.keys("ilater<M-CR><Esc>")
    nvim.wait_screen("⧗ later")
    nvim.keys(":Eca approve<CR>")
    nvim.wait_for(lambda: prompts(server) == ["one", "later"], "the queued prompt")
    assert not server.received("chat/promptSteer")


def test_a_stop_leaves_what_waits_in_sight(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), RUNNING, STOPPED, next_turn_works())
    nvim = start_chat(start_nvim, server)
    say(nvim, "one")
    nvim.wait_for(lambda: prompts(server) == ["one"], "the prompt")
    nvim.keys("ilater<M-CR><Esc>")
    nvim.wait_screen("⧗ later")
    nvim.keys("<C-c>")
    wait_idle(nvim)
    nvim.wait_screen("⧗ later")
    assert prompts(server) == ["one"]


def test_a_stop_that_passes_its_mapping_is_heard(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), RUNNING, STOPPED)
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    nvim.wait_for(lambda: prompts(server) == ["go"], "the prompt")
    nvim.lua(UNMAPPED)
    nvim.wait_for(lambda: server.received("chat/promptStop"), "the stop")
    wait_idle(nvim)


def test_stopping_twice_is_stopping_once(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), RUNNING, text("hi"), STOPPED, next_turn_works())
    nvim = start_chat(start_nvim, server)
    say(nvim, "one")
    wait_line(nvim, "hi")  # a stop before the turn runs is sent again when it does
    nvim.keys("<C-c>")
    wait_idle(nvim)
    nvim.keys("<C-c>")
    say(nvim, "two")
    nvim.wait_for(lambda: prompts(server) == ["one", "two"], "the next prompt")
    assert len(server.received("chat/promptStop")) == 1


@pytest.mark.parametrize("order", ["interrupt, key", "key, interrupt"])
def test_one_press_that_vim_takes_twice_stops_once(
    start_nvim: StartNeovim, scripted_server: PrepareScript, order: str
) -> None:
    nvim = start_chat(start_nvim, scripted_server(handshake()))
    nvim.lua(COUNT_STOPS)
    nvim.lua(PRESS, *(["nt", "t"] if order == "interrupt, key" else ["t", "nt"]))
    nvim.wait_until("Waited")
    assert nvim.lua("return Stops") == 1


def test_typing_while_it_streams_loses_nothing(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    flood = stream(100_000, pieces=("word ", "**bold** ", "`code`\n"), until="chat/promptStop")
    server = scripted_server(handshake(), RUNNING, flood, STOPPED)
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_line(nvim, "word")
    typed = [f"line {number} <lt>of what I type>" for number in range(20)]
    nvim.keys("i" + "<CR>".join(typed) + "<Esc>")
    assert draft(nvim) == "\n".join(line.replace("<lt>", "<") for line in typed)
    assert nvim.mode == "n"
    nvim.keys("<C-c>")
    wait_idle(nvim)


# --- tool calls ----------------------------------------------------------------------------------


def test_parallel_calls_are_told_apart_by_their_ids(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    steps = [
        *(*tool("Prepare", "a", argumentsText="{"), *tool("Prepare", "b", argumentsText="{")),
        *(*asks("a"), *tool("Run", "b", manualApproval=False, arguments={"pattern": "b"})),
        *(*tool("Running", "b", arguments={"pattern": "b"}), *progress("running", "Generating")),
        *(*done("b", "from b"), *expect("chat/toolCallApprove"), *tool("Running", "a")),
        *(*done("a", "from a"),),
    ]
    server = scripted_server(handshake(), turn(steps))
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_line(nvim, "✓ grep b")
    nvim.wait_until("require('eca').status().state == 'waiting'")
    assert [it["call"] for it in nvim.lua("return require('eca.state.mirror').pending()")] == ["a"]
    nvim.keys(":Eca approve<CR>")
    wait_idle(nvim)
    [approval] = server.received("chat/toolCallApprove")
    assert approval["params"]["toolCallId"] == "a"
    exported = nvim.lua("return require('eca').transcript()")
    assert exported.index("grep a") < exported.index("from a") < exported.index("grep b")
    assert exported.index("grep b") < exported.index("from b")


def approvals(nvim: Neovim) -> list[str]:
    """Return the ids of the calls that wait for the user."""
    return [it["call"] for it in nvim.lua("return require('eca.state.mirror').pending()")]


def test_several_approvals_queue_and_all_are_answered_once(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    decided = [*expect("chat/toolCallApprove") * 2, *done("a"), *done("b")]
    server = scripted_server(handshake(), turn(asks("a"), asks("b"), decided))
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    nvim.wait_screen("(1/2)")
    assert approvals(nvim) == ["a", "b"]
    nvim.keys(":Eca approve-all<CR>:Eca approve-all<CR>")
    wait_idle(nvim)
    told = [it["params"]["toolCallId"] for it in server.received("chat/toolCallApprove")]
    assert told == ["a", "b"]


def test_an_approval_is_remembered_on_request(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), turn(asks(), expect("chat/toolCallApprove"), done()))
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    nvim.wait_until("#require('eca').pending() == 1")
    nvim.keys(":Eca approve!<CR>")
    wait_idle(nvim)
    assert server.received("chat/toolCallApprove")[0]["params"]["save"] == "session"


def test_the_reason_of_a_rejection_is_the_next_prompt(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    rejected = [*expect("chat/toolCallReject"), *tool("Rejected", reason="user")]
    server = scripted_server(handshake(), turn(asks(), rejected), turn())
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    nvim.wait_until("#require('eca').pending() == 1")
    nvim.keys(":Eca reject use ripgrep<CR>")
    nvim.wait_for(lambda: prompts(server) == ["go", "use ripgrep"], "the reason")


def test_a_deleted_chat_keeps_its_text(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(
        handshake(), RUNNING, text("kept"), send("chat/deleted", {"chatId": "$chat"})
    )
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_line(nvim, "The server has deleted this chat")
    wait_idle(nvim)
    assert "kept" in lines_of(nvim)
