"""The bases of what the parts tell each other; each theme has its own messages in one file."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct


class ViewOp(Struct, frozen=True):
    """Something the view draws or does; `name` is that of the op in a frame."""

    name: ClassVar[str]


class ChatEvent(Struct, frozen=True):
    """Something an agent reports to one chat."""


class AgentEvent(Struct, frozen=True):
    """Something an agent reports: about itself, or to one chat (`events.Addressed`)."""
