"""Our types name members, variants and values as the official SDK does; what we send is valid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, get_args

import pytest
from msgspec import inspect
from tests.support.on_the_wire import on_the_wire

from eca_nvim.agents.acp.setup import SessionSetup, Way, introduction
from eca_nvim.protocol.acp import (
    AGENT_NOTIFICATIONS,
    AGENT_REQUESTS,
    client_requests,
    content,
    elicitation,
    lifecycle,
    options,
    sessions,
    tool_call,
    updates,
)
from eca_nvim.protocol.base.types import Notification, OpenEnum, Request, Wire

SAME: dict[type[Wire], str] = {
    content.TextBlock: "TextContentBlock",
    content.ImageBlock: "ImageContentBlock",
    content.AudioBlock: "AudioContentBlock",
    content.ResourceLink: "ResourceContentBlock",
    content.EmbeddedResource: "EmbeddedResourceContentBlock",
    tool_call.CallContent: "ContentToolCallContent",
    tool_call.CallDiff: "FileEditToolCallContent",
    tool_call.CallTerminal: "TerminalToolCallContent",
    tool_call.CallLocation: "ToolCallLocation",
    updates.UserMessageChunk: "UserMessageChunk",
    updates.AgentMessageChunk: "AgentMessageChunk",
    updates.AgentThoughtChunk: "AgentThoughtChunk",
    updates.ToolCallBegun: "ToolCallStart",
    updates.ToolCallChanged: "ToolCallProgress",
    updates.Plan: "AgentPlanUpdate",
    updates.AvailableCommands: "AvailableCommandsUpdate",
    updates.AvailableCommand: "AvailableCommand",
    updates.CommandInput: "UnstructuredCommandInput",
    updates.CurrentMode: "CurrentModeUpdate",
    updates.ConfigOptions: "ConfigOptionUpdate",
    updates.SessionInfo: "SessionInfoUpdate",
    updates.Usage: "UsageUpdate",
    updates.Cost: "Cost",
    client_requests.ReadTextFile: "ReadTextFileRequest",
    client_requests.FileText: "ReadTextFileResponse",
    client_requests.WriteTextFile: "WriteTextFileRequest",
    client_requests.Done: "WriteTextFileResponse",
    content.PlanEntry: "PlanEntry",
    options.ConfigOption: "SessionConfigOptionSelect",
    options.PlainOffer: "SessionConfigSelectOption",
    options.Modes: "SessionModeState",
    options.Mode: "SessionMode",
    options.SetMode: "SetSessionModeRequest",
    options.SetConfigOption: "SetSessionConfigOptionBooleanRequest",
    options.OptionsResult: "SetSessionConfigOptionResponse",
    tool_call.PermissionOption: "PermissionOption",
    elicitation.EnumOption: "EnumOption",
    elicitation.FormSchema: "ElicitationSchema",
    tool_call.RequestPermission: "RequestPermissionRequest",
    client_requests.CreateTerminal: "CreateTerminalRequest",
    client_requests.TerminalCreated: "CreateTerminalResponse",
    client_requests.ReadOutput: "TerminalOutputRequest",
    client_requests.OutputSoFar: "TerminalOutputResponse",
    client_requests.WaitForExit: "WaitForTerminalExitRequest",
    client_requests.ExitStatus: "TerminalExitStatus",
    client_requests.KillTerminal: "KillTerminalRequest",
    client_requests.ReleaseTerminal: "ReleaseTerminalRequest",
    sessions.NewSessionResult: "NewSessionResponse",
    sessions.SessionSummary: "SessionInfo",
    sessions.ListSessionsResult: "ListSessionsResponse",
    sessions.OpenedSession: "LoadSessionResponse",
    sessions.McpCapabilities: "McpCapabilities",
    sessions.McpStdio: "McpServerStdio",
    sessions.McpRemote: "HttpMcpServer",
    content.NamedValue: "EnvVariable",
}
FIELDS = ("String", "Number", "Integer", "Boolean", "MultiSelect")
"""The types of fields of a form: one struct of ours has the members of all."""
NEWER: frozenset[type[Wire]] = frozenset(
    {updates.Notice, updates.Compaction, updates.CompactionChunk, updates.UnknownUpdate}
)
"""Variants that the Python SDK does not know yet; those of npm's have the same names."""
OLDER = {"models", "name"}
"""Members that the Python SDK has no more, or not yet, of agents that are in use."""
Message: TypeAlias = Request[Any] | Notification
NAMED = (content.NamedValue("A", "b"),)
MCP_SERVERS = (
    sessions.McpStdio("local", "/bin/tool", ("-x",), NAMED),
    sessions.McpRemote("http", "far", "https://example.com", NAMED),
    sessions.McpRemote("sse", "old", "https://example.com", ()),
)
SETUP = SessionSetup("/workspace", tuple(on_the_wire(server) for server in MCP_SERVERS))
SENT: tuple[Message, ...] = (
    introduction(),
    *(SETUP.request(way, "s") for way in Way),
    sessions.CloseSessionParams("s"),
    sessions.DeleteSessionParams("s"),
    sessions.ListSessionsParams("/workspace"),
    sessions.ListSessionsParams("/workspace", "the second page"),
    sessions.PromptParams("s", (content.TextBlock("hi"),)),
    sessions.CancelTurn("s"),
    lifecycle.CancelRequest(3),
    lifecycle.AuthenticateParams("way"),
    lifecycle.LogoutParams(),
    options.SetMode("s", "m"),
    options.SetConfigOption("s", "o", "v"),
    options.SetConfigOption("s", "o", value=True, type=options.BOOLEAN),
)
"""One of each message of ours, as `agents/acp` builds them."""
GONE = {"session/set_model", "session/set_title", "_session/steering"}
"""Messages that only older agents know, beyond the protocol, or too new for the Python SDK."""
VALUES: dict[type[OpenEnum], tuple[str, str]] = {
    tool_call.ToolKind: ("ToolCall", "kind"),
    tool_call.CallStatus: ("ToolCall", "status"),
    content.EntryStatus: ("PlanEntry", "status"),
    tool_call.OptionKind: ("PermissionOption", "kind"),
}


