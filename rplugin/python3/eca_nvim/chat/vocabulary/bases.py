"""The bases of what the parts tell each other; each theme has its own messages in one file."""

from msgspec import Struct


class ViewOp(Struct, frozen=True):
    """Something the view draws or does; its tag is its name in a frame."""


class ChatOp(ViewOp, frozen=True):
    """An op about a chat."""

    chat: str


class BlockOp(ChatOp, frozen=True):
    """An op about a block of a chat, by its id."""

    block: int


class ChatEvent(Struct, frozen=True):
    """Something an agent reports to one chat."""


class AgentEvent(Struct, frozen=True):
    """Something an agent reports: about itself, or to one chat (`events.Addressed`)."""


class Intent(Struct, frozen=True):
    """Something that a user can do; its tag is its name, the keys of its payload are the fields.

    An intent with a number, `request`, is answered once by the op `answer` with this number: by
    what its description says, or nil if that cannot be done; a message says why.
    """


class ChatIntent(Intent, frozen=True):
    """An intent about a chat."""

    chat: str


class BlockIntent(ChatIntent, frozen=True):
    """An intent about a block of a chat, by its id."""

    block: int


def name_of(message: ViewOp | Intent) -> str:
    """Return the name of an op or an intent, as Lua knows it."""
    return str(message.__struct_config__.tag)
