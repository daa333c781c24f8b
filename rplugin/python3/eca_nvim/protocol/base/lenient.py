"""Lenient: reads an object that does not fit its type, and keeps as much of it as possible.

Only a missing or malformed required field is an error. This is the slow path: msgspec converts
objects that fit, without this file.
"""

import functools
import logging
from math import isfinite

from msgspec import inspect

from eca_nvim.protocol.base.types import LEAST_INT, MOST_INT, UnknownPart

_log = logging.getLogger(__name__)


class Misfit(ValueError):
    """Raised when a value cannot be read as its type; `path` is its place, like `$.content.id`."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


type_info = functools.cache(inspect.type_info)


def read(info: inspect.Type, value: object, path: str = "$") -> object:
    """Read decoded JSON as the type described by `info`. Raises Misfit."""
    match info:
        case inspect.AnyType():
            return value
        case inspect.StructType():
            return _read_struct(info, value, path)
        case inspect.UnionType():
            return _read_union(info, value, path)
        case inspect.VarTupleType():
            return _read_items(info, value, path)
        case inspect.DictType() if isinstance(value, dict):
            return {
                key: read(info.value_type, item, f"{path}.{key}") for key, item in value.items()
            }
        case _:
            return _read_scalar(info, value, path)


def _read_struct(info: inspect.StructType, value: object, path: str) -> object:
    if not isinstance(value, dict):
        raise Misfit(path, f"is not an object but {_name(value)}")
    fields: dict[str, object] = {}
    for field in info.fields:
        where = f"{path}.{field.encode_name}"
        if field.encode_name not in value:
            if field.required:
                raise Misfit(where, "is missing")
            continue
        try:
            fields[field.name] = read(field.type, value[field.encode_name], where)
        except Misfit as fault:
            if field.required:
                raise
            _log.debug("%s; its default is used", fault)
    return info.cls(**fields)


def _read_union(info: inspect.UnionType, value: object, path: str) -> object:
    if value is None and any(isinstance(member, inspect.NoneType) for member in info.types):
        return None
    tagged = {
        member.tag: member
        for member in info.types
        if isinstance(member, inspect.StructType) and member.tag is not None
    }
    if tagged:
        return _read_tagged(tagged, value, path)
    faults = list[Misfit]()
    for member in info.types:
        try:
            return read(member, value, path)
        except Misfit as fault:
            faults.append(fault)
    raise faults[0]


def _read_tagged(tagged: dict[str | int, inspect.StructType], value: object, path: str) -> object:
    if not isinstance(value, dict):
        raise Misfit(path, f"is not an object but {_name(value)}")
    [tag_field] = {member.tag_field for member in tagged.values()}
    tag = value.get(tag_field)
    known = tagged.get(tag) if isinstance(tag, str) else None
    if known is not None and not issubclass(known.cls, UnknownPart):
        return _read_struct(known, value, path)
    if "" in tagged:
        return tagged[""].cls(kind="" if tag is None else str(tag), fields=value)
    raise Misfit(f"{path}.{tag_field}", f"is {tag!r}, which is unknown")


def _read_items(info: inspect.VarTupleType, value: object, path: str) -> tuple[object, ...]:
    if not isinstance(value, list | tuple):
        raise Misfit(path, f"is not a list but {_name(value)}")
    items = []
    for index, item in enumerate(value):
        try:
            items.append(read(info.item_type, item, f"{path}[{index}]"))
        except Misfit as fault:
            _log.warning("%s; the element is left out", fault)
    return tuple(items)


def _read_scalar(info: inspect.Type, value: object, path: str) -> object:
    match info, value:
        case (inspect.StrType(), str()) | (inspect.BoolType(), bool()):
            return value
        case inspect.EnumType(), str():
            return info.cls(value)
        case inspect.LiteralType(), str() if value in info.values:
            return value
        case _, bool():
            pass  # bool is an int in Python, but not in JSON
        case inspect.StrType(), int() | float():
            return str(value)
        case inspect.IntType() | inspect.FloatType(), int() | float() | str():
            return _read_number(info, value, path)
    raise Misfit(path, f"is {_name(value)}, which does not fit")


def _read_number(info: inspect.Type, value: float | str, path: str) -> int | float:
    try:
        number = float(value)
        if isinstance(info, inspect.FloatType) and isfinite(number):
            return number
        whole = value if isinstance(value, int) else int(number)
    except (ValueError, OverflowError) as fault:
        raise Misfit(path, f"is {str(value)[:40]}, which is not a number") from fault
    if not LEAST_INT <= whole <= MOST_INT:
        raise Misfit(path, "is a number of more than 64 bits")
    return whole


def _name(value: object) -> str:
    return "null" if value is None else type(value).__name__
