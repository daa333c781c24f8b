"""Base classes of the protocol's messages.

Rules: messages are frozen; names are snake_case here and camelCase on the wire; unknown fields are
ignored; a method name is written once, on its class; a field that a server may omit or send as
null has a default; a whole number is an `Int`, never a bare int.
"""

import enum
from collections.abc import Mapping
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Self,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    get_origin,
)

import msgspec

ResultT_co = TypeVar("ResultT_co", covariant=True)

LEAST_INT, MOST_INT = -(2**63), 2**63 - 1
Int: TypeAlias = Annotated[int, msgspec.Meta(ge=LEAST_INT, le=MOST_INT)]
"""A whole number of at most 64 bits, which can be passed on to the editor."""


class Wire(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A JSON object of the protocol."""


class Notification(Wire, frozen=True):
    """A message without a response; an instance is its `params`."""

    method: ClassVar[str]


class Request(Wire, Generic[ResultT_co], frozen=True):
    """A message with a response of type `ResultT_co`; an instance is its `params`.

    The result of a `Request[None]` is ignored (`{}` or null on the wire).
    """

    method: ClassVar[str]


class Unknown(msgspec.Struct, frozen=True):
    """A message with an unknown method, kept undecoded."""

    method: str
    params: object


class UnknownPart(Wire, frozen=True, kw_only=True):
    """A tagged object with a tag this client does not know, kept as it is.

    `kind` is the tag, "" if there is none; `fields` is the whole object, tag included. Each family
    of tagged objects has a subclass, so that a match over the family is complete. Its own tag is
    "". Because `fields` is required, nothing on the wire is mistaken for it.
    """

    kind: str
    fields: dict[str, Any]


class OpenEnum(enum.Enum):
    """An enumeration that servers may extend: other values are read as UNKNOWN."""

    @classmethod
    def _missing_(cls, value: object) -> Self:  # noqa: ARG003
        return cls["UNKNOWN"]


def result_type(request: type[Request[ResultT_co]]) -> type[ResultT_co]:
    """Return the result type of a request: the argument of its `Request[…]` base."""
    bases = request.__dict__["__orig_bases__"]
    [answer] = [get_args(base)[0] for base in bases if get_origin(base) is Request]
    return cast(type[ResultT_co], answer)


def by_method(messages: object) -> Mapping[str, type]:
    """Return the types of a union by the method of each."""
    return {kind.method: kind for kind in get_args(messages)}
