"""Call ids: which call an agent means when it names one.

Rules kept here:
- An id names a call within one lane only. Some providers count their calls from one again in every
  turn, and two calls at once may have the same id.
- A call that has ended stays as it ended. When its id is asked for again, that is another call.
- When two open calls have the id, the one that runs or ends is the one that does not wait for the
  user, unless the agent says other arguments.
"""

from __future__ import annotations

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.chat import Lane
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.shown_request import is_same
from eca_nvim.chat.vocabulary.states import CALL_STEPS, ENDED_CALLS, CallState

OPEN_TO_CHANGE = frozenset({CallState.PREPARING, CallState.WAITING})
"""States in which a call may still change, because nobody has allowed it yet."""


def asked_for(lane: Lane, call: ToolCall) -> ToolBlock | None:
    """Return the call that the agent asks for, or None when it is a new one."""
    block = lane.calls.get(call.id)
    if block is None or block.state in ENDED_CALLS:
        return None
    is_it = block.state in OPEN_TO_CHANGE or is_meant(block.call, call)
    return block if is_it else None


def at_work(lane: Lane, call: ToolCall) -> ToolBlock | None:
    """Return the call that runs or has ended now, or None when nothing is known of it."""
    last = block = lane.calls.get(call.id)
    while block is not None and not _may_be_at_work(block, call):
        block = block.earlier
    return block or last


def _may_be_at_work(block: ToolBlock, call: ToolCall) -> bool:
    is_busy = block.state not in ENDED_CALLS and block.state is not CallState.WAITING
    return is_busy and is_meant(block.call, call)


def is_over(block: ToolBlock) -> bool:
    """Say whether a call has ended for good: events about it come too late."""
    return not CALL_STEPS[block.state]


def is_meant(known: ToolCall, said: ToolCall) -> bool:
    """Say whether nothing that is said of a call contradicts what is known of it."""
    return (
        (known.name is None or said.name is None or known.name == said.name)
        and (known.server is None or said.server is None or known.server == said.server)
        and (known.origin is None or said.origin is None or known.origin == said.origin)
        and (
            known.arguments is None
            or said.arguments is None
            or is_same(known.arguments, said.arguments)
        )
    )
