"""The trace of a connection: its messages, requests with their answers, and recordings of it."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from eca_nvim.agents.trace import Dialect, Kind, Trace, Traced
from eca_nvim.jsonrpc import ContentLengthFraming, LineFraming
from eca_nvim.redaction import Redactor
from eca_nvim.transport import Tape

ECA = Dialect(ContentLengthFraming, "c2s", "s2c")
ACP = Dialect(LineFraming, "c2a", "a2c")
DIALECTS = pytest.mark.parametrize("dialect", [ECA, ACP], ids=["eca", "acp"])


class Wire:
    """A tape, and its trace."""

    def __init__(self, dialect: Dialect = ECA) -> None:
        self.framing = dialect.framing()
        self.tape = Tape()
        self.trace = Trace(self.tape, dialect, lambda it: f"our {it}")

    def sent(self, **message: object) -> None:
        """Send a message."""
        self._add(message, is_sent=True)

    def got(self, **message: object) -> None:
        """Receive a message."""
        self._add(message, is_sent=False)

    def read(self) -> Sequence[Traced]:
        """Return all messages."""
        return self.trace.reader().read()

    def recorded(self) -> list[Any]:
        """Return the lines of a recording."""
        return [json.loads(it) for it in self.trace.recording(Redactor().redact_json)]

    def _add(self, message: dict[str, object], *, is_sent: bool) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
        data = self.framing.encode(body)
        size = len(data) if is_sent else 256 * 1024  # what is read at once
        for at in range(0, len(data), size):
            self.tape.add(data[at : at + size], is_sent=is_sent)


@DIALECTS
def test_a_request_has_its_answer_whoever_asks(dialect: Dialect) -> None:
    wire = Wire(dialect)
    wire.sent(id=1, method="chat/prompt", params={"chatId": "a"})
    wire.got(id=1, method="ask", params={"sessionId": "b"})
    wire.got(id=1, result={})
    wire.sent(id=1, error={"code": -32601, "message": "no ask"})
    wire.sent(id=2, method="late")
    prompt, ask, answer, refusal, late = wire.read()
    assert (prompt.answer, answer.request, prompt.chat) == (answer, prompt, "our a")
    assert (ask.answer, ask.is_sent, ask.chat) == (refusal, False, "our b")
    assert refusal.error == "error -32601: no ask"
    assert (late.kind, late.answer) == (Kind.REQUEST, None)


def test_what_the_answer_names_is_the_chat_of_the_request() -> None:
    wire = Wire()
    wire.sent(id=1, method="session/new", params=[1])
    wire.got(id=1, result={"sessionId": "s"})
    assert wire.read()[0].chat == "our s"


def test_a_reader_goes_on_where_it_was() -> None:
    wire = Wire()
    reader = wire.trace.reader()
    wire.sent(method="one")
    assert [it.name for it in reader.read()] == ["one"]
    wire.sent(method="two")
    wire.sent(method="three")
    assert reader.is_behind
    assert [it.name for it in reader.read(1)] == ["two"]
    assert [it.name for it in reader.read()] == ["three"]
    assert not reader.is_behind


def test_what_is_no_message_is_said_and_what_follows_comes() -> None:
    wire = Wire()
    wire.got(method="before")
    wire.tape.add(b"Exception in thread\n", is_sent=False)
    wire.got(method="between")
    wire.tape.add(b"Content-Length: 2\r\n\r\n[]", is_sent=False)
    wire.got(method="after")
    faults = [it for it in wire.read() if it.kind is Kind.FAULT]
    assert [it.name for it in wire.read() if it.kind is Kind.NOTIFICATION] == [
        *("before", "between", "after")
    ]
    assert faults[0].body.startswith(b"Exception")
    assert len(faults) == 2
    assert [it["msg"]["method"] for it in wire.recorded()] == ["before", "between", "after"]


@DIALECTS
def test_after_a_gap_the_next_whole_message_comes(dialect: Dialect) -> None:
    wire = Wire(dialect)
    wire.sent(id=1, method="first")
    cut = {"method": "long", "params": {"text": '\\n"x"' * 60}}
    stream = b"".join(
        wire.framing.encode(json.dumps({**cut, "number": number}).encode())
        for number in range(30_000)
    )
    for at in range(0, len(stream), 1000):
        wire.tape.add(stream[at : at + 1000], is_sent=False)
    wire.got(method="last")
    found = wire.read()
    assert found[0].name == "first"
    assert found[0].is_lost
    assert found[-1].name == "last"
    kinds = [it.kind for it in found]
    assert kinds.count(Kind.GAP) == 1
    assert Kind.FAULT not in kinds
    numbers = [it["msg"]["number"] for it in wire.recorded() if "number" in it["msg"]]
    assert numbers[-1] == 29_999
    assert len(numbers) > 5000


def test_messages_that_are_very_long_are_said_and_not_kept() -> None:
    wire = Wire()
    wire.sent(id=1, method="chat/prompt", params={"image": "x" * 20_000_000})
    wire.got(id=1, result={"text": "y" * 1_500_000})
    asked, answer = wire.read()
    assert (asked.name, asked.answer, answer.request) == ("chat/prompt", answer, asked)
    assert asked.size > 20_000_000
    assert len(asked.body) < 1000
    assert len(answer.body) < answer.size
    (recorded,) = wire.recorded()  # what the tape has is saved
    assert len(recorded["msg"]["result"]["text"]) == 1_500_000


def test_a_recording_has_times_directions_and_no_secrets() -> None:
    wire = Wire(ACP)
    wire.sent(id=1, method="login", params={"api-key": "x", "env": {"A": "b"}, "sessionId": "s"})
    wire.got(id=1, result={"text": "it is sk-abcdefghijk \ud800"})
    asked, answer = wire.recorded()
    assert asked["dir"] == "c2a"
    assert asked["msg"]["params"] == {
        "api-key": "[hidden]",
        "env": {"A": "[hidden]"},
        "sessionId": "s",
    }
    assert (answer["dir"], answer["t"] >= asked["t"] >= 0) == ("a2c", True)
    assert answer["msg"]["result"]["text"].startswith("it is sk-[hidden]")


def test_json_that_is_nested_too_deeply_ends_nothing() -> None:
    wire = Wire()
    wire.tape.add(
        wire.framing.encode(b'{"method":"deep","params":' + b"[" * 9999 + b"]" * 9999 + b"}"),
        is_sent=False,
    )
    wire.got(method="after")
    assert wire.read()[-1].name == "after"
    assert [it["msg"]["method"] for it in wire.recorded()] == ["after"]
