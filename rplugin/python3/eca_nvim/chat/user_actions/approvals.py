"""Approvals: the requests that wait for the user, their warnings, how they are answered; trust."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TypeAlias

from msgspec.structs import replace

from eca_nvim.chat.handlers.call_steps import CHANGED, check_answer, step
from eca_nvim.chat.handlers.prompt_queue import enqueue
from eca_nvim.chat.model.blocks import Block, Changes, ToolBlock, open_question, plan_of
from eca_nvim.chat.model.calls import full_name, is_unknown, moved
from eca_nvim.chat.model.chat import Chat, QueuedPrompt, QueueKind
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.hunk_choice import NotInParts, Sides, choose, stands, taken_back, told
from eca_nvim.chat.model.outside_paths import paths_outside
from eca_nvim.chat.render.tool import approval_body, call_title
from eca_nvim.chat.text.output import Body, cut_characters
from eca_nvim.chat.text.safe_text import clean, literal_line, one_line
from eca_nvim.chat.text.text_differences import hunks_between, parts_of
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.user_actions.answers import question_behind, question_item
from eca_nvim.chat.vocabulary import call_details, effects, ops, options, requests, states


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

DiskWarnings: TypeAlias = Callable[[Chat, call_details.ToolCall], requests.DiskReport]
"""Returns what only a look at the disk can say of a call."""


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
        chosen = block.request.chosen if allows else None
        writes = chosen.writes if chosen else ()
        said = None if choice is None else choice.id
        asked = (block.lane.chat_id, block.call, said, allows, chat.id, block_id, writes)
        answer = effects.Decision(*asked)
        if chosen is not None:
            _allow_in_part(chat, block, chosen)
        step(update, block, state)
        update.effects.append(lambda it: it.decide(answer))
        if chosen is not None:
            tell_in_part(update, told(writes, chat.settings.relative))
        if not allows:
            _follow_rejection(update, block, reason)
    return update.finish()


def _allow_in_part(chat: Chat, block: ToolBlock, chosen: call_details.HunkChoice) -> None:
    """Show of a call from now on what the user has allowed of it."""
    chat.partial.append(block)
    made = {
        it.path: call_details.FileChange(
            it.path, *hunks_between(it.before or "", it.allowed or ""), base=call_details.Base.DISK
        )
        for it in chosen.writes
    }
    whole = [it for it in chosen.changes if it.path not in made]
    changes = (*(it for it in made.values() if it.diff), *whole)
    block.partial, block.call = chosen.writes, replace(block.call, changes=changes)


def tell_in_part(update: Update, text: str) -> None:
    """Tell the agent what differs from what it has written: in this turn, else with the next."""
    chat = update.chat
    text = clean(text)
    enqueue(update, QueuedPrompt(QueueKind.NOTE, text))
    running = chat.turn.state is states.Turn.RUNNING
    if running and options.Ability.STEER in chat.abilities:
        update.effects.append(lambda it: it.steer(chat.id, text))


def choose_hunks(
    chat: Chat,
    block_id: int,
    changes: tuple[call_details.FileChange, ...],
    left_out: Iterable[int],
    files: Mapping[str, Sides],
    now: int,
) -> Changes:
    """Note what the user takes of a call that waits; `changes` as asked, or as they have edited.

    Raises NotInParts.
    """
    update = Update(chat, chat.root, now)
    block = chat.blocks[block_id]
    if isinstance(block, ToolBlock) and block.request is not None:
        asked = block.call.changes or ()
        block.request.choose(choose(asked, changes, frozenset(left_out), files))
        update.dirty |= Dirty.PENDING
        update.redraw(block, with_body=block.is_open)
    return update.finish()


def waiting_call(chat: Chat, block_id: int, digest: str) -> ToolBlock:
    """Return a call whose hunks can be chosen, as it was shown to the user. Raises NotInParts.

    What they have chosen since makes no difference.
    """
    block = chat.blocks.get(block_id)
    request = block.request if isinstance(block, ToolBlock) else None
    if not isinstance(block, ToolBlock) or request is None:
        raise NotInParts("this request is no longer pending")
    if request.digest is None or digest.partition("-")[0] != str(request.version):
        raise NotInParts(CHANGED)
    if not has_parts(block):
        raise NotInParts("this change is allowed or rejected as a whole")
    return block


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
        request.on_disk = on_disk(chat, block.call)
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
    cautions = [*too_long, *warnings(block, chat.settings), *request.on_disk.warnings]
    chosen = request.chosen
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
        "hunks": _hunks(block, content, request),
        "stands": None if chosen is None else stands(chosen),
        "taken_back": None if chosen is None else taken_back(chosen),
        "choices": [*map(_choice, _offered(block.choices, is_whole=request.is_whole))],
        "listed": requests.needs_list(block.choices) or None,
        "warnings": cautions or None,
        "tool": full_name(block.call),
        "paths": _paths(block.call) or None,
        "plan": (block.call.kind is call_details.ToolKind.SWITCH_MODE and bool(plan_of(block)))
        or None,
        "agent": _agent_name(block),
    }


def has_parts(block: ToolBlock) -> bool:
    """Return whether the user may take hunks of a call that waits one by one, or edit it.

    Not if somebody obeys one of its files: until it is taken back, a hunk might be run.
    """
    call, request = block.call, block.request
    is_plain = call.command is None and bool(call.changes) and moved(call) is None
    is_placed = is_plain and all(it.placed for it in call.changes or ())
    return is_placed and bool(request and request.is_whole and not request.on_disk.is_obeyed)


def _hunks(
    block: ToolBlock, body: Body, request: requests.Request
) -> list[dict[str, object]] | None:
    """Return the hunks of a call as the view gets them: with their rows, as far as they are shown.

    None: it is allowed or rejected as a whole.
    """
    if not body.parts or not has_parts(block):
        return None
    chosen, rows = request.chosen, {number: shown for number, *shown in body.parts}
    changes, out = (chosen.changes, chosen.left_out) if chosen else (block.call.changes or (), ())
    return [
        {
            "n": it.number,
            "path": clean(changes[it.change].path),
            "header": it.header,
            "taken": it.number not in out,
            "rows": rows.get(it.number, []),
        }
        for it in parts_of(changes)
    ]


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
