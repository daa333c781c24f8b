"""Messages with changed fields raise only DecodeError, and lose no text."""

import copy
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protocol.conftest import RECORDINGS, read_recording

from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.protocol.eca import DecodeError, Unknown, decode_server_request
from eca_nvim.protocol.eca.content import ContentReceived, TextContent, UnknownContent

Message: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]

DROPPED = object()
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


def one_of_each_shape() -> list[Message]:
    """Return a recorded message of the server for each set of fields it sends."""
    shapes: dict[object, Message] = {}
    for path in RECORDINGS:
        for message in read_recording(path).sent_by("s2c"):
            shapes.setdefault(shape(message), message)
    return list(shapes.values())


def shape(message: Message) -> object:
    params = message.get("params", {})
    content = params.get("content", {})
    details = content.get("details") or {}
    kinds = (content.get("type"), details.get("type"), params.get("type"))
    return (message["method"], *kinds, *sorted(params), *sorted(content))


def paths_within(value: object, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every field and element."""
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        yield (*path, key)
        yield from paths_within(child, (*path, key))


def mutated(params: Message, path: Path, value: object) -> Message:
    changed = copy.deepcopy(params)
    holder: Any = changed
    for key in path[:-1]:
        holder = holder[key]
    if value is DROPPED:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return changed


SHAPES = one_of_each_shape()
CHANGES = st.just(DROPPED) | st.none() | JSON


def decoded(message: Message, params: object) -> object:
    """Decode from objects and from bytes, which must agree; a DecodeError is named."""
    from_objects = outcome(message, params)
    assert outcome(message, msgspec.Raw(msgspec.json.encode(params))) == from_objects
    return from_objects


def outcome(message: Message, params: object) -> object:
    decode = decode_server_request if "id" in message else read_notification
    try:
        return decode(message["method"], params)
    except DecodeError as fault:
        return ("fault", fault.method, fault.path)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), message=st.sampled_from(SHAPES), change=CHANGES)
def test_a_changed_field_is_a_decode_error_at_worst(
    data: st.DataObject, message: Message, change: object
) -> None:
    params = message.get("params", {})
    paths = list(paths_within(params))
    if paths:
        params = mutated(params, data.draw(st.sampled_from(paths)), change)
    assert not isinstance(decoded(message, params), Unknown)


@settings(max_examples=200, deadline=None)
@given(message=st.sampled_from(SHAPES), params=JSON)
def test_other_params_are_a_decode_error_at_worst(message: Message, params: object) -> None:
    assert not isinstance(decoded(message, params), Unknown)


TEXTS = [
    message
    for message in SHAPES
    if message["method"] == "chat/contentReceived"
    and message["params"]["content"]["type"] == "text"
]
KEPT = {("content",), ("content", "type"), ("content", "text")}


@settings(max_examples=200, deadline=None)
@given(data=st.data(), message=st.sampled_from(TEXTS), change=CHANGES)
def test_no_text_is_lost(data: st.DataObject, message: Message, change: object) -> None:
    params = message["params"]
    path = data.draw(st.sampled_from([it for it in paths_within(params) if it not in KEPT]))
    received = decoded(message, mutated(params, path, change))
    assert isinstance(received, ContentReceived)
    match received.content:
        case TextContent(text=text):
            assert text == params["content"]["text"]
        case UnknownContent(fields=fields):
            assert fields["text"] == params["content"]["text"]
        case other:
            raise AssertionError(other)
