"""Approvals: the requests that wait for the user, their warnings, how they are answered; trust."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TypeAlias

from eca_nvim.chat.handlers.call_steps import check_answer, step
from eca_nvim.chat.handlers.prompt_queue import enqueue
from eca_nvim.chat.model.blocks import Block, Changes, ToolBlock, open_question
from eca_nvim.chat.model.calls import full_name, is_unknown, moved
from eca_nvim.chat.model.chat import Chat, QueuedPrompt, QueueKind
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.outside_paths import paths_outside
from eca_nvim.chat.render.tool import approval_body, call_title
from eca_nvim.chat.text.output import cut_characters
from eca_nvim.chat.text.safe_text import clean, literal_line, one_line
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.user_actions.answers import question_behind, question_item
from eca_nvim.chat.vocabulary import call_details, effects, ops, requests, states


def set_trust(chat: Chat, now: int, *, trusted: bool) -> Changes:
    """Let a chat's tools run without asking, or make them ask again."""
    update = Update(chat, chat.root, now)
    if chat.trust is not trusted:
        chat.trust = trusted
        update.dirty |= Dirty.STATUS
        update.effects.append(lambda it: it.trust_changed(chat.id))
    return update.finish()


SUBAGENT_GOES_ON = "a subagent gets only the rejection: your text is in the input"

MOST_SHOWN = 100_000
"""Most characters of a command or of arguments that are shown; what is longer cannot be allowed."""
TOO_LONG = "too long to be shown whole, so it cannot be allowed: reject it, and ask for it in parts"
MOST_PATHS = 3

DiskWarnings: TypeAlias = Callable[[Chat, call_details.ToolCall], Sequence[str]]
"""Returns warnings about a call that only a look at the disk can give, one line each."""


def decide(
    chat: Chat,
    block_id: int,
    digest: str,
    choice_id: str | None,
    now: int,
    reason: str | None = None,
) -> Changes:
    """Answer the call that waits in a block by one of its choices; None, or no such id, rejects it.

    digest: of the request as the user saw it (`check_answer`). The reason of a rejection becomes
    the next prompt once the turn has ended. It goes back into the input if the call belongs to a
    subagent, which carries on after a rejection, or if it no longer waits.
    """
    update = Update(chat, chat.root, now)
    block = chat.blocks[block_id] if check_answer(update, block_id, digest, reason) else None
    if isinstance(block, ToolBlock) and block.state is states.CallState.WAITING and block.request:
        offered = _offered(block.choices, is_whole=block.request.is_whole)
        choice = next((each for each in offered if each.id == choice_id), None)
        allows = choice is not None and choice.kind in requests.ALLOWING
        state = states.CallState.APPROVED if allows else states.CallState.REFUSED
        step(update, block, state)
        said = None if choice is None else choice.id
        told = effects.Decision(block.lane.chat_id, block.call, said, allows, chat.id, block_id)
        update.effects.append(lambda it: it.decide(told))
        if not allows:
            _follow_rejection(update, block, reason)
    return update.finish()


def _follow_rejection(update: Update, block: ToolBlock, reason: str | None) -> None:
    chat, is_explained = update.chat, bool(reason and reason.strip())
    if block.lane.chat_id == chat.id:
        chat.turn.expected_end = states.TurnEnd.REJECTED
        if is_explained:
            enqueue(update, QueuedPrompt(QueueKind.REASON, reason or ""))
    elif is_explained:
        told = ops.SetInput(chat.id, clean(reason or ""))
        update.ops += [told, ops.Notify("info", SUBAGENT_GOES_ON)]


def is_still_approved(chat: Chat, approval: effects.Decision) -> bool:
    """Return whether an approval may still be sent: same call, and the turn is not stopping."""
    if chat.turn.state is states.Turn.STOPPING:
        return False
    block = chat.blocks.get(approval.block)
    lane = chat.lanes.get(approval.chat_id)
    is_same_call = lane is not None and lane.calls.get(approval.call.id) is block
    return (
        is_same_call and isinstance(block, ToolBlock) and block.state is states.CallState.APPROVED
    )


# --- how requests are shown ---------------------------------------------------------------------


