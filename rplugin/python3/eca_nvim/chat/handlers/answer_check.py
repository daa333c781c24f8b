"""Answer check: whether an answer is to what waits, and what becomes of one that is not.

Rules kept here:
- An answer carries the digest of what was shown, and is sent only while just that waits. So an
  approval of one command never releases another.
- Nothing that the user typed is lost: it goes back into the input.
"""

from __future__ import annotations

from eca_nvim.chat.text.safe_text import clean
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.ops import Notify, SetInput

CHANGED = "this request has changed since you saw it, look again"
CHANGED_TYPED = f"{CHANGED}: what you typed is in the input"
TOO_LATE = "nothing waits for this any more: what you typed is in the input"


def fits(update: Update, block_id: int, digest: str, typed: str | None = None) -> bool:
    """Say whether what was shown with a digest still waits in a block; if not, tell the user."""
    request = update.chat.pending.get(block_id)
    if request is not None and request.digest == digest:
        return True
    is_typed = typed is not None and bool(typed.strip())
    if is_typed:
        update.ops.append(SetInput(update.chat.id, clean(typed or "")))
    if request is not None:
        update.ops.append(Notify("warn", CHANGED_TYPED if is_typed else CHANGED))
    elif is_typed:
        update.ops.append(Notify("warn", TOO_LATE))
    return False
