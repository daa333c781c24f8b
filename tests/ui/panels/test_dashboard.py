"""Five chats of three servers, seen and answered in the dashboard."""

from pathlib import Path
from typing import Any

import pytest
from tests.support import acp_script as agent
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import MODEL, Steps, expect, handshake, progress, reply, send, text
from tests.support.script import status as turn_status
from tests.support.servers import ScriptedServer, scripted_acp
from tests.support.wire import Message
from tests.ui.talk import asks, say, wait_line

COVERED = """
local row = vim.fn.screenpos(0, vim.fn.line('.'), 1).row - 1
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  local config, top = vim.api.nvim_win_get_config(win), vim.api.nvim_win_get_position(win)[1]
  if config.relative ~= '' and top <= row and row <= top + config.height + 1 then
    return true
  end
end
return false
"""
DASHBOARD = "eca://panel/dashboard"
SHELL = "shell_command"
LONG = "printf 'one\\n' > a.txt\n" + "\n".join(f"echo step {it}" for it in range(40))


def titled(title: str) -> Steps:
    return send("chat/contentReceived", {"chatId": "$chat", "role": "system"} | {
        "content": {"type": "metadata", "title": title}
    })  # fmt: skip


def begins(title: str, *steps: Steps) -> Steps:
    """Begin a turn, which goes on."""
    answer = {"chatId": "$chat", "model": MODEL, "status": "prompting"}
    opened = [*expect("chat/prompt"), *send("chat/opened", {"chatId": "$chat"})]
    begun = [*opened, *turn_status("running"), *reply("chat/prompt", answer), *titled(title)]
    return [*begun, *(each for step in steps for each in step)]


def ends() -> Steps:
    return [*turn_status("idle"), *progress("finished")]


def command(call: str, line: str) -> Steps:
    return asks(call, SHELL, arguments={"command": line})


def wait_guard(nvim: Neovim) -> None:
    """Wait until keys answer what the float shows."""
    nvim.wait_until("require('eca.approval').front_guard_is_over()")


class Five:
    """Five chats: 1 and 2 of `one`, 3 and 4 of `two`, 5 of an ACP agent."""

    def __init__(
        self,
        start_nvim: StartNeovim,
        scripted_server: PrepareScript,
        folder: Path,
        columns: int = 80,
    ) -> None:
        self.one = scripted_server(
            handshake(),
            begins("Remove the build", command("t1", "rm -r build/")),
            begins("A long script", command("t2", LONG)),
            *(expect("chat/toolCallReject"), expect("chat/toolCallApprove")),
        )
        self.two = scripted_server(
            handshake(),
            *(begins("Which tests", text("These.")), ends()),
            begins("Writes on", text("some text")),
            *(expect("chat/promptStop"), turn_status("stopping"), ends()),
        )
        run: dict[str, Any] = {
            "title": "Run",
            "kind": "execute",
            "rawInput": {"command": "make test"},
        }
        self.agent = scripted_acp(
            [*agent.handshake(), *agent.session(), *agent.turn(agent.permission("p", 1, **run))],
            folder / "agent",
        )
        servers = {
            "one": {"command": self.one.command},
            "two": {"command": self.two.command},
            "three": {"command": self.agent.command, "protocol": "acp"},
        }
        self.nvim = start_nvim(
            settings={"server": "one", "servers": servers}, columns=columns, lines=24
        )

    def open(self) -> None:
        """Begin all turns, and show the dashboard."""
        begun = (("one", "waiting"), ("one", "waiting"), ("two", "idle"), ("two", "running"))
        for number, (server, state) in enumerate((*begun, ("three", "waiting")), 1):
            self.nvim.lua("require('eca').new({ server = ... })", server)
            say(self.nvim, f"prompt {number}")
            title = f"(require('eca').chats()[{number}].title or '')"
            self.nvim.wait_until(f"{title} ~= '' or {number} == 5")
            self.nvim.wait_until(f"require('eca').chats()[{number}].state == '{state}'")
        self.nvim.keys(":Eca dashboard<CR>")
        self.nvim.wait_screen("chats: 3 for you, 1 running")

    def wait_row(self, *words: str) -> None:
        """Wait until a row has all of these."""
        self.nvim.wait_for(
            lambda: any(all(word in line for word in words) for line in lines(self.nvim)),
            f"a row with {words}",
        )

    def answers(self) -> list[Message]:
        """Return what the agent of the Agent Client Protocol was answered."""
        return [it["result"]["outcome"] for it in self.agent.answers() if "outcome" in it["result"]]


