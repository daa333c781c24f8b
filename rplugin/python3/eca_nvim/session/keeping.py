"""What the user would miss after Neovim has ended: prompts, drafts, choices.

Rules kept here:
- It is written a moment after it changed, many changes at once, and when the host ends.
- A draft whose Neovim is gone comes back in the first chat that is opened; one of a chat that is
  opened again comes back there.
- That a chat is trusted is never kept, only what was answered to a server that wants it. Where
  nothing can be written, the user is told once and all else goes on.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping

import anyio

from eca_nvim.chat.ops import Notify, RestoreDraft, SetPrompts
from eca_nvim.session.view import View
from eca_nvim.store import LONGEST_PROMPT, Busy, Changed, Damaged, Draft, Kept, Store, merge

PAUSE = 1.0
"""Seconds between a change and its writing."""

log = logging.getLogger(__name__)

KEPT_CHOICES = ("model", "agent", "variant")


class Keeper:
    """What is kept of the project; without a store, as long as the host runs."""

    def __init__(self, store: Store | None, view: View, owner: int) -> None:
        self._store = store
        self._view = view
        self._owner = owner
        self._kept = Kept()
        self._changes = Changed()
        self._changed = anyio.Event()
        self._adopts = True

    def load(self) -> None:
        """Read what was kept, and show the prompts."""
        if self._store is not None:
            try:
                self._kept = merge(self._store.read(), self._changes)
            except Damaged as damaged:
                self._rescue(self._store, damaged)
            except OSError as fault:
                self._give_up(fault)
        self._view.push([SetPrompts(tuple(self._kept.prompts))])

    async def keep_writing(self) -> None:
        """Write what changes, until cancelled."""
        while True:
            await self._changed.wait()
            await anyio.sleep(PAUSE)
            self.write()
            if not self._changes:
                self._changed = anyio.Event()

    def write(self) -> None:
        """Write what changed, unless another Neovim is writing."""
        if not self._changes or self._store is None:
            self._changes = Changed()
            return
        try:
            kept = self._store.write(self._changes)
        except Busy as busy:
            log.info("%s", busy)
            return
        except Damaged as damaged:
            self._rescue(self._store, damaged)
            return
        except OSError as fault:
            self._give_up(fault)
            return
        self._changes = Changed()
        if kept.prompts.keys() != self._kept.prompts.keys():
            self._view.push([SetPrompts(tuple(kept.prompts))])
        self._kept = kept

    # --- prompts and choices --------------------------------------------------------------------

    def prompt(self, text: str) -> None:
        """Keep a prompt that the user typed and sent."""
        if text.strip() and len(text) <= LONGEST_PROMPT:
            self._change(Changed(prompts={text: time.time()}))

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

    def restore(self, chat: str) -> None:
        """Give a chat that is opened its draft back, the first one that of a Neovim that is gone.

        The view puts it into an input it has not filled before.
        """
        adopts, self._adopts = self._adopts, False
        source = chat if chat in self._kept.drafts else self._orphan() if adopts else None
        if source is None:
            return
        draft = self._kept.drafts[source]
        if source != chat:
            moved = Draft(draft.text, draft.changed, self._owner)
            self._change(Changed(drafts={source: None, chat: moved}))
        self._view.push([RestoreDraft(chat, draft.text)])

    def _orphan(self) -> str | None:
        """Find the newest draft whose Neovim does not run any more."""
        for chat, draft in reversed(self._kept.drafts.items()):
            if draft.owner != self._owner and not _runs(draft.owner):
                return chat
        return None

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
            line = f"the history of this project was damaged; it is now {aside}"
            self._view.push([Notify("warn", line)])

    def _give_up(self, fault: OSError) -> None:
        self._store = None
        self._view.push([Notify("warn", f"prompts and drafts are not kept: {fault}")])


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
