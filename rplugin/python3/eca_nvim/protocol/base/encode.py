"""Encode: from types to the wire.

Rules: a field that is UNSET or has its default is not sent; a field with an older name is sent
under both names; a part of an unknown kind is sent back unchanged.
"""

import enum
from collections.abc import Callable
from typing import Any

from msgspec import NODEFAULT, UNSET, inspect

from eca_nvim.protocol.base.lenient import type_info
from eca_nvim.protocol.base.types import Notification, Request, UnknownPart, Wire


def encode(message: Wire) -> dict[str, Any] | None:
    """Turn params or a result into plain JSON values; None for a method without params."""
    if isinstance(message, Notification | Request) and message.without_params:
        return None
    return _object(message)


def _plain(value: object) -> object:
    match value:
        case UnknownPart():
            return value.fields
        case Wire():
            return _object(value)
        case tuple() | list():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case enum.Enum():
            return value.value
        case _:
            return value


def _object(message: Wire) -> dict[str, Any]:
    info = type_info(type(message))
    assert isinstance(info, inspect.StructType)
    wire: dict[str, Any] = {} if info.tag_field is None else {info.tag_field: info.tag}
    for field in info.fields:
        value = getattr(message, field.name)
        if value is not UNSET and value != _default(field):
            wire[field.encode_name] = _plain(value)
    older = type(message).older_names
    return wire | {old: wire[new] for new, old in older.items() if new in wire}


def _default(field: inspect.Field) -> object:
    """Return the default of a field; NODEFAULT, which equals no value, if it is required."""
    if field.default_factory is not NODEFAULT:
        factory: Callable[[], object] = field.default_factory
        return factory()
    return field.default
