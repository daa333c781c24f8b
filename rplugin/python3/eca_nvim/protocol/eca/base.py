"""What every message of the protocol is made of.

Rules: messages are frozen; names are snake_case here and camelCase on the wire; fields the
protocol does not know are ignored; a method name is written once, on its class; what a server
may leave out or send as null has a default; a whole number is an `Int`, never a bare int.
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

ResultT = TypeVar("ResultT")

LEAST_INT, MOST_INT = -(2**63), 2**63 - 1
Int: TypeAlias = Annotated[int, msgspec.Meta(ge=LEAST_INT, le=MOST_INT)]
"""A number as the protocol means it: one of 64 bits, which can go on to the editor."""


class Wire(msgspec.Struct, frozen=True, rename="camel"):
    """A JSON object of the protocol.

    `older_names` maps today's name of a field on the wire to the one older peers use: either
    is read, the new one winning, and both are sent.
    """

    older_names: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def upgrade(cls, wire: dict[str, Any]) -> dict[str, Any]:
        """Bring an older shape of this object to today's; called when it does not fit as it is."""
        renamed = {
            new: wire[old]
            for new, old in cls.older_names.items()
            if wire.get(new) is None and old in wire
        }
        return {**wire, **renamed}


class Notification(Wire, frozen=True):
    """A message that has no answer; an instance is its `params`."""

    method: ClassVar[str]
    without_params: ClassVar[bool] = False


class Request(Wire, Generic[ResultT], frozen=True):
    """A message that is answered with a `ResultT`; an instance is its `params`.

    `Request[None]` is answered with nothing of interest (`{}` or null on the wire).
    """

    method: ClassVar[str]
    without_params: ClassVar[bool] = False


class Unknown(msgspec.Struct, frozen=True):
    """A message of a method or a shape this client does not know, kept as it came."""

    method: str
    params: object


class UnknownPart(Wire, frozen=True, kw_only=True):
    """A tagged object whose tag this client does not know, kept as it came.

    `kind` is the tag as the server wrote it, "" when it wrote none; `fields` is the whole
    object, tag included. Each family of tagged objects has a subclass, so that a match over
    the family is complete. Its own tag is "": `fields` being required, nothing on the wire
    is taken for one by accident.
    """

    kind: str
    fields: dict[str, Any]


class OpenEnum(enum.Enum):
    """An enumeration that grows on the server's side: a value not listed reads as UNKNOWN."""

    @classmethod
    def _missing_(cls, value: object) -> Self:  # noqa: ARG003
        return cls["UNKNOWN"]


def result_type(request: type[Request[ResultT]]) -> type[ResultT]:
    """Return the type a request is answered with: the argument of its `Request[…]` base."""
    bases = request.__dict__["__orig_bases__"]
    [answer] = [get_args(base)[0] for base in bases if get_origin(base) is Request]
    return cast(type[ResultT], answer)
