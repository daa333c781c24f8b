"""Chat content: requests that are answered from a chat's blocks, such as its transcript.

Rule kept here: an unknown chat counts as empty and is not created.
"""

from __future__ import annotations

import binascii
import logging
from base64 import b64decode

from msgspec.structs import asdict

from eca_nvim.chat.model.blocks import Block, ImageBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.markdown import transcript
from eca_nvim.chat.render.place import place_at
from eca_nvim.chat.user_actions.history_changes import timeline
from eca_nvim.chat.user_actions.search import reveal, show_whole_text
from eca_nvim.chat.vocabulary.ops import Answer
from eca_nvim.chat.vocabulary.query_intents import (
    ContentRequest,
    RequestImage,
    RequestOutput,
    RequestPlace,
    RequestTimeline,
    RequestTranscript,
    Reveal,
)
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.requests.images import Images, StrangeImage
from eca_nvim.session.view import View

log = logging.getLogger(__name__)


def answer_from_chat(intent: ContentRequest, chats: Chats, images: Images, view: View) -> None:
    """Answer a request, or show what it asks for."""
    chat = chats.table.get(intent.chat) or Chat(intent.chat)
    match intent:
        case RequestTranscript(_, request):
            view.push([Answer(request, transcript(chat, now()) if chat.blocks else "")])
        case RequestTimeline(_, request, block):
            view.push([Answer(request, timeline(chat, block))])
        case Reveal(_, block, request, row):
            changes, place = reveal(chat, block, row, now())
            chats.show(changes)
            view.push([Answer(request, place)])
        case RequestOutput(_, block, row):
            if block in chat.blocks:
                view.push([show_whole_text(chat, chat.blocks[block], row, now())])
        case RequestPlace(_, block, column, request, row):
            found = place_at(chat.blocks.get(block), chat.settings, row, column)
            view.push([Answer(request, found and asdict(found))])
        case RequestImage(_, block, request):
            view.push([Answer(request, _image_file(chat.blocks.get(block), images))])


def _image_file(block: Block | None, images: Images) -> str | None:
    """Write an image to a file and return its path, None if it cannot be shown."""
    if not isinstance(block, ImageBlock):
        return None
    try:
        return str(images.write(block.media_type, b64decode(block.base64, validate=True)))
    except (OSError, StrangeImage, binascii.Error) as fault:
        log.info("cannot show an image: %s", fault)
        return None
