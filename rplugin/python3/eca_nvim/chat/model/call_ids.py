"""Call ids: finds the call that an agent means by an id.

Rules kept here:
- An id names a call within one lane only. Some providers restart their ids in every turn, and two
  calls at a time may have the same id.
- A call that has ended never runs again: if its id is requested again, that is a new call.
- If two open calls have the same id, an event about a running or ended call means the one that
  does not wait for the user, unless its arguments differ.
"""

from __future__ import annotations

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.chat import Lane
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.events import ToolRequested
from eca_nvim.chat.vocabulary.shown_request import is_same
from eca_nvim.chat.vocabulary.states import CALL_STEPS, ENDED_CALLS, CallState

OPEN_TO_CHANGE = frozenset({CallState.PREPARING, CallState.WAITING})
"""States in which the agent may still change a call, because nobody has approved it yet."""


def requested_call(lane: Lane, event: ToolRequested) -> ToolBlock | None:
    """Return the open call that a request is about; None if the call is new.

    An agent whose requests have ids does not use the id of an open call again.
    """
    block = lane.calls.get(event.call.id)
    if block is None or block.state in ENDED_CALLS:
        return None
    is_open = block.state in OPEN_TO_CHANGE or event.request_id is not None
    return block if is_open or is_compatible(block.call, event.call) else None


def active_call(lane: Lane, call: ToolCall) -> ToolBlock | None:
    """Return the call that runs or has just ended; None if the id is new."""
    last = block = lane.calls.get(call.id)
    while block is not None and not _may_be_active(block, call):
        block = block.earlier
    return block or last


def _may_be_active(block: ToolBlock, call: ToolCall) -> bool:
    is_busy = block.state not in ENDED_CALLS and block.state is not CallState.WAITING
    return is_busy and is_compatible(block.call, call)


def has_final_state(block: ToolBlock) -> bool:
    """Return whether a call's state is final: later events about it are ignored."""
    return not CALL_STEPS[block.state]


def is_compatible(known: ToolCall, received: ToolCall) -> bool:
    """Return whether two descriptions of a call do not contradict each other."""
    return known is received or (
        (known.name is None or received.name is None or known.name == received.name)
        and (known.server is None or received.server is None or known.server == received.server)
        and (known.origin is None or received.origin is None or known.origin == received.origin)
        and (
            known.arguments is None
            or received.arguments is None
            or is_same(known.arguments, received.arguments)
        )
    )
