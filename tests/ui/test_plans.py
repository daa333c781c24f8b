"""The plan of an agent in a buffer: changed there, kept, and sent back as the one to follow."""

from pathlib import Path
from typing import Any

import pytest
from tests.support import acp_script as agent
from tests.support import script
from tests.support.factories import StartNeovim
from tests.support.servers import scripted_acp
from tests.ui.staged import CHAT, WITHOUT_HOST, draw, wait_sent
from tests.ui.talk import wait_idle, wait_line

PLAN = "# Fix it\n\n1. Read `io.py`\n2. Change it\n\n<!-- vim: set tw=7: -->"
MODES = {
    "currentModeId": "plan",
    "availableModes": [
        {"id": "yolo", "name": "Bypass permissions"},
        {"id": "default", "name": "Manual"},
        {"id": "plan", "name": "Plan Mode"},
    ],
}


def asks(number: int, text: str = PLAN) -> script.Steps:
    content: Any = [{"type": "content", "content": {"type": "text", "text": text}}]
    plan: Any = {"title": "Ready to code?", "kind": "switch_mode", "content": content}
    return agent.permission(f"t{number}", number, rawInput={"plan": text}, **plan)


SET_MODE = [*script.expect("session/set_mode"), *script.reply("session/set_mode", {})]
SHOWN = "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '|')"


@pytest.mark.either_nvim
def test_a_plan_is_changed_kept_and_sent_back(
    start_nvim: StartNeovim, tmp_path: Path, workspace: Path
) -> None:
    server = scripted_acp(
        [
            *agent.handshake(),
            *agent.session(modes=MODES),
            *agent.turn(asks(1), SET_MODE, ends="cancelled"),
            *agent.turn(asks(2), agent.text("I follow it.")),
            *agent.turn(agent.text("1. Look at `@/etc/passwd`.\n2. End")),
            *agent.turn(agent.text("Done.")),
        ],
        tmp_path / "agent",
    )
    servers = {"replay": {"command": server.command, "protocol": "acp"}}
    settings = {"server": "replay", "servers": servers, "approval": {"guard": 0}}
    nvim = start_nvim(settings=settings, columns=80, lines=24)

    def prompts() -> list[str]:
        return [it["params"]["prompt"][0]["text"] for it in server.received("session/prompt")]

    nvim.keys(":Eca plan<CR>")
    assert "no chat yet" in nvim.messages()
    nvim.keys(":EcaChat plan it<CR>")
    nvim.wait_screen("d opens the plan")
    nvim.keys("<Esc>:Eca approval<CR>")
    nvim.keys("d")
    screen = nvim.wait_screen("<C-s> sends it")
    assert "2. Change it" in screen
    assert "allow" not in screen
    assert nvim.eval("&textwidth") != 7
    nvim.keys("Go3. Test it<Esc>:w<CR>")
    assert nvim.eval("&modified") == 0
    nvim.keys(":w plan.md<CR>")
    assert (workspace / "plan.md").read_text().endswith("3. Test it\n")
    nvim.keys("q")
    nvim.wait_screen("d opens the plan")
    assert nvim.eval("tabpagenr('$')") == 1
    nvim.keys(":Eca plan<CR>")
    nvim.wait_until(f"{SHOWN}:find('3. Test it', 1, true)")
    assert server.answers() == []
    nvim.keys("i<C-s>")
    nvim.wait_for(lambda: len(prompts()) == 2, "the plan as a prompt")
    assert prompts()[1].startswith("Follow this plan instead; I have changed it:\n\n# Fix it")
    assert prompts()[1].endswith("3. Test it")
    assert server.answers()[0]["result"]["outcome"]["optionId"] == "o4"
    assert server.received("session/set_mode")[0]["params"]["modeId"] == "default"
    assert nvim.eval("tabpagenr('$')") == 1

    nvim.wait_screen("d opens the plan")
    nvim.keys("<Esc>:Eca plan<CR>")
    nvim.wait_screen("<C-s> sends it")
    nvim.keys("<C-s>")
    wait_line(nvim, "I follow it.")
    wait_idle(nvim)
    assert server.answers()[1]["result"]["outcome"]["optionId"] == "o1"

    nvim.keys(":EcaChat and now?<CR>")
    wait_line(nvim, "2. End")
    wait_idle(nvim)
    nvim.keys("<C-w>kGgd")
    nvim.wait_screen("<C-s> sends it")
    nvim.keys("<C-s>")
    assert "outside the workspace, take its @ away: @/etc/passwd" in nvim.messages()
    nvim.keys("f@x<C-s>")
    wait_line(nvim, "Done.")
    assert (
        prompts()[-1]
        == "Follow this plan instead; I have changed it:\n\n1. Look at `/etc/passwd`.\n2. End"
    )


@pytest.mark.parametrize("edit", ["", "GoMine<Esc>"])
def test_a_plan_that_was_left_goes_with_its_chat_unless_it_was_changed(
    start_nvim: StartNeovim, edit: str
) -> None:
    nvim = start_nvim("README.md", init=WITHOUT_HOST, columns=80)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.keys("<Esc>:Eca plan<CR>")
    draw(nvim, ["answer", wait_sent(nvim, "plan")[-1]["request"], {"block": 1, "text": "1. One"}])
    nvim.wait_screen("<C-s> sends it")
    nvim.keys(f"{edit}:w<CR>:q<CR>")
    nvim.lua("require('eca.chat.open').forget(...)", CHAT)
    if not edit:
        nvim.wait_until("vim.fn.bufname('eca://plan/*') == ''")
        return
    nvim.lua("_G.drawn = nil vim.schedule(vim.schedule_wrap(function() _G.drawn = true end))")
    nvim.wait_until("_G.drawn")
    before = len(nvim.lua("return require('eca.host').sent"))
    nvim.keys(":buffer eca://plan/1<CR><C-s>")
    nvim.wait_screen("not sent: its chat is gone; :w {name} keeps the plan")
    assert nvim.buffer_lines() == ["1. One", "Mine"]
    assert len(nvim.lua("return require('eca.host').sent")) == before
