"""Rows about turns and chats: queries, stops, deletion, behaviors."""

from tests.generations.row import (
    COMPLETION,
    ECHO,
    FINISHED,
    RUNNING,
    Row,
    answer,
    content,
    text,
    turn,
    wait,
)

STOP = ("chat/promptStop", {"chatId": ...})
STOPPABLE = turn(text("I wait."), wait("chat/promptStop"))
LIMIT = {"context": 200_000, "output": 32_000}
USAGE = content("usage", "system", sessionTokens=2000, sessionCost="0.4567", limit=LIMIT)

ROWS = [
    Row(
        names="000-66 001-68",
        says="chat/queryContext: contexts of every kind",
        later=COMPLETION,
    ),
    Row(
        names="000-67 001-69",
        says="chat/queryCommands: commands with description, type and arguments",
        later=COMPLETION,
    ),
    Row(
        names="000-68 001-70",
        says="chat/promptStop of a turn that runs",
        server=STOPPABLE,
        does=["prompt", "see I wait.", "stop"],
        sent=[STOP],
        status={"state": "stopping"},
        ends={"state": "idle"},
    ),
    Row(
        names="000-69 001-71",
        says="after promptStop other prompts can be triggered at once",
        server=STOPPABLE,
        does=["prompt", "see I wait.", "stop", "idle", "say stream"],
        shown=["One, two, three."],
        sent=[STOP],
        count={"chat/promptStop": 1},
    ),
    Row(
        names="000-69 001-71",
        says="after promptStop a prompt that waited in the queue can be sent and is answered",
        server=STOPPABLE,
        does=["prompt", "see I wait.", "say stream", "stop", "idle", "say", "see One, two, three."],
        shown=["One, two, three."],
        count={"chat/promptStop": 1},
    ),
    Row(
        names="000-70 001-72",
        says="after promptStop that the server meets with silence, the next turn ends",
        server=[RUNNING, ECHO, answer(), text("I wait."), wait("chat/promptStop")],
        words=["mute-stop"],
        does=["prompt", "see I wait.", "stop", "idle", "say stream", "idle", "say stream"],
        shown=["The server did not confirm the stop", "One, two, three."],
        ends={"state": "idle"},
    ),
    Row(
        names="000-71 001-73",
        says="promptStop before the first word, which comes late",
        server=[wait("chat/prompt"), RUNNING, wait("chat/promptStop"), answer(), FINISHED],
        does=["open", "prompt", "stop", "other stream", "idle"],
        sent=[STOP],
        ends={"state": "idle"},
    ),
    Row(
        names="000-72 001-74",
        says="promptStop while config/updated is late",
        server=[wait("chat/prompt"), *STOPPABLE],
        words=["no-config"],
        does=["open", "prompt", "stop", "other stream", "idle"],
        sent=[STOP],
        hidden=["cannot stop a turn"],
    ),
    Row(
        names="000-73 001-75",
        says="chat/delete chatId",
        server=turn(text("hi")),
        does=["prompt", "idle", "delete"],
        sent=[("chat/delete", {"chatId": ...})],
    ),
    Row(
        names="000-74 001-76",
        says="after chat/delete the chat is shown no more, and another begins from nothing",
        server=turn(text("hi")),
        does=["prompt", "idle", "delete", "prompt"],
        sent=[("chat/prompt", {"message": "$name", "chatId": None})],
        count={"chat/prompt": 2, "chat/delete": 1},
    ),
    Row(
        names="000-75 001-77",
        says="after chat/delete tokens and costs begin with nothing, in a clean state",
        server=turn(USAGE),
        does=["prompt", "idle", "clear"],
        sent=[("chat/delete", {"chatId": ...})],
        unsent=["chat/clear"],
        status={"tokens": 2000},
        ends={"tokens": None, "cost": None, "limit": None},
        shown=["Welcome of old!"],
    ),
    Row(
        names="000-76 001-78",
        says="chat/selectedBehaviorChanged",
        server=turn(),
        does=["open", "choose agent agent", "prompt", "idle", "choose agent plan"],
        sent=[
            ("chat/prompt", {"behavior": "agent"}),
            ("chat/selectedBehaviorChanged", {"behavior": "plan"}),
        ],
    ),
    Row(
        names="000-77 001-79",
        says="chat/selectedBehaviorChanged before the first prompt",
        does=["open", "choose agent agent", "choose agent plan"],
        sent=[("chat/selectedBehaviorChanged", {"behavior": "plan"})],
        ends={"agent": "plan"},
    ),
    Row(
        names="000-77 001-79",
        says="a behavior has no model of its own: the chosen one stays",
        server=turn(),
        does=["open", "choose agent plan", "prompt"],
        kept={"model": "openai/gpt-5"},
        sent=[("chat/prompt", {"model": "openai/gpt-5", "behavior": "plan"})],
    ),
    Row(
        names="000-77 001-79",
        says="a behavior has no model of its own: the server's default stays, also if it was kept",
        server=turn(),
        does=["open", "prompt"],
        kept={"agent": "plan"},
        sent=[("chat/prompt", {"model": "anthropic/claude-sonnet-4", "behavior": "plan"})],
    ),
]
