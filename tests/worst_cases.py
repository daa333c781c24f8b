"""The worst text for each function that reads text of others: add new functions to WORST.

A case makes an input of a given size in characters, the only argument of the function under test.
`tests/test_linear.py` calls it with a small and a large input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from tests import redacted
from tests.support.calls import eca_call
from tests.worst_inputs import (
    ESCAPES,
    UNSEEN,
    USERS,
    as_bytes,
    chunked,
    ends,
    far_hunks,
    mode_ids,
    named_arguments,
    nested,
    one_hunk,
    option_ids,
    repeated,
    two_texts,
)

from eca_nvim import path_risks, redaction
from eca_nvim.agents import typed_tokens
from eca_nvim.agents.abilities import FoundResource
from eca_nvim.agents.acp import options as acp_options
from eca_nvim.agents.acp.prompt import typed_text, typed_title
from eca_nvim.agents.acp.requests import acts, files
from eca_nvim.agents.acp.updates import changes, known_call
from eca_nvim.agents.acp.updates.messages import unknown_line
from eca_nvim.agents.acp.updates.quirks import mode_in_text
from eca_nvim.agents.eca import contents, known_tools, prompts, replay
from eca_nvim.agents.eca.contents import plain_text
from eca_nvim.agents.eca.older import draft
from eca_nvim.chat.model import calls, hunk_choice, outside_paths, used_files
from eca_nvim.chat.render import diff, title, whole_chat
from eca_nvim.chat.render.status import commands_of, option_rows
from eca_nvim.chat.text import ansi, diffs, output, safe_text, text_differences
from eca_nvim.chat.vocabulary.call_details import FileChange, Location, PartialWrite, ToolCall, Use
from eca_nvim.chat.vocabulary.completion import COMMAND
from eca_nvim.chat.vocabulary.contexts import FileContext, WebContext
from eca_nvim.chat.vocabulary.events import ToolPreparing
from eca_nvim.jsonrpc import framing
from eca_nvim.mcp.tools import Place, column_of
from eca_nvim.protocol.base import codec
from eca_nvim.protocol.eca import content as eca
from eca_nvim.protocol.eca.draft import CodeBlock
from eca_nvim.session.completion.completion import context_items
from eca_nvim.session.completion.names import Names, distance
from eca_nvim.session.completion.paths import Writer
from eca_nvim.session.templates.expansion import Value, expand, fenced, parse
from eca_nvim.session.templates.library import read_template
from eca_nvim.transport import process

Data = TypeVar("Data")


class Worst(NamedTuple):
    """A function and its worst input, by size; `size`: what the work with it is counted for."""

    run: Callable[[Any], object]
    make: Callable[[int], Any]
    size: int = 1_000


def cleaned(chunks: Sequence[str]) -> str:
    """Clean a text as it streams in."""
    cleaner = safe_text.Cleaner()
    return "".join(map(cleaner.feed, chunks)) + cleaner.finish()


def peeked(chunks: Sequence[str]) -> None:
    """Peek at arguments as they stream in."""
    peeks, call = known_tools.Peeks(), eca_call("t")
    for chunk in chunks:
        peeks.peek("c", ToolPreparing(call, chunk))


def framed(data: bytes) -> None:
    """Cut a stream of bytes into messages."""
    reader = framing.ContentLengthFraming()
    for start in range(0, len(data), 1 << 12):
        reader.feed(data[start : start + (1 << 12)])


def told(data: bytes) -> None:
    """Keep the last lines of an output."""
    tail = process.StderrTail(lambda _: None)
    for start in range(0, len(data), 1 << 12):
        tail.feed(data[start : start + (1 << 12)])


def progressed(words: str) -> None:
    """Read a server's progress."""
    content = eca.ProgressContent(state=eca.ProgressState.RUNNING, text=words)
    received = eca.ContentReceived(role=eca.Role.SYSTEM, content=content)
    contents.content_event(received)


