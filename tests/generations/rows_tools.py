"""Rows about tool calls."""

from tests.generations.row import Row, asks, call, called, text, turn, wait
from tests.ui.staged import offered

DIFF = "@@ -1,2 +1,2 @@\n-def add(a, b):\n+def plus(a, b):\n     return a + b\n"
CHANGE = {
    "type": "fileChange",
    "path": "$folder/src/calc.py",
    "diff": DIFF,
    "linesAdded": 1,
    "linesRemoved": 1,
}
EDIT = {
    "name": "eca_edit_file",
    "arguments": {"path": "$folder/src/calc.py"},
    "details": CHANGE,
    "summary": "Editing file",
}
SEARCH = {"origin": "mcp", "name": "search"}
WRITES = {"name": "eca_write_file", "arguments": {}, "error": False, "outputs": []}
RUNS = call("toolCallRun", manualApproval=False)
NAMES_SERVER = {**EDIT, "server": "ECA"}

ROWS = [
    Row(
        names="000-50 001-50",
        says="toolCallPrepare, argumentsText appended",
        server=turn(
            call("toolCallPrepare", name="eca_write_file", argumentsText='{"path": "$folder'),
            call("toolCallPrepare", name="eca_write_file", argumentsText='/new.py"}'),
            wait("chat/prompt"),
            *(call(it, **WRITES) for it in ("toolCallRunning", "toolCalled")),
        ),
        does=["prompt", "see write new.py", "other stream"],
        shown=["✓ write new.py"],
    ),
    Row(
        names="000-51 001-51",
        says="toolCallRun arguments, sent once",
        server=turn(asks(**SEARCH, arguments={"query": "sent once"}), wait("chat/toolCallReject")),
        does=["prompt", "reject"],
        asked={"title": "search", "detail": "query: sent once"},
    ),
    Row(
        names="000-52 001-52",
        says="toolCallRun manualApproval true: the user is asked",
        server=turn(asks(**EDIT), wait("chat/toolCallReject")),
        does=["prompt", "reject"],
        asked={"kind": "approval", "title": "edit src/calc.py +1 -1"},
        status={"state": "waiting", "pending": 1},
    ),
    Row(
        names="000-53 001-53",
        says="toolCallRun manualApproval false: the user is not asked",
        server=turn(RUNS, called()),
        ends={"pending": 0},
        shown=["read a.py"],
    ),
    Row(
        names="000-54 001-54",
        says="toolCallRunning",
        server=turn(
            RUNS, call("toolCallRunning", arguments={}), wait("chat/prompt"), called(arguments={})
        ),
        does=["prompt", "see ● read a.py", "other stream"],
        shown=["✓ read a.py"],
    ),
    Row(
        names="000-55 001-55",
        says="toolCalled: error false, outputs, totalTimeMs",
        server=turn(RUNS, call("toolCallRunning"), called()),
        does=["prompt", "unfold"],
        shown=["✓ read a.py", "0.4s", "what it says"],
    ),
    Row(
        names="000-56 001-56",
        says="toolCalled: error true",
        server=turn(
            call("toolCallRun", **SEARCH, manualApproval=False), called(**SEARCH, error=True)
        ),
        shown=["✗ search", "what it says"],
    ),
    Row(
        names="000-57 001-57",
        says="toolCallRejected",
        server=turn(call("toolCallRejected", **EDIT, reason="user-choice")),
        shown=["⊘ edit src/calc.py +1 -1 rejected"],
        hidden=["configuration"],
    ),
    Row(
        names="000-58 001-58",
        says="toolCallRejected reason user-config",
        server=turn(call("toolCallRejected", **EDIT, reason="user-config")),
        shown=["rejected by the server's configuration"],
    ),
    Row(
        names="000-59 001-59",
        says="tool call id and name",
        server=turn(
            call("toolCallRun", id="one", manualApproval=False),
            call("toolCallRun", id="two", name="eca_frobnicate", manualApproval=False),
            called(id="two", name="eca_frobnicate"),
            called(id="one"),
        ),
        shown=["✓ read a.py", "✓ frobnicate"],
    ),
    Row(
        names="000-60 001-60",
        says="tool call origin: mcp is none of ECA's own, whatever its name",
        server=turn(asks(origin="mcp", name="eca_shell_command"), wait("chat/toolCallReject")),
        does=["prompt", "reject"],
        asked={"title": "eca_shell_command"},
    ),
    Row(
        names="001-61",
        says="tool call server",
        server=turn(
            call("toolCallRun", **SEARCH, server="web-mcp", manualApproval=False),
            called(**SEARCH, server="web-mcp"),
        ),
        shown=["web-mcp/search"],
    ),
    Row(
        names="000-61 001-62",
        says="tool call summary",
        server=turn(
            call("toolCallRun", **SEARCH, summary="Searching high", manualApproval=False),
            called(**SEARCH, summary="Searching high"),
        ),
        shown=["Searching high"],
    ),
    Row(
        names="000-62 001-63",
        says="details fileChange: path, diff, linesAdded, linesRemoved",
        server=turn(asks(**EDIT), wait("chat/toolCallApprove"), called(**EDIT)),
        does=["prompt", "approve", "unfold"],
        asked={"paths": ["$folder/src/calc.py"], "detail": ..., "language": "diff"},
        shown=["✓ edit src/calc.py +1 -1", "+def plus(a, b):"],
    ),
    Row(
        names="000-63 001-65",
        says="chat/toolCallApprove chatId, toolCallId",
        server=turn(asks(**EDIT), wait("chat/toolCallApprove"), called(**EDIT)),
        does=["prompt", "approve"],
        sent=[("chat/toolCallApprove", {"chatId": ..., "toolCallId": ..., "save": None})],
    ),
    Row(
        names="000-64",
        says="an approval cannot be remembered: that is not offered, and not sent",
        server=turn(asks(**EDIT), wait("chat/toolCallApprove"), called(**EDIT)),
        does=["prompt", "approve remember"],
        asked={"choices": offered()},
        sent=[("chat/toolCallApprove", {"save": None})],
    ),
    Row(
        names="001-66",
        says="chat/toolCallApprove save: 'session'",
        server=turn(asks(**NAMES_SERVER), wait("chat/toolCallApprove"), called(**NAMES_SERVER)),
        does=["prompt", "approve remember"],
        asked={"choices": offered("any edit_file on any server")},
        sent=[("chat/toolCallApprove", {"save": "session"})],
    ),
    Row(
        names="000-65 001-67",
        says="chat/toolCallReject chatId, toolCallId",
        server=turn(
            asks(**EDIT),
            wait("chat/toolCallReject"),
            call("toolCallRejected", **EDIT, reason="user-choice"),
            text("As you wish."),
        ),
        does=["prompt", "reject"],
        sent=[("chat/toolCallReject", {"chatId": ..., "toolCallId": ...})],
        shown=["rejected", "As you wish."],
    ),
]