class PendingList:
    """The requests of all chats, as the view has them: what it has not is sent.

    Nothing is called or sent for those that have not changed: agents may ask a thousand times.
    """

    def __init__(self) -> None:
        self._digests: dict[str, str | None] | None = None

    def update(self, chats: Iterable[Chat], on_disk: DiskWarnings) -> ops.SetPending:
        """Return the op that brings the view up to date."""
        entries = [
            (request.since, chat, block, request)
            for chat in chats
            for block in chat.waiting
            if (request := block.request) is not None
        ]
        entries.sort(key=itemgetter(0))
        shown = self._digests or {}
        items = [
            pending_item(chat, block, request, on_disk)
            for _, chat, block, request in entries
            if request.digest is None or shown.get(request.id) != request.digest
        ]
        now = {request.id: request.digest for *_, request in entries}
        gone = None if self._digests is None else [it for it in shown if it not in now]
        self._digests = now
        return ops.SetPending(items, gone)


def pending_item(
    chat: Chat, block: Block, request: requests.Request, on_disk: DiskWarnings
) -> Mapping[str, object]:
    """Build one item of the op `pending`, without the keys that do not apply.

    This is what the user sees from now on: an answer must carry the item's digest.
    """
    question = open_question(block)
    behind: object
    if question is not None:
        item, behind = question_item(question), question_behind(question)
        item["agent"] = _agent_name(block)
    elif isinstance(block, ToolBlock):
        request.on_disk = tuple(on_disk(chat, block.call))
        item, behind = _approval(chat, block, request), block.call
    else:
        raise TypeError(f"a block of kind {block.kind} cannot wait")
    item = {"chat": chat.id, "id": request.id, "block": block.id, **item}
    shown = {key: value for key, value in item.items() if value is not None}
    return {**shown, "digest": request.show(shown, behind)}


def _approval(chat: Chat, block: ToolBlock, request: requests.Request) -> dict[str, object]:
    body, diff_row = approval_body(block, chat.settings)
    content = cut_characters(body, MOST_SHOWN)
    request.is_whole = content is body
    too_long = () if request.is_whole else (TOO_LONG,)
    cautions = [*too_long, *warnings(block, chat.settings), *request.on_disk]
    return {
        "call": block.call.id,
        "kind": "approval",
        "title": call_title(block, chat.settings),
        "titled": block.call.command is not None or None,
        "detail": "\n".join(content.lines),
        "lines": content.lines,
        "cut": content.is_cut or None,
        "marks": content.marks,
        "language": content.language,
        "diff_row": diff_row,
        "choices": [*map(_choice, _offered(block.choices, is_whole=request.is_whole))],
        "listed": requests.needs_list(block.choices) or None,
        "warnings": cautions or None,
        "tool": full_name(block.call),
        "paths": _paths(block.call) or None,
        "agent": _agent_name(block),
    }


def _offered(choices: Sequence[requests.Choice], *, is_whole: bool) -> Sequence[requests.Choice]:
    """Return the answers to a request: what cannot be read to its end cannot be allowed."""
    return choices if is_whole else [it for it in choices if it.kind not in requests.ALLOWING]


def _choice(choice: requests.Choice) -> dict[str, object]:
    """Return a choice as the view gets it: its name whole, for that says how far it goes."""
    item: dict[str, object] = {
        "id": choice.id,
        "name": literal_line(choice.name),
        "kind": choice.kind.value,
    }
    remembers = [*map(literal_line, choice.remembers)]
    return {**item, "remembers": remembers} if remembers else item


def warnings(block: ToolBlock, settings: RenderSettings) -> list[str]:
    """List warnings about a call, one line each."""
    call, lines = block.call, []
    if is_unknown(call):
        lines.append("the server has no such tool, or it is switched off")
    elif not any((call.arguments is not None, call.details, call.changes)):
        known = "only the title says" if call.title else "the server does not say"
        lines.append(f"{known} what it will do")
    outside = paths_outside(call, settings.folders)
    if outside:
        lines.append(f"outside the workspace: {list_paths(outside)}")
    return lines


def list_paths(paths: Sequence[str]) -> str:
    """List the first few paths, and the number of the others."""
    more = len(paths) - MOST_PATHS
    return ", ".join(paths[:MOST_PATHS]) + (f" and {more} more" if more > 0 else "")


def _paths(call: call_details.ToolCall) -> list[str]:
    """Return the files whose changes the diff tab shows."""
    move = moved(call)
    return [clean(change.path) for change in call.changes or ()] or [*(move or ())][:1]


def _agent_name(block: Block) -> str | None:
    anchor = block.lane.anchor
    if anchor is None:
        return None
    details = anchor.call.details
    return (isinstance(details, call_details.Subagent) and one_line(details.agent)) or "subagent"
