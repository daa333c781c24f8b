"""Whole chat: a chat as Markdown, with collapsed bodies and uncut."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from eca_nvim.chat.model.attempts import AttemptsBlock
from eca_nvim.chat.model.blocks import (
    Block,
    GroupBlock,
    ImageBlock,
    Lane,
    LinkBlock,
    NoteBlock,
    PlainBlock,
    QuestionBlock,
    ReasoningBlock,
    StreamedBlock,
    TextBlock,
    ToolBlock,
    plan_of,
)
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.block import attempt_title, full_body, header, reasoning_title
from eca_nvim.chat.text.output import text_body
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.call_details import Subagent
from eca_nvim.chat.vocabulary.ops import BlockKind


class Levels(NamedTuple):
    """Heading levels of a conversation."""

    speech: int
    call: int


ROOT_LEVELS = Levels(speech=2, call=3)
SUBAGENT_LEVELS = Levels(speech=4, call=5)

MOST_OF_RECAP: Final = 60_000
"""Characters of a recap."""
MOST_OF_TEXT: Final = 12_000
MOST_OF_CALL: Final = 1_500
_IN_RECAP: Final = TextBlock | ToolBlock | QuestionBlock | ImageBlock | LinkBlock | PlainBlock

_SPEAKER = re.compile(
    rf"^( {{0,3}})(#{{{ROOT_LEVELS.speech}}} {{0,3}}(?:User|Assistant)\b)",
    re.MULTILINE | re.IGNORECASE,
)
"""How a line begins that reads like a heading above what somebody says."""
_FENCES = re.compile("^ *(`{3,})", re.MULTILINE)


def proposed_plan(chat: Chat, block_id: int | None = None) -> Mapping[str, object] | None:
    """Return the text of a plan, and its block; None if there is none.

    It is the one that waits for the user. Agents that do not ask write it as their answer (ECA's
    plan agent, codex 2.6): then it is the newest one, or that of a block.
    """
    for block in reversed(chat.waiting if block_id is None else ()):
        if text := plan_of(block):
            return {"block": block.id, "text": text}
    named = chat.blocks.get(block_id) if block_id is not None else None
    for block in (named,) if named else reversed(chat.blocks.values()):
        if not isinstance(block, TextBlock) or block.lane is not chat.root:
            continue
        if block.kind is BlockKind.ASSISTANT and (text := block.text.strip()):
            return {"block": block.id, "text": text}
    return None


def transcript(chat: Chat, now: int) -> str:
    """Return the chat as Markdown; a subagent follows its call, as a quote. `now` in ms."""
    parts = [f"# {chat.title}"] if chat.title else []
    for lane, blocks in _runs(chat):
        if lane is chat.root:
            parts += _blocks(chat, blocks, now, ROOT_LEVELS)
        elif blocks:
            # One quote that begins with its name, so that nobody takes it for the chat itself.
            title = f"{'#' * ROOT_LEVELS.call} subagent {_agent(chat, lane)}".rstrip()
            parts.append(_quote("\n\n".join([title, *_blocks(chat, blocks, now, SUBAGENT_LEVELS)])))
    return "\n\n".join(parts) + "\n"


def recap(chat: Chat, end: Block | None, now: int) -> str:
    """Return what was said before a block, or all, for who does not know it: the newest of it.

    Long texts and results of tools are shortened, and reasoning is left out. What a model or a tool
    writes never reads as if the user had said it.
    """
    blocks = _without_groups(chat.root)
    parts, room = list[str](), MOST_OF_RECAP
    first = blocks if end is None else blocks[: blocks.index(end)]
    before = [it for it in first if isinstance(it, _IN_RECAP)]
    for block in reversed(before):
        heading, *texts = _block(chat, block, now, ROOT_LEVELS)
        texts = [_SPEAKER.sub(r"\1\\\2", it) for it in texts]
        part = _shortened("\n\n".join([heading, *texts]), block)
        room -= len(part)
        if room < 0:
            break
        parts.append(part)
    left_out = len(before) - len(parts)
    if left_out or chat.older is not None:
        count = f"{left_out} " if left_out else ""
        parts.append(f"(… {count}earlier messages and tool calls are left out)")
    return "\n\n".join(reversed(parts))


def _shortened(text: str, block: Block) -> str:
    """Return the beginning and the end of a text that is too long."""
    most = MOST_OF_CALL if isinstance(block, ToolBlock) else MOST_OF_TEXT
    if len(text) <= most:
        return text
    head, tail = text[: most * 2 // 3], text[-most // 3 :]
    return f"{head}\n(… {len(text) - len(head) - len(tail)} characters are left out)\n{tail}"


def ordered(chat: Chat) -> Iterator[Block]:
    """Yield all blocks in display order, nested ones after their anchor."""
    for _, blocks in _runs(chat):
        yield from blocks


def _runs(chat: Chat) -> Iterator[tuple[Lane, Sequence[Block]]]:
    """Yield all blocks in display order, with their lane."""
    nested: dict[int, list[Lane]] = {}
    orphans: list[Lane] = []
    for lane in chat.lanes.values():
        if lane.anchor is not None:
            nested.setdefault(lane.anchor.id, []).append(lane)
        elif lane is not chat.root:
            orphans.append(lane)
    for block in _without_groups(chat.root):
        yield chat.root, (block,)
        for lane in nested.get(block.id, ()):
            yield lane, _without_groups(lane)
    for lane in orphans:
        yield lane, _without_groups(lane)


def _without_groups(lane: Lane) -> Sequence[Block]:
    """Return the blocks of a lane without groups, which only repeat their calls."""
    return [block for block in lane.blocks if not isinstance(block, GroupBlock)]


def _agent(chat: Chat, lane: Lane) -> str:
    """Return the name of a lane's subagent; "" if no call names it."""
    for other in chat.lanes.values():
        for block in other.calls.values():
            details = block.call.details
            if isinstance(details, Subagent) and details.chat_id == lane.chat_id:
                return one_line(details.agent)
    return ""


