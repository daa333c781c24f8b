"""A login with a key: in no file, buffer, register, history or log, and never on the screen."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

import pytest
from tests.support.client import TIMEOUT
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import (
    MODEL,
    Steps,
    ask,
    expect,
    handshake,
    leave,
    progress,
    reply,
    status,
    stderr,
    text,
    turn,
)
from tests.support.servers import ScriptedServer
from tests.ui.staged import CHAT, WITHOUT_HOST, draw, sent, wait_sent
from tests.ui.talk import draft, lines_of, prompts, say, start_chat, wait_idle, wait_line

TYPED, PASTED = "sk-ŦŊĦ", "ĐŁØ-Þ"
KEY = TYPED + PASTED
RARE = frozenset("ŦŊĦĐŁØÞ")
"""Characters of the key that nothing else draws."""
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
local found = require('eca.history').newest_first()
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
    """Answer `/login` as the real server does: `first` before it says what the chat does now."""
    return [
        *(*expect("chat/prompt"), *text("$prompt\n", role="user")),
        *(*text("Login started", role="system"), *chain(*first)),
        *(*status("login"), *progress("finished")),
        *reply("chat/prompt", {"chatId": "$chat", "model": MODEL, "status": "prompting"}),
    ]


def wants_key() -> Steps:
    return [*text("Paste your API Key", role="system"), *progress("finished")]


def takes_key() -> Steps:
    """Take a key, whose echo hides it; the server's own log does not."""
    return [
        *(*expect("chat/prompt"), *text("*****\n", role="user")),
        *stderr(f"the key is {KEY}\n"),
        *(*text("Inform one or more models", role="system"), *progress("finished")),
        *answers(),
    ]


def takes_models() -> Steps:
    """Take the last answer: what ends the login comes before the answer that still says login."""
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


def wait_login(nvim: Neovim) -> None:
    nvim.wait_screen("Login>")
    assert nvim.lua("return require('eca').status().state") == "login"


def type_key(nvim: Neovim) -> None:
    """Type one half of the key and paste the other; only dots are ever to be seen."""
    nvim.keys("i")
    for count, character in enumerate(TYPED, 1):
        nvim.keys(character)
        nvim.wait_screen(f"Login> {'•' * count}")
    nvim.paste(PASTED)
    nvim.wait_screen(f"Login> {'•' * len(KEY)}")


@contextmanager
def nothing_of_the_key(nvim: Neovim) -> Iterator[None]:
    """Look everywhere for the key once the block is done; Neovim is quit then."""
    yield
    for found in (REGISTERS, HISTORIES, BUFFERS):
        assert_clean("\n".join(nvim.lua(found)))
    assert_clean(nvim.lua("return require('eca').transcript()"))
    assert_clean(nvim.messages())
    assert not RARE & nvim.drawn
    assert_clean("\n".join(it[1] for it in nvim.lua("return _G.intents") if it[0] != "login"))
    nvim.quit()
    assert_no_file_has_it(nvim)


def assert_no_file_has_it(nvim: Neovim) -> None:
    """Look for the key in what a Neovim that has ended leaves behind."""
    for path in nvim.launch.home.rglob("*"):
        if path.is_file():
            assert_clean(path.read_bytes().decode(errors="replace"), str(path))


def assert_forgotten(nvim: Neovim) -> None:
    """Fail when Vim can bring back what was just sent from the input."""
    assert nvim.eval("undotree().entries") == []
    assert nvim.eval("@.").strip("\x1b") == ""
    nvim.keys("uU.")
    assert draft(nvim) == ""


def assert_clean(content: str, where: str = "") -> None:
    for part in (KEY, TYPED, PASTED):
        assert part not in content, where


def start(start_nvim: StartNeovim, server: ScriptedServer) -> Neovim:
    settings = {"log_level": "debug"}
    return start_chat(start_nvim, server, settings=settings, init=RECORD_INTENTS, columns=80)


