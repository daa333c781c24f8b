"""Compactions: the agent replaces what was said by a summary, shown as a call that did it."""

from __future__ import annotations

from collections.abc import Sequence

from eca_nvim.agents.acp.updates.call_ids import CallIds
from eca_nvim.agents.acp.updates.content import block_text
from eca_nvim.chat.vocabulary.call_details import ToolCall, ToolKind
from eca_nvim.chat.vocabulary.events import ChatEvent, ToolFinished, ToolOutput, ToolRunning
from eca_nvim.protocol.acp.updates import Compaction, CompactionChunk, CompactionStatus

_FAILURES = frozenset({CompactionStatus.FAILED, CompactionStatus.CANCELLED})


class Compactions:
    """The compactions of one session."""

    def __init__(self, ids: CallIds) -> None:
        self._ids = ids
        self._calls: dict[str, ToolCall] = {}

    def updated(self, update: Compaction) -> Sequence[ChatEvent]:
        """Read how far a compaction is."""
        call = self._call(update.compaction_id)
        summary = "\n\n".join(map(block_text, update.summary or ()))
        match update.status:
            case CompactionStatus.COMPLETED:
                return [ToolFinished(call, (summary,) if summary else ())]
            case status if status in _FAILURES:
                return [ToolFinished(call, (update.error or status.value,), failed=True)]
            case _ if summary:
                return [ToolRunning(call), ToolOutput(call.id, summary, replaces=True)]
            case _:
                return [ToolRunning(call)]

    def summarized(self, chunk: CompactionChunk) -> Sequence[ChatEvent]:
        """Read the next piece of a summary."""
        return [ToolOutput(self._call(chunk.compaction_id).id, block_text(chunk.content))]

    def _call(self, compaction_id: str) -> ToolCall:
        if compaction_id not in self._calls:
            call_id = self._ids.fresh(f"compaction {compaction_id}")
            self._calls[compaction_id] = ToolCall(call_id, kind=ToolKind.THINK, verb="compact")
        return self._calls[compaction_id]
