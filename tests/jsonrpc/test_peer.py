"""The bookkeeping of ids: every answer finds its request, whatever the order."""

import json
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eca_nvim.jsonrpc import (
    CancelForm,
    ContentLengthFraming,
    ErrorResponse,
    Event,
    FaultReason,
    FramingFault,
    LineFraming,
    MalformedMessage,
    Notification,
    NotOpen,
    Peer,
    Request,
    Response,
    UnexpectedAnswer,
)


def wire(*messages: object) -> bytes:
    framing = ContentLengthFraming()
    return b"".join(framing.encode(json.dumps(message).encode()) for message in messages)


def unwire(data: bytes) -> dict[str, Any]:
    (body,) = ContentLengthFraming().feed(data)
    assert isinstance(body, bytes)
    message: dict[str, Any] = json.loads(body)
    return message


def test_ids_of_requests_count_from_one() -> None:
    peer = Peer()
    sent = [peer.send_request("chat/list", {"limit": 1}), peer.send_request("shutdown")]
    assert [request_id for request_id, _ in sent] == [1, 2]
    assert [unwire(data) for _, data in sent] == [
        {"jsonrpc": "2.0", "id": 1, "method": "chat/list", "params": {"limit": 1}},
        {"jsonrpc": "2.0", "id": 2, "method": "shutdown"},
    ]
    assert peer.open_requests == {1, 2}


@settings(deadline=None)
@given(st.permutations(range(1, 9)), st.sets(st.integers(1, 8)))
def test_answers_find_their_requests_in_any_order(order: list[int], failed: set[int]) -> None:
    peer = Peer()
    for _ in order:
        peer.send_request("m")
    for position, answered in enumerate(order, start=1):
        body: dict[str, object] = {"error": {}} if answered in failed else {"result": answered}
        expected: Event = Response(answered, answered)
        if answered in failed:
            expected = ErrorResponse(answered, None, "", None)
        assert peer.receive_bytes(wire({"id": answered, **body})) == [expected]
        assert peer.open_requests == set(order[position:])


@settings(deadline=None)
@given(st.lists(st.integers(-1, 4) | st.sampled_from(["1", "x"]), max_size=12))
def test_only_the_first_answer_to_an_open_request_is_expected(ids: list[int | str]) -> None:
    peer = Peer()
    waiting: set[int | str] = {peer.send_request("m")[0] for _ in range(3)}
    for answered in ids:
        answer = Response(answered, None)
        expected = answer if answered in waiting else UnexpectedAnswer(answer)
        assert peer.receive_bytes(wire({"id": answered, "result": None})) == [expected]
        waiting.discard(answered)


def test_an_error_without_an_id_is_unexpected() -> None:
    answer = ErrorResponse(None, -32700, "Parse error", None)
    data = wire({"id": None, "error": {"code": -32700, "message": "Parse error"}})
    assert Peer().receive_bytes(data) == [UnexpectedAnswer(answer)]


def test_requests_of_the_server_are_answered_once() -> None:
    peer = Peer()
    asked = wire({"id": "a", "method": "ask", "params": 1}, {"id": 1, "method": "ask"})
    assert peer.receive_bytes(asked) == [Request("a", "ask", 1), Request(1, "ask", None)]
    assert unwire(peer.respond(1, None)) == {"jsonrpc": "2.0", "id": 1, "result": None}
    assert unwire(peer.respond_error("a", -32603, "no", [1])) == {
        "jsonrpc": "2.0",
        "id": "a",
        "error": {"code": -32603, "message": "no", "data": [1]},
    }
    with pytest.raises(NotOpen, match="'a'"):
        peer.respond("a", None)
    with pytest.raises(NotOpen):
        peer.respond_error(1, 0, "")
    with pytest.raises(NotOpen):
        peer.respond("1", None)