def test_a_key_is_nowhere_but_with_the_server(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(
        *(handshake(), starts(wants_key()), takes_key(), takes_models()),
        *(turn(text("answer")), turn(text("later"))),
    )
    nvim = start(start_nvim, server)
    nvim.keys("idraft of mine<Esc>:EcaChat /login z-ai<CR>")
    wait_login(nvim)
    with nothing_of_the_key(nvim):
        screen = nvim.wait_screen("? login")
        assert "draft of mine" not in screen
        assert "@" not in screen.lines()[screen.find("Login>").row - 1]
        nvim.keys(":Eca queue for later<CR>")
        nvim.wait_screen("⧗ for later")
        type_key(nvim)
        nvim.keys("<M-p><M-n><Esc>yy0Dpvly:s/x/y/e<CR>")
        nvim.wait_screen(f"Login> {'•' * len(KEY)}")
        nvim.keys("<C-s>")
        wait_line(nvim, "Inform one or more models")
        assert prompts(server) == ["/login z-ai", KEY]
        assert not server.received("chat/promptSteer")
        assert "contexts" not in server.received("chat/prompt")[1]["params"]
        assert lines_of(nvim).count("*****") == 1
        nvim.keys("u.")
        assert_clean(draft(nvim))
        nvim.keys("ccglm-4<C-s>")
        wait_line(nvim, "Login successful!")
        nvim.wait_for(lambda: prompts(server)[2:] == ["glm-4", "for later"], "what waited")
        nvim.wait_screen("> draft of mine")
        nvim.keys("<Esc>uuuuUU")
        assert_clean(draft(nvim))
        wait_idle(nvim)


def test_a_question_is_answered_in_the_input_and_never_by_a_key(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    which = {"chatId": "$chat", "question": "Select the provider:", "options": OPTIONS}
    asks = ask("chat/askQuestion", {**which, "allowFreeform": False, "requestId": "r1"})
    server = scripted_server(handshake(), starts(), asks, wants_key(), takes_key(), takes_models())
    nvim = start(start_nvim, server)
    say(nvim, "/login")
    nvim.wait_screen("Select the provider:")
    wait_login(nvim)
    with nothing_of_the_key(nvim):
        type_key(nvim)
        nvim.keys("<C-s><Esc>")
        nvim.wait_screen("no option")
        assert prompts(server) == ["/login"]
        assert_forgotten(nvim)
        say(nvim, "z-ai")
        wait_line(nvim, "Paste your API Key")
        assert server.answers()[0]["result"] == {"answer": "z-ai", "cancelled": False}
        type_key(nvim)
        nvim.keys("<C-s><Esc>")
        wait_line(nvim, "Inform one or more models")
        say(nvim, "glm-4")
        wait_idle(nvim)
        assert prompts(server) == ["/login", KEY, "glm-4"]


@pytest.mark.parametrize("asks", [True, False], ids=["asks", "waits"])
def test_a_stop_cancels_it(
    asks: bool, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    which = {"chatId": "$chat", "question": "Which?", "options": OPTIONS, "requestId": "r1"}
    if asks:
        login = [*starts(), *ask("chat/askQuestion", which), *is_cancelled()]
    else:
        cancel = [*expect("chat/prompt"), *text("cancel\n", role="user"), *is_cancelled()]
        login = [*starts(wants_key()), *cancel, *answers("idle")]
    server = scripted_server(handshake(), login, turn(text("answer")))
    nvim = start(start_nvim, server)
    say(nvim, "/login")
    wait_login(nvim)
    if asks:
        nvim.wait_screen("Which?")
    with nothing_of_the_key(nvim):
        type_key(nvim)
        nvim.keys("<Esc><C-c>")
        nvim.wait_screen("what you typed for it was not sent")
        wait_line(nvim, "Login cancelled")
        wait_idle(nvim)
        assert prompts(server) == (["/login"] if asks else ["/login", "cancel"])
        assert draft(nvim) == ""
        say(nvim, "hello")
        nvim.wait_for(lambda: prompts(server)[-1] == "hello", "an ordinary prompt")


def test_a_crash_ends_it_and_other_chats_are_not_touched(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    crash = [*expect("chat/promptStop"), *leave(7)]
    server = scripted_server(
        *(handshake(), starts(wants_key()), expect("chat/prompt"), status("running"), crash),
    )
    nvim = start(start_nvim, server)
    nvim.keys("imine<Esc>:EcaChat /login z-ai<CR>")
    wait_login(nvim)
    with nothing_of_the_key(nvim):
        type_key(nvim)
        nvim.keys("<Esc>:EcaChat!<CR>ihello<Esc>")
        screen = nvim.wait_screen("> hello")
        assert "Login>" not in screen
        nvim.keys("<C-s>")
        nvim.wait_until("require('eca').status().state == 'running'")
        nvim.keys("<C-c>")
        nvim.wait_screen("exit code 7")
        nvim.wait_until("vim.fn.execute('messages'):find('what you typed for it was not') ~= nil")
        nvim.keys("[b")
        nvim.wait_screen("> mine")
        assert draft(nvim) == "mine"


SCREENS = {
    "narrow": "vertical resize 12",
    "nowrap": "set nowrap",
    "conceal off": "set conceallevel=0 list",
    "split": "split",
    "hidden": "set hlsearch noincsearch | let @/ = '.'",
}


def test_whatever_a_window_is_like_it_shows_dots(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), starts(wants_key()))
    nvim = start(start_nvim, server)
    say(nvim, "/login")
    wait_login(nvim)
    with nothing_of_the_key(nvim):
        for command in SCREENS.values():
            nvim.command(command)
            type_key_anyhow(nvim)
            nvim.keys("<Esc>VgvrØu<Esc>ccsome<C-r>=nr2char(272)<CR><Esc>dd")
        nvim.keys("i<C-v>u0141<C-k>O/<Esc>:%p<CR>")
        nvim.leave_prompt()


def type_key_anyhow(nvim: Neovim) -> None:
    nvim.keys("A")
    for character in TYPED:
        nvim.keys(character)
    nvim.paste(PASTED)
    nvim.keys("<Esc>")


FIRST_LINE = f"vim.fn.getbufline(require('eca.chats').get('{CHAT}').input, 1)[1]"
MODES = ["", "i", "R", "v", "d", ":", "q:", ":new | term<CR>i"]


def test_it_begins_and_ends_in_every_mode(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.keys("idraft<Esc>")
    for keys in MODES:
        for state, shown in (("login", ""), ("idle", "draft")):
            nvim.keys(keys)
            mode = nvim.mode
            draw(nvim, ["status", CHAT, {"state": state}])
            nvim.wait_until(f"{FIRST_LINE} == '{shown}'")
            assert nvim.mode == mode
            nvim.leave_prompt()
            nvim.keys("<C-\\><C-n><Esc>")
            nvim.command("if getcmdwintype() != '' | quit | endif | silent! only")
            nvim.lua("require('eca').open({ chat = ... })", CHAT)


def test_it_survives_that_its_buffer_is_emptied_or_wiped_out(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.keys("idraft<Esc>")
    draw(nvim, ["status", CHAT, {"state": "login"}])
    nvim.wait_screen("Login>")
    type_key(nvim)
    nvim.keys("<Esc>:edit!<CR>")
    nvim.wait_screen(f"Login> {'•' * len(KEY)}")
    nvim.keys("<C-s>")
    assert wait_sent(nvim, "login") == [{"chat": CHAT, "text": KEY}]
    type_key(nvim)
    nvim.keys("<Esc>:bwipeout!<CR>")
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.wait_screen("Login> for the login")
    type_key(nvim)
    nvim.lua("require('eca.drafts').flush()")
    assert {it["text"] for it in sent(nvim, "keep_draft")} <= {"draft"}
    nvim.keys("<M-CR>")
    assert wait_sent(nvim, "login", 2)[1]["text"] == KEY
    nvim.lua("require('eca.drafts').flush()")
    draw(nvim, ["input", CHAT, "given back"])
    nvim.wait_until(f"require('eca.login').set_aside('{CHAT}'):find('given back')")
    nvim.lua("require('eca.drafts').flush()")
    assert sent(nvim, "keep_draft")[-1]["text"] == "given back\ndraft"
    draw(nvim, ["status", CHAT, {"state": "idle"}])
    nvim.wait_screen("> given back")
    assert draft(nvim) == "given back\ndraft"
    assert sent(nvim, "prompt") == sent(nvim, "keep_prompt") == []
    assert not RARE & nvim.drawn


def begin_login(start_nvim: StartNeovim, scripted_server: PrepareScript, *steps: Steps) -> Neovim:
    """Start a login that waits for a key."""
    server = scripted_server(handshake(), starts(wants_key()), *steps)
    nvim = start(start_nvim, server)
    say(nvim, "/login")
    wait_login(nvim)
    return nvim


def test_no_macro_gets_it(start_nvim: StartNeovim, scripted_server: PrepareScript) -> None:
    nvim = begin_login(start_nvim, scripted_server, takes_key())
    nvim.command("let @a = 'mine'")
    nvim.keys(f"qbi{TYPED}<Esc>q")
    nvim.wait_until("vim.fn.getreg('b') == ''")
    nvim.keys(f"qAA{PASTED}<C-s><Esc>")
    wait_line(nvim, "Inform one or more models")
    nvim.keys(":new<CR>q")
    nvim.wait_until("vim.fn.getreg('a') == 'mine'")
    nvim.wait_screen("the macro is not kept")
    nvim.input(f":EcaChat<CR>qci{KEY}<Esc>q:qa!<CR>")
    nvim.child.wait(TIMEOUT)
    assert_no_file_has_it(nvim)


def test_no_key_repeats_what_was_pasted(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim = begin_login(start_nvim, scripted_server)
    with nothing_of_the_key(nvim):
        nvim.keys("i")
        nvim.paste(KEY)
        nvim.keys("<Esc>")
        nvim.keys(":new<CR>.")
        assert nvim.buffer_lines() == [""]


def test_who_types_while_it_ends_goes_on_in_the_field(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.keys("idraft<Esc>")
    for leave_field in ("<C-s>", "<Esc>"):
        draw(nvim, ["status", CHAT, {"state": "login"}])
        nvim.wait_screen("Login>")
        nvim.keys(f"i{TYPED}")
        draw(nvim, ["status", CHAT, {"state": "idle"}])
        nvim.wait_until("require('eca').status().state == 'idle'")
        nvim.keys(PASTED)
        nvim.wait_screen(f"Login> {'•' * len(KEY)}")
        nvim.keys(leave_field)
        nvim.wait_screen("> draft")
        nvim.keys("<Esc>")
        nvim.wait_screen("what you typed for it was not sent")
        assert draft(nvim) == "draft"
    nvim.lua("require('eca.drafts').flush()")
    assert {it["text"] for it in sent(nvim, "keep_draft")} <= {"draft"}
    assert sent(nvim, "prompt") == sent(nvim, "login") == []
    assert not RARE & nvim.drawn
