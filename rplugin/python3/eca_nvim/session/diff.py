"""The diff tab of a tool call: its change as two whole files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from eca_nvim.chat.blocks import Block, ToolBlock
from eca_nvim.chat.details import FileChange
from eca_nvim.chat.diffs import versions
from eca_nvim.chat.intents import RequestDiff
from eca_nvim.chat.model import Chat
from eca_nvim.chat.ops import Notify, ShowDiff, ViewOp
from eca_nvim.chat.states import CallState


class Files(Protocol):
    """Reads files the way the user sees them."""

    async def file(self, path: str) -> str | None:
        """Give a file's text; None when there is no such file."""

    async def edited(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Give the texts of those files that the user has changed and not written, by path."""


async def diff(chat: Chat, wanted: RequestDiff, files: Files) -> ViewOp:
    """Build what the diff tab shows, or the line that says why there is nothing to show."""
    block = _find(chat, wanted)
    if not isinstance(block, ToolBlock) or not isinstance(block.call.details, FileChange):
        return Notify("warn", "no file change here")
    change = block.call.details
    current = await files.file(change.path)
    shown = versions(current, change, applied=block.state is CallState.DONE)
    return ShowDiff(
        chat=chat.id,
        id=block.call.id,
        path=change.path,
        before=shown.before,
        after=shown.after,
        kind=shown.kind,
        pending=block.state is CallState.WAITING,
        fault=shown.fault,
    )


def _find(chat: Chat, wanted: RequestDiff) -> Block | None:
    if wanted.id is not None:
        return chat.find_call(wanted.id)
    return chat.blocks.get(wanted.block) if wanted.block is not None else None
