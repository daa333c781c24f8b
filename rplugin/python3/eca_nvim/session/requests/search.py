"""Search: the user's own pattern, looked for in a chat by a process (`pattern_process.py`)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import eca_nvim.session.requests.pattern_process as matching
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.user_actions.search import MOST_HITS, hits, places
from eca_nvim.chat.vocabulary.ops import Answer
from eca_nvim.chat.vocabulary.query_intents import Grep
from eca_nvim.environment import child_environment
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.files.surveys import in_thread
from eca_nvim.session.view import View, isolated

TOO_LONG: Final = f"not found within {matching.SECONDS} s: try a simpler pattern"
COMMAND: Final = (sys.executable, "-I", matching.__file__)


async def search(wanted: Grep, chats: Chats, view: View) -> None:
    """Answer the intent `grep`: hits, how many more there are, or the fault in the pattern."""
    with isolated(view, "search the chat", wanted):
        chat = chats.table.get(wanted.chat) or Chat(wanted.chat)
        view.push([Answer(wanted.request, await grep(chat, wanted.pattern))])


async def grep(chat: Chat, pattern: str) -> Mapping[str, object]:
    """Look for a regular expression in a chat."""
    there = places(chat, now())
    told = await in_thread(partial(_matches, pattern, [place.line for place in there]))
    if matching.FAULT in told:
        return told
    found = [(there[number], start) for number, start in told[matching.MATCHES]]
    return hits(found, told[matching.MORE])


def _matches(pattern: str, lines: list[str]) -> Mapping[str, Any]:
    """Have a process match lines, and wait for it."""
    asked = json.dumps([pattern, lines, MOST_HITS])
    done = subprocess.run(
        COMMAND,
        input=asked,
        capture_output=True,
        text=True,
        check=False,
        env=child_environment(),
    )
    if done.returncode < 0:  # the system has ended it
        return {matching.FAULT: TOO_LONG}
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
