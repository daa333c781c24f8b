"""Reading: what the user wants to know of a chat, answered from what is there.

Rules kept here: a chat that nobody knows is empty, and is not made by being asked about.
"""

from __future__ import annotations

from typing import TypeAlias

from eca_nvim.chat.editing import timeline
from eca_nvim.chat.history_intents import RequestTimeline
from eca_nvim.chat.intents import RequestTranscript
from eca_nvim.chat.keep_intents import Grep, RequestOutput, Reveal
from eca_nvim.chat.markdown_export import transcript
from eca_nvim.chat.model import Chat
from eca_nvim.chat.ops import Answer
from eca_nvim.chat.search import grep, reveal, whole
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.view import View

ReadIntent: TypeAlias = RequestTranscript | RequestTimeline | Grep | Reveal | RequestOutput


def read(intent: ReadIntent, chats: Chats, view: View) -> None:
    """Answer, or show, what an intent asks for."""
    chat = chats.table.get(intent.chat) or Chat(intent.chat)
    match intent:
        case RequestTranscript(_, request):
            view.push([Answer(request, transcript(chat, now()) if chat.blocks else "")])
        case RequestTimeline(_, request):
            view.push([Answer(request, timeline(chat))])
        case Grep(_, pattern, request):
            view.push([Answer(request, grep(chat, pattern, now()))])
        case Reveal(_, block, request, row):
            changes, place = reveal(chat, block, row, now())
            chats.show(changes)
            view.push([Answer(request, place)])
        case RequestOutput(_, block, row):
            if block in chat.blocks:
                view.push([whole(chat, chat.blocks[block], row, now())])
