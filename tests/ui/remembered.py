"""Recordings of changes of histories, cut to what this plugin does, and repeated.

The client that made them tried everything. `keep` joins parts of one, in any order: a request, and
all that followed it until the next request.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.agents.recorded import stage
from tests.support.editor import Neovim
from tests.support.recording import WORKSPACE, Event, read_recording
from tests.support.servers import RECORDINGS, Replay

Value: TypeAlias = Any

LIFE: Final = {"initialize", "initialized", "shutdown", "exit"}


def keep(name: str, *numbers: int) -> list[Event]:
    """Read a recording: its beginning, the exchanges of these requests in order, its end."""
    events = read_recording(RECORDINGS / f"{name}.jsonl")
    farewell = [event for event in events if _is_farewell(event, events)]
    exchanges = _exchanges([event for event in events if event not in farewell])
    return [*exchanges[None], *(it for number in numbers for it in exchanges[number]), *farewell]


def _exchanges(events: Sequence[Event]) -> dict[int | None, list[Event]]:
    """Cut a recording by requests; its beginning is under None."""
    found: dict[int | None, list[Event]] = {None: []}
    current: int | None = None
    begun = True
    for event in events:
        if event.direction == "c2s" and event.name not in LIFE:
            begun = begun and event.name == "initialized"
            current = event.message.get("id", current)
        if begun or current is not None:
            found.setdefault(current, []).append(event)
    return found


def _is_farewell(event: Event, events: Sequence[Event]) -> bool:
    if event.name in {"shutdown", "exit"}:
        return True
    asked = {it.message["id"] for it in events if it.name == "shutdown"}
    return event.name == "response" and event.message["id"] in asked


def also(events: Sequence[Event], after: int, *messages: Value) -> list[Event]:
    """Add messages that were not recorded after the answer to a request.

    A message with method and id is from the client, all others are from the server.
    """
    place = next(
        index
        for index, event in enumerate(events)
        if event.direction == "s2c" and event.name == "response" and event.message["id"] == after
    )
    made = [
        Event(events[place].time, "c2s" if "method" in it and "id" in it else "s2c", it)
        for it in messages
    ]
    return [*events[: place + 1], *made, *events[place + 1 :]]


def play(name: str, events: Sequence[Event], folder: Path) -> Replay:
    """Prepare to play these events."""
    return stage(name, events, folder).replay


class Reader:
    """A user at the keyboard of a Neovim with a server."""

    def __init__(self, nvim: Neovim) -> None:
        self.nvim = nvim
        nvim.lua("""
        _G.asked = {}
        vim.ui.select = function(items, options, done)
          local labels = vim.tbl_map(options.format_item or tostring, items)
          _G.asked = { prompt = options.prompt, labels = labels }
          _G.answer = function(text)
            _G.asked = {}
            for index, label in ipairs(labels) do
              if label:find(text, 1, true) then
                return done(items[index])
              end
            end
            error('no ' .. text .. ' in ' .. vim.inspect(labels))
          end
        end
        """)

    def prompt(self, text: str) -> None:
        """Send a prompt from the input."""
        said = self.here(text).replace("<", "<lt>")
        self.nvim.keys(f":EcaChat<CR>i{said}<C-s><Esc>")

    def here(self, text: str) -> str:
        """Replace the folder of the recording in a text by that of this run."""
        return text.replace(WORKSPACE, str(self.nvim.launch.cwd))

    def until(self, condition: str) -> None:
        """Wait until a Lua condition is true."""
        self.nvim.wait_until(condition)

    def until_answered(self, text: str, count: int = 1) -> None:
        """Wait until the transcript has a text this many times, and the turn is over."""
        self.until(
            f"select(2, ({TEXT}):gsub(vim.pesc({text!r}), '')) == {count} "
            "and require('eca').status().state == 'idle'"
        )

    def until_said(self, text: str) -> None:
        """Wait until the visible transcript has a text."""
        self.until(f"({TEXT}):find({text!r}, 1, true)")

    def until_gone(self, text: str) -> None:
        """Wait until the visible transcript no longer has a text."""
        self.until(f"not ({TEXT}):find({text!r}, 1, true)")

    def choose(self, prompt: str, text: str) -> list[str]:
        """Wait for a list whose prompt begins so, choose the item with a text, return labels."""
        self.until(f"vim.startswith(_G.asked.prompt or '', {prompt!r})")
        labels: list[str] = self.nvim.lua("return _G.asked.labels")
        self.nvim.lua("_G.answer(...)", text)
        return labels

    def go_to(self, text: str) -> None:
        """Put the cursor on the first line of the transcript with a text."""
        self.nvim.lua(GO, text)

    def until_drafted(self, text: str) -> None:
        """Wait until the visible input has exactly this text."""
        self.nvim.wait_for(lambda: self.draft() == text, f"the draft {text!r}")

    def draft(self) -> str:
        """Return the text of the visible input."""
        lines: list[str] = self.nvim.lua(f"return vim.fn.getbufline({CHAT}.input, 1, '$')")
        return "\n".join(lines)

    def lines(self) -> list[str]:
        """Return the lines of the visible transcript."""
        lines: list[str] = self.nvim.lua(f"return vim.split({TEXT}, '\\n')")
        return lines


CHAT: Final = "require('eca.chat.buffers').get(require('eca.window').chat_shown())"
TEXT: Final = f"table.concat(vim.api.nvim_buf_get_lines({CHAT}.buf, 0, -1, true), '\\n')"
GO: Final = f"""
local text = ...
local buf = {CHAT}.buf
local win = require('eca.window').shown()
for row, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, true)) do
  if line:find(text, 1, true) then
    vim.api.nvim_set_current_win(win)
    vim.api.nvim_win_set_cursor(win, {{ row, 0 }})
    return
  end
end
error('no line with ' .. text)
"""
