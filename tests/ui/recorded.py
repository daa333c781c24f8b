"""Recordings that a user of the whole plugin can repeat with keys and commands.

A recording is cut as in `tests.agents.recorded`, and as `CUTS` says. A marker goes between what the
server sent and what the user did next: a usage with a number of tokens that no server counts. When
the status shows it, everything before it has been drawn.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.agents.recorded import cut, stage
from tests.support.editor import Neovim
from tests.support.recording import WORKSPACE, Event
from tests.support.servers import Replay

Value: TypeAlias = Any

LIFE: Final = {"initialize", "initialized", "shutdown", "exit"}
MARK: Final = 900_000_000
RECORDED_FOLDER: Final = re.compile(r"/\w+[/_]eca-ws\b")
"""The server's folder, which the recording has in pieces, so that it cannot be replaced."""


@dataclass(frozen=True)
class Cut:
    """How to cut a recording. `prompts`: turns to keep. `late`: deeds that came too late.

    `speed`: 1 keeps its pauses.

    The user does what is late (numbers of deeds, from 0), and the server must not get it.
    """

    prompts: int | None = None
    late: frozenset[int] = frozenset()
    speed: float = 0


A_PROMPT_STEERS: Final = "the next prompt replaced a turn that waits: ours would steer it"
TYPED_EARLY: Final = "the user types within the second that the server needs to begin"
CUTS: Final[dict[str, tuple[Cut, str]]] = {
    "ask": (Cut(prompts=3), "the next answers have shapes that no user can give"),
    "broken_config": (Cut(speed=1), "a line comes a second after the server was ready"),
    "double_approve": (Cut(late=frozenset({2, 3, 4, 5, 8})), "what is decided is decided once"),
    "old_client": (Cut(prompts=4), A_PROMPT_STEERS),
    "prompt_early": (Cut(speed=1), TYPED_EARLY),
    "prompt_early_model": (Cut(speed=1), TYPED_EARLY),
    "read": (Cut(prompts=5), A_PROMPT_STEERS),
    "stop_stream": (Cut(late=frozenset({8, 9})), "nothing runs any more that could be stopped"),
    "subagent": (Cut(prompts=1), "the next prompt is for the subagent's own chat"),
    "uri_odd": (Cut(prompts=1), A_PROMPT_STEERS),
}
"""What else is cut out of recordings, and why."""


@dataclass(frozen=True)
class Deed:
    """What the user did, after `mark` was visible; None if there is nothing to wait for."""

    event: Event
    mark: int | None


@dataclass(frozen=True)
class Story:
    """A recording: its player, the user's deeds, and the last mark."""

    replay: Replay
    deeds: Sequence[Deed]
    end: int
    questions: dict[Value, str] = field(default_factory=dict)


def prepare(name: str, folder: Path) -> Story:
    """Cut and mark a recording and prepare its player."""
    how, _ = CUTS.get(name, (Cut(), ""))
    events = cut(name, how.prompts)
    marked = list(_marked(events))
    deeds = [it for it in marked if isinstance(it, Deed)]
    late = [deeds[number] for number in how.late]
    lines = [it.event if isinstance(it, Deed) else it for it in marked if it not in late]
    questions = {
        it.message["id"]: it.name
        for it in events
        if it.direction == "s2c" and it.name != "response" and "id" in it.message
    }
    ends = [it.message["params"]["content"]["sessionTokens"] for it in lines if _is_mark(it)]
    return Story(stage(name, lines, folder, how.speed).replay, deeds, ends[-1], questions)


def _marked(events: Sequence[Event]) -> Iterator[Event | Deed]:
    """Put a mark before every deed, and at the end; what the plugin does itself is not a deed."""
    chat: str | None = None
    said = False
    mark = MARK
    for event in events:
        if event.direction == "s2c":
            said, chat = True, _root_chat(event) or chat
        leaves = event.name == "shutdown" and event.direction == "c2s"
        deed = event.direction == "c2s" and event.name not in LIFE
        if (deed and said) or leaves:
            mark += 1
            yield _mark(chat, mark, event.time)
        if deed:
            yield Deed(event, mark if said else None)
        else:
            yield event
        said = said and event.name != "initialized"