def lines(nvim: Neovim) -> list[str]:
    found: list[str] = nvim.lua(
        "return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, true)", DASHBOARD
    )
    return found


def calls(server: ScriptedServer, method: str) -> list[str]:
    return [it["params"]["toolCallId"] for it in server.received(method)]


def rows_covered(nvim: Neovim) -> bool:
    """Return whether a float is over the row under the cursor."""
    return bool(nvim.lua(COVERED))


@pytest.mark.either_nvim
def test_five_chats_of_three_servers_are_answered_from_there(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    five = Five(start_nvim, scripted_server, tmp_path)
    nvim = five.nvim
    five.open()
    order = [line.split()[:2] for line in lines(nvim)]
    assert order == [[*it] for it in zip("12543", [*["waiting"] * 3, "running", "idle"])]  # noqa: B905
    assert "· three" in lines(nvim)[2]

    # The request of the row, and a key that comes too early.
    screen = nvim.wait_screen("rm -r build/    ")
    assert "<CR> open  a allow  r reject  g? keys" in screen
    nvim.keys("jr")
    nvim.wait_screen("the request is not on the screen yet")
    nvim.wait_screen("echo step 9")
    assert not rows_covered(nvim)
    # What was not on the screen whole is not allowed from there, but in the float.
    wait_guard(nvim)
    nvim.keys("a")
    nvim.wait_screen("not all of it was on the screen: g<CR> goes there")
    nvim.keys("g<CR>")
    nvim.wait_until("vim.api.nvim_win_get_config(0).relative ~= ''")
    nvim.keys("a")
    nvim.wait_until("vim.bo.filetype == 'eca-panel'")
    # The others, from row to row.
    nvim.keys("gg")
    five.wait_row("1 waiting")
    nvim.wait_screen("rm -r build/    ")
    wait_guard(nvim)
    nvim.keys("r")
    nvim.wait_for(lambda: calls(five.one, "chat/toolCallReject") == ["t1"], "the rejection")
    nvim.wait_for(lambda: calls(five.one, "chat/toolCallApprove") == ["t2"], "the approval")
    nvim.wait_screen("chats: 1 for you")
    nvim.keys("]w")
    nvim.wait_screen("4 reject  Reject")
    assert nvim.lua("return vim.api.nvim_get_current_line()").startswith(" 5 waiting")
    wait_guard(nvim)
    nvim.keys("A")
    nvim.wait_screen("choose one with :Eca choose")
    nvim.keys("g<CR>3")
    nvim.wait_for(lambda: five.answers() != [], "the answer to the agent")
    assert five.answers() == [{"outcome": "selected", "optionId": "o3"}]
    nvim.wait_until("vim.bo.filetype == 'eca-panel'")
    five.wait_row("5 idle")
    nvim.keys("/prompt 5<CR>D")
    nvim.wait_screen("this server cannot delete chats")
    nvim.keys("[w")
    nvim.wait_screen("no chat needs you")

    # What else can be done.
    nvim.keys("/Writes on<CR>s")
    five.wait_row("4 finished")
    nvim.keys("]w")
    assert nvim.lua("return vim.api.nvim_get_current_line()").startswith(" 4 finished")
    nvim.keys("n")
    nvim.wait_until("#require('eca').chats() == 6")
    nvim.wait_until("require('eca').chats()[6].server_name == 'two'")
    assert nvim.lua("return vim.bo.filetype") == "eca-input"
    nvim.keys("]w")
    nvim.wait_screen("Writes on")
    wait_line(nvim, "some text")
    five.wait_row("4 idle")
    to_panel = f":call win_gotoid(bufwinid('{DASHBOARD}'))<CR>"
    nvim.keys(to_panel + "/Which tests<CR><CR>")
    nvim.wait_until("vim.bo.filetype == 'eca-input'")
    wait_line(nvim, "These.")
    nvim.keys(to_panel + "/New chat<CR>D")  # the panel stays
    nvim.wait_screen('Delete "New chat" for good?')
    nvim.keys("1<CR>")
    nvim.wait_until("#require('eca').chats() == 5")
    nvim.wait_for(lambda: not any("New chat" in line for line in lines(nvim)), "its row to go")
