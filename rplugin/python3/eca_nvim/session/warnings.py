"""Warnings: what only a look at the disk tells of a call that waits.

Rules kept here: what the call itself tells is told already; nothing is looked up that is not shown.
"""

from __future__ import annotations

import os.path
from collections.abc import Mapping

from eca_nvim.chat.files import moved
from eca_nvim.chat.model import Chat
from eca_nvim.chat.ops import SetPending
from eca_nvim.chat.text import literal_name

TAKEN = "there is a file already where this moves to"


def with_warnings(pending: SetPending, chats: Mapping[str, Chat]) -> SetPending:
    """Add to what waits in some chats what its files say of it."""
    return SetPending([_warned(item, chats[str(item["chat"])]) for item in pending.items])


def _warned(item: Mapping[str, object], chat: Chat) -> Mapping[str, object]:
    block = chat.find_call(str(item["id"]))
    places = moved(block.call) if block is not None else None
    if places is None or not os.path.lexists(places[1]):
        return item
    told = item.get("warnings")
    before = told if isinstance(told, list) else []
    name = chat.settings.relative(literal_name(places[1]))
    return {**item, "warnings": [*before, f"{TAKEN}: {name}"]}
