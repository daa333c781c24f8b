"""What the user would miss after Neovim has ended: prompts, drafts, choices.

Rules kept here:
- It is written a moment after it changed, many changes at once, and when the host ends.
- A draft whose Neovim is gone comes back in the first chat that is opened; one of a chat that is
  opened again comes back there. More of them are offered like prompts, and come back in Neovims to
  come: no two take the same.
- That a chat is trusted is never kept, only what was answered to a server that wants it. Where
  nothing can be written, the user is told once and all else goes on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence

import anyio

from eca_nvim.chat.vocabulary.ops import Notify, RestoreDraft, SetPrompts
from eca_nvim.session.view import View
from eca_nvim.store import (
    LONGEST_PROMPT,
    Busy,
    Changed,
    Damaged,
    Draft,
    SavedState,
    Store,
    merge,
    runs,
)

PAUSE = 0.4
"""Seconds between a change and its writing."""
ADOPTION = 0.5
"""Seconds that taking over a draft waits for other Neovims that write."""
PARTING = 1.0
"""Seconds that the last writing waits for other Neovims that write."""

log = logging.getLogger(__name__)

KEPT_CHOICES = ("model", "agent", "variant")


class Keeper:
    """What is kept of the project; without a store, as long as the host runs."""

    def __init__(self, store: Store | None, view: View, owner: int) -> None:
        self._store = store
        self._view = view
        self._owner = owner
        self._kept = SavedState()
        self._changes = Changed()
        self._changed = anyio.Event()
        self._adopts = True
        self._refused = False
        self._since = time.time()

    def load(self) -> None:
        """Read what was kept, and show the prompts."""
        if self._store is not None:
            try:
                self._kept = merge(self._store.read(), self._changes)
                self._store.sweep()
            except Damaged as damaged:
                self._rescue(self._store, damaged)
            except OSError as fault:
                self._give_up(fault)
        self._view.push([SetPrompts(self._offered())])

    async def keep_writing(self) -> None:
        """Write what changes, until cancelled."""
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            await anyio.sleep(PAUSE)
            self.write()

    def write(self, patience: float = 0.0) -> None:
        """Write what changed; when other Neovims write for longer than this, the next time."""
        if self._store is None or not self._changes:
            return
        try:
            kept = self._written(self._store, patience)
        except Busy as busy:
            log.info("%s", busy)
            self._changed.set()
        except OSError as fault:
            self._give_up(fault)
        else:
            self._changes = Changed()
            self._refused = False
            self._take(kept)

    def _written(self, store: Store, patience: float) -> SavedState:
        """Write, beside a damaged file if need be. Raises Busy, OSError."""
        try:
            return store.write(self._changes, patience)
        except Damaged as damaged:
            self._rescue(store, damaged)
            return store.write(self._changes, patience)

    def close(self) -> None:
        """Write for the last time, or leave the drafts in a file for the next Neovim."""
        if self._store is None:
            return
        self._change(Changed(drafts=self._lost(self._store)))
        self.write(PARTING)
        try:
            if self._changes:
                self._store.leave(self._changes)
            else:
                self._store.take_away(self._kept)
        except OSError as fault:
            log.warning("the last drafts are not kept: %s", fault)

    def _lost(self, store: Store) -> dict[str, Draft | None]:
        """Find our drafts that were written and are gone: somebody has removed the file."""
        try:
            there = store.read().drafts
        except (Damaged, OSError):
            there = {}
        return {
            chat: draft
            for chat, draft in self._kept.drafts.items()
            if draft.owner == self._owner and draft.changed >= self._since and chat not in there
        }

    # --- prompts and choices --------------------------------------------------------------------

    def prompt(self, text: str) -> None:
        """Keep a prompt that was sent; a draft with its words that nobody took over goes."""
        if text.strip() and len(text) <= LONGEST_PROMPT:
            orphans = self._orphans(self._kept)
            same = [chat for chat in orphans if self._kept.drafts[chat].text == text]
            self._change(Changed({text: time.time()}, dict.fromkeys(same)))

    def choose(self, what: str, value: object) -> None:
        """Keep a choice for the chats to come."""
        if what in KEPT_CHOICES and isinstance(value, str):
            self._change(Changed(choices={what: value}))

    def trust(self, server: str, *, trusted: bool) -> None:
        """Keep whether the user lets a server that asks for trust work without asking."""
        self._change(Changed(choices={f"trust {server}": "yes" if trusted else "no"}))

    def trusts(self, server: str) -> bool | None:
        """Tell what the user answered a server that asks for trust; None before he did."""
        answer = self._kept.choices.get(f"trust {server}")
        return None if answer is None else answer == "yes"

    @property
    def choices(self) -> Mapping[str, str]:
        """What was last chosen in this project."""
        return self._kept.choices

    # --- drafts ---------------------------------------------------------------------------------

    def draft(self, chat: str, text: str) -> None:
        """Keep what is typed in a chat's input; nothing when it was sent or taken away."""
        if text.strip():
            draft = Draft(text, time.time(), self._owner)
            self._change(Changed(drafts={chat: draft}))
        elif chat in self._kept.drafts:
            self._change(Changed(drafts={chat: None}))

    def unsent(self, chat: str, prompts: Sequence[str]) -> None:
        """Keep prompts that no agent has heard, above the draft of their chat."""
        if prompts:
            draft = self._kept.drafts.get(chat)
            self.draft(chat, "\n".join([*prompts, draft.text] if draft else prompts))

    def restore(self, chat: str) -> None:
        """Give a chat that is opened its draft of an earlier life back.

        The first one gets that of a Neovim that is gone, above what is typed already.
        """
        adopts, self._adopts = self._adopts, False
        draft = self._kept.drafts.get(chat)
        if draft is not None and draft.changed < self._since:
            self._view.push([RestoreDraft(chat, draft.text)])
        elif adopts and self._store is not None and self._orphans(self._kept):
            self._adopt(self._store, chat)

    def _adopt(self, store: Store, chat: str) -> None:
        """Take over the newest draft of a Neovim that is gone; no two Neovims take the same."""
        adopted: list[str] = []
        try:
            kept = store.change(lambda kept: self._moved(kept, chat, adopted), ADOPTION)
        except (Damaged, OSError) as fault:
            log.info("no draft is taken over: %s", fault)
            return
        if adopted:
            self._changes.drafts.pop(chat, None)  # the adopted text is above it now
        self._take(merge(kept, self._changes))
        self._view.push([RestoreDraft(chat, text, adopted=True) for text in adopted])
        if left := len(self._orphans(self._kept)):
            line = f"{left} more of this project's drafts are there: :Eca prompts has them"
            self._view.push([Notify("info", line)])

    def _moved(self, kept: SavedState, chat: str, adopted: list[str]) -> Changed:
        """Move the newest draft of a Neovim that is gone to a chat, if there still is one."""
        orphans = self._orphans(kept)
        if not orphans:
            return Changed()
        newest, typed = kept.drafts[orphans[-1]].text, self._kept.drafts.get(chat)
        adopted.append(newest)
        text = newest if typed is None else f"{newest}\n{typed.text}"
        draft = Draft(text, time.time(), self._owner)
        return Changed(drafts={orphans[-1]: None, chat: draft})

    def _orphans(self, kept: SavedState) -> list[str]:
        """Find the chats whose Neovims are gone, by their drafts, the oldest first.

        One with our own id is gone when its draft is older than we are: ids are used again.
        """
        return [
            chat
            for chat, draft in kept.drafts.items()
            if (
                draft.changed < self._since
                if draft.owner == self._owner
                else not runs(draft.owner, draft.changed)
            )
        ]

    # --- in common ------------------------------------------------------------------------------

    def _change(self, changes: Changed) -> None:
        self._changes.prompts |= changes.prompts
        self._changes.drafts |= changes.drafts
        self._changes.choices |= changes.choices
        self._kept = merge(self._kept, changes)
        self._changed.set()

    def _rescue(self, store: Store, damaged: Damaged) -> None:
        """Begin anew beside a damaged file."""
        log.warning("%s", damaged)
        try:
            aside = store.set_aside()
        except OSError as fault:
            self._give_up(fault)
        else:
            if aside is not None:  # else another Neovim has done it
                line = f"the history of this project was damaged; it is now {aside}"
                self._view.push([Notify("warn", line)])

    def _give_up(self, fault: OSError) -> None:
        """Tell the first fault since something was last written; what changed is tried again."""
        log.warning("nothing is kept: %s", fault)
        if not self._refused:
            self._refused = True
            self._view.push([Notify("warn", f"prompts and drafts are not kept: {fault}")])

    def _offered(self) -> tuple[str, ...]:
        """Give the prompts, and after them the drafts that nobody has taken over."""
        drafts = [self._kept.drafts[chat].text for chat in self._orphans(self._kept)]
        return tuple(dict.fromkeys((*self._kept.prompts, *drafts)))

    def _take(self, kept: SavedState) -> None:
        """Take what is kept now; what the user can find again is shown when it changed."""
        before = self._offered()
        self._kept = kept
        if self._offered() != before:
            self._view.push([SetPrompts(self._offered())])
