"""A value that does not fit loses as little as possible, and errors name the place."""

import logging
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.protocol.eca import (
    DecodeError,
    Unknown,
    decode_result,
    decode_server_request,
)
from eca_nvim.protocol.eca.chat import ChatStatus, StatusChanged
from eca_nvim.protocol.eca.chats import ChatListParams, ChatSummary
from eca_nvim.protocol.eca.code import (
    RewriteContentReceived,
    RewriteText,
    UnknownRewriteContent,
)
from eca_nvim.protocol.eca.content import (
    ContentReceived,
    ProgressContent,
    ProgressState,
    Role,
    TextContent,
    UnknownContent,
    UsageContent,
)
from eca_nvim.protocol.eca.contexts import QueryContextParams, UnknownContext
from eca_nvim.protocol.eca.lifecycle import Shutdown
from eca_nvim.protocol.eca.providers import LoginDone, ProvidersLoginParams, UnknownLoginAction
from eca_nvim.protocol.eca.tool_call import TaskDetails, ToolCalled, ToolCallRun, UnknownDetails
from eca_nvim.protocol.eca.tools import ToolServerUpdated


def receive(content: object, **params: object) -> ContentReceived:
    message = read_notification("chat/contentReceived", {"content": content, **params})
    assert isinstance(message, ContentReceived)
    return message


def test_an_unknown_method_is_kept() -> None:
    for params in ({"a": 1}, [1], None):
        assert read_notification("chat/danced", params) == Unknown("chat/danced", params)
        assert decode_server_request("editor/fly", params) == Unknown("editor/fly", params)
    raw = msgspec.Raw(b'{"a": 1}')
    assert read_notification("chat/danced", raw) == Unknown("chat/danced", {"a": 1})


def test_a_request_is_no_notification() -> None:
    assert isinstance(read_notification("editor/getDiagnostics", {}), Unknown)
    assert isinstance(decode_server_request("chat/opened", {"chatId": "1"}), Unknown)


def test_unknown_content_is_kept_whole() -> None:
    fields = {"type": "hologram", "text": "hi", "size": [1, 2]}
    assert receive(fields).content == UnknownContent(kind="hologram", fields=fields)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"text": "hi"}, ""),
        ({"type": None, "text": "hi"}, ""),
        ({"type": 5}, "5"),
        ({"type": ""}, ""),
    ],
)
def test_content_without_a_usable_type_is_kept_whole(fields: dict[str, Any], kind: str) -> None:
    assert receive(fields).content == UnknownContent(kind=kind, fields=fields)


def test_unknown_details_are_kept_and_the_call_with_them() -> None:
    fields = {"type": "chart", "points": [1, 2]}
    call = receive({"type": "toolCallRun", "id": "1", "details": fields}).content
    assert call == ToolCallRun(id="1", details=UnknownDetails(kind="chart", fields=fields))


def test_an_unknown_context_is_kept() -> None:
    fields = {"type": "notebook", "cell": 3, "more": {"a": None}}
    result = decode_result(QueryContextParams, {"contexts": [{"type": "repoMap"}, fields]})
    assert result.contexts[1] == UnknownContext(kind="notebook", fields=fields)


def test_unknown_steps_of_other_families_are_kept() -> None:
    login = decode_result(ProvidersLoginParams, {"action": "scan-eye", "url": "u"})
    assert login == UnknownLoginAction(kind="scan-eye", fields={"action": "scan-eye", "url": "u"})
    assert decode_result(ProvidersLoginParams, {"action": "done"}) == LoginDone()
    params = {"rewriteId": "1", "content": {"type": "sung"}}
    assert read_notification("rewrite/contentReceived", params) == RewriteContentReceived(
        rewrite_id="1", content=UnknownRewriteContent(kind="sung", fields={"type": "sung"})
    )
    text = {"rewriteId": 1, "content": {"type": "text", "text": None}}
    assert read_notification("rewrite/contentReceived", text) == RewriteContentReceived(
        rewrite_id="1", content=RewriteText()
    )


def test_null_is_the_default() -> None:
    assert receive({"type": "text", "text": None}, role=None, chatId=None) == ContentReceived(
        role=Role.ASSISTANT, content=TextContent()
    )
    called = {"type": "toolCalled", "id": "1", "arguments": None, "outputs": None, "error": None}
    assert receive(called).content == ToolCalled(id="1")


