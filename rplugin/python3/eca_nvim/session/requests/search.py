"""Search: finds the user's pattern in a chat, in a separate process (`pattern_process.py`)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.user_actions.search import MOST_HITS, places, search_answer
from eca_nvim.chat.vocabulary.ops import Answer
from eca_nvim.chat.vocabulary.query_intents import Grep
from eca_nvim.environment import child_environment
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.requests import pattern_process
from eca_nvim.session.view import View, isolated
from eca_nvim.threads import run_in_thread

TOO_LONG: Final = f"no result within {pattern_process.SECONDS} s: try a simpler pattern"
COMMAND: Final = (sys.executable, "-I", pattern_process.__file__)


async def search(intent: Grep, chats: Chats, view: View) -> None:
    """Answer the intent `grep`: hits and how many more there are, or the fault in the pattern."""
    with isolated(view, "search the chat", intent):
        chat = chats.table.get(intent.chat) or Chat(intent.chat)
        view.push([Answer(intent.request, await grep(chat, intent.pattern))])


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
