"""Rows about chat/prompt: what is sent with it, and what comes back."""

from tests.generations.row import (
    ECHO,
    FINISHED,
    RUNNING,
    Row,
    Sent,
    Value,
    answer,
    call,
    called,
    text,
    turn,
    wait,
)
from tests.support.generations.behaviors import RESOURCE

FILE = {"type": "file", "path": "$folder/src/calc.py"}
LINES = {**FILE, "first": 2, "last": 3}
CURSOR = {"type": "cursor", "path": "$folder/src/calc.py"}


def sends(**params: Value) -> Sent:
    """Expect chat/prompt with some params."""
    return "chat/prompt", params


ROWS = [
    Row(
        names="000-20 001-20",
        says="chat/prompt message, as typed",
        server=turn(),
        does=["prompt as *typed*  `so` /@x"],
        shown=["as *typed*  `so` /@x"],
    ),
    Row(
        names="000-21 001-21",
        says="chat/prompt without chatId makes a new chat, whose id is used from then on",
        server=turn(text("hi")),
        does=["prompt", "idle", "say stream"],
        sent=[sends(message="$name", chatId=None), sends(message="stream", chatId=...)],
    ),
    Row(
        names="000-22 001-22",
        says="two new chats prompted at once: each gets its own id and words",
        server=[wait("chat/prompt"), *turn(text("for the first"))],
        does=["prompt", "other stream", "idle", "say stream again"],
        shown=["for the first", "stream again"],
        other=["One, two, three."],
    ),
    Row(
        names="000-23 001-23",
        says="chat/prompt model",
        server=turn(),
        does=["open", "choose model openai/gpt-5", "prompt"],
        sent=[sends(model="openai/gpt-5")],
        status={"model": "openai/gpt-5"},
    ),
    Row(
        names="000-24 001-24",
        says="chat/prompt behavior",
        server=turn(),
        does=["open", "choose agent plan", "prompt"],
        sent=[sends(behavior="plan")],
        status={"agent": "plan"},
    ),
    Row(
        names="000-25 001-25",
        says="chat/prompt contexts: an array",
        server=turn(),
        contexts=[FILE, {"type": "web", "url": "https://eca.dev"}],
        sent=[sends(contexts=[{"type": "file"}, {"type": "web"}])],
    ),
    Row(
        names="000-26 001-26",
        says="context file: path",
        server=turn(),
        contexts=[FILE],
        sent=[sends(contexts=[{**FILE, "linesRange": None}])],
    ),
    Row(
        names="000-27 001-27",
        says="context file: linesRange start and end",
        server=turn(),
        contexts=[LINES],
        sent=[sends(contexts=[{**FILE, "linesRange": {"start": 2, "end": 3}}])],
    ),
    Row(
        names="000-28 001-28",
        says="context directory: path",
        server=turn(),
        contexts=[{"type": "directory", "path": "$folder/src"}],
        sent=[sends(contexts=[{"type": "directory", "path": "$folder/src"}])],
    ),
    Row(
        names="000-29 001-29",
        says="context web: url",
        server=turn(),
        contexts=[{"type": "web", "url": "https://eca.dev"}],
        sent=[sends(contexts=[{"type": "web", "url": "https://eca.dev"}])],
    ),
    Row(
        names="000-30",
        says="context repoMap: sent by default",
        server=turn(call("toolCallRun", manualApproval=False), called()),
        does=["open", "prompt", "idle", "say stream"],
        sent=[
            sends(message="$name", contexts=[{"type": "repoMap"}]),
            sends(message="stream", contexts=[{"type": "repoMap"}]),
        ],
    ),
    Row(
        names="000-30",
        says="context repoMap: users may exclude it",
        server=turn(),
        does=["open", "prompt"],
        repo_map=False,
        sent=[sends(message="$name", contexts=None)],
    ),
    Row(
        names="001-30",
        says="context repoMap: deprecated, a tool replaces it",
        server=turn(call("toolCallRun", manualApproval=False, server="ECA"), called(server="ECA")),
        does=["prompt", "idle", "say stream"],
        sent=[sends(message="stream", contexts=None)],
        decided="until a tool call or a title tells it from 000 it is sent, as the type allows",
    ),
    Row(
        names="000-31 001-31",
        says="context cursor: path and position, start = end without a selection",
        server=turn(),
        contexts=[
            {**CURSOR, "start": [1, 1], "end": [1, 1]},
            {**CURSOR, "start": [1, 1], "end": [2, 3]},
        ],
        sent=[
            sends(
                contexts=[
                    {
                        **CURSOR,
                        "position": {
                            "start": {"line": 1, "character": 1},
                            "end": {"line": 1, "character": 1},
                        },
                    },
                    {**CURSOR, "position": {"end": {"line": 2, "character": 3}}},
                ]
            )
        ],
    ),
    Row(
        names="000-32 001-32",
        says="context mcpResource: uri, name, description, mimeType, server",
        server=turn(),
        does=["prompt", "idle", "complete @", "say stream"],
        contexts=[{"type": "resource", "uri": "notes://todo"}],
        fresh=True,
        sent=[sends(message="$name"), sends(message="stream", contexts=[RESOURCE])],
        shown=["this server accepts only resources that it lists"],
    ),
    Row(
        names="000-33 001-33",
        says="response chatId",
        server=[answer(), FINISHED],
        does=["prompt", "idle", "say stream"],
        sent=[sends(message="stream", chatId=...)],
        shown=["One, two, three."],
    ),
    Row(
        names="000-34 001-34",
        says="response model",
        server=[RUNNING, ECHO, answer(model="openai/gpt-5"), FINISHED],
        ends={"model": "openai/gpt-5"},
    ),
    Row(
        names="000-35 001-35",
        says="response status 'prompting'",
        server=turn(),
        status={"state": "running"},
        ends={"state": "idle"},
    ),
    Row(
        names="000-36 001-36",
        says="response status 'login': shown",
        server=[answer("login")],
        does=["prompt", "state login"],
        ends={"state": "login"},
    ),
    Row(
        names="000-37 001-37",
        says="response status 'login': the chat is usable afterwards",
        server=[answer("login")],
        does=["prompt", "state login", "login stream", "idle", "say stream"],
        sent=[sends(message="stream", chatId=...)],
        shown=["One, two, three."],
        hidden=["without an answer"],
        ends={"state": "idle"},
    ),
]
