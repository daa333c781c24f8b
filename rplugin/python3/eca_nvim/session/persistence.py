"""Persistence: saves prompts, drafts, comments, choices, sessions; restored in the next Neovim."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import anyio

from eca_nvim.chat.model.comments import Comment, written
from eca_nvim.chat.vocabulary import ops, options, query_intents
from eca_nvim.session.view import View
from eca_nvim.store import (
    LONGEST_PROMPT,
    Busy,
    Draft,
    OptionValues,
    SavedOptions,
    SavedSession,
    SavedState,
    Store,
    StoreChanges,
    StoreDamaged,
    is_running,
    merge,
)

WRITE_DELAY = 0.4
"""Seconds between a change and its write."""
ADOPT_TIMEOUT = 0.5
"""Seconds that taking over a draft waits for the lock of the file."""
LAST_WRITE_TIMEOUT = 1.0
"""Seconds that the last write waits for the lock of the file."""

_FIRST_OPTIONS = ("model", "agent", "variant")

log = logging.getLogger(__name__)

LastChoices: TypeAlias = Callable[[str], str | None]
"""Returns what was last set for an option, by its id; None if that is not known."""
ON, OFF = "on", "off"
"""The values of a toggle in the file."""
_PROJECT = "project"


class Persistence:
    """The saved state of a project; without a store it lasts as long as the host.

    owner: process id of the Neovim that this host belongs to.
    """

    def __init__(self, store: Store | None, view: View, owner: int) -> None:
        self._store = store
        self._view = view
        self._owner = owner
        self._saved = SavedState()
        self._changes = StoreChanges()
        self._changed = anyio.Event()
        self._may_adopt = True
        self._is_reported = False  # that nothing can be written
        self._since = time.time()
        self._written = set[str]()  # the chats whose drafts this host has written

    def load(self) -> None:
        """Read the saved state and show its prompts."""
        if self._store is not None:
            try:
                self._saved = merge(self._store.read(), self._changes)
                self._store.sweep()
            except StoreDamaged as damaged:
                self._set_aside(self._store, damaged)
            except OSError as fault:
                self._report(fault)
        self._view.push([ops.SetPrompts(self._offered_prompts())])

    async def keep_writing(self) -> None:
        """Write changes until cancelled."""
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            await anyio.sleep(WRITE_DELAY)
            self.write()

    def write(self, patience: float = 0.0) -> None:
        """Write the changes; if other Neovims hold the lock for longer, they are written later."""
        if self._store is None or not self._changes:
            return
        try:
            saved = self._write_to(self._store, patience)
        except Busy as busy:
            log.info("%s", busy)
            self._changed.set()
        except (StoreDamaged, OSError) as fault:
            self._report(fault)
        else:
            self._changes = StoreChanges()
            self._tell(self._store, None)
            self._set_saved(saved)

    def _write_to(self, store: Store, patience: float) -> SavedState:
        """Write; a damaged file is set aside first. Raises Busy, StoreDamaged, OSError."""
        try:
            return store.write(self._changes, patience)
        except StoreDamaged as damaged:
            self._set_aside(store, damaged)
            return store.write(self._changes, patience)

    def close(self) -> None:
        """Write for the last time; if that fails, leave the drafts in a file of their own."""
        if self._store is None:
            return
        self._change(StoreChanges(drafts=self._lost_drafts(self._store)))
        self.write(LAST_WRITE_TIMEOUT)
        try:
            if self._changes:
                self._store.leave_drafts(self._changes)
            else:
                self._store.remove_left_drafts(self._saved)
        except OSError as fault:
            log.warning("the last drafts are not saved: %s", fault)

    def _lost_drafts(self, store: Store) -> dict[str, Draft | None]:
        """Return our drafts that are missing in the file: somebody has removed it."""
        try:
            written = store.read().drafts
        except (StoreDamaged, OSError):
            written = {}
        return {
            chat: draft
            for chat, draft in self._saved.drafts.items()
            if draft.owner == self._owner and chat in self._written and chat not in written
        }

    @property
    def shared(self) -> Store | None:
        """The file of all projects."""
        return None if self._store is None else self._store.shared

    # --- prompts and choices --------------------------------------------------------------------

    def keep_prompt(self, text: str) -> None:
        """Save a prompt that was sent; an orphan draft with the same text is removed."""
        if text.strip() and len(text) <= LONGEST_PROMPT:
            orphans = self._orphans(self._saved)
            same = [chat for chat in orphans if self._saved.drafts[chat].text == text]
            newest = next(reversed(self._saved.prompts.values()), 0.0)
            sent = max(time.time(), math.nextafter(newest, math.inf))  # also by a clock set back
            self._change(StoreChanges({text: sent}, dict.fromkeys(same)))

    def keep_choice(self, server: str, option: str, value: options.OptionValue) -> None:
        """Save the value of an option, by its id, for later chats of a server, by its name."""
        saved = value if isinstance(value, str) else ON if value else OFF
        self._change(StoreChanges(choices={_choice_key(server, option): saved}))

    def keep(self, what: str, of: str, value: str) -> None:
        """Save a decision of the user, such as that on trust, for one server or template."""
        self._change(StoreChanges(choices={f"{what} {of}": value}))

    def kept(self, what: str, of: str) -> str | None:
        """Return what was decided; None if nothing was."""
        return self._saved.choices.get(f"{what} {of}")

    def is_project(self, folder: str) -> bool:
        """Return whether the user treats a folder as a project (`agents.base.KeptProjects`)."""
        return self.kept(_PROJECT, folder) == ON

    def projects(self) -> Sequence[str]:
        """Return the folders that the user treats as projects (`agents.base.KeptProjects`)."""
        kept = (it.partition(" ") for it, value in self._saved.choices.items() if value == ON)
        return [folder for what, _, folder in kept if what == _PROJECT]

    def keep_project(self, folder: str, *, is_one: bool = True) -> None:
        """Save whether the user treats a folder as a project (`agents.base.KeptProjects`)."""
        self.keep(_PROJECT, folder, ON if is_one else OFF)

    def choices(self, server: str) -> LastChoices:
        """Return what was last set in this project until now, in chats of a server, by its name."""
        saved = self._saved.choices
        return lambda option: saved.get(_choice_key(server, option))

    def keep_options(
        self, chat: str, chosen: OptionValues, left: OptionValues, *, trusted: bool
    ) -> None:
        """Save what is set in a chat; see `SavedOptions`."""
        # That a chat was trusted is saved to offer it again: no chat is trusted because of it.
        known = self._saved.options.get(chat)
        if known is None and not (chosen or left or trusted):
            return
        if known is None or (known.chosen, known.left, known.trusted) != (chosen, left, trusted):
            kept = SavedOptions(dict(chosen), dict(left), trusted, time.time())
            self._change(StoreChanges(options={chat: kept}))

    def options_of(self, chat: str) -> SavedOptions | None:
        """Return what was set in a chat, if that is known."""
        return self._saved.options.get(chat)

    def drop_options(self, chat: str) -> None:
        """Forget what was set in a chat."""
        if chat in self._saved.options:
            self._change(StoreChanges(options={chat: None}))

    # --- sessions -------------------------------------------------------------------------------

    @property
    def sessions(self) -> Mapping[str, SavedSession]:
        """The sessions that chats are bound to, by the chat's id, as they were last read."""
        return self._saved.sessions

    def users(self, server: str, session_id: str) -> Iterator[int]:
        """Yield the process ids of other running Neovims that use a session, as the file says."""
        try:
            saved = SavedState() if self._store is None else self._store.read()
        except (StoreDamaged, OSError) as fault:
            log.info("other Neovims are not known: %s", fault)
            return
        for it in saved.sessions.values():
            is_other = it.owner != self._owner and is_running(it.owner, it.changed)
            if (it.server, it.id) == (server, session_id) and is_other:
                yield it.owner

    def keep_session(self, chat: str, server: str, session_id: str, title: str) -> None:
        """Save that a chat is bound to a session, which is used here now; its first title stays."""
        known = self._saved.sessions.get(chat)
        title = known.title if known is not None and known.title else title
        session = SavedSession(server, session_id, time.time(), self._owner, title)
        self._change(StoreChanges(sessions={chat: session}))

    def drop_session(self, chat: str) -> None:
        """Forget the session of a chat."""
        if chat in self._saved.sessions:
            self._change(StoreChanges(sessions={chat: None}))

    # --- drafts ---------------------------------------------------------------------------------

    def keep_draft(self, chat: str, text: str) -> None:
        """Save the text of a chat's input; an empty one removes the draft."""
        self._written.add(chat)
        if text.strip():
            draft = Draft(text, time.time(), self._owner)
            self._change(StoreChanges(drafts={chat: draft}))
        elif chat in self._saved.drafts:
            self._change(StoreChanges(drafts={chat: None}))

    def keep_note(self, chat: str, text: str) -> None:
        """Save what the agent of a chat is to get with its next prompt; an empty text: nothing."""
        if text or self.kept("note", chat):
            self.keep("note", chat, text)

    def keep_unsent(self, unsent: Mapping[str, Sequence[str]]) -> None:
        """Save prompts that no agent received, by chat, above the draft there."""
        for chat, prompts in unsent.items():
            draft = self._saved.drafts.get(chat)
            if prompts:
                self.keep_draft(chat, "\n".join([*prompts, draft.text] if draft else prompts))

    def restore(self, chat: str) -> None:
        """Restore the draft of a chat that is opened, if this Neovim did not write it.

        The first chat that is opened without one gets an orphan, above what is typed already.
        """
        may_adopt, self._may_adopt = self._may_adopt, False
        draft = self._saved.drafts.get(chat)
        if draft is not None and self._is_earlier(chat, draft):
            self._view.push([ops.RestoreDraft(chat, draft.text)])
        elif may_adopt and self._store is not None and self._orphans(self._saved):
            self._adopt(self._store, chat)
        if self.comments:
            self._view.push([ops.SetComments(chat, stale=True)])

    def _adopt(self, store: Store, chat: str) -> None:
        """Move the newest orphan to a chat, under the lock: no other Neovim takes the same."""
        adopted: list[str] = []
        try:
            saved = store.change(
                lambda saved: self._move_newest(saved, chat, adopted), ADOPT_TIMEOUT
            )
        except (StoreDamaged, OSError) as fault:
            log.info("no draft is taken over: %s", fault)
            return
        if adopted:
            self._written.add(chat)
            self._changes.drafts.pop(chat, None)  # the adopted text is above it now
        self._set_saved(merge(saved, self._changes))
        self._view.push([ops.RestoreDraft(chat, text, adopted=True) for text in adopted])
        if left := len(self._orphans(self._saved)):
            drafts = "draft" if left == 1 else "drafts"
            line = f"{left} more {drafts} of this project can be restored: see :Eca prompts"
            self._view.push([ops.Notify("info", line)])

    def _move_newest(self, saved: SavedState, chat: str, adopted: list[str]) -> StoreChanges:
        """Return the changes that move the newest orphan to a chat; adds its text to `adopted`."""
        orphans = self._orphans(saved)
        if not orphans:
            return StoreChanges()
        newest, typed = saved.drafts[orphans[-1]].text, self._saved.drafts.get(chat)
        adopted.append(newest)
        text = newest if typed is None else f"{newest}\n{typed.text}"
        draft = Draft(text, time.time(), self._owner)
        return StoreChanges(drafts={orphans[-1]: None, chat: draft})

    def _orphans(self, saved: SavedState) -> list[str]:
        """Return the chats with drafts of Neovims that have ended, the oldest draft first.

        A draft with our own process id that is older than this host is an orphan too: the system
        has used the id again.
        """
        return [
            chat
            for chat, draft in saved.drafts.items()
            if (
                self._is_earlier(chat, draft)
                if draft.owner == self._owner
                else not is_running(draft.owner, draft.changed)
            )
        ]

    def _is_earlier(self, chat: str, draft: Draft) -> bool:
        """Return whether a draft is older than this host, also if the clock was set back."""
        return draft.changed < self._since and chat not in self._written

    # --- comments -------------------------------------------------------------------------------

    @property
    def comments(self) -> Sequence[Comment]:
        """The comments of this Neovim and of those that have ended."""
        known = self._saved.comments.values()
        return [
            it for it in known if it.owner == self._owner or not is_running(it.owner, it.changed)
        ]

    def keep_comments(self, comments: Mapping[str, Comment | None]) -> None:
        """Save comments by their ids; None: it is removed."""
        self._change(StoreChanges(comments={**comments}))

    def put_comment(self, intent: query_intents.PutComment) -> None:
        """Save a comment of the user, or its new text; an empty one removes it."""
        known = self._saved.comments.get(intent.id)
        self.keep_comments({intent.id: written(intent, known, self._owner, time.time())})

    # --- shared ---------------------------------------------------------------------------------

    def _change(self, changes: StoreChanges) -> None:
        self._changes.drafts |= changes.drafts
        self._changes.choices |= changes.choices
        self._changes.sessions |= changes.sessions
        self._changes.options |= changes.options
        self._changes.comments |= changes.comments
        self._saved = merge(self._saved, changes)
        prompts = self._changes.prompts | changes.prompts
        self._changes.prompts = {it: at for it, at in prompts.items() if it in self._saved.prompts}
        self._changed.set()

    def _set_aside(self, store: Store, damaged: StoreDamaged) -> None:
        """Rename a damaged file, so that a new one can be written."""
        log.warning("%s", damaged)
        try:
            aside = store.set_aside()
        except OSError as fault:
            self._report(fault)
        else:
            if aside is not None:  # else another Neovim has done it
                line = f"this project's history was damaged; the file was moved to {aside}"
                self._view.push([ops.Notify("warn", line)])

    def _report(self, fault: Exception) -> None:
        """Report the first failure since the last write that succeeded; the changes are kept."""
        log.warning("nothing is saved: %s", fault)
        if self._store is not None:
            self._tell(self._store, fault)

    def _tell(self, store: Store, fault: Exception | None) -> None:
        """Tell the view that the file cannot be written, or can be again, if that is news."""
        if self._is_reported != (fault is not None):
            self._is_reported = fault is not None
            words = "" if fault is None else getattr(fault, "strerror", None) or str(fault)
            text = f"cannot save prompts and drafts: {fault}"
            self._view.push([ops.Unwritable(str(store.path), words, text)])

    def _offered_prompts(self) -> tuple[str, ...]:
        """Return the prompts, and after them the texts of orphan drafts."""
        drafts = [self._saved.drafts[chat].text for chat in self._orphans(self._saved)]
        return tuple(dict.fromkeys((*self._saved.prompts, *drafts)))

    def _set_saved(self, saved: SavedState) -> None:
        """Replace the saved state; the list of prompts is shown again if it changed."""
        before = self._offered_prompts()
        self._saved = saved
        if self._offered_prompts() != before:
            self._view.push([ops.SetPrompts(self._offered_prompts())])


def _choice_key(server: str, option: str) -> str:
    """Return the key of a choice in the file, which can be no key of another choice.

    The first options had their own names as keys, and those of the default server still have.
    """
    if option in _FIRST_OPTIONS:
        return option if server == ops.DEFAULT_SERVER else f"{option} {server}"
    return f"option {server}\n{option}"
