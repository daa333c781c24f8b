"""Contents of a server on the screen: kinds, harmful text, open and closed blocks."""

import base64
import json
import re
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import Steps, content, expect, handshake, send, text, turn
from tests.ui.talk import (
    asks,
    done,
    lines_of,
    prompts,
    say,
    start_chat,
    tool,
    wait_idle,
    wait_line,
)

pytestmark = pytest.mark.either_nvim

PNG = base64.b64encode(b"\x89PNG and so on").decode()
OPENED = """
vim.ui.open = function(target)
  _G.opened = target
  return nil, nil
end
"""


def finished(nvim: Neovim) -> None:
    """Send a prompt and wait until its turn is over."""
    say(nvim, "go")
    wait_line(nvim, "the end")
    wait_idle(nvim)


END = text("\nthe end")


def test_every_kind_of_content_has_its_line(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    contents: list[dict[str, object]] = [
        {"type": "url", "title": "Docs", "url": "https://example.org/docs"},
        {"type": "image", "mediaType": "image/png", "base64": PNG},
        {"type": "hookActionStarted", "id": "h1", "name": "lint", "actionType": "shell"},
        {
            "type": "hookActionFinished",
            "id": "h1",
            "name": "lint",
            "actionType": "shell",
            "status": 1,
            "output": "line is too long",
        },
        {"type": "flag", "text": "a good place", "contentId": "f1"},
        {"type": "hologram", "depth": 3},
    ]
    steps = [step for one in contents for step in content(one)]
    server = scripted_server(handshake(), turn(steps, END))
    nvim = start_chat(start_nvim, server)
    finished(nvim)
    lines = [line for line in lines_of(nvim) if line]
    assert [it for it in lines[lines.index("go") + 1 :] if it.strip() not in "{}"] == [
        "↗ Docs https://example.org/docs",
        "▣ image/png 1 KB",
        "✗ lint exit 1",
        "output  line is too long",
        "⚑ a good place",
        "· hologram",
        '  "depth": 3',
        "the end",
    ]


def test_links_and_images_open_outside(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    link = content({"type": "url", "title": "Docs", "url": "https://example.org/docs"})
    image = content({"type": "image", "mediaType": "image/png", "base64": PNG})
    server = scripted_server(handshake(), turn(link, image, END))
    nvim = start_chat(start_nvim, server, init=OPENED)
    finished(nvim)
    nvim.keys("<C-w>kgg/Docs<CR><CR>")
    assert nvim.wait_until("_G.opened") == "https://example.org/docs"
    nvim.keys("gg/image<CR><CR>")
    path = Path(nvim.wait_until("_G.opened:find('png') and _G.opened"))
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_script_as_a_link_is_not_opened(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    link = content({"type": "url", "title": "Docs", "url": "javascript:alert(1)"})
    server = scripted_server(handshake(), turn(link, END))
    nvim = start_chat(start_nvim, server, init=OPENED)
    finished(nvim)
    nvim.keys("<C-w>kgg/Docs<CR><CR>")
    nvim.wait_screen(re.compile("not opened", re.IGNORECASE))
    assert nvim.lua("return _G.opened") is None


# --- harmful text --------------------------------------------------------------------------------

HARMFUL = {
    "escapes": "\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b[2J",
    "controls": "bell\x07 null\x00 backspace\x08 delete\x7f",
    "lines": "one\r\ntwo\rthree\u2028four",
    "statusline": "%{execute('let g:pwned = 1')} %#Error# %!g:pwned %=%<",
    "command": ":!touch pwned\n:let g:pwned = 1\n<Cmd>let g:pwned = 1<CR>",
    "modeline": "vim: set textwidth=7 :\n# vim:fdm=expr:fde=execute('let\\ g:pwned=1'):",
    "surrogate": "half \ud83d and \udc4d",
    "long": "wide " * 200,
}


def saying(evil: str, call: str) -> Steps:
    """Say a text wherever a server can, in one turn with a tool call of this id."""
    return turn(
        content({"type": "metadata", "title": evil}, "system"),
        content({"type": "progress", "state": "running", "text": evil}, "system"),
        content({"type": "url", "title": evil, "url": evil}),
        content({"type": "flag", "text": evil, "contentId": call + evil}),
        content({"type": evil, "words": evil}),
        send("$/showMessage", {"type": "warning", "message": evil}),
        text(evil, role="system"),
        text(evil),
        tool("Prepare", call, name=evil, argumentsText=evil, summary=evil),
        asks(call, name=evil, arguments={evil: evil}, summary=evil),
        expect("chat/toolCallApprove"),
        done(call, name=evil, output=evil, arguments={evil: evil}, summary=evil),
        text(f"\nthe end of {call}"),
    )


def test_the_log_has_no_modelines(start_nvim: StartNeovim) -> None:
    nvim = start_nvim()
    log = Path(nvim.lua("return require('eca.host.log').path()"))
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("12:00 stderr: vim: set textwidth=7 :\n")
    nvim.keys(":Eca log<CR>")
    assert nvim.eval("[expand('%:p'), &textwidth, &buflisted]") == [str(log), 0, 1]
    with log.open("a") as more:
        more.write("12:01 stderr: vim: set textwidth=8 :\n")
    nvim.command("close | checktime")
    nvim.keys(":Eca log<CR>")
    assert nvim.eval("[line('$'), &textwidth]") == [2, 0]


def test_text_of_a_server_is_only_ever_shown(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    turns = [saying(evil, kind) for kind, evil in HARMFUL.items()]
    nvim = start_chat(start_nvim, scripted_server(handshake(), *turns), settings={"width": 0.7})
    for kind in HARMFUL:
        nvim.keys(":EcaChat<CR>")  # to the input
        say(nvim, "go")
        nvim.wait_until("#require('eca').pending() == 1")
        nvim.wait_screen("allow this?")
        assert not nvim.blocked(), (kind, nvim.screen.bordered())
        nvim.keys(":Eca approve<CR>")
        wait_line(nvim, f"the end of {kind}")
        wait_idle(nvim)
        nvim.keys("<C-w>kzRzMzR")
        nvim.command("redraw!")
        assert nvim.eval("exists('g:pwned')") == 0, kind
        assert nvim.eval("&textwidth") == 0, kind
        assert not (nvim.launch.cwd / "pwned").exists(), kind
        shown = nvim.screen.text() + "\n".join(lines_of(nvim))
        assert not [it for it in shown if it != "\n" and ord(it) < 32], kind
        nvim.lua("return require('eca').transcript()").encode()


def test_messages_never_make_the_user_press_a_key(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    messages = [f"message {number} {'word ' * 50}the last" for number in range(5)]
    steps = [send("$/showMessage", {"type": "warning", "message": it}) for it in messages]
    server = scripted_server(handshake(), turn(*steps, END))
    nvim = start_chat(start_nvim, server)
    finished(nvim)
    nvim.wait_screen(re.compile("eca: message 4 word.*….*word the last"))
    assert not nvim.blocked()
    assert all(f"eca: message {number}" in nvim.messages() for number in range(5))


def test_a_message_waits_while_a_command_is_typed(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    shown = send("$/showMessage", {"type": "warning", "message": "look here"})
    server = scripted_server(handshake(), turn(asks(), expect("chat/toolCallApprove"), shown, END))
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    nvim.wait_until("#require('eca').pending() == 1")
    nvim.keys(":echo 'half")
    nvim.lua("require('eca').approve()")
    wait_line(nvim, "the end")
    assert nvim.screen.lines()[-1] == ":echo 'half"
    nvim.keys("'<CR>")
    nvim.wait_screen("eca: look here")


def test_a_title_is_shown_as_it_is(start_nvim: StartNeovim, scripted_server: PrepareScript) -> None:
    title = content({"type": "metadata", "title": "100%{1+1} %#Error#done"}, "system")
    server = scripted_server(handshake(), turn(title, END))
    nvim = start_chat(start_nvim, server)
    finished(nvim)
    screen = nvim.wait_screen("100%{1+1} %#Error#done")
    assert "mock/mock-1 · code ·" in screen


# --- open and closed -----------------------------------------------------------------------------


@pytest.fixture
def closed(start_nvim: StartNeovim, scripted_server: PrepareScript) -> Neovim:
    """Show a chat with two finished calls, the cursor in the transcript on the first."""
    calls = [
        *tool("Run", "a", manualApproval=False, arguments={"pattern": "a"}),
        *done("a", "from a"),
        *text("and"),
        *tool("Run", "b", manualApproval=False, arguments={"pattern": "b"}),
        *done("b", "from b"),
    ]
    nvim = start_chat(start_nvim, scripted_server(handshake(), turn(calls, END)))
    finished(nvim)
    nvim.keys("<C-w>kgg/grep a<CR>")
    return nvim


def outputs(nvim: Neovim) -> list[str]:
    """Return the outputs that are in the buffer."""
    return [line for line in lines_of(nvim) if line.startswith("from")]


def wait_outputs(nvim: Neovim, *wanted: str) -> None:
    """Wait until just these outputs are in the buffer."""
    nvim.wait_for(lambda: outputs(nvim) == list(wanted), f"just {wanted}")


@pytest.mark.parametrize(("opening", "closing"), [("<Tab>", "<Tab>"), ("za", "za"), ("zo", "zc")])
def test_keys_open_and_close_a_block(closed: Neovim, opening: str, closing: str) -> None:
    assert outputs(closed) == []
    closed.keys(opening)
    wait_outputs(closed, "from a")
    closed.keys(closing)
    wait_outputs(closed)


def test_keys_open_and_close_all_blocks(closed: Neovim) -> None:
    closed.keys("zR")
    wait_outputs(closed, "from a", "from b")
    closed.keys("zM")
    wait_outputs(closed)


def test_a_block_that_the_user_closed_stays_closed(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    steps = [*asks("a"), *expect("chat/toolCallApprove"), *done("a", "no such file", error=True)]
    nvim = start_chat(start_nvim, scripted_server(handshake(), turn(steps, END)))
    say(nvim, "go")
    wait_line(nvim, "? grep a in src")
    assert "path: src" in lines_of(nvim)
    nvim.keys("<C-w>kgg/grep a<CR>zc")
    nvim.wait_for(lambda: "path: src" not in lines_of(nvim), "the body to go")
    nvim.keys(":Eca approve<CR>")
    wait_line(nvim, "✗ grep a")
    wait_line(nvim, "the end")
    assert "no such file" not in lines_of(nvim)


def test_a_failed_call_opens_by_itself(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    output = "\n".join(f"line {number}" for number in range(1, 31))
    call = tool("Run", "a", manualApproval=False, arguments={"pattern": "a"})
    steps = [*call, *done("a", output, error=True)]
    nvim = start_chat(start_nvim, scripted_server(handshake(), turn(steps, END)))
    finished(nvim)
    assert "line 10" in lines_of(nvim)
    assert "line 11" not in lines_of(nvim)
    assert "… 20 more lines" in lines_of(nvim)


# --- subagents, tasks ----------------------------------------------------------------------------


def test_a_subagents_approval_bubbles_up(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    inner = json.loads(json.dumps(asks("inner")))
    inner[0]["params"] |= {"chatId": "subagent-1", "parentChatId": "$chat"}
    details = {"type": "subagent", "subagentChatId": "subagent-1", "agentName": "explorer"}
    outer = tool("Running", "outer", "spawn_agent", arguments={"agent": "x"}, details=details)
    server = scripted_server(handshake(), turn(outer, inner, expect("chat/toolCallApprove")))
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    nvim.wait_until("#require('eca').pending() == 1")
    nvim.keys(":Eca approve<CR>")
    approvals = nvim.wait_for(lambda: server.received("chat/toolCallApprove"), "the approval")
    [approval] = approvals
    assert approval["params"] == {"chatId": "subagent-1", "toolCallId": "inner"}
    assert prompts(server) == ["go"]


def test_malformed_arguments_leave_no_call_running(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), turn(tool("Prepare", argumentsText='{"pat')))
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_idle(nvim)
    wait_line(nvim, "✗ grep")
    assert "not valid JSON" in lines_of(nvim)[-1]