def test_a_request_with_the_id_of_an_open_one_is_malformed() -> None:
    peer = Peer()
    ask = wire({"jsonrpc": "2.0", "id": 5, "method": "ask"})
    first, second = peer.receive_bytes(ask + ask)
    assert isinstance(first, Request)
    assert isinstance(second, MalformedMessage)
    peer.respond(5, None)
    assert peer.receive_bytes(ask) == [first]


def test_their_ids_and_ours_do_not_meet() -> None:
    peer = Peer()
    ours, _ = peer.send_request("m")
    peer.receive_bytes(wire({"id": ours, "method": "ask"}))
    peer.respond(ours, None)
    assert peer.receive_bytes(wire({"id": ours, "result": 5})) == [Response(ours, 5)]


def test_a_cancelled_request_still_gets_its_answer() -> None:
    peer = Peer()
    request_id, _ = peer.send_request("chat/queryFiles")
    assert unwire(peer.send_cancel(request_id)) == {
        "jsonrpc": "2.0",
        "method": "$/cancelRequest",
        "params": {"id": request_id},
    }
    cancelled = wire({"id": request_id, "error": {"code": -32800, "message": "cancelled"}})
    assert peer.receive_bytes(cancelled) == [ErrorResponse(request_id, -32800, "cancelled", None)]
    with pytest.raises(NotOpen):
        peer.send_cancel(request_id)


def test_a_protocol_cancels_in_its_own_form() -> None:
    peer = Peer(framing=LineFraming(), cancel=CancelForm("$/cancel_request", "requestId"))
    request_id, _ = peer.send_request("session/prompt")
    assert json.loads(peer.send_cancel(request_id)) == {
        "jsonrpc": "2.0",
        "method": "$/cancel_request",
        "params": {"requestId": request_id},
    }


def test_what_cannot_be_read_is_an_event_between_the_others() -> None:
    stream = wire({"method": "a"}, [{"method": "b"}], {"id": 1.5, "method": "c"}) + b"junk\n"
    first, batch, odd_id, junk, last = Peer().receive_bytes(stream + wire({"method": "d"}))
    assert (first, last) == (Notification("a", None), Notification("d", None))
    assert isinstance(batch, MalformedMessage)
    assert batch.excerpt == b'[{"method": "b"}]'
    assert isinstance(odd_id, MalformedMessage)
    assert "id" in odd_id.reason
    assert junk == FramingFault(FaultReason.JUNK, b"junk\n", 5)


def test_a_request_that_cannot_be_written_leaves_no_trace() -> None:
    peer = Peer()
    with pytest.raises(TypeError):
        peer.send_request("m", object())
    assert peer.send_request("m")[0] == 1


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"{}", b"[", b'{"id":1}', b'{"id":null,"method":"m"}', b"\xff"])))
def test_no_message_raises(bodies: list[bytes]) -> None:
    framing = ContentLengthFraming()
    events = Peer().receive_bytes(b"".join(map(framing.encode, bodies)) + wire({"method": "end"}))
    assert events[-1] == Notification("end", None)


def test_another_framing_can_be_given() -> None:
    peer = Peer(framing=LineFraming())
    assert peer.send_notification("m") == b'{"jsonrpc":"2.0","method":"m"}\n'
    assert peer.receive_bytes(b'{"method":"n"}\n') == [Notification("n", None)]


class Raw(NamedTuple):
    """A message of which parts are left as bytes."""

    method: str
    params: bytes
    id: None = None
    result: None = None
    error: None = None


def read_raw(body: bytes) -> Raw:
    """Read a message as its method and the bytes of its parameters."""
    if body == b"bad}":
        raise ValueError("it is bad")
    method, _, params = body.partition(b" ")
    return Raw(method.decode(), params)


def test_another_reader_can_be_given_and_its_parts_pass_untouched() -> None:
    peer = Peer(read_raw)
    framing = ContentLengthFraming()
    assert peer.receive_bytes(framing.encode(b"m {raw}") + framing.encode(b"bad}")) == [
        Notification("m", b"{raw}"),
        MalformedMessage("it is bad", b"bad}"),
    ]
