"""Rows about chat/contentReceived, without tool calls."""

from tests.generations.row import Row, content, text, turn, wait

REASON = [
    content("reasonStarted", id="r1"),
    content("reasonText", id="r1", text="I ponder."),
    content("reasonFinished", id="r1", totalTimeMs=1234),
]
USAGE = content(
    "usage",
    "system",
    sessionTokens=2000,
    lastMessageCost="0.0123",
    sessionCost="0.4567",
    limit={"context": 200_000, "output": 32_000},
)

ROWS = [
    Row(
        names="000-38 001-38",
        says="contentReceived chatId; role user, system, assistant",
        server=turn(content("text", "system", text="a word of the system"), text("an answer")),
        does=["prompt mine"],
        shown=["mine", "a word of the system", "an answer"],
    ),
    Row(
        names="000-39 001-39",
        says="content text, streamed (utf-8, emoji)",
        server=turn(text("gr"), text("üß"), text(" 👩‍💻 "), text("all")),
        shown=["grüß 👩‍💻 all"],
    ),
    Row(
        names="000-40 001-40",
        says="content url: title, url",
        server=turn(content("url", title="ECA site", url="https://eca.dev/x")),
        shown=["ECA site https://eca.dev/x"],
    ),
    Row(
        names="000-41 001-41",
        says="progress running and its text",
        server=turn(
            content("progress", "system", state="running", text="Building the prompt"),
            wait("chat/prompt"),
        ),
        does=["prompt", "activity Building the prompt", "other stream"],
        status={"state": "running"},
    ),
    Row(
        names="000-42 001-42",
        says="progress finished ends the turn",
        server=turn(text("done")),
        ends={"state": "idle", "activity": None},
    ),
    Row(
        names="000-43 001-43",
        says="usage sessionTokens",
        server=turn(USAGE),
        ends={"tokens": 2000},
        usage=["2,000 of 200,000 tokens"],
    ),
    Row(
        names="000-44 001-44",
        says="usage lastMessageCost",
        server=turn(USAGE),
        usage=["last message $0.0123"],
    ),
    Row(
        names="000-45 001-45",
        says="usage sessionCost",
        server=turn(USAGE),
        ends={"cost": "0.4567"},
        usage=["this chat $0.4567"],
    ),
    Row(
        names="000-46 001-46",
        says="usage limit.context and limit.output",
        server=turn(USAGE),
        ends={"limit": 200_000},
        usage=["of 200,000 tokens", "answers of up to 32,000 tokens"],
    ),
    Row(
        names="000-47 001-47",
        says="reasonStarted",
        server=turn(REASON[0], wait("chat/prompt"), *REASON[1:]),
        does=["prompt", "see thinking", "other stream"],
    ),
    Row(
        names="000-48 001-48",
        says="reasonText",
        server=turn(*REASON),
        does=["prompt", "unfold"],
        shown=["I ponder."],
    ),
    Row(
        names="000-49 001-49",
        says="reasonFinished totalTimeMs",
        server=turn(*REASON),
        shown=["thought 1s"],
    ),
    Row(
        names="001-64",
        says="content metadata: title",
        server=turn(content("metadata", "system", title="A talk of old")),
        ends={"title": "A talk of old"},
    ),
]
