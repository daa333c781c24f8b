"""Trust: a chat's tools run without asking.

Rule: only the user can switch it on, here; the agent can only switch it off.
"""

from __future__ import annotations

from eca_nvim.chat.model.changes import Changes
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.effects import TellTrust


def set_trust(chat: Chat, now: int, *, trusted: bool) -> Changes:
    """Let a chat's tools run without asking, or make them ask again."""
    update = Update(chat, chat.root, now)
    if chat.trust is not trusted:
        chat.trust = trusted
        update.dirty |= Dirty.STATUS
        update.tell(TellTrust(chat.id))
    return update.finish()
