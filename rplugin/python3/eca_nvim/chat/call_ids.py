"""Call ids: which call an agent means when it names one.

Rules kept here:
- An id is good for one lane and one call at a time. Providers count calls anew in every turn, and
  two calls at once may have the same id.
- What has ended stays as it ended: who asks for its id again asks for another call.
- What runs or ends is a call that waits for nobody, if there is one with that id.
"""

from __future__ import annotations

from eca_nvim.chat.blocks import ToolBlock
from eca_nvim.chat.details import ToolCall
from eca_nvim.chat.model import Lane
from eca_nvim.chat.states import CALL_STEPS, ENDED_CALLS, CallState

OPEN_TO_CHANGE = frozenset({CallState.PREPARING, CallState.WAITING})
"""States in which a call may still become another: nobody has let it."""


def asked_for(lane: Lane, call: ToolCall) -> ToolBlock | None:
    """Give the call that is asked for; None: it is a new one."""
    block = lane.calls.get(call.id)
    if block is None or block.state in ENDED_CALLS:
        return None
    is_it = block.state in OPEN_TO_CHANGE or _asks_for(block.call, call)
    return block if is_it else None


def at_work(lane: Lane, call_id: str) -> ToolBlock | None:
    """Give the call that runs or has ended now; None: it was never heard of."""
    last = block = lane.calls.get(call_id)
    while block is not None and (block.state in ENDED_CALLS or block.state is CallState.WAITING):
        block = block.earlier
    return block or last


def is_over(block: ToolBlock) -> bool:
    """Say whether a call has ended for good: what is still said of it is said too late."""
    return not CALL_STEPS[block.state]


def _asks_for(known: ToolCall, said: ToolCall) -> bool:
    """Say whether a call that was let is asked for once more, in the same words."""
    names = ("name", "server", "origin", "arguments")
    told = ((getattr(known, name), getattr(said, name)) for name in names)
    return all(old is None or new is None or old == new for old, new in told)
