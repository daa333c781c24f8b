"""Chats that run at the same time, on a real screen, and a long one."""

from itertools import chain

import pytest
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import (
    MODEL,
    Steps,
    content,
    expect,
    handshake,
    progress,
    reply,
    status,
    stream,
)
from tests.ui.remembered import Reader
from tests.ui.talk import asks, done

pytestmark = pytest.mark.either_nvim

ROWS = "vim.api.nvim_buf_line_count(require('eca').chats()[{number}].buf)"
STATE = "require('eca').chats()[{number}].state"


@pytest.fixture
def reader(start_nvim: StartNeovim) -> Reader:
    nvim = start_nvim(columns=110, lines=36)
    nvim.keys(":Eca demo<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    return Reader(nvim)


def rows(reader: Reader, number: int) -> int:
    """Return how many rows the transcript of a chat has."""
    return int(reader.nvim.lua(f"return {ROWS.format(number=number)}"))


def until_grown(reader: Reader, number: int) -> None:
    """Wait until a chat that streams has more rows than now."""
    reader.until(f"{ROWS.format(number=number)} > {rows(reader, number) + 20}")


def works(*steps: Steps) -> Steps:
    """Begin a turn when it is asked for, and do what it is about."""
    answer = {"chatId": "$chat", "model": MODEL, "status": "prompting"}
    begun = [*expect("chat/prompt"), *status("running"), *reply("chat/prompt", answer)]
    return [*begun, *chain(*steps)]


def floods(until: str, *chats: str) -> Steps:
    """Stream into chats until the user does something, however long that takes him."""
    pieces = ("## Part $n\n\n", "words ", "of the **stream**\n\n")
    return stream(10_000_000, pieces, rate=3000, until=until, chats=chats)


STOPPED = [*expect("chat/promptStop"), *status("stopping"), *progress("finished")]


def test_three_chats_at_once(start_nvim: StartNeovim, scripted_server: PrepareScript) -> None:
    """Two stream and one waits; switching loses nothing, and each is answered in its turn."""
    server = scripted_server(
        handshake(),
        works(
            content({"type": "metadata", "title": "The first"}, "system"),
            floods("chat/prompt", "$chat1"),
        ),
        works(asks()),
        works(floods("chat/toolCallApprove", "$chat1", "$chat3")),
        *(expect("chat/toolCallApprove"), done(), status("idle")),
        *(floods("chat/promptStop", "$chat1", "$chat3"), STOPPED),
        *(floods("chat/promptStop", "$chat3"), STOPPED),
    )
    settings = {"server": {"command": server.command}}
    reader = Reader(start_nvim(settings=settings, columns=110, lines=36))
    reader.nvim.keys(":EcaChat one<CR>")
    reader.until(f"{ROWS.format(number=1)} > 50")
    reader.nvim.keys(":EcaChat! two<CR>")
    reader.until("#require('eca').pending() == 1")
    reader.nvim.keys(":EcaChat! three<CR>")
    for number in (1, 3, 1):
        until_grown(reader, number)
    assert reader.nvim.lua(
        "return vim.tbl_map(function(it) return it.state end, require('eca').chats())"
    ) == [
        "running",
        "waiting",
        "running",
    ]
    reader.nvim.wait_screen(lambda screen: "1●  2?" in screen.text())
    reader.nvim.keys(":Eca chats 1<CR>")
    reader.go_to("## Part 3")
    until_grown(reader, 1)
    assert reader.nvim.eval("getline('.')") == "## Part 3"
    reader.nvim.keys("]b:Eca approve<CR>")
    reader.until(f"{STATE.format(number=2)} == 'idle'")
    assert any("✓ grep" in line for line in reader.lines())
    reader.nvim.keys("[b")
    assert reader.nvim.lua("return require('eca').status().title") == "The first"
    reader.nvim.keys("<C-w>k")
    assert reader.nvim.eval("getline('.')") == "## Part 3"
    for number in (1, 3):
        reader.nvim.keys(f":Eca chats {number}<CR><Esc><C-c>")
        reader.until(f"{STATE.format(number=number)} == 'idle'")


def test_a_chat_of_yesterday_is_read_to_its_beginning(reader: Reader) -> None:
    reader.nvim.keys(":EcaChat<CR>:Eca resume<CR>")
    reader.choose("Resume", "A long chat from yesterday")
    reader.until_said("Answer **120**")
    assert reader.nvim.lua("return #require('eca').chats()") == 1
    reader.nvim.keys("<C-w>k")
    for first in ("question 21", "question 1"):
        reader.nvim.keys("gg<CR>")
        reader.until_said(f"{first}\n")
    reader.until_gone("▴ older messages")
    assert [line for line in reader.lines() if line.startswith("question")] == [
        f"question {number}" for number in range(1, 121)
    ]
    reader.nvim.keys(":Eca history<CR>")
    reader.choose("History", "question 60")
    assert reader.nvim.eval("getline('.')") == "question 60"
    reader.nvim.keys("gu")
    reader.choose('Roll back to before "question 60"', "both")
    reader.until_gone("question 60")
    reader.until_drafted("question 60")
