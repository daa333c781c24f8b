"""Harmful, forged or hidden text, in every place where a server can put it."""

import re
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import ask, content, expect, handshake, send, text, turn
from tests.ui.talk import asks, done, lines_of, say, start_chat, tool, wait_idle, wait_line

pytestmark = pytest.mark.either_nvim

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)
NASTY = (
    "%{execute('let g:owned=1')}%#Error#\x1b]0;owned\x07\x1b[31m\u202etxt\u2066\u200b\u200d"
    "\U000e0041\n:let g:owned=1\r<Esc>\u0301\u0301\u0301\u0301\u0301\u0301"
)
SHOWN = "%{execute('let g:owned=1')}%#Error#"


def assert_harmless(nvim: Neovim) -> None:
    """Nothing on the screen acts or hides, and nothing of it was run."""
    assert not HIDDEN.search(nvim.screen.text())
    assert nvim.eval("exists('g:owned')") == 0
    assert not nvim.blocked()


@pytest.fixture
def asking(start_nvim: StartNeovim, scripted_server: PrepareScript) -> Neovim:
    """Start a chat in which everything is nasty, and a call waits."""
    arguments = {"path": f"/etc/{NASTY}", NASTY: NASTY, "list": [NASTY, {"k": NASTY}]}
    server = scripted_server(
        handshake(),
        send("config/updated", {"chat": {"models": [NASTY], "agents": [NASTY]}}),
        turn(
            content({"type": "metadata", "title": NASTY}, "system"),
            content({"type": "progress", "state": "running", "text": NASTY}, "system"),
            content({"type": "url", "title": NASTY, "url": f"https://x/{NASTY}"}),
            text(NASTY, f"\n`{NASTY}`\n```{NASTY}\n{NASTY}\n```\n"),
            asks(NASTY, NASTY, arguments=arguments, summary=NASTY, server=NASTY, origin="mcp"),
            expect("chat/toolCallApprove"),
            done(NASTY, NASTY, NASTY, arguments=arguments),
            text("\nthe end"),
        ),
    )
    nvim = start_chat(start_nvim, server, columns=160, lines=50)
    say(nvim, "go")
    nvim.wait_screen("allow this?")
    return nvim


def test_nothing_a_call_says_acts_or_hides(asking: Neovim) -> None:
    screen = asking.wait_screen("! outside the workspace: /etc/")
    assert any("outside the workspace waiting" in line for line in lines_of(asking))
    assert "␛]0;owned␇␛[" in screen
    assert "1m<U+202E>txt<U+2066><U+200B><U+200D><U+E0041>" in screen
    assert_harmless(asking)
    asking.command("Eca approval")
    asking.keys("G")
    assert_harmless(asking)
    asking.wait_until(
        "vim.iter(require('eca.state.mirror').pending()):any(require('eca.approval').guard_is_over)"
    )
    asking.keys("a")
    wait_line(asking, "the end")
    wait_idle(asking)
    asking.keys("<C-w>kzR")
    assert_harmless(asking)
    assert not HIDDEN.search("\n".join(lines_of(asking)))


@pytest.mark.parametrize("command", ["chats", "model", "agent", "history"])
def test_nothing_in_a_list_to_choose_acts_or_hides(asking: Neovim, command: str) -> None:
    asking.lua("vim.ui.select = function(items, options) _G.offered = { items, options } end")
    asking.command(f"Eca {command}")
    asking.wait_until("_G.offered ~= nil")
    code = """
    local items, options = unpack(_G.offered)
    return vim.tbl_map(options.format_item or tostring, items)
    """
    labels = asking.lua(code)
    assert labels
    assert not [label for label in labels if HIDDEN.search(label) or "\n" in label]


def test_nothing_in_the_status_acts_or_hides(asking: Neovim) -> None:
    told = asking.lua("return { require('eca').statusline(), vim.g.eca_status.title or '' }")
    assert told[1].startswith(SHOWN)
    assert not HIDDEN.search("".join(told))
    assert asking.lua("return vim.api.nvim_eval_statusline(..., {}).str", told[0]) == told[0]
    assert_harmless(asking)


