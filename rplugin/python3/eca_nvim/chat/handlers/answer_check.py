"""Answer check: whether an answer still fits the request on the screen, and what happens if not.

Rules kept here:
- An answer carries the digest of the request that was shown. It is sent only if that request is
  still pending and unchanged. So an approval of one command never releases another.
- Nothing the user typed is lost: it goes back into the input.
"""

from __future__ import annotations

from eca_nvim.chat.text.safe_text import clean
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.ops import Notify, SetInput

CHANGED = "this request has changed since you saw it, look again"
CHANGED_TYPED = f"{CHANGED}: what you typed is in the input"
TOO_LATE = "this request is not pending: what you typed is in the input"


def check_answer(update: Update, block_id: int, digest: str, typed: str | None = None) -> bool:
    """Return whether the request shown with `digest` is still pending; if not, warn the user.

    typed: the answer as the user typed it, if at all; a refused one goes back into the input.
    """
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
