"""Markdown export: a whole chat as one Markdown text, collapsed bodies included and uncut."""

from __future__ import annotations

import re
from collections.abc import Iterator

from eca_nvim.chat.blocks import Block, NoteBlock, ReasoningBlock, SpokenBlock, ToolBlock
from eca_nvim.chat.model import Chat, Lane
from eca_nvim.chat.ops import BlockKind
from eca_nvim.chat.output import text_body
from eca_nvim.chat.render import full_body, header

_FENCES = re.compile("^ *(`{3,})", re.MULTILINE)


def transcript(chat: Chat, now: int) -> str:
    """Write the chat; subagents follow the call that spawned them. `now` in ms."""
    parts = [f"# {chat.title}"] if chat.title else []
    for block in ordered(chat):
        parts += _block(chat, block, now)
    return "\n\n".join(parts) + "\n"


def ordered(chat: Chat) -> Iterator[Block]:
    """Give all blocks in the order they read, nested ones after their anchor."""
    nested: dict[int, list[Lane]] = {}
    lost: list[Lane] = []
    for lane in chat.lanes.values():
        if lane.anchor is not None:
            nested.setdefault(lane.anchor.id, []).append(lane)
        elif lane is not chat.root:
            lost.append(lane)
    for block in chat.root.blocks:
        yield block
        for lane in nested.get(block.id, ()):
            yield from lane.blocks
    for lane in lost:
        yield from lane.blocks


def _block(chat: Chat, block: Block, now: int) -> list[str]:
    if isinstance(block, SpokenBlock) and not isinstance(block, ReasoningBlock):
        return [f"## {'User' if block.kind is BlockKind.USER else 'Assistant'}", block.text]
    content = full_body(block, chat.settings, None)
    text = "\n".join(content.lines)
    if isinstance(block, NoteBlock):
        return ["\n".join(f"> {line}".rstrip() for line in content.lines)]
    title = "".join(piece for piece, _ in header(block, chat.settings, now))
    parts = [f"### {title}"]
    if text and content.language is not None:
        fence = _fence(text)
        parts.append(f"{fence}{content.language}\n{text}\n{fence}")
    elif text:
        parts.append(text)
    if isinstance(block, ToolBlock):
        parts += _more(block, text)
    return parts


def _more(block: ToolBlock, shown: str) -> list[str]:
    """Give the outputs that a body leaves out, cleaned as it: of an edit, a task list, JSON."""
    text = "\n".join(text_body("\n".join(filter(None, block.outputs)), None).lines)
    if not text or text in shown or block.question is not None:
        return []
    fence = _fence(text)
    return [f"{fence}\n{text}\n{fence}"]


def _fence(text: str) -> str:
    longest = max((len(fence) for fence in _FENCES.findall(text)), default=2)
    return "`" * (longest + 1)
