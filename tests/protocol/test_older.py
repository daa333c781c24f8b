"""Names and forms of older servers are read into today's.

They are those of the protocol's first draft, of its earlier versions (behaviors, no tool
servers) and of servers of that time.
"""

from typing import Any

import pytest
from msgspec import UNSET

from eca_nvim.agents.eca.older.forms import read_notification, read_result
from eca_nvim.protocol.base.codec import decode_as
from eca_nvim.protocol.eca.chat import (
    ChatConfig,
    ConfigUpdated,
    PromptParams,
    PromptResult,
    PromptStatus,
    SelectedBehaviorChanged,
)
from eca_nvim.protocol.eca.content import (
    ContentReceived,
    Role,
    TextContent,
    UsageContent,
)
from eca_nvim.protocol.eca.contexts import CommandKind, QueryCommandsParams
from eca_nvim.protocol.eca.draft import (
    CodeBlock,
    FileChangeContent,
    Generated,
    LineSpan,
    ProposedChange,
)
from eca_nvim.protocol.eca.editor import GetDiagnostics
from eca_nvim.protocol.eca.lifecycle import InitializeParams, InitializeResult
from eca_nvim.protocol.eca.tool_call import ToolCalled, ToolCallRejected, ToolCallRun, ToolOutput
from eca_nvim.protocol.eca.tools import Tool, ToolServerUpdated


def receive(content: dict[str, Any], **params: object) -> ContentReceived:
    message = read_notification(
        "chat/contentReceived", {"chatId": "1", "role": "assistant", "content": content, **params}
    )
    assert isinstance(message, ContentReceived)
    return message


def test_behaviors_are_agents() -> None:
    chat = {"behaviors": ["agent", "plan"], "selectBehavior": "plan", "defaultBehavior": "agent"}
    assert read_notification("config/updated", {"chat": chat}) == ConfigUpdated(
        chat=ChatConfig(
            agents=("agent", "plan"),
            select_agent="plan",
            default_agent="agent",
            of_behaviors=True,
        )
    )


def test_the_new_name_wins_over_the_old() -> None:
    chat = {"behaviors": ["agent", "explorer"], "agents": ["code"], "selectAgent": "code"}
    message = read_notification("config/updated", {"chat": {**chat, "selectBehavior": "x"}})
    assert isinstance(message, ConfigUpdated)
    assert message.chat == ChatConfig(agents=("code",), select_agent="code")


def test_a_null_old_name_is_a_null_new_name() -> None:
    message = read_notification("config/updated", {"chat": {"selectBehavior": None}})
    assert isinstance(message, ConfigUpdated)
    assert message.chat is not None
    assert message.chat.select_agent is None
    assert message.chat.agents is UNSET


def test_initialize_told_models_and_behaviors() -> None:
    result = {
        "models": ["a", "b"],
        "chatDefaultModel": "a",
        "chatBehaviors": ["agent", "plan"],
        "chatDefaultBehavior": "agent",
        "chatWelcomeMessage": "Welcome",
    }
    assert read_result(InitializeParams, result) == InitializeResult(
        welcome_message="Welcome",
        models=("a", "b"),
        default_model="a",
        agents=("agent", "plan"),
        default_agent="agent",
    )


def test_a_tool_call_had_no_server_and_no_origin() -> None:
    content = {"type": "toolCallRun", "id": "1", "name": "eca_read_file", "arguments": {"a": "b"}}
    assert receive(content).content == ToolCallRun(
        id="1", name="eca_read_file", arguments={"a": "b"}, manual_approval=False
    )


@pytest.mark.parametrize("value", ["rm -rf", 5, True])
def test_a_value_alone_is_an_argument_like_any_other(value: object) -> None:
    content = {"type": "toolCallRun", "id": "1", "arguments": value, "manualApproval": True}
    run = ToolCallRun(id="1", arguments={"0": value}, manual_approval=True)
    assert receive(content).content == run


def test_arguments_were_a_list() -> None:
    content = {"type": "toolCalled", "id": "1", "arguments": ["x", "y"], "error": False}
    called = receive(content).content
    assert called == ToolCalled(id="1", arguments={"0": "x", "1": "y"}, error=False)


