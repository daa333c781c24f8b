"""Recordings that an agent can relive: the script leaves out what it never sends.

The client that made the recordings tried everything; this agent sends prompts, answers and
decisions. Other requests are removed, with their answers, so the report of the player is empty
exactly if the agent sent what was recorded.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tests.agents.client import Client
from tests.support.recording import Event, read_recording
from tests.support.servers import RECORDINGS, Replay, module_command

from eca_nvim.agents.eca.contents import ALWAYS_ID
from eca_nvim.agents.eca.prompts import Selection
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.options import OptionsChanged
from eca_nvim.chat.vocabulary.requests import ALLOW, REJECT

Value: TypeAlias = Any

SPOKEN = {
    *("initialize", "initialized", "shutdown", "exit"),
    *("chat/prompt", "chat/promptStop", "chat/toolCallApprove", "chat/toolCallReject"),
}
LIFE = {"initialize", "initialized", "shutdown", "exit"}


@dataclass(frozen=True)
class Recorded:
    """A cut recording; `events` are its lines."""

    events: Sequence[Event]
    replay: Replay

    def report(self) -> dict[str, Value]:
        """Return the differences, after the player has ended."""
        report = self.replay.report()
        assert report is not None
        return {name: report[name] for name in ("missing", "different")}


def prepare(name: str, folder: Path, prompts: int | None = None) -> Recorded:
    """Cut a recording and prepare its player; `prompts`: the number of turns to keep."""
    return stage(name, cut(name, prompts), folder)


def cut(name: str, prompts: int | None = None) -> list[Event]:
    """Read a recording without the requests that this client never sends, and their answers."""
    return list(_turns(_spoken(read_recording(RECORDINGS / f"{name}.jsonl")), prompts))


def stage(name: str, events: Sequence[Event], folder: Path, speed: float = 0) -> Recorded:
    """Prepare a player of these events; with `speed` 1 it keeps the pauses."""
    script, report = folder / f"{name}.jsonl", folder / f"{name}.report.json"
    lines = [{"t": it.time, "dir": it.direction, "msg": it.message} for it in events]
    script.write_text("".join(json.dumps(line) + "\n" for line in lines))
    arguments = (str(script), "--report", str(report), "--speed", str(speed))
    command = module_command("tests.support.replay_server", *arguments)
    return Recorded(events, Replay(command, report))


async def relive(client: Client, recorded: Recorded) -> None:
    """Repeat what the recorded user did, each action after all that the server sent before it."""
    expected = 0
    chats = _chat_ids(recorded.events)
    for event in recorded.events:
        if event.name == "shutdown":
            break
        if event.direction == "s2c":
            expected += _is_read(event, recorded.events)
        elif event.name not in LIFE:
            await _caught_up(client, expected)
            await _open(client, chats)
            _act(client, event, recorded.events, chats)
    await _caught_up(client, expected)
    await _open(client, chats)


async def _open(client: Client, chats: dict[Value, str]) -> None:
    """Open the chats, once: of a recording without chats a new one."""
    await client.until(client.ready.is_set)
    if not client.all(OptionsChanged):
        for chat in sorted({*chats.values()} or {"our-1"}):
            client.agent.open_chat(chat)


async def _caught_up(client: Client, count: int) -> None:
    await client.until(lambda: len(client.heard) >= count)


def _spoken(events: Sequence[Event]) -> Iterator[Event]:
    """Remove what the agent does not send, and the answers to it."""
    asked: list[Value] = []
    for event in events:
        number = event.message.get("id")
        if event.direction == "c2s":
            if event.name in SPOKEN:
                asked.append(number)
            elif event.name != "response":
                continue
        elif event.name == "response" and number not in asked:
            continue
        yield event


def _turns(events: Iterator[Event], prompts: int | None) -> Iterator[Event]:
    """Remove all prompts after the last wanted one, up to the shutdown."""
    seen = 0
    farewell: set[Value] = set()
    for event in events:
        seen += event.name == "chat/prompt"
        if event.direction == "c2s" and event.name == "shutdown":
            farewell.add(event.message["id"])
        leaving = event.name in {"shutdown", "exit"} or event.message.get("id") in farewell
        if prompts is None or seen <= prompts or leaving:
            yield event


def _is_read(event: Event, events: Sequence[Event]) -> bool:
    """Return whether `Client.heard` counts a message of the server."""
    return event.name != "response" or _request(event, events, "c2s") == "chat/prompt"


def _request(answer: Event, events: Sequence[Event], asker: str) -> str:
    """Return the method that an answer is for."""
    number = answer.message["id"]
    asked = [
        it.name
        for it in events
        if it.direction == asker and it.name != "response" and it.message.get("id") == number
    ]
    return asked[0]


def _chat_ids(events: Sequence[Event]) -> dict[Value, str]:
    """Assign each recorded chat an id of ours; a chat without one also has that of its answer."""
    names: dict[Value, str] = {}
    for event in events:
        if event.name != "chat/prompt":
            continue
        recorded = event.message["params"].get("chatId")
        chat = names.setdefault(recorded, f"our-{len(set(names.values())) + 1}")
        if recorded is None:
            [answer] = [
                it.message["result"]["chatId"]
                for it in events
                if it.direction == "s2c"
                and it.name == "response"
                and it.message["id"] == event.message["id"]
            ]
            names[answer] = chat
    return names


def _act(client: Client, event: Event, events: Sequence[Event], chats: dict[Value, str]) -> None:
    agent, params = client.agent, event.message.get("params", {})
    chat = chats.get(params.get("chatId"), "unknown-chat")
    match event.name:
        case "chat/prompt":
            client.prefer(chat, _selection(params))
            agent.prompt(Prompt(chat, params["message"]))
        case "chat/promptStop":
            agent.stop(chat)
        case "chat/toolCallApprove":
            choice = ALWAYS_ID if params.get("save") == "session" else ALLOW.id
            agent.decide(chat, params["toolCallId"], choice)
        case "chat/toolCallReject":
            agent.decide(chat, params["toolCallId"], REJECT.id)
        case "response" if _request(event, events, "s2c") == "chat/askQuestion":
            number = event.message["id"]
            [asked] = [
                it.message["params"]["requestId"]
                for it in events
                if it.name == "chat/askQuestion" and it.message["id"] == number
            ]
            agent.answer(asked, event.message["result"]["answer"])
        case "response":
            pass  # the agent itself answers these, with the editor's services
        case _:
            raise AssertionError(event.name)


def _selection(params: dict[str, Value]) -> Selection:
    return Selection(
        model=params.get("model"),
        agent=params.get("agent") or params.get("behavior"),
        variant=params.get("variant"),
        trust=bool(params.get("trust")),
    )
