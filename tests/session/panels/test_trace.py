"""The panel of the trace: rows of messages, what is shown of them, and saving them."""

import json
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.session.rig import Rig

from eca_nvim.agents.trace import Dialect, Trace
from eca_nvim.chat.vocabulary.agent_events import JobsChanged
from eca_nvim.chat.vocabulary.events import TitleChanged
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.panels import ActInPanel, Row, SetPanel, SetRows, ShowPanel
from eca_nvim.jsonrpc import LineFraming
from eca_nvim.session.panels import messages
from eca_nvim.session.panels import trace as panels
from eca_nvim.transport import Tape

pytestmark = pytest.mark.anyio

HEAD = "head"


class Shown:
    """The panel, shown for a chat `a`, and the wire that it shows."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.tape = Tape()
        self._request = 0

    async def start(self) -> None:
        """Start the agent, and show the panel."""
        agent = await self.rig.ready()
        agent.trace = Trace(self.tape, Dialect(LineFraming, "c2s", "s2c"), lambda it: it)
        server = next(iter(self.rig.session._servers))
        server.process.trace = agent.trace
        self.rig.do(ShowPanel("trace", "a"))
        await self.until(self.ids)

    def add(self, way: str, **message: object) -> None:
        """Let a message go over the wire, "→" to the agent."""
        line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")) + "\n"
        self.tape.add(line.encode(), is_sent=way == "→")

    def rows(self) -> list[Row]:
        """Return the rows that the view has."""
        rows: list[Row] = []
        for op in self.rig.view.of(SetRows):
            rows[op.at : op.at + op.removed] = op.rows
        return rows

    def ids(self) -> list[str]:
        return [it.id for it in self.rows()]

    def texts(self) -> list[str]:
        """Return the rows without times, and without the first one."""
        return [" ".join(" ".join(it[0] for it in row.line[1:]).split()) for row in self.rows()[1:]]

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until what is drawn is so."""
        self.rig.session._chats.changed()
        await self.rig.view.until(condition)

    async def drawn(self, *texts: str) -> None:
        """Wait until each row has its words."""

        def fits() -> bool:
            shown = self.texts()
            return len(shown) == len(texts) and all(map(str.__contains__, shown, texts))

        await self.until(fits)

    async def act(self, action: str, row: str = HEAD, **values: str) -> None:
        """Do something, and wait for its end."""
        self._request += 1
        await self.rig.ask(ActInPanel("trace", action, self._request, row, values))
        self.rig.session._chats.changed()

    def title(self) -> str:
        return self.rig.view.of(SetPanel)[-1].title


@pytest.fixture
async def shown(rig: Rig) -> Shown:
    panel = Shown(rig)
    await panel.start()
    return panel


async def test_before_a_server_runs_a_row_says_so(rig: Rig) -> None:
    rig.do(ShowPanel("trace"))
    await rig.view.until(lambda: rig.view.of(SetRows))
    assert "not been started" in rig.view.of(SetRows)[-1].rows[0].line[0][0]


async def test_rows_are_requests_with_their_answers_newest_first(shown: Shown) -> None:
    shown.rig.agent.say("a", TitleChanged("My chat"))
    shown.add("→", id=1, method="chat/prompt", params={"chatId": "a"})
    shown.add("→", id=2, method="models/list")
    shown.add("←", id=2, error={"code": 7, "message": "no\nmodels: sk-abcdefgh"})
    shown.add("←", id=9, result={})
    await shown.drawn("answer to nothing kept", "error 7: no models: sk-[hidden]", "My chat")
    assert shown.texts()[1].startswith("→ models/list")
    assert shown.rows()[2].line[-1][0].startswith("  error 7")  # apart from the chat's title
    assert "…" in shown.texts()[2]  # it waits
    shown.add("←", id=1, result={})
    await shown.until(lambda: "…" not in shown.texts()[2])
    shown.add("→", id=3, method="lost")
    shown.tape.ended = shown.tape.began + 12
    await shown.until(lambda: "lost never" in shown.texts()[0])
    assert "ended after 12.000 s" in str(shown.rows()[0].line)


async def test_what_streams_is_one_row_and_opens_line_by_line(shown: Shown) -> None:
    for number in range(300):
        shown.add("←", method="chat/said", params={"chatId": "a", "text": f"word {number}"})
    shown.add("←", method="chat/said", params={"chatId": "b"})
    await shown.drawn("chat/said", "chat/said \N{MULTIPLICATION SIGN}300")
    group = shown.ids()[2]
    await shown.act("open", group)
    await shown.until(lambda: len(shown.rows()) == 3 + panels.MOST_LINES + 1)
    assert "word 299" in shown.texts()[2]
    assert shown.texts()[-1] == ""
    assert "100 earlier ones" in shown.rows()[-1].line[0][0]
    await shown.act("open", shown.ids()[3])
    await shown.until(lambda: any('"text": "word 299"' in str(it.line) for it in shown.rows()[4:]))
    await shown.act("open", group)
    await shown.until(lambda: len(shown.rows()) == 3)


async def test_a_message_opens_as_json_without_secrets_and_within_bounds(shown: Shown) -> None:
    bad = "\x1b[31m\u202e" + "long " * 2000
    shown.add("→", id=1, method="a", params={"token": "abc", "bad": bad, "many": [*range(999)]})
    await shown.drawn("→ a")
    await shown.act("open", shown.ids()[1])
    await shown.until(lambda: len(shown.rows()) == 2 + panels.MOST_LINES + 1)
    text = "\n".join(str(it.line) for it in shown.rows())
    assert '"token": "[hidden]"' in text
    assert "more lines" in text
    assert "\\x1b" not in text
    assert "\\u202e" not in text
    shown.add("←", id=1, result={"here": "it is"})
    await shown.until(lambda: '"here": "it is"' in str(shown.rows()[-3].line))
    await shown.act("open", shown.ids()[-1])  # a line of it closes it, too
    await shown.until(lambda: len(shown.rows()) == 2)