@pytest.mark.parametrize("failed", [True, False])
def test_outputs_had_content_and_error(failed: bool) -> None:
    output = {"type": "text", "content": "boom", "error": failed}
    called = receive({"type": "toolCalled", "id": "1", "outputs": [output]}).content
    assert called == ToolCalled(
        id="1", error=failed, outputs=(ToolOutput(type="text", text="boom"),)
    )


@pytest.mark.parametrize(
    ("outputs", "texts"), [(None, []), ("plain", ["plain"]), ([{"type": "image"}], [""])]
)
def test_outputs_of_other_shapes(outputs: object, texts: list[str]) -> None:
    called = receive({"type": "toolCalled", "id": "1", "outputs": outputs}).content
    assert isinstance(called, ToolCalled)
    assert [output.text for output in called.outputs] == texts


def test_an_older_reason_for_a_rejection() -> None:
    content = {"type": "toolCallRejected", "id": "1", "reason": "user-choice"}
    assert receive(content).content == ToolCallRejected(id="1", reason="user-choice")


def test_costs_were_numbers() -> None:
    content = {"type": "usage", "sessionTokens": 9, "lastMessageCost": 0.5, "sessionCost": 1}
    assert receive(content).content == UsageContent(
        session_tokens=9, last_message_cost="0.5", session_cost="1"
    )


def test_commands_of_mcp_servers_were_hyphenated() -> None:
    commands = [{"name": "srv:p", "description": "d", "type": "mcp-prompt", "arguments": []}]
    result = read_result(QueryCommandsParams, {"chatId": None, "commands": commands})
    assert [command.type for command in result.commands] == [CommandKind.MCP_PROMPT]


def test_a_tool_server_as_the_earlier_protocol_tells_it() -> None:
    tool = {"name": "t", "description": "d", "parameters": {"type": "object"}}
    params = {"type": "mcp", "name": "s", "command": "x", "args": [], "status": "running"}
    assert read_notification("tool/serverUpdated", {**params, "tools": [tool]}) == (
        ToolServerUpdated(
            type="mcp",
            name="s",
            command="x",
            args=(),
            status="running",
            tools=(Tool(name="t", description="d", parameters={"type": "object"}),),
        )
    )


def test_the_first_draft_said_when_an_answer_was_complete() -> None:
    block = {"code": "x = 1", "language": "python"}
    params = {"chatId": "1", "content": {"type": "text", "text": "Hi", "codeBlocks": [block]}}
    message = read_notification(
        "chat/contentReceived", {**params, "isComplete": True, "metadata": {"tokensUsed": 3}}
    )
    assert message == ContentReceived(
        chat_id="1",
        role=Role.ASSISTANT,
        content=TextContent(text="Hi", code_blocks=(CodeBlock(code="x = 1", language="python"),)),
        is_complete=True,
        metadata=Generated(tokens_used=3),
    )


def test_the_first_draft_proposed_file_changes() -> None:
    change = {"kind": "change", "content": "x", "range": {"startLine": 2, "endLine": 3}}
    content = {
        "type": "fileChange",
        "description": "Rename",
        "manualApproval": True,
        "file": "a.py",
        "changes": [change],
    }
    span = LineSpan(start_line=2, end_line=3)
    assert receive(content, isComplete=False).content == FileChangeContent(
        description="Rename",
        manual_approval=True,
        file="a.py",
        changes=(ProposedChange(kind="change", content="x", range=span),),
    )


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("success", PromptStatus.PROMPTING),
        ("connection-error", PromptStatus.ERROR),
        ("prompting", PromptStatus.PROMPTING),
        ("login", PromptStatus.LOGIN),
        ("error", PromptStatus.ERROR),
        ("resting", PromptStatus.UNKNOWN),
    ],
)
def test_the_answers_to_a_prompt(status: str, expected: PromptStatus) -> None:
    result = {"chatId": "1", "status": status, "resultMessage": "sent"}
    assert read_result(PromptParams, result) == PromptResult(
        chat_id="1", status=expected, result_message="sent"
    )


def test_the_older_choice_of_an_agent() -> None:
    params = decode_as(SelectedBehaviorChanged, {"behavior": "plan"}, "chat/…")
    assert params == SelectedBehaviorChanged(behavior="plan")


def test_a_request_without_params() -> None:
    assert decode_as(GetDiagnostics, None, "editor/getDiagnostics") == GetDiagnostics()
