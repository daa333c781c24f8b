"""Hunk requests: what the user takes of the changes of calls that wait, hunk by hunk or edited.

Rules kept here:
- The hunks that are taken, here or in the float, and the user's edits are one choice. It is made of
  the texts as they are then.
- A choice is for the request that was shown, else it is refused.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from eca_nvim.chat.handlers.call_steps import CHANGED
from eca_nvim.chat.model.blocks import Changes, ToolBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.hunk_choice import (
    NotInParts,
    Sides,
    edited,
    left_out_of,
    lines_of_parts,
    marks,
    part_at,
    standing_text,
    texts_after,
)
from eca_nvim.chat.render.tool import standing_changes
from eca_nvim.chat.text.text_differences import parts_of
from eca_nvim.chat.user_actions.approvals import choose_hunks, decide, waiting_call
from eca_nvim.chat.vocabulary import call_details, intents
from eca_nvim.path_risks import real_path
from eca_nvim.session.proposals.diff_tab import (
    NOT_UTF8,
    NothingToShow,
    ReadSnapshot,
    sides_of,
    with_unsaved,
)
from eca_nvim.session.view import Refused


class HunkRequests:
    """Handles what the user chooses of the changes of calls that wait."""

    def __init__(
        self,
        chats: Callable[[str], Chat],
        show: Callable[[Changes], None],
        now: Callable[[], int],
        read: ReadSnapshot,
    ) -> None:
        """Make it; `show` draws what a choice changes, `now` returns the time in ms."""
        self._chats = chats
        self._show = show
        self._now = now
        self._read = read
        self.table: Mapping[type[intents.Intent], Callable[[Any], object]] = {
            intents.ToggleHunk: self._toggle,
            intents.EditProposal: self._edit,
            intents.AllowHunks: self._allow,
        }

    def _toggle(self, intent: intents.ToggleHunk) -> bool:
        """Take a hunk, or leave it out."""
        chat, block, files = self._waiting(intent)
        changes, out = standing_changes(block)
        numbers = {it.number for it in parts_of(changes)}
        if intent.hunk not in numbers:
            raise Refused(f"there is no hunk {intent.hunk}")
        chosen = out - {intent.hunk} if intent.taken else out | {intent.hunk}
        self._choose(chat, block, changes, chosen, files)
        return True

    def _allow(self, intent: intents.AllowHunks) -> None:
        """Allow some hunks, and answer the request so."""
        chat, block, files = self._waiting(intent)
        if block.request is None or intent.digest != block.request.digest:
            raise Refused(CHANGED)  # by the user: the numbers may be those of other hunks
        changes, _ = standing_changes(block)
        numbers = {it.number for it in parts_of(changes)}
        if strange := sorted({*intent.hunks} - numbers):
            raise Refused(f"there is no hunk {strange[0]}, but 1 to {len(numbers)}")
        self._choose(chat, block, changes, numbers - {*intent.hunks}, files)
        digest = block.request.digest or ""
        self._show(decide(chat, block.id, digest, intent.choice, self._now()))

    def _edit(self, intent: intents.EditProposal) -> Mapping[str, object]:
        """Take over the user's text of a file; with a line, take or leave out the hunk there."""
        chat, block, files = self._waiting(intent)
        asked, place = block.call.changes or (), intent.file
        changes, out = standing_changes(block)
        sides = files[asked[place].path]
        if [it.path for it in asked].count(asked[place].path) > 1:
            raise Refused("this file is changed more than once: choose hunks in the float")
        change, own = _read_text(asked[place], changes[place], sides, intent.text)
        if intent.line is not None:
            at = part_at(lines_of_parts(sides.before, change, own), intent.line)
            if at is None:
                raise Refused("there is no hunk here: ]c goes to the next one")
            own = own ^ {at}
        fresh = (*changes[:place], change, *changes[place + 1 :])
        taken_out = {(it.change, it.place) for it in parts_of(changes) if it.number in out}
        taken_out = {it for it in taken_out if it[0] != place} | {(place, it) for it in own}
        left = {it.number for it in parts_of(fresh) if (it.change, it.place) in taken_out}
        self._choose(chat, block, fresh, left, files)
        return {
            "digest": block.request and block.request.digest,
            "text": standing_text(sides, change, own),
            "left_out": marks(sides, fresh, place, left),
        }

    def _choose(
        self,
        chat: Chat,
        block: ToolBlock,
        changes: tuple[call_details.FileChange, ...],
        left_out: Collection[int],
        files: Mapping[str, Sides],
    ) -> None:
        try:
            self._show(choose_hunks(chat, block.id, changes, left_out, files, self._now()))
        except NotInParts as reason:
            raise Refused(str(reason)) from reason

    def _waiting(
        self,
        intent: intents.ToggleHunk | intents.EditProposal | intents.AllowHunks,
    ) -> tuple[Chat, ToolBlock, Mapping[str, Sides]]:
        """Return the call that is meant, and the files that it changes. Raises Refused."""
        chat = self._chats(intent.chat)
        try:
            block = waiting_call(chat, intent.block, intent.digest)
            return chat, block, self._sides_of(chat, block, intent.unsaved)
        except (NotInParts, NothingToShow) as reason:
            raise Refused(str(reason)) from reason

    def _sides_of(
        self, chat: Chat, block: ToolBlock, unsaved: Mapping[str, str]
    ) -> Mapping[str, Sides]:
        """Return the files that a call changes, by path. Raises NotInParts and NothingToShow."""
        found: dict[str, Sides] = {}
        changes = block.call.changes or ()
        for place, change in enumerate(changes):
            if change.path in found:
                continue
            sides = sides_of(block, place, chat.settings, self._read)
            if change.path in unsaved:
                sides = with_unsaved(sides, block, place, unsaved[change.path])
            if sides.shown.fault is not None or NOT_UTF8 in sides.remarks:
                raise NotInParts(
                    f"its hunks cannot be taken one by one: {sides.shown.fault or NOT_UTF8}"
                )
            is_new = sides.shown.kind == "new" and self._read(change.path).is_absent
            before = None if is_new else sides.shown.before
            of_file = [it for it in changes if it.path == change.path]
            after = sides.shown.after if len(of_file) == 1 else texts_after(before, of_file)
            is_gone = block.call.kind is call_details.ToolKind.DELETE and not after
            on_disk = change.base is call_details.Base.DISK
            place_of = real_path(change.path)
            found[change.path] = Sides(place_of, before, None if is_gone else after, on_disk)
        return found


def _read_text(
    asked: call_details.FileChange, stands: call_details.FileChange, sides: Sides, text: str
) -> tuple[call_details.FileChange, frozenset[int]]:
    """Return the change that makes a file hold a text, and the parts of it that are left out."""
    for change in dict.fromkeys((asked, stands)):
        out = left_out_of(text, sides.before, change)
        if out is not None:
            return change, out
    return edited(asked, sides.before, text), frozenset()
