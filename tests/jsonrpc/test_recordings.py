"""Recorded messages of a real server and client, through framing and peer, both ways."""

import json
from pathlib import Path

import pytest
from tests.support.recording import Event, read_recording

from eca_nvim.jsonrpc import (
    ContentLengthFraming,
    ErrorResponse,
    Notification,
    Peer,
    Request,
    Response,
    UnexpectedAnswer,
)

RECORDINGS = sorted((Path(__file__).parents[1] / "fixtures/traffic/eca").glob("*.jsonl"))


def bodies(events: list[Event], direction: str) -> list[bytes]:
    return [json.dumps(it.message).encode() for it in events if it.direction == direction]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
@pytest.mark.parametrize("direction", ["s2c", "c2s"])
def test_recorded_messages_pass_the_framing_whole(recording: Path, direction: str) -> None:
    framing = ContentLengthFraming()
    sent = bodies(read_recording(recording), direction)
    stream = b"".join(map(framing.encode, sent))
    pieces = [stream[start : start + 997] for start in range(0, len(stream), 997)]
    assert [item for piece in pieces for item in framing.feed(piece)] == sent


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_what_the_server_said_is_understood(recording: Path) -> None:
    """The requests are made again, so that the answers find them; ids are translated."""
    client, framing = Peer(), ContentLengthFraming()
    ids: dict[object, int] = {}
    for event in read_recording(recording):
        message = event.message
        if event.direction == "c2s":
            if "method" in message and "id" in message:
                ids[message["id"]], _ = client.send_request(message["method"])
            continue
        answered = ids.pop(message["id"], None) if "method" not in message else None
        if answered is not None:
            message = {**message, "id": answered}
        (received,) = client.receive_bytes(framing.encode(json.dumps(message).encode()))
        match received:
            case Request(method=method) | Notification(method=method):
                assert method == message["method"]
            case Response(result=result):
                assert (received.id, result) == (answered, message["result"])
            case ErrorResponse(code=code):
                assert (received.id, code) == (answered, message["error"].get("code"))
            case UnexpectedAnswer():
                assert answered is None
            case _:
                pytest.fail(f"not understood: {received}")


def test_there_are_recordings() -> None:
    assert len(RECORDINGS) > 50
