"""The field of a login: dots in every window and mode, and what is typed goes nowhere else."""

from tests.support.client import TIMEOUT
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import (
    Steps,
    handshake,
)
from tests.ui.logging_in import (
    HISTORIES,
    KEY,
    PASTED,
    RARE,
    TYPED,
    assert_no_file_has_it,
    nothing_of_the_key,
    start,
    starts,
    takes_key,
    type_key,
    wait_login,
    wants_key,
)
from tests.ui.staged import CHAT, WITHOUT_HOST, draw, sent, wait_sent
from tests.ui.talk import draft, say, wait_line

SCREENS = {
    "narrow": "vertical resize 12",
    "nowrap": "set nowrap",
    "conceal off": "set conceallevel=0 list",
    "split": "split",
    "hidden": "set hlsearch noincsearch | let @/ = '.'",
}


def start_login(start_nvim: StartNeovim) -> Neovim:
    """Start Neovim with a draft in the input, which a login has replaced."""
    nvim = start_nvim(init=WITHOUT_HOST)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.keys("idraft<Esc>")
    draw(nvim, ["status", CHAT, {"state": "login"}])
    nvim.wait_screen("Login>")
    return nvim


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


FIRST_LINE = f"vim.fn.getbufline(require('eca.chat.buffers').get('{CHAT}').input, 1)[1]"
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
    nvim = start_login(start_nvim)
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
    nvim.lua("require('eca.input.drafts').flush()")
    assert {it["text"] for it in sent(nvim, "keep_draft")} <= {"draft"}
    nvim.keys("<M-CR>")
    assert wait_sent(nvim, "login", 2)[1]["text"] == KEY
    nvim.lua("require('eca.input.drafts').flush()")
    draw(nvim, ["input", CHAT, "given back"])
    nvim.wait_until(f"require('eca.input.field').draft_before_secret('{CHAT}'):find('given back')")
    nvim.lua("require('eca.input.drafts').flush()")
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
    nvim.wait_screen("macro discarded")
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
        nvim.wait_screen("what you typed was not sent")
        assert draft(nvim) == "draft"
    nvim.lua("require('eca.input.drafts').flush()")
    assert {it["text"] for it in sent(nvim, "keep_draft")} <= {"draft"}
    assert sent(nvim, "prompt") == sent(nvim, "login") == []
    assert not RARE & nvim.drawn


def test_a_word_for_a_command_may_be_the_secret(start_nvim: StartNeovim) -> None:
    nvim = start_login(start_nvim)
    nvim.keys(":EcaChat sk-one<CR>")
    nvim.wait_screen(f"Login> {'•' * len('sk-one')}")
    nvim.wait_screen("login in progress: your word is in its input, not sent yet")
    nvim.keys(":Eca steer two<CR>:Eca queue three<CR>")
    nvim.wait_screen(f"Login> {'•' * len('sk-onetwothree')}")
    nvim.keys(":EcaChat for later<CR>")
    assert [it["text"] for it in wait_sent(nvim, "prompt")] == ["for later"]
    remembered = "\n".join(nvim.lua(HISTORIES))
    assert "for later" in remembered
    assert not any(word in remembered for word in ("sk-one", "two", "three"))
    nvim.keys("i<C-s><Esc>")
    assert wait_sent(nvim, "login") == [{"chat": CHAT, "text": "sk-onetwothree"}]
    draw(nvim, ["status", CHAT, {"state": "idle"}])
    nvim.wait_screen("> draft")
    assert nvim.buffer_lines() == ["draft"]
