"""What is measured: a row for each figure, with its goal, what it is compared with, and why.

The names, goals and sentences of the tables and of `doc/performance.md` are here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.figures import Goal, Row, percentile

FRAME = 0.016
"""Seconds of a frame on a screen of 60 Hz."""
SAME = 1.1
"""The largest ratio of two figures that counts as no difference."""
STALLS = {"0.10.4": 0.020, "0.12.4": 0.008}

BURST = Row(
    "2,000 chunks at once",
    2.0,
    "An answer arrives as fast as the server can write. Time until its last word is on the screen, "
    "compared with plain Lua that appends the bare text: you read as soon as there is something "
    "to read.",
)
LONG_BURST = Row(
    "20,000 chunks at once",
    2.0,
    "The same with ten times as much, compared with plain Lua: a long answer costs no more a word.",
)
ACP_BURST = Row(
    "20,000 chunks of an ACP agent",
    3.0,
    "The same by the Agent Client Protocol, compared with plain Lua that reads that protocol.",
)
HISTORY = Row(
    "2,000 chunks in a chat of 50,000 lines",
    4.0,
    "An answer at the end of a very long chat, compared with plain Lua and as many lines: chats "
    "do not become slow as they grow.",
)
FENCES = Row(
    "Code blocks of 2,000 lines",
    2.0,
    "Lua, Python and C, coloured as they stream, compared with plain Lua that shows them without "
    "colours.",
)
CALLS = Row(
    "500 tool calls with 40 lines of output each",
    6.0,
    "Each call has its block with state, time and output. Plain Lua, with which it is compared, "
    "writes a line for each.",
)
DIFFS = Row(
    "200 tool calls with diffs of 300 lines",
    3.0,
    "Each edit is shown as a diff, compared with plain Lua that writes a line for each.",
)
MESSAGE = Row(
    "One message of 5 MB",
    2.3,
    "All of it is one chunk. Time to its last line, compared with plain Lua.",
)
REPLAY_END = Row(
    "A resumed chat of 2,000 messages: its end",
    3.0,
    "Time until you can read the last messages, compared with plain Lua that writes all of them.",
)
REPLAY = Row(
    "A resumed chat of 2,000 messages: all of it",
    3.0,
    "Time until the first message is there, too, compared with the same plain Lua.",
)
PACED = Row(
    "CPU for 10 s of 200 chunks a second",
    1.0,
    "CPU seconds of Neovim and the plugin's process, for a model faster than most, compared with "
    "plain Lua: what streaming takes from your battery and your other programs.",
    Goal.ITSELF,
)
PANEL = Row(
    "2,000 chunks with the dashboard open",
    SAME,
    "Compared with the same without the dashboard: a list of chats on the screen costs nothing.",
)
BUFFERS_CPU = Row(
    "300 loaded files: CPU while text streams",
    SAME,
    "Compared with one loaded file: what you have open makes no difference.",
)
BUFFERS_KEYS = Row(
    "300 loaded files: key to screen while text streams",
    SAME,
    "Compared with one loaded file.",
)

KEYS = Row(
    "A key while text streams (99 % of them)",
    0.005,
    "You type into another window during the rows above. Time from the key to its letter on the "
    "screen, compared with typing beside plain Lua: you never feel that an agent works.",
    Goal.ITSELF,
    of=percentile(99),
)
SMOOTH_STALL = Row(
    "Longest stall at 200 chunks a second",
    STALLS,
    "The longest time in which Neovim could not react to a key, compared with plain Lua. A frame "
    "of a screen is 16 ms.",
    Goal.ITSELF,
)
LONG_STALL = Row(
    "Longest stall at full speed",
    STALLS,
    "The same while 20,000 chunks arrive at once. Plain Lua draws all that it has read in one go.",
    Goal.ITSELF,
)
FENCES_STALL = Row(
    "Longest stall in code blocks of 2,000 lines",
    STALLS,
    "The same while code is parsed and coloured, compared with plain Lua without colours.",
    Goal.ITSELF,
)
MESSAGE_STALL = Row(
    "Longest stall with one message of 5 MB",
    0.033,
    "The same while the huge message is drawn, compared with plain Lua.",
    Goal.ITSELF,
)
INLINE = Row(
    "A key with inline completion on",
    SAME,
    "Time from a key in code to the screen while completions are asked for and shown, compared "
    "with inline completion off.",
)
REWRITING = Row(
    "A key while two rewrites stream (95 % of them)",
    FRAME,
    "Two functions of the file in which you type are being rewritten, compared with none: no key "
    "is late by more than a frame.",
    Goal.ITSELF,
    of=percentile(95),
)
FLOOD_STALL = Row(
    "A command that prints 50 MB: longest stall",
    1.0,
    "An agent runs it in a chat, compared with Neovim's own `:terminal` with the same command.",
)
FLOOD_KEYS = Row(
    "A command that prints 50 MB: key to screen (99 % of them)",
    1.0,
    "You type beside it, compared with typing beside Neovim's `:terminal`.",
    of=percentile(99),
)
FLOOD_TIME = Row(
    "A command that prints 50 MB: time to its last line",
    1.0,
    "The plugin does not slow the command, compared with Neovim's `:terminal`.",
)

STARTUP = Row(
    "Added to Neovim's start",
    0.0005,
    "`nvim +q` with the plugin installed, compared with the same without it: you pay when you "
    "use it.",
    Goal.MORE,
)
WINDOW = Row(
    "`:EcaChat` to its windows",
    0.020,
    "The first one in a new Neovim, compared with plain Lua that opens two empty windows: you can "
    "type at once, whatever the server does.",
    Goal.ITSELF,
)
INSTANT = Row(
    "`:EcaChat` to the first prompt it could send",
    0.150,
    "With a server that is ready at once, compared with the first answer of the smallest possible "
    "remote plugin in Python.",
    Goal.ITSELF,
)
READY = Row(
    "`:EcaChat` to the first prompt, less the server's own start",
    1.5,
    "With a server that takes as long to start as that smallest remote plugin, with which it is "
    "compared: the plugin starts while the server does.",
)

COMPLETION_KEYS = Row(
    "Completion among 100,000 files: key to screen",
    1.0,
    "You type `@` and letters of a path, compared with Neovim's `matchfuzzy()` over a ready list: "
    "no key waits for the search.",
)
COMPLETION_MENU = Row(
    "Completion among 100,000 files: first menu",
    4.0,
    "Time from the `@` to a menu, compared with the same ready list, which has no server to ask.",
)
COMPLETION_FILES = Row(
    "Completion among 100,000 files: first menu with files",
    6.0,
    "Time from the first `@` of a Neovim to a menu with files, compared with `git ls-files` in a "
    "shell: the files are listed when you first need them.",
)
PROMPT = Row(
    "A prompt with checkpoints of 20,000 files",
    SAME,
    "Time from sending a prompt to the server that has read it, compared with checkpoints off: "
    "being able to go back costs no time.",
)
MEMORY = Row(
    "Memory for checkpoints of 20,000 files",
    20.0,
    "The most memory of the plugin's process after 15 prompts, compared with checkpoints off.",
    Goal.MORE,
    unit="MiB",
)

FIRST_CHECKPOINT = Row(
    "The first checkpoint of 100,000 files",
    1.5,
    "1 GB of text is stored for the first time, compared with `git add -A` in a new repository.",
    of=min,
)
NEXT_CHECKPOINT = Row(
    "Each further one",
    0.5,
    "Nothing has changed since, as before most prompts, compared with the same `git add -A`.",
    of=min,
)
CHECKPOINT_MEMORY = Row(
    "Memory for them",
    20.0,
    "The most memory that the process which asks git has taken, compared with before.",
    Goal.MORE,
    unit="MiB",
    of=max,
)

SECTIONS: Mapping[str, Sequence[Row]] = {
    "Text on the screen": (
        *(BURST, LONG_BURST, ACP_BURST, HISTORY, FENCES, CALLS, DIFFS, MESSAGE),
        *(REPLAY_END, REPLAY, PACED, PANEL, BUFFERS_CPU),
    ),
    "Keys and stalls": (
        *(KEYS, BUFFERS_KEYS, INLINE, REWRITING),
        *(SMOOTH_STALL, LONG_STALL, FENCES_STALL, MESSAGE_STALL),
        *(FLOOD_STALL, FLOOD_KEYS, FLOOD_TIME),
    ),
    "Starting": (STARTUP, WINDOW, INSTANT, READY),
    "Large projects": (COMPLETION_KEYS, COMPLETION_MENU, COMPLETION_FILES, PROMPT, MEMORY),
    "Checkpoints of a very large project": (FIRST_CHECKPOINT, NEXT_CHECKPOINT, CHECKPOINT_MEMORY),
}
"""All rows in the order of the page. Those of the last section need no Neovim."""
