"""A request as the session draws it: with the diff of what the file holds."""

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.events import ToolRequested
from eca_nvim.review.snapshots import Blobs, take_snapshot
from eca_nvim.session.proposals.whole_writes import with_actual_diff


def drawn(requested: ToolRequested) -> ToolCall:
    """Return the call of a request as the user sees it."""
    blobs = Blobs()
    shown = with_actual_diff(
        Chat("chat"), requested, lambda _, __, path: take_snapshot(path, blobs)
    )
    assert isinstance(shown, ToolRequested)
    return shown.call
