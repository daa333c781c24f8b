"""Rows about the base protocol, and the life of a server."""

from collections.abc import Sequence

from tests.generations.row import Row, Sent, Value, ask, tell, text, turn, wait

FAREWELL: Sequence[Sent] = [("shutdown", None), ("exit", None)]
IN_A_FRAME = {
    "chatId": "$chat",
    "role": "assistant",
    "content": {"type": "text", "text": "framed otherwise"},
}


def can(**abilities: Value) -> Sent:
    """Expect the capabilities of the editor."""
    return "initialize", {"capabilities": {"codeAssistant": abilities}}


ROWS = [
    Row(
        names="000-1 001-1",
        says="header Content-Length, CRLF, ascii; body utf-8, counted in bytes",
        server=turn(text("ñé 😀")),
        does=["prompt né 😀"],
        shown=["né 😀", "ñé 😀"],
    ),
    Row(
        names="000-2 001-2",
        says="header Content-Type accepted, any order",
        server=turn(tell("chat/contentReceived", IN_A_FRAME, charset="utf-8")),
        shown=["framed otherwise"],
    ),
    Row(
        names="000-3 001-3",
        says="a header with another charset than utf-8: respond with an error",
        server=turn(
            tell("chat/contentReceived", {"café": True}, charset="latin-1"), wait("(error)")
        ),
        answered=[{"error": {"message": "a message in a charset other than utf-8"}}],
    ),
    Row(
        names="000-4 001-4 002-1",
        says="JSON-RPC 2.0 requests, responses, notifications (the server refuses all else)",
        does=["open", "say stream"],
        shown=["One, two, three."],
    ),
    Row(
        names="000-5 001-5",
        says="an unknown request of the server is answered with -32601",
        server=turn(ask("foo/bar")),
        answered=[{"error": {"code": -32601}}],
    ),
    Row(
        names="000-6 001-6 002-3",
        says="a structured error answered to a request of ours",
        server=[{"do": "answer", "error": {"code": -32603, "message": "FROM-SERVER"}}],
        shown=["chat/prompt failed: FROM-SERVER"],
        ends={"state": "idle"},
    ),
    Row(
        names="000-7 001-7 002-4",
        says="initialize is first",
        does=[],
        order=["initialize", "initialized"],
        sent=[("initialize", ...)],
    ),
    Row(
        names="000-8 001-8 002-5",
        says="initialize.processId (of Neovim)",
        sent=[("initialize", {"processId": "$pid"})],
        drawn=True,
    ),
    Row(
        names="000-9 001-9 002-6",
        says="initialize.clientInfo.name and version",
        sent=[("initialize", {"clientInfo": {"name": "Neovim", "version": ...}})],
        drawn=True,
    ),
    Row(
        names="000-10 001-10",
        says="initialize.initializationOptions.chatBehavior",
        does=[],
        kept={"agent": "plan"},
        sent=[("initialize", {"initializationOptions": {"chatBehavior": "plan"}})],
    ),
    Row(
        names="002-7",
        says="initialize.initializationOptions (any, optional)",
        sent=[("initialize", {"initializationOptions": None})],
        drawn=True,
    ),
    Row(
        names="000-11 001-11 002-8",
        says="capabilities.codeAssistant.chat",
        sent=[can(chat=True)],
        drawn=True,
    ),
    Row(
        names="000-12 001-12",
        says="capabilities.codeAssistant.editor.diagnostics",
        sent=[
            ("initialize", {"capabilities": {"codeAssistant": {"editor": {"diagnostics": True}}}})
        ],
        drawn=True,
    ),
    Row(
        names="002-9",
        says="capabilities doc, edit and fix: the document has no message for them",
        sent=[can(doc=None, edit=None, fix=None)],
        drawn=True,
    ),
    Row(
        names="000-13 001-13 002-10",
        says="workspaceFolders with uri and name, one with the project's root",
        sent=[
            ("initialize", {"workspaceFolders": [{"uri": "file://$folder", "name": "workspace"}]})
        ],
        drawn=True,
    ),
    Row(
        names="000-14 001-14 002-11",
        says="initialize is answered with {}",
        does=[],
        sent=[("initialized", {})],
    ),
    Row(
        names="000-15 001-15 002-12",
        says="initialized after the response, params {}",
        does=[],
        fresh=True,
        sent=[("initialized", {})],
        order=["initialize", "initialized"],
    ),
    Row(
        names="000-16 001-16 002-13",
        says="shutdown: a request without params, its result null",
        does=["open", "quit"],
        fresh=True,
        sent=FAREWELL,
        shown=["the server was stopped, exit code 0"],
    ),
    Row(
        names="000-17 001-17 002-14",
        says="shutdown, its answer, exit without params; also when Neovim quits",
        sent=FAREWELL,
        order=["initialize", "initialized", "shutdown", "(ended)", "exit"],
        drawn=True,
    ),
    Row(
        names="000-18 001-18 002-15",
        says="shutdown lets the server end its MCP servers first",
        does=["open", "quit"],
        words=["slow-end"],
        order=["shutdown", "(ended)", "exit"],
        shown=["the server was stopped, exit code 0"],
    ),
    Row(
        names="000-19 001-19 002-16",
        says="shutdown is answered with an error: exit all the same",
        does=["open", "quit"],
        words=["bad-end"],
        order=["shutdown", "(ended)", "exit"],
        shown=["the server was stopped, exit code 0"],
    ),
]
