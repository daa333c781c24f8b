"""Every kind of content, tool details and contexts is read into its type."""

from typing import Any, get_args

import pytest
from tests.support.on_the_wire import on_the_wire

from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.protocol.base.codec import decode_as
from eca_nvim.protocol.base.types import UnknownPart, Wire
from eca_nvim.protocol.eca import content, contexts, tool_call
from eca_nvim.protocol.eca import content as contents
from eca_nvim.protocol.eca.draft import FileChangeContent
from eca_nvim.protocol.eca.editor import LinesRange, Position, Range

CALL = {"id": "c1", "name": "read_file", "server": "eca", "origin": "native", "summary": "Reading"}
CALL_FIELDS: dict[str, Any] = dict(CALL)
ARGUMENTS = {"path": "/workspace/a.py", "lines": {"from": 1}}

CONTENTS: list[tuple[dict[str, Any], contents.Content]] = [
    (
        {"type": "text", "text": "Hé\n", "contentId": "u1"},
        contents.TextContent(text="Hé\n", content_id="u1"),
    ),
    (
        {"type": "url", "title": "ECA", "url": "https://eca.dev"},
        contents.UrlContent(title="ECA", url="https://eca.dev"),
    ),
    (
        {"type": "image", "mediaType": "image/png", "base64": "aGk="},
        contents.ImageContent(media_type="image/png", base64="aGk="),
    ),
    (
        {"type": "progress", "state": "running", "text": "Generating"},
        contents.ProgressContent(state=contents.ProgressState.RUNNING, text="Generating"),
    ),
    (
        {"type": "usage", "sessionTokens": 12, "sessionCost": "0.01", "limit": {"context": 9}},
        content.UsageContent(
            session_tokens=12, session_cost="0.01", limit=content.UsageLimit(context=9)
        ),
    ),
    ({"type": "reasonStarted", "id": "r1"}, contents.ReasonStarted(id="r1")),
    ({"type": "reasonText", "id": "r1", "text": "hm"}, contents.ReasonText(id="r1", text="hm")),
    (
        {"type": "reasonFinished", "id": "r1", "totalTimeMs": 40},
        contents.ReasonFinished(id="r1", total_time_ms=40),
    ),
    (
        {"type": "hookActionStarted", "id": "h1", "name": "fmt", "actionType": "shell"},
        contents.HookStarted(id="h1", name="fmt", action_type="shell"),
    ),
    (
        {"type": "hookActionFinished", "id": "h1", "name": "fmt", "status": 2, "output": None}
        | {"actionType": "shell", "error": "no", "toolCallId": "c1"},
        contents.HookFinished(
            id="h1", name="fmt", action_type="shell", status=2, error="no", tool_call_id="c1"
        ),
    ),
    (
        {"type": "toolCallPrepare", "argumentsText": '{"pa', "details": None, **CALL},
        tool_call.ToolCallPrepare(arguments_text='{"pa', **CALL_FIELDS),
    ),
    (
        {"type": "toolCallRun", "arguments": ARGUMENTS, "manualApproval": True, **CALL},
        tool_call.ToolCallRun(arguments=ARGUMENTS, manual_approval=True, **CALL_FIELDS),
    ),
    (
        {"type": "toolCallRunning", "arguments": ARGUMENTS, **CALL},
        tool_call.ToolCallRunning(arguments=ARGUMENTS, **CALL_FIELDS),
    ),
    (
        {"type": "toolCalled", "error": False, "outputs": [{"type": "text", "text": "ok"}]}
        | {"totalTimeMs": 3, "arguments": ARGUMENTS, **CALL},
        tool_call.ToolCalled(
            error=False,
            outputs=(tool_call.ToolOutput(type="text", text="ok"),),
            total_time_ms=3,
            arguments=ARGUMENTS,
            **CALL_FIELDS,
        ),
    ),
    (
        {"type": "toolCallRejected", "reason": "user", "arguments": ARGUMENTS, **CALL},
        tool_call.ToolCallRejected(reason="user", arguments=ARGUMENTS, **CALL_FIELDS),
    ),
    ({"type": "metadata", "title": "Adding"}, contents.MetadataContent(title="Adding")),
    (
        {"type": "flag", "text": "before", "contentId": "f1"},
        contents.FlagContent(text="before", content_id="f1"),
    ),
]