def test_values_of_wrong_types_are_converted_or_dropped() -> None:
    content = {"type": "usage", "sessionTokens": "12", "sessionCost": 0.5, "limit": "none"}
    expected = UsageContent(session_tokens=12, session_cost="0.5")
    assert receive({**content, "autoCompactPercentage": True}).content == expected
    assert receive({"type": "text", "text": 7, "contentId": {}}).content == TextContent(text="7")
    assert receive({"type": "usage", "sessionTokens": "many"}).content == UsageContent()


def test_a_word_nobody_knows_is_unknown() -> None:
    message = read_notification("chat/statusChanged", {"chatId": "1", "status": "dancing"})
    assert message == StatusChanged(chat_id="1", status=ChatStatus.UNKNOWN)
    progress = receive({"type": "progress", "state": 5, "text": "x"}, role="narrator")
    assert progress.content == ProgressContent(state=ProgressState.UNKNOWN, text="x")
    assert progress.role is Role.UNKNOWN


def test_an_element_that_cannot_be_read_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    chats = [{"title": "no id"}, {"id": "2"}, None]
    with caplog.at_level(logging.WARNING):
        result = decode_result(ChatListParams, {"chats": chats})
    assert result.chats == (ChatSummary(id="2"),)
    assert "$.chats[0].id: is missing" in caplog.text
    assert "$.chats[2]: is not an object but null" in caplog.text


def test_details_survive_what_is_wrong_in_them() -> None:
    fields = {"type": "task", "tasks": [{"id": 1, "subject": "a", "blockedBy": "all"}]}
    call = receive({"type": "toolCalled", "details": fields | {"summary": 3}}).content
    assert isinstance(call, ToolCalled)
    assert isinstance(call.details, TaskDetails)
    assert [(task.id, task.subject, task.blocked_by) for task in call.details.tasks] == [
        (1, "a", ())
    ]


def test_what_a_tool_server_says_nothing_about_is_unset() -> None:
    reduced = {"type": "mcp", "name": "m", "status": "running", "tools": []}
    message = read_notification("tool/serverUpdated", {**reduced, "prompts": None, "args": 5})
    assert isinstance(message, ToolServerUpdated)
    assert (message.tools, message.prompts) == ((), None)
    assert [message.url, message.disabled, message.args] == [UNSET, UNSET, UNSET]


def test_a_call_without_an_id_belongs_to_no_call() -> None:
    content = {"type": "toolCalled", "server": "eca", "name": "task", "details": {"type": "task"}}
    assert receive(content).content == ToolCalled(server="eca", name="task", details=TaskDetails())


@pytest.mark.parametrize(
    ("method", "params", "path"),
    [
        ("chat/contentReceived", None, "$.content"),
        ("chat/contentReceived", {"chatId": "1", "content": "text"}, "$.content"),
        ("chat/contentReceived", {"content": {"type": "toolCallRun"}}, "$.content.id"),
        ("chat/contentReceived", {"content": {"type": "reasonText", "id": None}}, "$.content.id"),
        ("chat/statusChanged", {"status": "idle"}, "$.chatId"),
        ("chat/opened", {"chatId": ["1"]}, "$.chatId"),
        ("tool/serverUpdated", {"type": "mcp"}, "$.name"),
        ("chat/opened", [1], "$"),
        ("chat/opened", msgspec.Raw(b'{"chatId": '), "$"),
        ("config/updated", msgspec.Raw(b"nonsense"), "$"),
    ],
)
def test_a_fault_names_its_method_and_place(method: str, params: object, path: str) -> None:
    with pytest.raises(DecodeError) as fault:
        read_notification(method, params)
    assert (fault.value.method, fault.value.path) == (method, path)
    assert method in str(fault.value)
    assert path in str(fault.value)


@pytest.mark.parametrize("result", [None, {}, {"more": 1}, [], "done"])
def test_an_answer_of_no_interest_is_none(result: object) -> None:
    assert decode_result(Shutdown, result) is None


def test_an_answer_that_is_null_is_empty() -> None:
    assert decode_result(ChatListParams, None).chats == ()
    assert decode_result(ChatListParams, msgspec.Raw(b"null")).chats == ()
