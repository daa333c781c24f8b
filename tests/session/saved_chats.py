"""A chat that the agent keeps, for tests of saved chats."""

from __future__ import annotations

import anyio
from tests.session.fake_archive import FakeArchive
from tests.session.rig import Rig

from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.events import Addressed, ChatEvent, Role, TextReceived
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded

RUNNING, ENDED = TurnBegan(), TurnEnded()


def prompt(text: str, content_id: str) -> TextReceived:
    return TextReceived(Role.USER, f"\n{text}", content_id)


def page(chat: str, *events: ChatEvent, older: str | None = None) -> Page:
    return Page([Addressed(chat, event) for event in events], older, 9, 2)


async def talking(rig: Rig, chat: str = "a") -> FakeArchive:
    """Start the agent and play a turn of a chat."""
    agent = await rig.ready(chat)
    rig.do(intents.SendPrompt(chat, "hello"))
    await rig.view.until(lambda: agent.told)
    answer = TextReceived(Role.ASSISTANT, "hi there")
    agent.say(chat, TextReceived(Role.USER, "hello\n", "u1"), RUNNING, answer, ENDED)
    return agent.archive


async def asked(rig: Rig, *done: intents.Intent) -> list[tuple[object, ...]]:
    """Send an intent, wait until the agent gets a request, and return all of its requests."""
    archive = rig.agent.archive
    count = len(archive.asked)
    rig.do(*done)
    with anyio.fail_after(60):
        while len(archive.asked) == count:
            await anyio.lowlevel.checkpoint()
    await anyio.wait_all_tasks_blocked()
    return archive.asked


async def warned(rig: Rig, *done: intents.Intent) -> str:
    """Send an intent that fails, and return the message."""
    count = len(rig.lines())
    rig.do(*done)
    await rig.view.until(lambda: len(rig.lines()) > count)
    return rig.lines()[-1]