async def test_of_a_message_that_is_too_long_the_size_is_shown(shown: Shown) -> None:
    shown.add("→", id=1, method="chat/prompt", params={"env": {"A": "x" * 2_000_000}})
    await shown.drawn("→ chat/prompt")
    await shown.act("open", shown.ids()[1])
    await shown.until(lambda: "too long: 2.0 MB" in str(shown.rows()[-1].line))
    assert "xxx" not in str(shown.rows())


async def test_what_is_no_message_is_a_row(shown: Shown) -> None:
    shown.tape.add(b"Exception: \x1b[2J\n", is_sent=False)
    await shown.drawn("not a message")
    await shown.act("open", shown.ids()[1])
    await shown.until(lambda: "Exception:" in str(shown.rows()[-1].line))


async def test_what_is_shown_is_chosen_by_text_and_by_chat(shown: Shown) -> None:
    shown.rig.agent.say("a", TitleChanged("My chat"))
    shown.add("→", method="one", params={"chatId": "a"})
    shown.add("→", method="two", params={"chatId": "other"})
    shown.add("→", method="three")
    await shown.drawn("three", "two", "one")
    await shown.act("filter", filter=" T ")
    await shown.drawn("three", "two", "one")  # the title of its chat has a t
    await shown.act("filter", filter="tw")
    await shown.drawn("two")
    assert shown.title() == "trace of eca, filter: tw"
    assert shown.rows()[0].values["filter"] == "tw"
    await shown.act("filter", filter="CHAT")
    await shown.drawn("one")
    await shown.act("filter", filter="")
    await shown.drawn("three", "two", "one")
    await shown.act("chat")
    await shown.drawn("one")
    assert shown.title() == "trace of eca, only this chat"
    await shown.act("chat")
    await shown.act("clear")
    await shown.drawn()
    shown.add("→", method="four")
    await shown.drawn("four")


async def test_it_is_saved_whole_and_only_for_the_user(shown: Shown, tmp_path: Path) -> None:
    shown.add("→", id=1, method="a", params={"token": "abc"})
    shown.add("←", id=1, result={})
    await shown.drawn("→ a")
    await shown.act("clear")
    place = tmp_path / "saved.jsonl"
    await shown.act("save", file=str(place))
    lines = [json.loads(it) for it in place.read_text().splitlines()]
    assert [it["dir"] for it in lines] == ["c2s", "s2c"]
    assert lines[0]["msg"]["params"] == {"token": "[hidden]"}
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert shown.rig.view.of(Notify)[-1].text == f"saved 2 messages: {place}"
    await shown.act("save", file=str(place))
    assert "saved.jsonl is there already: type another name" in shown.rig.view.of(Notify)[-1].text
    await shown.act("save", file=str(tmp_path / "no" / "folder"))
    assert "No such file" in shown.rig.view.of(Notify)[-1].text
    await shown.act("save", file=" ")
    assert "needs a file name" in shown.rig.view.of(Notify)[-1].text


async def test_a_message_that_cannot_be_shown_spoils_nothing(shown: Shown, tmp_path: Path) -> None:
    number, deep = "9" * 5000, "[" * 600 + "]" * 600
    for params in ("[1]", number, deep):
        line = f'{{"jsonrpc":"2.0","method":"said","params":{{"it":{params}}}}}\n'
        shown.tape.add(line.encode(), is_sent=False)
    await shown.drawn("said \N{MULTIPLICATION SIGN}3")
    await shown.act("open", shown.ids()[1])
    await shown.until(lambda: len(shown.rows()) == 5)
    is_read = sys.version_info >= (3, 14)
    kept = '{"it": [[' if is_read else "not shown, it is nested too deeply: 1.2 kB"
    assert shown.texts()[1].startswith(kept)
    assert shown.texts()[2].startswith("not shown, it has a number that is too long: 5.0 kB")
    place = tmp_path / "saved.jsonl"
    await shown.act("save", file=str(place))
    assert shown.rig.view.of(Notify)[-1].text == f"saved {1 + is_read} messages: {place}"


def test_what_fails_while_it_is_saved_leaves_nothing(tmp_path: Path) -> None:
    def lines() -> Iterator[str]:
        yield "one"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        panels._write(tmp_path / "saved", lines())
    assert not [*tmp_path.iterdir()]


async def test_no_more_is_read_than_is_kept(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MOST_MESSAGES", 50)
    for number in range(120):
        shown.add("→", id=number, method=f"m{number}")
        shown.add("←", id=number, result={})
    await shown.until(lambda: len(shown.rows()) == 26 and "m119" in shown.texts()[0])
    assert "m95" in shown.texts()[-1]


async def test_another_start_of_the_server_begins_anew(shown: Shown) -> None:
    shown.add("→", method="old")
    await shown.drawn("old")
    server = next(iter(shown.rig.session._servers))
    tape = Tape()
    server.process.trace = Trace(tape, Dialect(LineFraming, "c2s", "s2c"), lambda it: it)
    tape.add(b'{"method":"new"}\n', is_sent=True)
    shown.rig.agent.announce(JobsChanged(()))
    await shown.drawn("new")
