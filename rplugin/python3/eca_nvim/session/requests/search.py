"""Search: finds a pattern in a chat in another process, and answers from a chat's blocks."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from msgspec.structs import asdict

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.place import place_at
from eca_nvim.chat.render.whole_chat import proposed_plan, transcript
from eca_nvim.chat.user_actions.history_edits import timeline
from eca_nvim.chat.user_actions.search import (
    MOST_HITS,
    places,
    reveal,
    search_answer,
    show_whole_text,
)
from eca_nvim.chat.vocabulary import query_intents
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.requests import pattern_process
from eca_nvim.session.requests.images import Images
from eca_nvim.session.view import View
from eca_nvim.spawn import child_environment
from eca_nvim.threads import run_in_thread

TOO_LONG: Final = f"no result within {pattern_process.SECONDS} s: try a simpler pattern"
COMMAND: Final = (sys.executable, "-I", pattern_process.__file__)


async def grep(chat: Chat, pattern: str) -> Mapping[str, object]:
    """Search a chat for a regular expression.

    Returns hits and how many more there are, or the fault in the pattern.
    """
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


class ChatContent:
    """Answers from what a chat contains; an unknown one counts as empty and is not created."""

    def __init__(self, chats: Chats, images: Images, view: View) -> None:
        self._chats = chats
        self._view = view
        self.table: Mapping[type[query_intents.Intent], Callable[[Any], object]] = {
            query_intents.RequestTranscript: self._transcript,
            query_intents.RequestPlan: lambda it: proposed_plan(self._chat(it.chat), it.block),
            query_intents.RequestTimeline: lambda it: timeline(self._chat(it.chat), it.block),
            query_intents.Reveal: self._reveal,
            query_intents.RequestOutput: self._output,
            query_intents.RequestPlace: self._place,
            query_intents.RequestImage: lambda it: images.file_of(
                self._chat(it.chat).blocks.get(it.block)
            ),
            query_intents.Grep: self._grep,
        }

    def _chat(self, chat_id: str) -> Chat:
        return self._chats.table.get(chat_id) or Chat(chat_id)

    def _transcript(self, intent: query_intents.RequestTranscript) -> str:
        chat = self._chat(intent.chat)
        return transcript(chat, now()) if chat.blocks else ""

    def _reveal(self, intent: query_intents.Reveal) -> int | None:
        changes, place = reveal(self._chat(intent.chat), intent.block, intent.row, now())
        self._chats.show(changes)
        return place

    def _output(self, intent: query_intents.RequestOutput) -> None:
        chat = self._chat(intent.chat)
        if (block := chat.blocks.get(intent.block)) is not None:
            self._view.push([show_whole_text(chat, block, intent.row, now())])

    def _place(self, intent: query_intents.RequestPlace) -> Mapping[str, object] | None:
        chat = self._chat(intent.chat)
        block = chat.blocks.get(intent.block)
        found = place_at(block, chat.settings, intent.row, intent.column)
        return None if found is None else asdict(found)

    async def _grep(self, intent: query_intents.Grep) -> Mapping[str, object]:
        return await grep(self._chat(intent.chat), intent.pattern)