def _blocks(chat: Chat, blocks: Sequence[Block], now: int, levels: Levels) -> list[str]:
    return [part for block in blocks for part in _block(chat, block, now, levels)]


def _block(chat: Chat, block: Block, now: int, levels: Levels) -> list[str]:
    if isinstance(block, StreamedBlock) and not isinstance(block, ReasoningBlock):
        speaker = "User" if block.kind is BlockKind.USER else "Assistant"
        return [f"{'#' * levels.speech} {speaker}", block.text]
    if isinstance(block, AttemptsBlock):
        return [_quote(attempt_title(block))]
    content = full_body(block, chat.settings, None)
    text = "\n".join(content.lines)
    if isinstance(block, NoteBlock):
        return [_quote(text)]
    parts = [f"{'#' * levels.call} {_title(chat, block, now)}"]
    if text and content.language is not None:
        fence = _fence(text)
        parts.append(f"{fence}{content.language}\n{text}\n{fence}")
    elif text:
        parts.append(text)
    if isinstance(block, ToolBlock):
        parts += _hidden_outputs(block, text)
    return parts


def _title(chat: Chat, block: Block, now: int) -> str:
    """Return the header of a block; that of reasoning without the fold icon."""
    if isinstance(block, ReasoningBlock):
        return reasoning_title(block)
    return "".join(piece for piece, _ in header(block, chat.settings, now))


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _hidden_outputs(block: ToolBlock, shown: str) -> list[str]:
    """Return the outputs that the body of an edit, a task list or JSON leaves out."""
    text = "\n".join(text_body("\n".join(filter(None, block.outputs)), None).lines)
    if not text or text in shown or block.question is not None:
        return []
    fence = _fence(text)
    return [f"{fence}\n{text}\n{fence}"]


def _fence(text: str) -> str:
    longest = max((len(fence) for fence in _FENCES.findall(text)), default=2)
    return "`" * (longest + 1)