def spelt(message: str) -> None:
    """Write tokens of the user's own in a message."""
    contexts = [FileContext(f"/w/{name}", token=f"@{name}") for name in "abcdefgh"]
    prompts.spell(message, contexts, every=True)
    prompts.append(message, ["@/w/a", "https://example.com"])
    web = prompts.name_of(WebContext("https://example.com"))
    assert web is not None


def applied(sides: tuple[str, str]) -> None:
    """Apply a diff to a file, if it fits."""
    diffs.versions(sides[0], FileChange("/f", sides[1], 1, 1), applied=False)


def placed(path: str) -> None:
    """Find out where a path leads."""
    outside_paths.paths_outside(eca_call("a", arguments={"path": path}), ("/w",))


def found(query: str, data: bytes) -> None:
    """Search names, and order what is found."""
    names = Names(data)
    matching = names.find(query, lambda: None)
    sorted(matching, key=lambda name: distance(query, name))


def offered(uri: str) -> None:
    """Offer an address that an agent has given."""
    list(context_items("", [FoundResource(uri)], (), Writer("/w")))


def used(paths: Sequence[str]) -> None:
    """Use more and more files."""
    files = used_files.UsedFiles()
    for path in paths:
        files.note(path, Use.READ)


def named(command: str) -> None:
    """Find the names in a command."""
    calls.named_by(ToolCall("t", command=command), ("/w",))


LIST_FILES = acts.run_command(["ls", "-l"], "/w", {})

