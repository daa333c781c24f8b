"""All messages of the recorded sessions are read."""

from typing import Any

import msgspec
from tests.protocol.client_messages import CLIENT_MESSAGES, CLIENT_REQUESTS
from tests.protocol.conftest import Recording
from tests.support.on_the_wire import on_the_wire

from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.protocol.base.codec import decode_as, decode_body
from eca_nvim.protocol.base.types import Wire
from eca_nvim.protocol.eca import (
    Unknown,
    UnknownPart,
    decode_result,
    decode_server_request,
)

# What the recording client did wrong on purpose, to see how the server reacts.
BEYOND_THE_PROTOCOL = {
    ("contexts", "chat/prompt"): "a context of no kind",
    ("image_context", "chat/prompt"): "a context's mediaType called media-type",
    ("init_bad_pid", "initialize"): "the process id as text",
    ("init_lua_empty", "initialized"): "arrays where objects belong, and the reverse",
    ("init_lua_empty", "chat/list"): "the same",
    ("init_lua_empty", "chat/prompt"): "the same",
    ("init_lua_empty", "chat/queryContext"): "the same",
    ("init_lua_empty", "chat/rollback"): "the same",
    ("init_lua_empty", "jobs/list"): "the same",
    ("init_lua_empty", "providers/list"): "the same",
    ("init_minimal", "initialize"): "no params",
    ("invalid", "chat/prompt"): "no message, or no params at all",
    ("queries", "chat/queryContext"): "no query, or no contexts",
    ("queries", "chat/queryCommands"): "no query",
    ("sort_by", "chat/list"): "the limit as text",
}


def decode_incoming(message: dict[str, Any]) -> object:
    decode = decode_server_request if "id" in message else read_notification
    body = decode_body(msgspec.json.encode(message))
    from_bytes = decode(body.method, body.params)
    assert decode(message["method"], message.get("params")) == from_bytes
    return from_bytes


def unknown_parts(value: object) -> list[object]:
    if isinstance(value, Unknown | UnknownPart):
        return [value]
    if isinstance(value, msgspec.Struct):
        return unknown_parts(msgspec.structs.astuple(value))
    if isinstance(value, tuple | list):
        return [found for item in value for found in unknown_parts(item)]
    return []


def test_every_message_of_the_server_is_known(recording: Recording) -> None:
    for message in recording.sent_by("s2c"):
        assert unknown_parts(decode_incoming(message)) == [], message


def test_texts_and_ids_survive(recording: Recording) -> None:
    for message in recording.sent_by("s2c"):
        if message["method"] != "chat/contentReceived":
            continue
        params = message["params"]
        decoded: Any = decode_incoming(message)
        assert decoded.chat_id == params.get("chatId")
        assert decoded.role.value == params["role"]
        for field, attribute in (("text", "text"), ("id", "id"), ("title", "title")):
            if field in params["content"]:
                assert getattr(decoded.content, attribute) == params["content"][field]


def test_every_answer_of_the_server_is_known(recording: Recording) -> None:
    for method, answer in recording.answers():
        request = CLIENT_REQUESTS.get(method)
        if request is not None:
            result: object = decode_result(request, answer)
            raw: object = decode_result(request, msgspec.Raw(msgspec.json.encode(answer)))
            assert result == raw
            assert unknown_parts(result) == [], method


def test_what_a_client_sent_can_be_sent_by_us(recording: Recording) -> None:
    for message in recording.sent_by("c2s"):
        method, params = message["method"], message.get("params")
        if method not in CLIENT_MESSAGES or (recording.name, method) in BEYOND_THE_PROTOCOL:
            continue
        ours = decode_as(CLIENT_MESSAGES[method], params, method)
        assert isinstance(ours, Wire)
        assert on_the_wire(ours) == in_our_words(method, params or {}), message


def in_our_words(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return what we send instead: no older names, nothing that says nothing."""
    match method, params:
        case "initialize", {"initializationOptions": []}:
            return {key: params[key] for key in params if key != "initializationOptions"}
        case "initialize", {"initializationOptions": _}:
            return {**params, "initializationOptions": {}}
        case "chat/prompt", {"message": _}:
            unused = ("behavior", "requestId")
            prompt = {key: value for key, value in params.items() if key not in unused}
            return {key: value for key, value in prompt.items() if value not in (None, [], {})}
    return params