def theirs(name: str) -> set[str]:
    from acp import schema

    fields = getattr(schema, name).model_fields
    return {field.alias or own for own, field in fields.items()}


@pytest.mark.parametrize("ours", SAME, ids=lambda kind: kind.__name__)
def test_members_have_the_names_of_the_protocol(ours: type[Wire]) -> None:
    info = inspect.type_info(ours)
    assert isinstance(info, inspect.StructType)
    names = {field.encode_name for field in info.fields} | {info.tag_field} - {None}
    assert names - theirs(SAME[ours]) <= OLDER
    if info.tag_field is not None:
        assert _words(SAME[ours], str(info.tag_field)) == {info.tag}


def test_a_field_of_a_form_has_the_members_of_all_types() -> None:
    info = inspect.type_info(elicitation.Field)
    assert isinstance(info, inspect.StructType)
    names = {field.encode_name for field in info.fields}
    all_of_theirs = (theirs(f"Elicitation{kind}PropertySchema") for kind in FIELDS)
    assert names == set.union(*all_of_theirs)


@pytest.mark.parametrize("ours", VALUES, ids=lambda kind: kind.__name__)
def test_values_are_those_of_the_protocol(ours: type[OpenEnum]) -> None:
    assert {it.value for it in ours} - {"unknown"} == _words(*VALUES[ours])


def test_no_variant_is_left_out() -> None:
    assert {*get_args(updates.SessionUpdate)} - NEWER == {
        kind for kind in SAME if "sessionUpdate" in theirs(SAME[kind])
    }


@pytest.mark.parametrize("message", SENT, ids=lambda it: it.method)
def test_what_we_send_is_valid(message: Message) -> None:
    from tests.support.acp_models import MODELS

    MODELS[message.method].model_validate(on_the_wire(message))


def test_no_message_of_ours_is_left_out() -> None:
    both = {lifecycle.CancelRequest.method}
    theirs_alone = {*AGENT_NOTIFICATIONS, *AGENT_REQUESTS} - both
    assert {message.method for message in SENT} == set(_methods()) - theirs_alone - GONE


def _methods() -> Iterator[str]:
    """Yield the methods of all messages of the protocol."""
    for base in (Request, Notification):
        for kind in _below(base):
            if kind.__module__.startswith("eca_nvim.protocol.acp.") and "method" in vars(kind):
                yield kind.method


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


def _words(name: str, member: str) -> set[str]:
    """Return the strings that a member may have."""
    from acp import schema

    fields = getattr(schema, name).model_fields
    found = next(it for own, it in fields.items() if member in (own, it.alias))
    left, words = [found.annotation], set[str]()
    while left:
        kind = left.pop()
        words |= {kind} if isinstance(kind, str) else set()
        left += get_args(kind)
    return words
