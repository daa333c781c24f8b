"""Changes: the result of one event or intent, for the view and for the agent."""

from __future__ import annotations

from msgspec import Struct, field

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.vocabulary.effects import Effect
from eca_nvim.chat.vocabulary.ops import DEFAULT_SERVER, Emit, SetPending, ViewOp


class Changes(Struct):
    """The result of one event or intent.

    ops: autocommands come last, so that listeners find everything else in place.
    pending_changed: the requests that wait for the user have changed; the session shows those of
    all chats again (approvals.PendingList). call: the tool call that the event was about; None also
    if the event came too late. runs: a turn of the chat runs. server: the name of the chat's
    server, which the effects are for.
    """

    ops: list[ViewOp] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    pending_changed: bool = False
    call: ToolBlock | None = None
    runs: bool = False
    server: str = DEFAULT_SERVER

    def ops_with(self, pending: SetPending) -> list[ViewOp]:
        """Return the ops with the pending list inserted before the autocommands."""
        first = next((i for i, op in enumerate(self.ops) if isinstance(op, Emit)), len(self.ops))
        return [*self.ops[:first], pending, *self.ops[first:]]
