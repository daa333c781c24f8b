"""Numbers that the editor cannot represent are not taken for numbers."""

from collections.abc import Iterator

import msgspec
import pytest
from msgspec import inspect

from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.jsonrpc import NotAMessage, decode_json
from eca_nvim.jsonrpc.peer import read_message
from eca_nvim.protocol.base.types import LEAST_INT, MOST_INT, Wire
from eca_nvim.protocol.eca.content import ContentReceived, UsageContent, UsageLimit

TOO_LARGE = [
    "18446744073709551616",
    "-9223372036854775809",
    "1e308",
    "1e400",
    "9" * 400,
    "9" * 5000,
]


def kinds(kind: type[Wire]) -> Iterator[type[Wire]]:
    """Return all types of the protocol."""
    for below in kind.__subclasses__():
        yield below
        yield from kinds(below)


def numbers(info: inspect.Type) -> Iterator[inspect.IntType]:
    """Find the whole numbers in the type of a field."""
    match info:
        case inspect.IntType():
            yield info
        case inspect.UnionType():
            for member in info.types:
                yield from numbers(member)
        case inspect.VarTupleType() | inspect.ListType():
            yield from numbers(info.item_type)
        case inspect.DictType():
            yield from numbers(info.value_type)
        case _:
            return


def test_every_number_of_the_protocol_has_64_bits() -> None:
    found = 0
    for kind in kinds(Wire):
        for field in msgspec.structs.fields(kind):
            for number in numbers(inspect.type_info(field.type)):
                found += 1
                assert (number.ge, number.le) == (LEAST_INT, MOST_INT), f"{kind}.{field.name}"
    assert found > 40


@pytest.mark.parametrize("number", TOO_LARGE)
def test_a_larger_one_is_none(number: str) -> None:
    params = msgspec.Raw(
        b'{"chatId":"c","role":"assistant","content":{"type":"usage","sessionTokens":%b,'
        b'"limit":{"context":%b,"output":1}}}' % (number.encode(), number.encode())
    )
    message = read_notification("chat/contentReceived", params)
    assert isinstance(message, ContentReceived)
    assert message.content == UsageContent(limit=UsageLimit(output=1))


@pytest.mark.parametrize("number", TOO_LARGE)
def test_it_is_no_id(number: str) -> None:
    with pytest.raises(NotAMessage):
        read_message(decode_json(b'{"method":"m","id":%b}' % number.encode()))
