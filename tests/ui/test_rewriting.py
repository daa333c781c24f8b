"""Rewrites with a whole plugin: an ECA server that can, one that cannot, and an ACP agent."""

import re
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareReplay, PrepareScript, StartNeovim
from tests.support.script import expect, fail, handshake, pause, reply, rewriting, text, turn
from tests.support.servers import module_command
from tests.ui.talk import say, wait_idle, wait_line

TEXT = "local x = 1\nreturn x\n\nlocal y = 2\n\nlocal z = 3\n"
PROMPTING = {"status": "prompting", "model": "mock/mock-1"}
DONE = {"type": "finished", "totalTimeMs": 1}


@pytest.fixture
def file(workspace: Path) -> Path:
    file = workspace / "src" / "short.lua"
    file.write_text(TEXT)
    return file


def lines_of(nvim: Neovim) -> list[str]:
    lines: list[str] = nvim.request("nvim_buf_get_lines", 0, 0, -1, True)
    return lines


def states(nvim: Neovim) -> list[str]:
    found: list[str] = nvim.lua(
        "return vim.tbl_map(function(it) return it.state end, require('eca').previews())"
    )
    return found


def test_a_recorded_server(start_nvim: StartNeovim, replay: PrepareReplay, file: Path) -> None:
    player = replay("rewrite")
    settings = {"server": {"command": player.command}}
    nvim = start_nvim(str(file), settings=settings, columns=80)
    nvim.request("nvim_buf_set_lines", 0, 0, -1, True, ["local x = 1", "x"])
    new = ["local x = 42", "return x"]
    for number, line in enumerate((1, 1, 1, 2)):
        nvim.keys(f":{line}Eca rewrite make it 42<CR>")
        nvim.wait_screen("1 change")
        nvim.keys("dOu" if number < 3 else "dO")
    assert lines_of(nvim) == ["local x = 1", *new]
    player.assert_as_recorded(nvim)


def test_two_come_while_the_user_types_and_one_that_is_stopped_is_dropped(
    start_nvim: StartNeovim, scripted_server: PrepareScript, file: Path
) -> None:
    ask = [*expect("rewrite/prompt"), *reply("rewrite/prompt", PROMPTING)]
    halves = [
        step
        for word in ("local ", "x = 10\nre", "turn x\n")
        for number in (1, 2)
        for step in (*rewriting(word, number=number), *pause(30))
    ]
    server = scripted_server(
        *(handshake(), ask, ask, halves),
        *(rewriting(DONE), rewriting({"type": "replace", "text": "local y = 20"}, DONE, number=2)),
        *(ask, rewriting("local z", number=3)),
        *(ask, rewriting(" = 30", DONE, number=3), rewriting("local z = 40", DONE, number=4)),
        *(ask, rewriting({"type": "error", "message": "no key"}, number=5)),
    )
    settings = {"server": {"command": server.command}}
    nvim = start_nvim(str(file), settings=settings, columns=80)
    nvim.keys(":1,2Eca rewrite ten<CR>:4Eca rewrite twenty<CR>")
    typed = "what is typed meanwhile is not lost"
    nvim.keys(f"Go{typed}<Esc>")
    nvim.wait_for(lambda: states(nvim) == ["ready", "ready"], "both")
    nvim.keys("ggdO4GdO")
    expected = ["local x = 10", "return x", "", "local y = 20", "", "local z = 3", typed]
    assert lines_of(nvim) == expected
    nvim.keys(":6Eca rewrite thirty<CR>")
    nvim.wait_screen("rewrite: w")
    nvim.keys("dQ")
    nvim.keys(":6Eca rewrite forty<CR>")
    nvim.wait_screen("local z = 40")
    nvim.keys("dO")
    assert lines_of(nvim)[5] == "local z = 40"
    nvim.keys(":6Eca rewrite fifty<CR>")
    nvim.wait_screen("rewrite: no key  dR again  dI edit  dX close")
    modified = server.received("rewrite/prompt")[-1]["params"]
    assert (modified["text"], modified["range"]["start"]["line"]) == ("local z = 40", 6)
    assert modified["path"] == str(file)


def test_an_older_server_is_prompted_in_a_chat_that_nobody_sees(
    start_nvim: StartNeovim, scripted_server: PrepareScript, file: Path
) -> None:
    answer = text("Sure:\n```lua\nlocal x = 9\n", "return x\n```\n")
    unknown = [*expect("rewrite/prompt"), *fail("rewrite/prompt", -32601, "unknown")]
    server = scripted_server(handshake(), unknown, turn(answer), expect("chat/delete"))
    settings = {"server": {"command": server.command}}
    nvim = start_nvim(str(file), settings=settings, columns=80)
    nvim.keys(":1,2Eca rewrite nine<CR>")
    nvim.wait_screen("1 change")
    [prompt] = server.received("chat/prompt")
    assert prompt["params"]["agent"] == "plan"
    assert "nine" in prompt["params"]["message"]
    nvim.keys("dO")
    assert lines_of(nvim)[:2] == ["local x = 9", "return x"]
    nvim.wait_for(lambda: server.received("chat/delete"), "the end of its chat")
    assert nvim.lua("return require('eca').chats()") == []


@pytest.mark.either_nvim
def test_a_session_that_an_agent_keeps_is_in_no_list(
    start_nvim: StartNeovim, tmp_path: Path, file: Path
) -> None:
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    command = module_command("tests.support.acp_keeper", str(sessions), "delete")
    servers = {"keeper": {"command": command, "protocol": "acp"}}
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    settings = {"server": "keeper", "servers": servers, "contexts": {"cursor": False}}
    nvim = start_nvim(str(file), settings=settings, columns=80, environment=state)
    nvim.keys(":EcaChat<CR>")
    say(nvim, "one")
    wait_line(nvim, "reply 1 to: one")
    wait_idle(nvim)
    nvim.keys(":1wincmd w<CR>")
    nvim.lua("require('eca').rewrite({ range = { 1, 2 }, prompt = 'x' })")
    nvim.wait_for(lambda: states(nvim) in (["ready"], ["failed"]), "the answer")
    nvim.lua(
        "require('eca.host').ask('list_chats', {}, function(list) "
        "  titles = vim.tbl_map(function(it) return it.title or '' end, list) "
        "end)"
    )
    nvim.wait_until("titles ~= nil")
    assert len([*sessions.glob("*.json")]) == 2
    assert nvim.lua("return #titles") == 1


@pytest.mark.either_nvim
def test_a_template_says_what_to_do(
    start_nvim: StartNeovim, scripted_server: PrepareScript, file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "tidy.md").write_text("Tidy this:\n{{selection}}\n")
    ask = [*expect("rewrite/prompt"), *reply("rewrite/prompt", PROMPTING)]
    server = scripted_server(handshake(), ask, rewriting("local x = 5", DONE))
    settings = {"server": {"command": server.command}, "templates": {"user": str(folder)}}
    nvim = start_nvim(str(file), settings=settings, columns=80)
    nvim.keys(":1Eca rewrite!<CR>")
    screen = nvim.wait_screen("/tidy")
    [number] = re.findall(r"(\d+): /tidy", screen.text())
    nvim.keys(f"{number}<CR>")
    nvim.wait_screen("1 change")
    [asked] = server.received("rewrite/prompt")
    assert asked["params"]["prompt"].startswith("Tidy this:")
    assert "local x = 1" in asked["params"]["prompt"]
