"""Every method of the protocol has a type, of the right direction and kind."""

import re
from pathlib import Path

import pytest
from tests.protocol.client_messages import (
    CLIENT_MESSAGES,
    CLIENT_NOTIFICATIONS,
    CLIENT_REQUESTS,
)

import eca_nvim
from eca_nvim.protocol.base.types import result_type
from eca_nvim.protocol.eca import SERVER_NOTIFICATIONS, SERVER_REQUESTS, Notification, Request

# Today's protocol by hand: group, then "->" client to server, "<-" server to client, "r" request.
METHODS = """
life       ->r initialize
life       ->  initialized
life       ->r shutdown
life       ->  exit
life       ->  workspace/didChangeWorkspaceFolders
prompt     ->r chat/prompt
prompt     ->  chat/promptStop
prompt     ->  chat/promptSteer
prompt     ->  chat/promptSteerRemove
prompt     ->  chat/toolCallApprove
prompt     ->  chat/toolCallReject
content    <-  chat/contentReceived
content    <-  chat/statusChanged
content    <-  chat/opened
content    <-  chat/cleared
content    <-  chat/deleted
chats      ->r chat/list
chats      ->r chat/open
chats      ->r chat/history
chats      ->r chat/update
chats      ->r chat/clear
chats      ->r chat/delete
chats      ->r chat/rollback
chats      ->r chat/fork
chats      ->r chat/addFlag
chats      ->r chat/removeFlag
choice     ->  chat/selectedModelChanged
choice     ->  chat/selectedAgentChanged
choice     ->  chat/selectedBehaviorChanged
choice     <-  config/updated
query      ->r chat/queryContext
query      ->r chat/queryFiles
query      ->r chat/queryCommands
editor     <-r editor/getDiagnostics
editor     <-r editor/getDefinition
editor     <-r editor/getReferences
editor     <-r chat/askQuestion
code       ->r completion/inline
code       ->r rewrite/prompt
code       <-  rewrite/contentReceived
code       ->r chat/inlinePrompt
tools      <-  tool/serverUpdated
tools      <-  tool/serverRemoved
tools      ->  mcp/startServer
tools      ->  mcp/stopServer
tools      ->  mcp/connectServer
tools      ->  mcp/logoutServer
tools      ->  mcp/enableServer
tools      ->  mcp/disableServer
tools      ->r mcp/addServer
tools      ->r mcp/updateServer
tools      ->r mcp/removeServer
providers  ->r providers/list
providers  ->r providers/login
providers  ->r providers/loginInput
providers  ->r providers/logout
providers  <-  providers/updated
jobs       ->r jobs/list
jobs       ->r jobs/kill
jobs       ->r jobs/readOutput
jobs       <-  jobs/updated
memory     ->r memory/list
memory     <-  memory/indexLoaded
other      <-  $/progress
other      <-  $/showMessage
other      ->  $/cancelRequest
"""
PACKAGE = Path(eca_nvim.__file__).parent
TABLES = {
    "->r": CLIENT_REQUESTS,
    "->": CLIENT_NOTIFICATIONS,
    "<-r": SERVER_REQUESTS,
    "<-": SERVER_NOTIFICATIONS,
}
ROWS = [row.split()[1:] for row in METHODS.strip().splitlines()]


@pytest.mark.parametrize(("kind", "method"), ROWS)
def test_a_method_has_a_type_of_its_kind(kind: str, method: str) -> None:
    base = Request if kind.endswith("r") else Notification
    assert issubclass(TABLES[kind][method], base)


def test_no_other_methods_are_listed() -> None:
    assert sorted([*SERVER_NOTIFICATIONS, *SERVER_REQUESTS, *CLIENT_MESSAGES]) == sorted(
        method for _, method in ROWS
    )


def test_each_method_is_in_use() -> None:
    """What is only a type would be a feature that nobody has."""
    modules = [it for it in PACKAGE.rglob("*.py") if not {"protocol", "demo"} & {*it.parts}]
    product = "\n".join(it.read_text() for it in modules)
    kinds = {**SERVER_NOTIFICATIONS, **SERVER_REQUESTS, **CLIENT_MESSAGES}
    words = {*re.findall(r"\w+", product)}
    unused = [it for it, kind in kinds.items() if kind.__name__ not in words]
    assert [it for it in unused if f'"{it}"' not in product] == []


@pytest.mark.parametrize("request_type", [*CLIENT_REQUESTS.values(), *SERVER_REQUESTS.values()])
def test_a_request_names_its_answer(request_type: type[Request[object]]) -> None:
    assert result_type(request_type) is not object
