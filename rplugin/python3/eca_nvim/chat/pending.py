"""Pending: what waits for the user's word, and how it is given.

Rules kept here:
- An answer goes out once, and only for what still waits: anything later does nothing.
- An item names the chat it is shown in; the agent is told the chat the call belongs to, which is
  a subagent's for a subagent's call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from eca_nvim.chat.blocks import Block, Question, ToolBlock, open_question
from eca_nvim.chat.calls import step
from eca_nvim.chat.details import FileChange, ShellCommand, Subagent
from eca_nvim.chat.effects import Changes, TellApproval, TellRejection
from eca_nvim.chat.model import Chat, Lane, QueueKind, Waiting
from eca_nvim.chat.ops import SetPending
from eca_nvim.chat.render import OUTPUT_LINES, full_body
from eca_nvim.chat.render_tool import call_title
from eca_nvim.chat.states import CallState, TurnEnd
from eca_nvim.chat.text import clean, one_line
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.wording import SHELL


def approve(chat: Chat, call_id: str, now: int, *, remember: bool = False) -> Changes:
    """Let a waiting call run, for the session when `remember`."""
    update = Update(chat, chat.root, now)
    block = chat.find_call(call_id)
    if block is not None and block.state is CallState.WAITING:
        step(update, block, chat.lanes[block.chat_id], CallState.APPROVED)
        update.tell(TellApproval(block.chat_id, call_id, remember))
    return update.finish()


def reject(chat: Chat, call_id: str, now: int, reason: str | None = None) -> Changes:
    """Refuse a waiting call; `reason` is the next prompt once the turn has ended."""
    update = Update(chat, chat.root, now)
    block = chat.find_call(call_id)
    if block is not None and block.state is CallState.WAITING:
        step(update, block, chat.lanes[block.chat_id], CallState.REFUSED)
        update.tell(TellRejection(block.chat_id, call_id))
        if block.chat_id == chat.id:
            chat.turn.verdict = TurnEnd.REJECTED
        if reason and reason.strip():
            chat.queue.append(Waiting(QueueKind.REASON, reason))
            update.dirty |= Dirty.QUEUE
    return update.finish()


# --- what is shown of it ------------------------------------------------------------------------


def all_pending(chats: Iterable[Chat]) -> SetPending:
    """List all that waits in some chats, oldest first."""
    entries = [
        (since, chat, block_id) for chat in chats for block_id, since in chat.pending.items()
    ]
    entries.sort(key=lambda entry: entry[0])
    return SetPending([pending_item(chat, block_id) for _, chat, block_id in entries])


def pending_item(chat: Chat, block_id: int) -> Mapping[str, object]:
    """Build one item of the op `pending`; what does not apply is absent.

    Beside the keys the op names: `agent`, the subagent whose call it is.
    """
    block = chat.blocks[block_id]
    question = open_question(block)
    if question is not None:
        item = _question(chat, block, question)
    elif isinstance(block, ToolBlock):
        item = _approval(chat, block)
    else:
        raise TypeError(f"a block of kind {block.kind} cannot wait")
    return {key: value for key, value in item.items() if value is not None}


def _question(chat: Chat, block: Block, question: Question) -> dict[str, object]:
    asked = question.asked
    content = full_body(block, chat.settings, OUTPUT_LINES)
    return {
        "chat": chat.id,
        "id": asked.id,
        "kind": "question",
        "title": one_line(asked.question),
        "detail": clean(asked.question),
        "block": block.id,
        "lines": content.lines,
        "marks": content.marks,
        "options": [[one_line(label), one_line(told)] for label, told in asked.options],
        "freeform": asked.allow_freeform,
        "agent": _agent_name(chat, chat.live[block.id][1]),
    }


def _approval(chat: Chat, block: ToolBlock) -> dict[str, object]:
    content = full_body(block, chat.settings, OUTPUT_LINES)
    details = block.call.details
    return {
        "chat": chat.id,
        "id": block.call.id,
        "kind": "approval",
        "title": call_title(block, chat.settings),
        "detail": "\n".join(content.lines),
        "block": block.id,
        "lines": content.lines,
        "marks": content.marks,
        "language": content.language,
        "remember": remembers(block) or None,
        "tool": one_line(block.call.name) if block.call.name else None,
        "path": clean(details.path) if isinstance(details, FileChange) else None,
        "agent": _agent_name(chat, chat.live[block.id][1]),
    }


def remembers(block: ToolBlock) -> list[str]:
    """Say what "remember" would remember: a shell line's new commands, else the whole tool."""
    details = block.call.details
    if isinstance(details, ShellCommand):
        keys = [part.remember_key for part in details.parts if not part.remembered]
        return list(dict.fromkeys(one_line(key) for key in keys if key))
    call = block.call
    if call.name is None or call.server is None or call.name == SHELL:
        return []  # a tool of no server is one the model made up
    return [one_line(call.name)]


def _agent_name(chat: Chat, lane: Lane) -> str | None:
    anchor = chat.anchors.get(lane.chat_id)
    if anchor is None:
        return None
    details = anchor.call.details
    return one_line(details.agent) if isinstance(details, Subagent) else None
