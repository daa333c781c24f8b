"""Rows of the first draft that the later documents do not have."""

from tests.generations.row import Row, Sent, Step, Value, ask, drafted, piece, proposal, wait
from tests.support.workspace import FILES

PATH = "$folder/src/calc.py"


def said(words: str, *, last: bool = True, **more: Value) -> Step:
    """Send text."""
    return piece({"type": "text", "text": words, **more}, last=last)


HI = drafted(said("hi"))


def sends(**params: Value) -> Sent:
    """Expect chat/prompt with some params."""
    return "chat/prompt", params


ROWS = [
    Row(
        names="002-2",
        says="an unknown request of the server is answered with -32601",
        server=drafted(ask("foo/bar"), said("asked")),
        answered=[{"error": {"code": -32601}}],
    ),
    Row(
        names="002-17",
        says="chat/prompt message, as typed",
        server=HI,
        does=["prompt as *typed*  `so` /@x"],
        shown=["as *typed*  `so` /@x"],
    ),
    Row(
        names="002-18",
        says="chat/prompt without chatId makes a new chat, whose id is used from then on",
        server=HI,
        does=["prompt", "idle", "say stream"],
        sent=[sends(message="$name", chatId=None), sends(message="stream", chatId=...)],
    ),
    Row(
        names="002-19",
        says="two new chats prompted at once: each gets its own id and words",
        server=[wait("chat/prompt"), *drafted(said("for the first"))],
        does=["prompt", "other stream", "idle"],
        shown=["for the first"],
        hidden=["One, two, three."],
        other=["One, two, three."],
    ),
    Row(
        names="002-20",
        says="chat/prompt model (optional): named, for the draft lists none",
        server=HI,
        does=["open", "choose model gpt-4", "prompt"],
        sent=[sends(model="gpt-4")],
        status={"model": "gpt-4"},
    ),
    Row(
        names="002-21",
        says="chat/prompt context: an array",
        server=HI,
        contexts=[{"type": "file", "path": PATH}, {"type": "web", "url": "https://eca.dev"}],
        sent=[sends(context=[{"type": "file"}, {"type": "web"}])],
    ),
    Row(
        names="002-22",
        says="context file: path, selection",
        server=HI,
        contexts=[{"type": "file", "path": PATH, "first": 2, "last": 3}],
        sent=[
            sends(
                context=[
                    {"type": "file", "path": PATH, "selection": {"startLine": 2, "endLine": 3}}
                ]
            )
        ],
    ),
    Row(
        names="002-23",
        says="context file: cursor",
        server=HI,
        contexts=[{"type": "cursor", "path": PATH, "start": [2, 5], "end": [2, 5]}],
        sent=[
            sends(context=[{"type": "file", "path": PATH, "cursor": {"line": 2, "character": 5}}])
        ],
    ),
    Row(
        names="002-24",
        says="context web: url",
        server=HI,
        contexts=[{"type": "web", "url": "https://eca.dev"}],
        sent=[sends(context=[{"type": "web", "url": "https://eca.dev"}])],
    ),
    Row(
        names="002-25",
        says="context code: content, language, description",
        server=HI,
        contexts=[{"type": "text", "label": "scratch", "content": "x = 1"}],
        sent=[
            sends(
                context=[
                    {
                        "type": "code",
                        "content": "x = 1",
                        "language": ...,
                        "description": "scratch",
                    }
                ]
            )
        ],
    ),
    Row(
        names="002-26",
        says="context TerminalContext: named, not defined",
        does=[],
        decided="there is nothing to do",
    ),
    Row(
        names="002-27",
        says="response chatId",
        server=HI,
        does=["prompt", "idle", "say stream"],
        sent=[sends(message="stream", chatId=...)],
    ),
    Row(
        names="002-28",
        says="response status 'success'",
        server=HI,
        status={"state": "running"},
        ends={"state": "idle"},
    ),
    Row(
        names="002-29",
        says="response status 'connection-error', resultMessage",
        server=drafted(status="connection-error", message="No route to gpt-4"),
        shown=["No route to gpt-4"],
        ends={"state": "idle"},
    ),
    Row(
        names="002-30",
        says="response resultMessage with 'success'",
        server=drafted(wait("chat/prompt"), said("hi"), message="Sent to gpt-4"),
        does=["prompt", "activity Sent to gpt-4", "other stream"],
    ),
    Row(
        names="002-31",
        says="content text, streamed (utf-8, emoji)",
        server=drafted(
            said("gr", last=False), said("üß", last=False), said(" 👩‍💻 ", last=False), said("all")
        ),
        shown=["grüß 👩‍💻 all"],
    ),
    Row(
        names="002-32",
        says="contentReceived isComplete: false, then true",
        server=drafted(said("more ", last=False), said("to come")),
        shown=["more to come"],
        ends={"state": "idle"},
    ),
    Row(
        names="002-32",
        says="isComplete ends the turn after a kind of content that no document has",
        server=drafted(piece({"type": "later", "text": "of a later time"}), said("the end")),
        shown=["of a later time", "the end"],
        ends={"state": "idle"},
        fresh=True,
    ),
    Row(
        names="002-33",
        says="metadata.tokensUsed",
        server=drafted(
            piece({"type": "text", "text": "x"}, last=True, metadata={"tokensUsed": 321})
        ),
        ends={"tokens": 321},
    ),
    Row(
        names="002-34",
        says="text codeBlocks, which the text does not repeat",
        server=drafted(
            said("See:", codeBlocks=[{"code": "print(1)\n", "language": "python"}], last=False),
            said(" that is it."),
        ),
        shown=["See: that is it.", "```python\nprint(1)\n```"],
    ),
    Row(
        names="002-34",
        says="text codeBlocks, which were found in the text",
        server=drafted(
            said("See:\n```\nprint", last=False),
            said("(1)\n```\n", codeBlocks=[{"code": "print(1)", "language": "python"}]),
        ),
        shown=["```\nprint(1)\n```"],
        hidden=["```python"],
    ),
    Row(
        names="002-35",
        says="fileChange description",
        server=drafted(proposal(None, description="What will be")),
        shown=["What will be"],
    ),
    Row(
        names="002-36",
        says="fileChange manualApproval true: asks, also after isComplete",
        server=drafted(proposal({"kind": "create", "content": "x\n"}, file="asked.txt")),
        does=["prompt", "state waiting", "reject"],
        asked={"title": "write asked.txt +1 -0"},
        files={"asked.txt": None},
    ),
    Row(
        names="002-37",
        says="fileChange manualApproval false: made at once",
        server=drafted(
            proposal({"kind": "create", "content": "x\n"}, file="made.txt", manualApproval=False)
        ),
        shown=["✓ write made.txt +1 -0"],
        files={"made.txt": "x\n"},
    ),
    Row(
        names="002-38",
        says="fileChange without file (optional)",
        server=drafted(proposal(None, description="No file is named")),
        shown=["fileChange", "No file is named"],
    ),
    Row(
        names="002-39",
        says="changes kind create",
        server=drafted(proposal({"kind": "create", "content": "one\ntwo\n"}, file="new/b.py")),
        does=["prompt", "approve"],
        shown=["✓ write new/b.py +2 -0"],
        files={"new/b.py": "one\ntwo\n"},
    ),
    Row(
        names="002-40",
        says="changes kind change, range from 1",
        server=drafted(
            proposal(
                {
                    "kind": "change",
                    "content": "def plus(a, b):\n",
                    "range": {"startLine": 1, "endLine": 1},
                }
            )
        ),
        does=["prompt", "approve", "unfold"],
        shown=["-def add(a, b):", "+def plus(a, b):"],
        files={"src/calc.py": FILES["src/calc.py"].replace("add(a, b):", "plus(a, b):")},
    ),
    Row(
        names="002-41",
        says="changes kind delete, with range",
        server=drafted(
            proposal(
                {"kind": "delete", "range": {"startLine": 1, "endLine": 1}}, file="src/mod.lua"
            )
        ),
        does=["prompt", "approve"],
        shown=["✓ edit src/mod.lua +0 -1"],
    ),
    Row(
        names="002-42",
        says="changes kind delete, of a whole file",
        server=drafted(proposal({"kind": "delete"}, file="README.md")),
        does=["prompt", "approve"],
        asked={"title": ...},
        shown=["✓ delete README.md"],
        files={"README.md": None},
    ),
    Row(
        names="002-43",
        says="no stop in the draft: none is sent, which is told",
        server=drafted(said("I wait.", last=False), wait("chat/prompt"), said(" Done.")),
        does=["prompt", "see I wait.", "stop", "other stream", "idle"],
        unsent=["chat/promptStop"],
        whole="002-43\nI wait.\nthis server cannot stop a turn: it runs to its end\n Done.",
        fresh=True,
    ),
]