def _root_chat(event: Event) -> str | None:
    """Return the chat of a server's message, unless it is a subagent's."""
    params = event.message.get("params")
    told = params if isinstance(params, dict) else event.message.get("result")
    if not isinstance(told, dict) or "parentChatId" in told:
        return None
    chat = told.get("chatId")
    return chat if isinstance(chat, str) and not chat.startswith("subagent-") else None


def _mark(chat: str | None, number: int, time: float) -> Event:
    content = {"type": "usage", "sessionTokens": number}
    params = {"chatId": chat, "role": "system", "content": content}
    method = "chat/contentReceived"
    return Event(time, "s2c", {"jsonrpc": "2.0", "method": method, "params": params})


def _is_mark(event: Event) -> bool:
    match event.message:
        case {"params": {"content": {"type": "usage", "sessionTokens": int(number)}}}:
            return number > MARK
    return False


class User:
    """Repeats a story with keys and commands."""

    def __init__(self, nvim: Neovim, story: Story) -> None:
        self._nvim = nvim
        self._story = story
        self._chat: Value = None
        self._chosen: dict[str, Value] = {}

    def relive(self) -> None:
        """Do all deeds, each after its mark, and wait for the end of the story."""
        self._nvim.keys(":EcaChat<CR>")
        for deed in self._story.deeds:
            if deed.mark is not None:
                self._see(deed.mark)
            self._do(deed.event)
        self._see(self._story.end)

    def _see(self, mark: int) -> None:
        self._nvim.wait_until(f"(require('eca').status().tokens or 0) >= {mark}")

    def _do(self, event: Event) -> None:
        params = event.message.get("params", {})
        match event.name:
            case "chat/prompt":
                self._prompt(params)
            case "chat/promptStop":
                self._nvim.keys("<C-c>")
            case "chat/toolCallApprove":
                self._nvim.keys(f":Eca approve{'!' * ('save' in params)}<CR>")
            case "chat/toolCallReject":
                self._nvim.keys(":Eca reject<CR>")
            case "response" if self._story.questions[event.message["id"]] == "chat/askQuestion":
                self._answer(event.message["result"]["answer"])

    def _prompt(self, params: dict[str, Value]) -> None:
        if self._chat not in (None, params.get("chatId")) and params.get("chatId") is not None:
            self._nvim.keys(":EcaChat!<CR>")
        self._chat = params.get("chatId")
        for what in ("model", "variant"):
            if (value := params.get(what)) is not None and value != self._chosen.get(what):
                self._nvim.keys(f":Eca {what} {value}<CR>")
                self._chosen[what] = value
        if params.get("trust"):
            self._nvim.keys(":Eca trust<CR>")
        message = params["message"].replace(WORKSPACE, str(self._nvim.launch.cwd))
        if self._nvim.eval("luaeval(\"require('eca').status().state\")") == "login":
            self._answer(message)
            return
        self._nvim.keys("i" + message.replace("<", "<lt>") + "<C-s><Esc>")

    def _answer(self, text: str | None) -> None:
        self._nvim.keys(f":Eca answer {text}<CR>" if text else ":lua require('eca').answer()<CR>")


CHATS = """
local eca = require('eca')
return vim.tbl_map(function(chat)
  local lines = vim.api.nvim_buf_get_lines(chat.buf, 0, -1, true)
  return { table.concat(lines, '\\n'), eca.transcript(chat.id) }
end, eca.chats())
"""


def told(nvim: Neovim) -> str:
    """Return all chats, as in their buffers and as Markdown."""
    parts = []
    for number, (shown, exported) in enumerate(nvim.lua(CHATS), 1):
        parts += [f"=== chat {number}, shown", shown, f"=== chat {number}, exported", exported]
    return RECORDED_FOLDER.sub("<workspace>", "\n".join(parts))
