"""Blocks with more than text: images, JSON, colours of programs, links, commands, hooks."""

import base64
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.screen import Value
from tests.support.script import Steps, content, expect, handshake, text, turn
from tests.support.servers import ScriptedServer
from tests.ui.talk import asks, done, lines_of, say, start_chat, tool, wait_idle, wait_line
from tests.ui.view import CHAT, View, assistant, open_view

from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.ops import BlockKind

PNG = base64.b64encode(b"\x89PNG and so on").decode()
SNACKS = """
_G.placed, _G.closed, _G.can = {}, {}, true
_G.Snacks = {
  image = {
    config = { enabled = true },
    supports_terminal = function() return _G.can end,
    terminal = { env = function() return { placeholders = true } end },
    placement = {
      new = function(buf, path, opts)
        local placement = { buf = buf, path = path, opts = opts }
        function placement.close() table.insert(_G.closed, path) end
        table.insert(_G.placed, placement)
        return placement
      end,
    },
  },
}
"""
OPENED = """
vim.ui.open = function(target)
  _G.opened = target
  return nil, nil
end
"""


def started(start_nvim: StartNeovim, server: ScriptedServer, init: str = "") -> Neovim:
    nvim = start_chat(start_nvim, server, init=init)
    say(nvim, "go")
    wait_line(nvim, "the end")
    wait_idle(nvim)
    return nvim


END = text("\nthe end")


def finished(call: str, name: str, output: str = "", **fields: object) -> Steps:
    run = tool("Run", call, name, manualApproval=False, **fields)
    return [*run, *done(call, output, name, **fields)]


# --- pictures ------------------------------------------------------------------------------------