def test_nothing_in_a_question_acts_or_hides(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    options = [{"label": NASTY, "description": NASTY}, {"label": "fine"}]
    question = {"chatId": "$chat", "question": NASTY, "options": options, "allowFreeform": True}
    server = scripted_server(
        handshake(), turn(ask("chat/askQuestion", question), text("\nthe end"))
    )
    nvim = start_chat(start_nvim, server, columns=160, lines=50)
    say(nvim, "go")
    nvim.wait_screen("the agent asks")
    assert_harmless(nvim)
    nvim.command("Eca approval")
    nvim.wait_until(
        "vim.iter(require('eca.state.mirror').pending()):any(require('eca.approval').guard_is_over)"
    )
    nvim.keys("1")
    wait_line(nvim, "the end")
    [answer] = [it for it in server.received() if "result" in it and "answer" in it["result"]]
    assert "owned" in answer["result"]["answer"]
    assert_harmless(nvim)


def test_nothing_in_a_message_or_a_job_acts_or_hides(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    progress = {"type": "start", "taskId": "1", "title": NASTY}
    server = scripted_server(
        handshake(),
        send("$/progress", progress),
        send("$/showMessage", {"type": "error", "message": NASTY}),
        turn(text("the end")),
    )
    nvim = start_chat(start_nvim, server, columns=160)
    nvim.wait_screen("<U+202E>txt")
    assert_harmless(nvim)
    nvim.take_errors()


def test_a_diff_shows_what_is_in_it(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    file = workspace / "greet.py"
    file.write_text("print('hi')\n")
    hidden = "if access != 'user\u202e \u2066# check\u2069 \u2066': \x1b[8mrm\x1b[m \t"
    details = {
        "type": "fileChange",
        "path": str(file),
        "linesAdded": 1,
        "linesRemoved": 0,
        "diff": f"@@ -1,1 +1,2 @@\n print('hi')\n+{hidden}",
    }
    call = asks("c", "edit_file", arguments={"path": str(file)}, details=details)
    server = scripted_server(handshake(), turn(call, expect("chat/toolCallApprove")))
    nvim = start_chat(start_nvim, server, columns=240, lines=50)
    say(nvim, "go")
    written = "+if access != 'user<U+202E> <U+2066># check<U+2069> <U+2066>': ␛[8mrm␛[m·→"
    nvim.wait_screen(written)
    nvim.wait_until(
        "vim.iter(require('eca.state.mirror').pending()):any(require('eca.approval').guard_is_over)"
    )
    nvim.command("Eca approval")
    nvim.keys("d")
    screen = nvim.wait_screen("greet.py  now")
    assert "user<202e> <2066># check<2069> <2066>': ^[[8mrm^[[m" in screen
    assert_harmless(nvim)


def test_a_subagents_name_and_a_nameless_tool_are_told(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    details = {"type": "subagent", "subagentChatId": "child", "agentName": NASTY}
    call = {"id": "x", "name": None, "server": None, "origin": None, "arguments": {"n": 1}}
    server = scripted_server(
        handshake(),
        turn(
            tool("Running", "s", "spawn_agent", arguments={}, details=details),
            send(
                "chat/contentReceived",
                {
                    "chatId": "child",
                    "parentChatId": "$chat",
                    "role": "assistant",
                    "content": {"type": "toolCallRun", "manualApproval": True, **call},
                },
            ),
            expect("chat/toolCallReject"),
        ),
    )
    nvim = start_chat(start_nvim, server, columns=160, lines=50)
    say(nvim, "go")
    screen = nvim.wait_screen("! the server has no such tool, or it is switched off")
    assert f"subagent {SHOWN}" in screen
    assert "n: 1" in screen
    assert "A always" not in screen
    assert_harmless(nvim)
    nvim.command("Eca reject use the other one")
    nvim.wait_screen("> use the other one")
    nvim.wait_for(lambda: bool(server.received("chat/toolCallReject")), "the rejection")
    assert [it["params"]["chatId"] for it in server.received("chat/toolCallReject")] == ["child"]
    assert len(server.received("chat/prompt")) == 1
