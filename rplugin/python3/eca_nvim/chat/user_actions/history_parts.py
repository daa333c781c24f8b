"""History parts: a long history that came whole is shown like one in pages, its end first.

Rules kept here:
- The rest follows by itself; messages that come meanwhile stay below it.
- It is cut before prompts, so that no call or thought is cut. A page of the agent stays whole.
- What says how the chat is now goes with the end, whatever its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eca_nvim.chat.model.changes import Changes
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.user_actions.earlier_messages import FOLLOWS, Page, show_history, show_older
from eca_nvim.chat.vocabulary.commands import CommandsChanged
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatOpened,
    Role,
    TextReceived,
    TitleChanged,
)
from eca_nvim.chat.vocabulary.options import OptionsChanged
from eca_nvim.chat.vocabulary.usage import UsageReported

_SMALLEST_PART, _LARGEST_PART, _SHARE = 100, 2_000, 8
"""Events of a part of a history that came whole: a share of what is shown already, up to the next
prompt. While one is modelled nothing is sent to Neovim, so the first ones are small."""
_PRESENT: Final = (ChatOpened, TitleChanged, CommandsChanged, OptionsChanged, UsageReported)
"""Events that say how the chat is now; they are no part of what was said."""


def show_in_parts(chat: Chat, page: Page, now: int) -> Iterator[Changes]:
    """Replace a chat's blocks by its newest page; yield the changes of its end, then of each part.

    It ends early if the history is replaced or cleared between two parts.
    """
    newest, *rest = _parts(page, chat.id)
    yield show_history(chat, newest, now)
    shown = chat.older
    for part in rest:
        if chat.older is not shown:
            return
        changes, shown = show_older(chat, part, now), chat.older
        yield changes


def _parts(page: Page, chat_id: str) -> Iterator[Page]:
    """Cut a history that came whole before prompts; the newest part is first."""
    if page.older is not None:
        yield page
        return
    said, present = list[Addressed](), list[Addressed]()
    for it in page.events:
        is_present = isinstance(it.event, _PRESENT) and it.chat_id == chat_id
        (present if is_present else said).append(it)
    end, size = len(said), _SMALLEST_PART
    for begin in range(end - size, 0, -1):
        if end - begin >= size and _is_prompt(said, begin, chat_id):
            yield Page([*present, *said[begin:end]], FOLLOWS)
            end, present = begin, []
            size = min(max(_SMALLEST_PART, (len(said) - end) // _SHARE), _LARGEST_PART)
    yield Page([*present, *said[:end]], None, page.total, page.returned)


def _is_prompt(events: Sequence[Addressed], index: int, chat_id: str) -> bool:
    """Return whether a prompt begins with an event; an agent may send it in pieces."""
    return _of_user(events[index], chat_id) and not _of_user(events[index - 1], chat_id)


def _of_user(addressed: Addressed, chat_id: str) -> bool:
    event = addressed.event
    is_text = isinstance(event, TextReceived) and event.role is Role.USER
    return is_text and addressed.chat_id == chat_id
