"""Wire form of view ops: lists, maps, numbers and text, packed as MessagePack for Neovim.

Rules kept here:
- A frame is sent as one byte string: pynvim inspects each value that it packs itself, which costs
  more than making the ops.
- Keys whose value is None are left out of maps: Lua reads an absent key as nil, so that users never
  see `vim.NIL`.
- A field whose value is None keeps its place in an op; the Lua side reads it as nil.
- An integer of more than 64 bits cannot be packed: it becomes None.
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
"""Raised for a value that cannot be packed: its type, size or depth, or a lone surrogate."""

_PLAIN = frozenset({AppendText, CloseBlock, OpenBlock, RemoveBlock, SetBody, SetHeader, ShowPlace})
"""Ops without maps, only text and our own numbers: they are packed as they are."""
_encode = Encoder().encode


def packed(ops: Iterable[ViewOp]) -> bytes:
    """Pack ops as `lua/eca/view/frames.lua` unpacks them. Raises one of UNSENDABLE."""
    return _encode([wire_form(op) for op in ops])


def wire_form(op: ViewOp) -> list[object]:
    """Return an op as it is in a frame: its name, then its fields in the order of its class."""
    form = wire(op)
    return form if type(op) in _PLAIN else [plain(field) for field in form]


def plain(value: object) -> object:
    """Return a value with all mappings as dicts and all other sequences as lists, recursively."""
    match value:
        case str() | float() | None:
            return value
        case int():
            return value if LEAST <= value <= MOST else None
        case Mapping():
            items = ((key, plain(item)) for key, item in value.items())
            return {key: item for key, item in items if item is not None}
        case Sequence():
            return [plain(item) for item in value]
        case _:
            raise TypeError(f"cannot be sent to Neovim: {value!r}")