WORST: dict[str, Sequence[Worst]] = {
    "eca_nvim.agents.acp.options": [
        Worst(lambda it: acp_options._levels(acp_options._MODES, it), mode_ids),
    ],
    "eca_nvim.agents.acp.requests.acts": [
        Worst(lambda it: acts.is_command(LIST_FILES, it), repeated(piece))
        for piece in ("a", "a ", "'", "\\", "'a\"")
    ],
    "eca_nvim.agents.acp.requests.files": [
        Worst(lambda it: files._lines(it, 2, 9**9), repeated(piece))
        for piece in ("a", "\n", "a\r\n")
    ],
    "eca_nvim.agents.acp.updates.changes": [
        Worst(lambda it: changes.file_changes(it[0], it[1], "/w", {}), ends),
    ],
    "eca_nvim.chat.render.status": [
        Worst(lambda it: list(commands_of(it)), option_ids),
        Worst(option_rows, option_ids),
    ],
    "eca_nvim.chat.model.calls": [
        Worst(named, repeated(piece)) for piece in ("a ", "'", '"a', "\\", "=", ":", "$(", "a=b:c;")
    ],
    "eca_nvim.chat.model.used_files": [
        Worst(used, lambda size: [f"/{number}" for number in range(size // 25)]),
        Worst(used, lambda size: [f"/{number:0>4000}" for number in range(size // 100)]),
        Worst(used, lambda size: ["/a"] * (size // 10)),
    ],
    "eca_nvim.agents.acp.prompt": [
        Worst(typed_text, make)
        for make in (
            *map(repeated, ("Selected in /", "\n/", "\n/(@", "[@", "[@]", "The cursor is in li")),
            repeated(".", "Selected in ", "x"),
        )
    ]
    + [Worst(typed_title, make) for make in (repeated(" Selected in "), repeated(" "))],
    "eca_nvim.agents.acp.updates.known_call": [
        *(
            Worst(known_call._unfenced, make)
            for make in (repeated("`"), repeated("```\n"), repeated("`\n", "```"))
        ),
        Worst(lambda it: known_call._title(it, [Location("/" + "a" * 99)]), repeated("/aa")),
    ],
    "eca_nvim.agents.acp.updates.messages": [
        Worst(lambda it: unknown_line({"text": it}, "type"), repeated(" \n")),
    ],
    "eca_nvim.agents.acp.updates.quirks": [Worst(mode_in_text, repeated("[MODE_UPDATE] "))],
    "eca_nvim.agents.eca.older.draft": [
        *(
            Worst(lambda it: draft._fenced(CodeBlock(code=it, language=it)), repeated(piece))
            for piece in ("`", "`a", " `")
        ),
    ],
    "eca_nvim.agents.eca.prompts": [
        *(Worst(prompts.user_text, make) for make in USERS),
        *(
            Worst(spelt, make)
            for make in (repeated(" @a"), repeated("@/:L1-"), repeated("1", "@/a:L"))
        ),
        Worst(spelt, repeated(" (@")),
    ],
    "eca_nvim.agents.typed_tokens": [
        Worst(lambda it: typed_tokens.replace_tokens(it, {"@a": "a"}), make)
        for make in (repeated(" @a"), repeated(" (#"), repeated("@aa "))
    ],
    "eca_nvim.agents.eca.replay": [
        *(
            Worst(lambda it: replay._is_note(it, None), make)
            for make in (repeated(" "), repeated(") ", "Background job job-1 ("))
        ),
    ],
    "eca_nvim.agents.eca.contents": [
        Worst(progressed, repeated("1", "(attempt ")),
        Worst(lambda it: plain_text({"x": it}), repeated('"')),
    ],
    "eca_nvim.chat.vocabulary.completion": [
        Worst(COMMAND.match, make) for make in (repeated("x", "/"), repeated(" "))
    ],
    "eca_nvim.chat.text.ansi": [
        Worst(lambda it: list(ansi.coloured_lines(it)), it, size=5_000) for it in ESCAPES
    ],
    "eca_nvim.agents.eca.known_tools": [
        Worst(peeked, chunked(make, width))
        for make in (repeated('"path" '), repeated("\\", '{"path": "'), repeated('"path":'))
        for width in (1, 5000)
    ],
    "eca_nvim.chat.text.diffs": [
        Worst(applied, one_hunk),
        Worst(applied, far_hunks),
        *(
            Worst(lambda it: applied(("a\n", it)), make)
            for make in (
                repeated("\ndiff --git :// x", "@@ -1 +1 @@\n-a\n+b"),
                repeated("1", "@@ -"),
                repeated("\\\n", "@@ -1 +1 @@\n-a\n"),
                lambda _: "@@ -999999999 +1 @@\n-b\n+c",
            )
        ),
    ],
    "eca_nvim.chat.text.text_differences": [
        *(
            Worst(lambda it: text_differences.hunks_between(*it), make)
            for make in (two_texts("a\nb\n", "b\na\nc\n"), two_texts("a\n", "b\n"))
        ),
        Worst(
            lambda it: text_differences.spans(*(side.split("\n") for side in it)),
            two_texts("a\n", "b\n"),
        ),
    ],
    "eca_nvim.chat.render.whole_chat": [
        Worst(whole_chat._fence, make) for make in (repeated(" "), repeated("`"), repeated("\n ``"))
    ],
    "eca_nvim.chat.text.output": [
        *(Worst(lambda it: output.text_body(it, None), make) for make in (*ESCAPES, *UNSEEN)),
        *(Worst(lambda it: output.text_body(it, 200), make) for make in ESCAPES),
        Worst(lambda it: output.value_lines([it]), repeated("\\\n")),
        Worst(lambda it: output.value_lines([it]), repeated("\\")),
        Worst(output.indented, nested, size=5_000),
    ],
    "eca_nvim.chat.model.hunk_choice": [
        Worst(
            lambda it: hunk_choice.told([PartialWrite("f", "f", "", "", it)], str), repeated(piece)
        )
        for piece in ("~", "~~~a", "~~~\n", "a\n")
    ],
    "eca_nvim.chat.model.outside_paths": [
        Worst(placed, make) for make in (repeated("../"), repeated("/"), repeated("./", "/"))
    ],
    "eca_nvim.chat.render.title": [
        Worst(lambda it: title.argument_body(it, 200), named_arguments),
        Worst(lambda it: title.argument_body({it: 1}, 200), repeated("a", after=" ")),
    ],
    "eca_nvim.chat.render.diff": [
        Worst(lambda it: diff.changes_body((FileChange("/f", it, 1, 1),), (), None), make)
        for make in (
            lambda size: one_hunk(size)[1],
            lambda size: far_hunks(size)[1],
            lambda size: f"@@ -1 +1 @@\n-{'x' * size}a\n+{'x' * size}b\n",
        )
    ],
    "eca_nvim.chat.text.safe_text": [
        Worst(safe_text.literal, repeated("\u3000")),
        *(Worst(safe_text.clean, make) for make in (*ESCAPES, *UNSEEN)),
        *(Worst(safe_text.literal, make) for make in (*ESCAPES, *UNSEEN)),
        *(Worst(cleaned, chunked(make)) for make in (*ESCAPES, *UNSEEN)),
        *(Worst(safe_text.one_line, make) for make in (repeated(" \n"), repeated(" ", "a", "a"))),
        Worst(lambda it: safe_text.shorten(it, 80), repeated("\u0301")),
        Worst(lambda it: safe_text.truncate(it, 80), repeated("\u0301")),
    ],
    "eca_nvim.jsonrpc.framing": [
        Worst(framed, as_bytes(make))
        for make in (
            repeated("\n"),
            repeated("a", "content-"),
            repeated(" ", "content-a"),
            repeated("Content-Length: 9\n"),
            repeated("Content-Length: 99999999\r\n\r\n{\n"),
            repeated("x", "Content-Length: 99999999\r\n\r\n"),
        )
    ],
    "eca_nvim.protocol.base.codec": [
        Worst(lambda it: refused(codec.decode_body, it), as_bytes(make))
        for make in (nested, repeated("9", '{"id":', "}"), repeated("\\ud83d", '{"id":"', '"}'))
    ],
    "eca_nvim.mcp.tools": [
        Worst(partial(column_of, asked=Place("a", 1, symbol)), repeated(piece))
        for symbol, piece in (("a", "a"), ("a" * 50, "a"), ("a", "a1"))
    ],
    "eca_nvim.path_risks": [
        Worst(path_risks._OF_ANY_AGENT.has, repeated(piece)) for piece in ("mcp", "mcp.y")
    ],
    "eca_nvim.redaction": [
        Worst(redaction.without_keys, repeated(piece)) for piece in redacted.WORST
    ],
    "eca_nvim.session.completion.completion": [
        Worst(offered, make)
        for make in (repeated(".", "https://"), repeated("."), repeated("https://"))
    ],
    "eca_nvim.session.completion.names": [
        Worst(partial(found, query), as_bytes(make), size=4_000)
        for make in (repeated("a" * 900 + "\0"), repeated("a\0"), repeated("ab\n\0"))
        for query in ("a", "ab", "aab", "a" * 500 + "b")
    ],
    "eca_nvim.session.templates.expansion": [
        Worst(lambda it: fenced(Value(it, language=it)), repeated(piece))
        for piece in ("`", "``a", "a")
    ]
    + [
        Worst(parse, repeated("{{diff}}\n")),
        Worst(lambda it: expand(parse(it), {"diff": Value("a")}, ()), repeated("{{diff}}")),
    ],
    "eca_nvim.session.templates.library": [
        Worst(lambda it: refused(lambda text: read_template(text, "name"), it), make)
        for make in (
            repeated(" ", "---\nname", "\n---\ntext"),
            repeated(" ", "---\nname: ", "a\n---\ntext"),
            repeated("a", "---\nname:", "\n---\ntext"),
            repeated("a", "---\n", "\n---\ntext"),
        )
    ],
    "eca_nvim.transport.process": [
        Worst(told, as_bytes(make)) for make in (repeated("x"), repeated("\n"))
    ],
}


def refused(read: Callable[[Data], object], data: Data) -> None:
    """Read what may be refused."""
    try:
        read(data)
    except ValueError:
        return