DETAILS: list[tuple[dict[str, Any], tool_call.Details]] = [
    (
        {"type": "fileChange", "path": "a.py", "diff": "@@ -1 +1 @@\n-a\n+b"}
        | {"linesAdded": 1, "linesRemoved": 1},
        tool_call.FileChangeDetails(
            path="a.py", diff="@@ -1 +1 @@\n-a\n+b", lines_added=1, lines_removed=1
        ),
    ),
    ({"type": "jsonOutputs", "jsons": ["{}"]}, tool_call.JsonOutputsDetails(jsons=("{}",))),
    (
        {"type": "subagent", "subagentChatId": "s1", "agentName": "explorer", "model": "m"}
        | {"step": 2, "maxSteps": None},
        tool_call.SubagentDetails(subagent_chat_id="s1", agent_name="explorer", model="m", step=2),
    ),
    (
        {
            "type": "task",
            "inProgressTaskIds": [2],
            "activeSummary": "Testing",
            "tasks": [{"id": 2, "subject": "Test", "status": "in-progress", "blockedBy": [1]}],
            "summary": {"done": 1, "inProgress": 1, "pending": 0, "total": 2},
        },
        tool_call.TaskDetails(
            tasks=(
                tool_call.Task(
                    id=2, subject="Test", status=tool_call.TaskStatus.IN_PROGRESS, blocked_by=(1,)
                ),
            ),
            in_progress_task_ids=(2,),
            summary=tool_call.TaskSummary(done=1, in_progress=1, pending=0, total=2),
            active_summary="Testing",
        ),
    ),
    (
        {
            "type": "shellCommand",
            "background": True,
            "commands": [
                {"command": "git", "args": ["log"], "approvalKey": "git log", "remembered": True},
                {"command": "sudo", "args": ["rm"]},
            ],
        },
        tool_call.ShellCommandDetails(
            background=True,
            commands=(
                tool_call.ShellCommand(
                    command="git", args=("log",), approval_key="git log", remembered=True
                ),
                tool_call.ShellCommand(command="sudo", args=("rm",)),
            ),
        ),
    ),
]

CONTEXTS: list[tuple[dict[str, Any], contexts.Context]] = [
    (
        {"type": "file", "path": "a.py", "linesRange": {"start": 3, "end": 5}},
        contexts.FileContext(path="a.py", lines_range=LinesRange(start=3, end=5)),
    ),
    ({"type": "directory", "path": "src"}, contexts.DirectoryContext(path="src")),
    ({"type": "web", "url": "https://eca.dev"}, contexts.WebContext(url="https://eca.dev")),
    (
        {"type": "image", "mediaType": "image/png", "base64": "aGk="},
        contexts.ImageContext(media_type="image/png", base64="aGk="),
    ),
    (
        {"type": "text", "label": "terminal", "content": "$ ls"},
        contexts.TextContext(label="terminal", content="$ ls"),
    ),
    ({"type": "repoMap"}, contexts.RepoMapContext()),
    (
        {
            "type": "cursor",
            "path": "a.py",
            "position": {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 4}},
        },
        contexts.CursorContext(
            path="a.py",
            position=Range(start=Position(line=1, character=2), end=Position(line=1, character=4)),
        ),
    ),
    (
        {"type": "mcpResource", "uri": "x://y", "name": "y", "description": "d"}
        | {"mimeType": "text/plain", "server": "x"},
        contexts.McpResourceContext(
            uri="x://y", name="y", description="d", mime_type="text/plain", server="x"
        ),
    ),
]


def receive(content: dict[str, Any]) -> contents.Content:
    params = {"chatId": "chat", "role": "assistant", "content": content}
    message = read_notification("chat/contentReceived", params)
    assert isinstance(message, contents.ContentReceived)
    return message.content


@pytest.mark.parametrize(("wire", "content"), CONTENTS, ids=lambda it: getattr(it, "type", ""))
def test_a_kind_of_content(wire: dict[str, Any], content: contents.Content) -> None:
    assert receive(wire) == content


@pytest.mark.parametrize(("wire", "expected"), DETAILS)
def test_a_kind_of_details(wire: dict[str, Any], expected: tool_call.Details) -> None:
    call = receive({"type": "toolCallRun", **CALL, "details": wire})
    assert call == tool_call.ToolCallRun(details=expected, **CALL_FIELDS)


@pytest.mark.parametrize(("wire", "expected"), CONTEXTS)
def test_a_kind_of_context(wire: dict[str, Any], expected: contexts.Context) -> None:
    assert decode_as(contexts.Context, wire, "chat/queryContext") == expected
    assert on_the_wire(expected) == wire


def test_the_examples_cover_all_kinds() -> None:
    drafts = {FileChangeContent}
    assert {type(value) for _, value in CONTENTS} == known(contents.Content) - drafts
    assert {type(value) for _, value in DETAILS} == known(tool_call.Details)
    assert {type(value) for _, value in CONTEXTS} == known(contexts.Context)
    assert [len(CONTENTS), len(DETAILS), len(CONTEXTS)] == [17, 5, 8]


def known(union: object) -> set[type[Wire]]:
    return {kind for kind in get_args(union) if not issubclass(kind, UnknownPart)}
