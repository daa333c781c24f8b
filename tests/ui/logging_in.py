"""A login with a key, as with the real server, and the places where the key must not be."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.script import (
    MODEL,
    Steps,
    expect,
    progress,
    reply,
    status,
    stderr,
    text,
)
from tests.support.servers import ScriptedServer
from tests.ui.talk import start_chat

TYPED, PASTED = "sk-ŦŊĦ", "ĐŁØ-Þ"
KEY = TYPED + PASTED
RARE = frozenset("ŦŊĦĐŁØÞ")
"""Characters of the key that are nowhere else on the screen."""
OPTIONS = [{"label": "anthropic"}, {"label": "z-ai"}]

RECORD_INTENTS = """
_G.intents = {}
vim.schedule(function()
  local host = require('eca.host')
  local send = host.send
  host.send = function(name, payload)
    table.insert(_G.intents, { name, vim.inspect(payload) })
    return send(name, payload)
  end
end)
"""
REGISTERS = """
local found = {}
for name in ('"-0123456789abcdefghijklmnopqrstuvwxyz.:/=*+%#'):gmatch('.') do
  found[#found + 1] = vim.fn.getreg(name)
end
return found
"""
HISTORIES = """
local found = require('eca.input.history').newest_first()
for kind in (':/=@>'):gmatch('.') do
  for number = 1, vim.fn.histnr(kind) do
    found[#found + 1] = vim.fn.histget(kind, number)
  end
end
return found
"""
BUFFERS = """
return vim.tbl_map(function(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\\n')
end, vim.api.nvim_list_bufs())
"""


def answers(word: str = "login") -> Steps:
    return reply("chat/prompt", {"chatId": "$chat", "status": word})


def starts(*first: Steps) -> Steps:
    """Answer `/login` as the real server does; `first` comes before the status of the chat."""
    return [
        *(*expect("chat/prompt"), *text("$prompt\n", role="user")),
        *(*text("Login started", role="system"), *chain(*first)),
        *(*status("login"), *progress("finished")),
        *reply("chat/prompt", {"chatId": "$chat", "model": MODEL, "status": "prompting"}),
    ]


def wants_key() -> Steps:
    return [*text("Paste your API Key", role="system"), *progress("finished")]


def takes_key() -> Steps:
    """Get a key; the echo hides it, the server's log does not."""
    return [
        *(*expect("chat/prompt"), *text("*****\n", role="user")),
        *stderr(f"the key is {KEY}\n"),
        *(*text("Inform one or more models", role="system"), *progress("finished")),
        *answers(),
    ]


def takes_models() -> Steps:
    """Get the last answer; the end of the login comes before the answer, which still says login."""
    return [
        *(*expect("chat/prompt"), *text("$prompt\n", role="user")),
        *(*text("saved", role="system"), *progress("finished")),
        *(*text("Login successful!", role="system"), *progress("finished")),
        *(*status("idle"), *answers()),
    ]


def is_cancelled() -> Steps:
    return [
        *(*text("Login cancelled", role="system"), *progress("finished")),
        *status("idle"),
    ]


def wait_asked(nvim: Neovim, question: str) -> None:
    nvim.wait_until(f"(require('eca').pending()[1] or {{}}).title == '{question}'")


def type_key(nvim: Neovim) -> None:
    """Type one half of the key and paste the other; only stars may be visible."""
    for count, character in enumerate(TYPED, 1):
        nvim.keys(character)
        nvim.wait_screen(f"(hidden): {'*' * count}")
    nvim.paste(PASTED)
    nvim.wait_screen(f"(hidden): {'*' * len(KEY)}")


@contextmanager
def nothing_of_the_key(nvim: Neovim) -> Iterator[None]:
    """Look everywhere for the key after the block, and quit Neovim."""
    yield
    for found in (REGISTERS, HISTORIES, BUFFERS):
        assert_clean("\n".join(nvim.lua(found)))
    assert_clean(nvim.lua("return require('eca').transcript()"))
    assert_clean(nvim.messages())
    assert not RARE & nvim.drawn
    assert_clean("\n".join(it[1] for it in nvim.lua("return _G.intents") if it[0] != "answer"))
    nvim.quit()
    assert_no_file_has_it(nvim)


def assert_no_file_has_it(nvim: Neovim) -> None:
    """Fail if a file of a Neovim that has ended contains the key."""
    for path in nvim.launch.home.rglob("*"):
        if path.is_file():
            assert_clean(path.read_bytes().decode(errors="replace"), str(path))


def assert_clean(content: str, where: str = "") -> None:
    for part in (KEY, TYPED, PASTED):
        assert part not in content, where


def start(start_nvim: StartNeovim, server: ScriptedServer) -> Neovim:
    settings = {"log_level": "debug", "approval": {"guard": 0}}
    return start_chat(start_nvim, server, settings=settings, init=RECORD_INTENTS, columns=80)
