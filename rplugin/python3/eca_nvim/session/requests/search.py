"""Search: finds a pattern in a chat in another process, and answers from a chat's blocks.

Rules kept here:
- An unknown chat counts as empty and is not created.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from msgspec.structs import asdict

from eca_nvim.chat.model.blocks import Block, ImageBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.place import place_at
from eca_nvim.chat.render.whole_chat import transcript
from eca_nvim.chat.user_actions.history_edits import timeline
from eca_nvim.chat.user_actions.search import (
    MOST_HITS,
    places,
    reveal,
    search_answer,
    show_whole_text,
)
from eca_nvim.chat.vocabulary import ops, query_intents
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.requests import pattern_process
from eca_nvim.session.requests.images import Images, StrangeImage
from eca_nvim.session.view import View, isolated
from eca_nvim.spawn import child_environment
from eca_nvim.threads import run_in_thread

TOO_LONG: Final = f"no result within {pattern_process.SECONDS} s: try a simpler pattern"
COMMAND: Final = (sys.executable, "-I", pattern_process.__file__)


async def search(intent: query_intents.Grep, chats: Chats, view: View) -> None:
    """Answer the intent `grep`: hits and how many more there are, or the fault in the pattern."""
    with isolated(view, "search the chat", intent):
        chat = chats.table.get(intent.chat) or Chat(intent.chat)
        view.push([ops.Answer(intent.request, await grep(chat, intent.pattern))])


async def grep(chat: Chat, pattern: str) -> Mapping[str, object]:
    """Search a chat for a regular expression."""
    searched = places(chat, now())
    result = await run_in_thread(partial(_matches, pattern, [place.line for place in searched]))
    if pattern_process.FAULT in result:
        return result
    found = [(searched[number], start) for number, start in result[pattern_process.MATCHES]]
    return search_answer(found, result[pattern_process.MORE])


def _matches(pattern: str, lines: list[str]) -> Mapping[str, Any]:
    """Run the process and return its result; blocks, so runs in a thread."""
    done = subprocess.run(
        COMMAND,
        input=json.dumps([pattern, lines, MOST_HITS]),
        capture_output=True,
        text=True,
        check=False,
        env=child_environment(),
    )
    if done.returncode < 0:  # ended by the alarm
        return {pattern_process.FAULT: TOO_LONG}
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


log = logging.getLogger(__name__)


def answer_from_chat(
    intent: query_intents.ContentRequest, chats: Chats, images: Images, view: View
) -> None:
    """Answer a request, or show what it asks for."""
    chat = chats.table.get(intent.chat) or Chat(intent.chat)
    match intent:
        case query_intents.RequestTranscript(_, request):
            view.push([ops.Answer(request, transcript(chat, now()) if chat.blocks else "")])
        case query_intents.RequestTimeline(_, request, block):
            view.push([ops.Answer(request, timeline(chat, block))])
        case query_intents.Reveal(_, block, request, row):
            changes, place = reveal(chat, block, row, now())
            chats.show(changes)
            view.push([ops.Answer(request, place)])
        case query_intents.RequestOutput(_, block, row):
            if block in chat.blocks:
                view.push([show_whole_text(chat, chat.blocks[block], row, now())])
        case query_intents.RequestPlace(_, block, column, request, row):
            found = place_at(chat.blocks.get(block), chat.settings, row, column)
            view.push([ops.Answer(request, found and asdict(found))])
        case query_intents.RequestImage(_, block, request):
            view.push([ops.Answer(request, _image_file(chat.blocks.get(block), images))])


def _image_file(block: Block | None, images: Images) -> str | None:
    """Write an image to a file and return its path, None if it cannot be shown."""
    if not isinstance(block, ImageBlock):
        return None
    try:
        return str(images.write_block(block))
    except (OSError, StrangeImage) as fault:
        log.info("cannot show an image: %s", fault)
        return None
