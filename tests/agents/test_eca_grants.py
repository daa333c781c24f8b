"""What an ECA server allows from now on, and which tools have asked."""

import pytest

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.eca.grants import ENDS, EcaGrants
from eca_nvim.chat.vocabulary.call_details import ShellCommand, ShellPart, ToolCall

ECHO = ToolCall("t1", "echo", "mock", "mcp")


def test_a_tool_is_known_to_ask_once_it_was_answered() -> None:
    grants = EcaGrants()
    assert not grants.has_asked("echo", "mock")
    grants.answered(ECHO, always=False)
    grants.answered(ToolCall("t2", "read_file", "eca", "native"), always=False)
    assert grants.has_asked("echo", "mock")
    assert not grants.has_asked("echo", "other")
    assert grants.has_asked("read_file", None)
    assert grants.standing() == []


def test_what_the_server_remembers_stands_in_the_words_of_the_question_until_it_ends() -> None:
    grants = EcaGrants()
    parts = (ShellPart("git", ("status",), "git"), ShellPart("ls", (), "ls", remembered=True))
    shell = ToolCall("t2", "shell_command", "eca", "native", details=ShellCommand(parts))
    for call in (ECHO, ECHO, shell):
        grants.answered(call, always=True)
    tool, command = grants.standing()
    assert (tool.covers, tool.tool) == (("any echo on any server",), "echo")
    assert (command.covers, command.tool) == (("any git",), None)
    assert {it.chat_id for it in (tool, command)} == {None}
    assert {it.ends for it in (tool, command)} == {ENDS}
    with pytest.raises(AgentRefused, match="restart"):
        grants.revoke(tool.id)
    assert len(grants.standing()) == 2