def test_an_image_is_shown_where_the_terminal_can(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    image = content({"type": "image", "mediaType": "image/png", "base64": PNG})
    nvim = started(start_nvim, scripted_server(handshake(), turn(image, END)), SNACKS)
    nvim.wait_until("#_G.placed == 1")
    row = next(row for row, line in enumerate(lines_of(nvim), 1) if "image/png" in line)
    assert nvim.lua("return _G.placed[1].opts.pos") == [row, 0]
    path = Path(nvim.lua("return _G.placed[1].path"))
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_picture_stays_with_its_block_and_goes_with_it(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, init=SNACKS)
    header = [("▣ image/png", "EcaImage")]
    view.draw(*assistant(1, "text"), ops.OpenBlock(CHAT, 2, BlockKind.IMAGE, header))
    [asked] = view.sent("image")
    view.draw(ops.Answer(asked["request"], "/tmp/image.png"))
    view.nvim.wait_until("#_G.placed == 1")
    view.draw(ops.AppendText(CHAT, 1, "\nmore\nmore"))
    view.nvim.lua("_G.placed[1].opts.on_update_pre(_G.placed[1])")
    assert view.nvim.lua("return _G.placed[1].opts.pos") == [5, 0]
    view.draw(ops.RemoveBlock(CHAT, 2))
    assert view.nvim.lua("return _G.closed") == ["/tmp/image.png"]


def test_a_picture_goes_with_its_chat(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, init=SNACKS)
    view.draw(ops.OpenBlock(CHAT, 2, BlockKind.IMAGE, [("▣ image/png", "EcaImage")]))
    [asked] = view.sent("image")
    view.draw(ops.Answer(asked["request"], "/tmp/image.png"))
    view.nvim.wait_until("#_G.placed == 1")
    view.nvim.lua("require('eca.chat.open').forget(...)", CHAT)
    view.nvim.wait_until("#_G.closed == 1")
    assert view.nvim.lua("return _G.closed") == ["/tmp/image.png"]


@pytest.mark.parametrize("init", ["", SNACKS + "_G.can = false"])
def test_nothing_is_asked_for_where_no_picture_can_be_shown(
    start_nvim: StartNeovim, init: str
) -> None:
    view = open_view(start_nvim, init=init)
    view.draw(ops.OpenBlock(CHAT, 1, BlockKind.IMAGE, [("▣ image/png", "EcaImage")]))
    assert view.sent("image") == []
    view.nvim.keys("<C-w>kgg<CR>")
    assert view.sent("act") == [{"chat": CHAT, "block": 1}]


# --- outputs -------------------------------------------------------------------------------------


def test_json_is_coloured_as_code(start_nvim: StartNeovim, scripted_server: PrepareScript) -> None:
    details = {"type": "jsonOutputs", "jsons": ['{"name": "eca", "size": 12}']}
    steps = finished("a", "fetch", details=details, arguments={})
    nvim = started(start_nvim, scripted_server(handshake(), turn(steps, END)))
    nvim.keys("<C-w>kgg/fetch<CR>zo")
    wait_line(nvim, '"name"')
    nvim.wait_for(lambda: _groups(nvim, "12") - _groups(nvim, "the end"), "colours of JSON")
    nvim.keys("zc")
    nvim.wait_for(lambda: not any('"name"' in line for line in lines_of(nvim)), "it to close")
    nvim.keys("zo")
    nvim.wait_for(lambda: _groups(nvim, "12") - _groups(nvim, "the end"), "colours again")


def _groups(nvim: Neovim, words: str) -> set[str]:
    screen = nvim.screen
    return set(screen.groups_at(*screen.find(words))) if words in screen.text() else set()


def test_programs_keep_their_colours(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    output = "\x1b[32mpassed\x1b[0m and \x1b[1;31mfailed\x1b[0m \x1b]0;title\x07done"
    steps = finished("a", "shell_command", output, arguments={"command": "make test"})
    nvim = started(start_nvim, scripted_server(handshake(), turn(steps, END)))
    nvim.keys("<C-w>kgg/make test<CR>zo")
    wait_line(nvim, "passed and failed done")
    screen = nvim.wait_screen("passed and failed done")
    assert "passed and failed done" in screen
    assert "DiagnosticOk" in _groups(nvim, "passed")
    assert "DiagnosticError" in _groups(nvim, "failed")


def test_a_shell_line_tells_its_commands_and_what_is_remembered(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    commands = [
        {"command": "cd", "args": ["src"], "remembered": True, "approvalKey": "cd"},
        {"command": "make", "args": ["test"], "remembered": False, "approvalKey": "make test"},
    ]
    fields: Mapping[str, Value] = {
        "arguments": {"command": "cd src && make test"},
        "details": {"type": "shellCommand", "commands": commands},
    }
    server = scripted_server(
        handshake(),
        turn(
            asks(name="shell_command", **fields),
            expect("chat/toolCallApprove"),
            done(name="shell_command", **fields),
            END,
        ),
    )
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_line(nvim, "· make test  always allow: make test")
    assert "· cd src     always allowed" in lines_of(nvim)
    nvim.keys(":Eca approve!<CR>")
    wait_line(nvim, "the end")
    [approval] = server.received("chat/toolCallApprove")
    assert approval["params"]["save"] == "session"


def test_a_hook_is_a_small_table(start_nvim: StartNeovim, scripted_server: PrepareScript) -> None:
    hook = {"id": "h", "name": "lint", "actionType": "shell"}
    told = {"status": 2, "output": "a\nb", "error": "c"}
    steps = [
        *content({"type": "hookActionStarted", **hook}),
        *content({"type": "hookActionFinished", **hook, **told}),
    ]
    nvim = started(start_nvim, scripted_server(handshake(), turn(steps, END)))
    lines = lines_of(nvim)
    place = lines.index("✗ lint exit 2")
    assert lines[place + 1 : place + 4] == ["output  a", "        b", "error   c"]


# --- links ---------------------------------------------------------------------------------------


@pytest.mark.either_nvim
@pytest.mark.parametrize("key", ["<CR>", "gx"])
@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("Docs", "https://example.org/docs"),
        ("example.org/plain", "https://example.org/plain"),
        ("mail me", "mailto:me@example.org"),
    ],
)
def test_links_in_text_are_opened(
    start_nvim: StartNeovim, key: str, words: str, target: str
) -> None:
    view: View = open_view(start_nvim, init=OPENED)
    line = "See [the Docs](https://example.org/docs), https://example.org/plain or "
    view.draw(*assistant(1, line + "[mail me](mailto:me@example.org)."))
    view.nvim.keys(f"<C-w>kgg0:call search('{words}')<CR>{key}")
    assert view.nvim.wait_until("_G.opened") == target


def test_a_link_that_is_no_address_is_not_opened(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, init=OPENED)
    view.draw(*assistant(1, "[run](javascript:alert(1)) and [file](file:///etc/passwd)"))
    view.nvim.keys("<C-w>kgg0lgx")
    view.nvim.keys("fegx")
    assert view.nvim.lua("return _G.opened") is None
