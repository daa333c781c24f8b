"""Rows about config/updated, tools and their servers, and messages."""

from tests.generations.row import Row, Step, config, tell, turn, wait

SONNET, GPT = "anthropic/claude-sonnet-4", "openai/gpt-5"
LAST_CHOICE = "what was last chosen in the project beats what a server selects as it starts"
STATES = ("running", "starting", "stopped", "failed", "disabled")
TOOLS = [
    {"name": "search", "description": "Searches.", "parameters": {}},
    {"name": "fetch", "description": "", "parameters": {}, "disabled": True},
]
FAILED = {"type": "mcp", "name": "web-mcp", "command": "web", "args": ["-x"], "status": "failed"}
RUNNING = {**FAILED, "status": "running", "tools": TOOLS[:1]}


def message(kind: str, text: str) -> Step:
    """Show a message."""
    return tell("$/showMessage", {"type": kind, "message": text})


ROWS = [
    Row(
        names="000-85 001-87",
        says="config/updated models; missing or null is no change",
        server=turn(config(models=["m/one", "m/two"]), config(models=None), config()),
        does=["open", "prompt"],
        fresh=True,
        offers={"model": ["m/one", "m/two"]},
    ),
    Row(
        names="000-86 001-88",
        says="config/updated behaviors",
        server=turn(config(behaviors=["agent", "plan", "another"])),
        does=["open", "prompt"],
        fresh=True,
        offers={"agent": ["agent", "plan", "another"]},
    ),
    Row(
        names="000-87 001-89",
        says="config/updated selectModel at start, in a new project",
        does=["open"],
        fresh=True,
        ends={"model": SONNET},
    ),
    Row(
        names="000-87 001-89",
        says="config/updated selectModel at start, where another was chosen last",
        does=["open"],
        kept={"model": GPT},
        ends={"model": GPT},
        decided=LAST_CHOICE,
    ),
    Row(
        names="000-88 001-90",
        says="config/updated selectBehavior at start, in a new project",
        does=["open"],
        fresh=True,
        ends={"agent": "agent"},
    ),
    Row(
        names="000-88 001-90",
        says="config/updated selectBehavior at start, where another was chosen last",
        does=["open"],
        kept={"agent": "plan"},
        ends={"agent": "plan"},
        decided=LAST_CHOICE,
    ),
    Row(
        names="000-89 001-91",
        says="selectModel: clients should forcefully update",
        server=turn(config(selectModel=SONNET)),
        does=["open", "choose model openai/gpt-5", "prompt"],
        fresh=True,
        status={"model": GPT},
        ends={"model": SONNET},
    ),
    Row(
        names="000-89 001-91",
        says="selectModel where what was chosen is offered no more",
        server=turn(config(models=[SONNET], selectModel=SONNET)),
        does=["open", "choose model openai/gpt-5", "prompt"],
        fresh=True,
        ends={"model": SONNET},
        offers={"model": (SONNET,)},
    ),
    Row(
        names="000-90 001-92",
        says="selectBehavior: clients should forcefully update",
        server=turn(config(selectBehavior="agent")),
        does=["open", "choose agent plan", "prompt"],
        fresh=True,
        status={"agent": "plan"},
        ends={"agent": "agent"},
    ),
    Row(
        names="000-91 001-93",
        says="welcomeMessage when a new chat starts",
        does=["open"],
        shown=["Welcome of old!"],
    ),
    Row(
        names="000-92 001-94",
        says="tool/serverUpdated of the native server: status, tools",
        does=["open", "panel mcp", "panel mcp ECA", "act open ECA", "panel mcp edit_file"],
        fresh=True,
        listed=["running ECA 1 tool, the server's own", "edit_file   Edits."],
    ),
    Row(
        names="000-93 001-95",
        says="tool/serverUpdated of an MCP server: name, command, args",
        server=turn(tell("tool/serverUpdated", FAILED)),
        does=[
            *("prompt", "panel mcp", "panel mcp failed", "act open web-mcp"),
            "panel mcp command",
        ],
        fresh=True,
        listed=["failed web-mcp", "command web -x"],
    ),
    Row(
        names="000-94 001-96",
        says="status of an MCP server: running, starting, stopped, failed, disabled",
        server=turn(
            *(tell("tool/serverUpdated", {**FAILED, "name": it, "status": it}) for it in STATES)
        ),
        does=["prompt", "panel mcp", "panel mcp disabled"],
        fresh=True,
        listed=[*STATES],
    ),
    Row(
        names="000-94 001-96",
        says="status of an MCP server: failed is told",
        server=turn(tell("tool/serverUpdated", FAILED)),
        fresh=True,
        told=["the MCP server web-mcp failed"],
    ),
    Row(
        names="000-95 001-97",
        says="ServerTool name, description, parameters, disabled",
        server=turn(tell("tool/serverUpdated", {**FAILED, "status": "running", "tools": TOOLS})),
        does=[
            *("prompt", "panel mcp", "panel mcp 2 tools", "act open web-mcp"),
            "panel mcp Searches.",
        ],
        fresh=True,
        listed=["running web-mcp 2 tools", "search   Searches.", "fetch   (disabled)"],
    ),
    Row(
        names="000-96 001-98",
        says="mcp/stopServer name",
        server=turn(
            *(tell("tool/serverUpdated", RUNNING), wait("mcp/stopServer")),
            tell("tool/serverUpdated", {**RUNNING, "status": "stopped"}),
        ),
        does=["prompt", "panel mcp", "panel mcp web-mcp", "act stop web-mcp", "panel mcp stopped"],
        fresh=True,
        sent=[("mcp/stopServer", {"name": "web-mcp"})],
    ),
    Row(
        names="000-97 001-99",
        says="mcp/startServer name",
        server=turn(
            *(tell("tool/serverUpdated", FAILED), wait("mcp/startServer")),
            tell("tool/serverUpdated", RUNNING),
        ),
        does=["prompt", "panel mcp", "panel mcp failed", "act start web-mcp", "panel mcp 1 tool"],
        fresh=True,
        sent=[("mcp/startServer", {"name": "web-mcp"})],
    ),
    Row(
        names="000-98 001-100",
        says="$/showMessage error, warning, info",
        server=turn(
            message("error", "an error\nof two lines"),
            message("warning", "a warning"),
            message("info", "a remark"),
        ),
        told=["an error of two lines", "a warning", "a remark"],
    ),
    Row(
        names="000-99 001-101 002-44",
        says="Completion, Edit, Documentation, Add MCP: announced, and empty",
        does=[],
        decided="there is nothing to do",
    ),
]
