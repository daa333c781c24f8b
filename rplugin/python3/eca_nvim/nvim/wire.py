"""View ops in the shape that travels to Neovim: lists, maps, numbers and text, as MessagePack.

Rules kept here:
- A frame travels as one piece of bytes. pynvim looks at each value that it sends by itself, which
  costs more than to make the ops.
- A map has no key without a value: Lua reads an absent key as nil, and users never meet `vim.NIL`.
- A field of an op that is None keeps its place; the Lua side reads it as nil.
- A whole number of more than 64 bits has no form in a frame: it is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.msgpack import Encoder

from eca_nvim.chat.vocabulary.ops import (
    AppendText,
    CloseBlock,
    OpenBlock,
    RemoveBlock,
    SetBody,
    SetHeader,
    ShowPlace,
    ViewOp,
    wire,
)

LEAST, MOST = -(2**63), 2**63 - 1
UNSENDABLE = (OverflowError, RecursionError, TypeError, ValueError)
"""What is raised for a value that has no form: for its type, size or depth, or half a character."""

_PLAIN = frozenset({AppendText, CloseBlock, OpenBlock, RemoveBlock, SetBody, SetHeader, ShowPlace})
"""Ops of text and numbers of our own: they have no maps, and travel as they are."""
_encode = Encoder().encode


def packed(ops: Iterable[ViewOp]) -> bytes:
    """Give ops the form that `lua/eca/view/frames.lua` unpacks. Raises one of UNSENDABLE."""
    return _encode([wire_form(op) for op in ops])


def wire_form(op: ViewOp) -> list[object]:
    """Give an op its form in a frame: its name, then its fields in the order of its class."""
    form = wire(op)
    return form if type(op) in _PLAIN else [plain(field) for field in form]


def plain(value: object) -> object:
    """Turn mappings into dicts and other sequences into lists, all the way down."""
    match value:
        case str() | float() | None:
            return value
        case int():
            return value if LEAST <= value <= MOST else None
        case Mapping():
            told = ((key, plain(item)) for key, item in value.items())
            return {key: item for key, item in told if item is not None}
        case Sequence():
            return [plain(item) for item in value]
        case _:
            raise TypeError(f"cannot travel to Neovim: {value!r}")
