"""Approvals: what waits for the user's word, and how it is given.

Rules kept here:
- An answer goes out once, and only for what still waits as it was shown (answer_check.py).
- An item names the chat it is shown in; the agent is told the chat the call belongs to, which is
  a subagent's for a subagent's call.
- What is approved is what is shown: a command and arguments are whole, and what is too long for
  that says how much is left out. A diff says it too; the diff tab has all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from eca_nvim.chat.handlers.answer_check import fits
from eca_nvim.chat.handlers.call_steps import step
from eca_nvim.chat.model.blocks import Block, Question, ToolBlock, open_question
from eca_nvim.chat.model.call_files import moved
from eca_nvim.chat.model.changes import Changes
from eca_nvim.chat.model.chat import Chat, Lane, QueueKind, Waiting
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.known_tools import BY_COMMAND, full_name, is_native, is_unknown, shell_line
from eca_nvim.chat.model.outside_paths import paths_outside
from eca_nvim.chat.render.block import OUTPUT_LINES, full_body
from eca_nvim.chat.render.tool import asked_body, call_title
from eca_nvim.chat.text.output import bounded
from eca_nvim.chat.text.safe_text import clean, literal_line, one_line
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.call_details import FileChange, ShellCommand, Subagent, ToolCall
from eca_nvim.chat.vocabulary.effects import TellApproval, TellRejection
from eca_nvim.chat.vocabulary.ops import Notify, SetInput, SetPending
from eca_nvim.chat.vocabulary.shown_request import Request
from eca_nvim.chat.vocabulary.states import CallState, Turn, TurnEnd

SUBAGENT_GOES_ON = "the subagent hears only a no: what you wrote is in the input"

MOST_SHOWN = 50_000
"""Characters of a command or of arguments that are shown, at most."""
MOST_PATHS = 3

STAYS, GOES = 1, -1
"""What the op `pending` says of an item of the list before."""

DiskWarnings: TypeAlias = Callable[[Chat, ToolCall], Sequence[str]]
"""Tells what only the disk knows of a call: lines to look at twice."""


def approve(chat: Chat, block_id: int, digest: str, now: int, *, remember: bool = False) -> Changes:
    """Let the call run that waits in a block and was shown so, for the session when `remember`."""
    update = Update(chat, chat.root, now)
    block = chat.blocks[block_id] if fits(update, block_id, digest) else None
    if isinstance(block, ToolBlock) and block.state is CallState.WAITING:
        step(update, block, chat.lanes[block.chat_id], CallState.APPROVED)
        update.tell(TellApproval(block.chat_id, block.call.id, remember, chat.id, block_id))
    return update.finish()


def is_still_approved(chat: Chat, told: TellApproval) -> bool:
    """Say whether the agent still means the call that the user approved, and it may run.

    Once the user has stopped the turn it may not.
    """
    if chat.turn.state is Turn.STOPPING:
        return False
    block = chat.blocks.get(told.block)
    lane = chat.lanes.get(told.chat)
    is_meant = lane is not None and lane.calls.get(told.call) is block
    return is_meant and isinstance(block, ToolBlock) and block.state is CallState.APPROVED


def reject(chat: Chat, block_id: int, digest: str, now: int, reason: str | None = None) -> Changes:
    """Refuse the call that waits in a block and was shown so.

    The reason is the next prompt once the turn has ended. A subagent goes on when a call of it is
    refused: then the reason is the user's to send, and so it is when the call does not wait.
    """
    update = Update(chat, chat.root, now)
    block = chat.blocks[block_id] if fits(update, block_id, digest, reason) else None
    if isinstance(block, ToolBlock) and block.state is CallState.WAITING:
        step(update, block, chat.lanes[block.chat_id], CallState.REFUSED)
        update.tell(TellRejection(block.chat_id, block.call.id))
        if block.chat_id == chat.id:
            chat.turn.expected_end = TurnEnd.REJECTED
        if reason and reason.strip():
            _explain(update, block, reason)
    return update.finish()


def _explain(update: Update, block: ToolBlock, reason: str) -> None:
    chat = update.chat
    if block.chat_id == chat.id:
        chat.queue.append(Waiting(QueueKind.REASON, reason))
        update.dirty |= Dirty.QUEUE
    else:
        update.ops += [SetInput(chat.id, clean(reason)), Notify("info", SUBAGENT_GOES_ON)]


# --- what is shown of it ------------------------------------------------------------------------


class Shown:
    """What is shown of all that waits, oldest first.

    It costs what has changed: of what waits as it did before only the number is told.
    """

    def __init__(self) -> None:
        self._digests: dict[Request, str | None] = {}

    def update(self, chats: Iterable[Chat], on_disk: DiskWarnings) -> SetPending:
        """Tell what is to be shown now."""
        entries = [
            (request.since, chat, block_id, request)
            for chat in chats
            for block_id, request in chat.pending.items()
        ]
        entries.sort(key=itemgetter(0))
        told: list[Mapping[str, object] | int] = []
        known, before = self._digests, iter(self._digests)
        for _, chat, block_id, request in entries:
            stays = request.digest is not None and known.get(request) == request.digest
            for each in before if request in known else ():
                if each is request:
                    told.append(STAYS if stays else GOES)
                    break
                told.append(GOES)
            else:
                stays = False
            if not stays:
                told.append(pending_item(chat, block_id, on_disk))
        self._digests = {request: request.digest for _, _, _, request in entries}
        return SetPending([*_counted(told)])


def _counted(told: Iterable[Mapping[str, object] | int]) -> Iterator[Mapping[str, object] | int]:
    """Count neighbours that stay, and such that go."""
    for each, same in groupby(told):
        if isinstance(each, int):
            yield each * len(list(same))
        else:
            yield from same


def pending_item(chat: Chat, block_id: int, on_disk: DiskWarnings) -> Mapping[str, object]:
    """Build one item of the op `pending`, as it is shown from now on; what is absent is left out.

    An answer must carry its digest (answer_check.py).
    """
    block, request = chat.blocks[block_id], chat.pending[block_id]
    question = open_question(block)
    behind: object
    if question is not None:
        item, behind = _question(chat, block, question), question.asked
    elif isinstance(block, ToolBlock):
        item, behind = _approval(chat, block, on_disk(chat, block.call)), block.call
    else:
        raise TypeError(f"a block of kind {block.kind} cannot wait")
    item = {"chat": chat.id, "id": request.id, "block": block_id, **item}
    shown = {key: value for key, value in item.items() if value is not None}
    return {**shown, "digest": request.show(shown, behind)}


def _question(chat: Chat, block: Block, question: Question) -> dict[str, object]:
    asked = question.asked
    content = full_body(block, chat.settings, OUTPUT_LINES)
    return {
        "call": asked.id,
        "kind": "question",
        "title": one_line(asked.question),
        "detail": clean(asked.question),
        "lines": content.lines,
        "marks": content.marks,
        "options": [[one_line(label), one_line(told)] for label, told in asked.options],
        "freeform": asked.allow_freeform,
        "agent": _agent_name(chat, chat.live[block.id][1]),
    }


def _approval(chat: Chat, block: ToolBlock, on_disk: Sequence[str]) -> dict[str, object]:
    content = bounded(asked_body(block, chat.settings), MOST_SHOWN)
    told = [*warnings(block, chat.settings), *on_disk]
    return {
        "call": block.call.id,
        "kind": "approval",
        "title": call_title(block, chat.settings),
        "titled": shell_line(block.call) is not None or None,
        "detail": "\n".join(content.lines),
        "lines": content.lines,
        "marks": content.marks,
        "language": content.language,
        "remember": remembers(block) or None,
        "warnings": told or None,
        "tool": full_name(block.call),
        "path": _path(block.call),
        "agent": _agent_name(chat, chat.live[block.id][1]),
    }


def remembers(block: ToolBlock) -> list[str]:
    """Say what "remember" would remember: a shell line's new commands, else the tool.

    The agent keeps the bare name of a tool: a tool of any server that is called so then runs. One
    that does not name the server of a tool is older than remembering.
    """
    call = block.call
    if call.server is None:
        return []
    if isinstance(call.details, ShellCommand):
        keys = [part.remember_key for part in call.details.parts if not part.remembered]
        whose = "" if is_native(call) else f" of {literal_line(call.name or '')}"
        return list(dict.fromkeys(literal_line(key) + whose for key in keys if key))
    if is_unknown(call) or call.name is None or call.name in BY_COMMAND:
        return []
    return [f"{literal_line(call.name)} of any server"]


def warnings(block: ToolBlock, settings: RenderSettings) -> list[str]:
    """Say what the user should look at twice, a line each."""
    call, told = block.call, []
    if is_unknown(call):
        told.append("the server has no such tool, or it is switched off")
    elif call.arguments is None and call.details is None:
        told.append("the server does not say what it will do")
    outside = paths_outside(call, settings.folders)
    if outside:
        told.append(f"outside the workspace: {listed(outside)}")
    return told


def listed(paths: Sequence[str]) -> str:
    """Name some paths, and say how many are not named."""
    more = len(paths) - MOST_PATHS
    return ", ".join(paths[:MOST_PATHS]) + (f" and {more} more" if more > 0 else "")


def _path(call: ToolCall) -> str | None:
    if isinstance(call.details, FileChange):
        return clean(call.details.path)
    move = moved(call)
    return move[0] if move else None


def _agent_name(chat: Chat, lane: Lane) -> str | None:
    anchor = chat.anchors.get(lane.chat_id)
    if anchor is None:
        return None
    details = anchor.call.details
    return (isinstance(details, Subagent) and one_line(details.agent)) or "subagent"
