"""However a buffer, Neovim or its host ends, typed text comes back."""

import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.processes import end, wait_gone
from tests.support.script import Steps, expect, handshake, turn
from tests.ui.staged import draw, question
from tests.ui.talk import asks, catch_up, draft, host_of, say, start_chat, wait_kept, wait_line
from tests.ui.view import CHAT, View, open_view

from eca_nvim.chat.vocabulary.ops import SetComments

pytestmark = pytest.mark.whole_start

StartAgain = Callable[..., Neovim]
Ending = Callable[[Neovim], object]

WORDS = "one two three four"
DEADLINE = 60.0
LEFT: Steps = [*handshake(), *turn(expect("chat/promptStop"))]
ENDINGS: dict[str, Ending] = {
    "hangup": lambda nvim: nvim.kill(signal.SIGHUP),
    "terminated": lambda nvim: nvim.kill(signal.SIGTERM),
    "quit": lambda nvim: nvim.quit(),
}
by_ending = pytest.mark.parametrize("ending", ENDINGS.values(), ids=list(ENDINGS))


@pytest.fixture
def start_again(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> StartAgain:
    """Start a Neovim that keeps its state where the others do, and open the chat."""
    server = scripted_server(LEFT)

    def start() -> Neovim:
        state = {"XDG_STATE_HOME": str(tmp_path / "state")}
        nvim = start_chat(start_nvim, server, environment=state)
        nvim.wait_screen("mock/mock-1")
        return nvim

    return start


def shows(nvim: Neovim, words: str) -> None:
    nvim.wait_for(lambda: draft(nvim) == words, f"the draft {words!r}")


def ends(nvim: Neovim, ending: Ending) -> None:
    """End a Neovim, and wait until its host has ended, too."""
    left = nvim.child.descendants()
    ending(nvim)
    assert not wait_gone(left, DEADLINE)


def type_on(nvim: Neovim, until: Callable[[], object]) -> str:
    """Type words without a pause until something has happened; gives what was typed until then."""
    typed = ""
    nvim.keys("i")
    while not until():
        typed += f"word{len(typed)} "
        nvim.keys(typed.split()[-1] + " ")
        assert len(typed) < 20_000, "it does not happen while the user types"
    return typed


def unsent(folder: Path) -> list[str]:
    return [path.read_text() for path in folder.rglob("*.unsent")]


# --- Neovim ends ---------------------------------------------------------------------------------


@pytest.mark.either_nvim
@by_ending
def test_words_typed_without_a_pause(start_again: StartAgain, ending: Ending) -> None:
    first = start_again()
    first.input("ione two")
    first.keys(" three four")
    ends(first, ending)
    shows(start_again(), WORDS)


@pytest.mark.either_nvim
@by_ending
def test_words_after_a_draft_that_is_kept(start_again: StartAgain, ending: Ending) -> None:
    """What the host has must not go because a buffer is gone when Neovim says its last words."""
    first = start_again()
    first.keys("ione two<Esc>")
    wait_kept(first, "one two")
    first.keys("A three four")
    ends(first, ending)
    shows(start_again(), WORDS)


@pytest.mark.either_nvim
def test_a_kill_loses_only_the_last_words(start_again: StartAgain, tmp_path: Path) -> None:
    first = start_again()
    kept = tmp_path / "state"
    told = type_on(first, lambda: any(b"word" in it.read_bytes() for it in kept.rglob("*.msgpack")))
    ends(first, lambda nvim: nvim.kill(signal.SIGKILL))
    second = start_again()
    second.wait_for(lambda: "word0" in draft(second), "the draft")
    assert told.startswith(draft(second))


@pytest.mark.either_nvim
def test_what_stands_for_something_else_is_kept_as_well(start_again: StartAgain) -> None:
    """A draft while the user looks at older prompts, and prompts that wait for their turn."""
    first = start_again()
    say(first, "the first")
    wait_line(first, "the first")
    first.keys("iqueued<M-CR>")
    first.wait_screen("⧗ queued")
    first.keys("half<M-p>")
    assert draft(first) == "queued"
    ends(first, lambda nvim: nvim.kill(signal.SIGTERM))
    shows(start_again(), "queued\nhalf")


@pytest.mark.either_nvim
def test_a_prompt_for_a_server_that_is_not_ready(
    start_nvim: StartNeovim, scripted_server: PrepareScript, start_again: StartAgain, tmp_path: Path
) -> None:
    mute = scripted_server(expect("initialize"), expect("never"))
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    first = start_chat(start_nvim, mute, environment=state)
    say(first, "not sent yet")
    wait_line(first, "not sent yet")
    first.keys("ihalf")
    ends(first, lambda nvim: nvim.kill(signal.SIGTERM))
    shows(start_again(), "not sent yet\nhalf")


# --- the host ends, too --------------------------------------------------------------------------


@pytest.mark.either_nvim
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM], ids=["hangup", "terminated"])
def test_a_host_that_is_signalled_writes(start_again: StartAgain, number: signal.Signals) -> None:
    first = start_again()
    host = host_of(first)
    first.keys(f"i{WORDS}<Esc>")
    catch_up(first)
    left = first.child.descendants()
    first.kill(signal.SIGKILL)
    os.kill(host, number)
    assert not wait_gone(left, DEADLINE)
    shows(start_again(), WORDS)


@pytest.mark.either_nvim
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "terminated"])
def test_a_host_that_hangs_at_the_end(
    start_again: StartAgain, tmp_path: Path, number: signal.Signals
) -> None:
    """It is ended before it has read what Neovim said last."""
    first = start_again()
    host, left = host_of(first), first.child.descendants()
    os.kill(host, signal.SIGSTOP)
    first.keys(f"i{WORDS}")
    first.quit()
    assert unsent(tmp_path) == [WORDS]
    with suppress(ProcessLookupError):  # the guardian may be quicker
        os.kill(host, number)
        os.kill(host, signal.SIGCONT)
    assert wait_gone({host}, DEADLINE) == set()
    end(wait_gone(left, 1))
    shows(start_again(), WORDS)


def test_a_host_that_writes_leaves_no_second_copy(start_again: StartAgain, tmp_path: Path) -> None:
    first = start_again()
    first.keys(f"i{WORDS}")
    ends(first, lambda nvim: nvim.quit())
    assert unsent(tmp_path) == []


def test_a_draft_is_told_to_the_next_host(start_again: StartAgain, tmp_path: Path) -> None:
    """The host that got it may have died before it saved it."""
    first = start_again()
    host = host_of(first)
    os.kill(host, signal.SIGSTOP)
    first.keys(f"i{WORDS}<Esc>")
    os.kill(host, signal.SIGKILL)
    first.wait_until("require('eca').status().server == 'failed'")
    first.take_errors()
    assert unsent(tmp_path) == [WORDS]
    first.keys(":Eca restart<CR>")
    first.wait_until("require('eca').status().server == 'ready'")
    wait_kept(first, WORDS)
    assert draft(first) == WORDS


def send_unheard(nvim: Neovim) -> int:
    """Send a prompt to a host that is stopped; gives its process id."""
    host = host_of(nvim)
    catch_up(nvim)
    os.kill(host, signal.SIGSTOP)
    say(nvim, WORDS)
    return host


def test_what_a_host_has_not_taken_when_it_ends(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), turn(asks(), expect("chat/toolCallReject")))
    nvim = start_chat(start_nvim, server)
    say(nvim, "hello")
    nvim.wait_until("#require('eca').pending() == 1")
    catch_up(nvim)
    host = host_of(nvim)
    os.kill(host, signal.SIGSTOP)
    nvim.lua("require('eca').reject({ reason = 'not so' })")
    say(nvim, WORDS)
    os.kill(host, signal.SIGKILL)
    shows(nvim, f"not so\n{WORDS}")
    nvim.take_errors()


def test_what_waited_for_a_host_that_ends_comes_back_in_order(start_again: StartAgain) -> None:
    nvim = start_again()
    say(nvim, "the first")
    wait_line(nvim, "the first")
    nvim.keys("ione<M-CR>two<M-CR><Esc>")
    nvim.wait_until("#require('eca.state.mirror').chat(require('eca').status().chat).queue == 2")
    host = send_unheard(nvim)
    os.kill(host, signal.SIGKILL)
    shows(nvim, f"one\ntwo\n{WORDS}")
    nvim.take_errors()


@pytest.mark.either_nvim
@pytest.mark.parametrize("number", [None, signal.SIGKILL], ids=["quit", "killed"])
def test_what_a_host_has_not_taken_when_neovim_ends(
    start_again: StartAgain, tmp_path: Path, number: signal.Signals | None
) -> None:
    first = start_again()
    left = first.child.descendants()
    host = send_unheard(first)
    first.wait_for(lambda: number is None or unsent(tmp_path) == [WORDS], "the prompt on the disk")
    if number is None:
        first.quit()
    else:
        first.kill(number)
    end({host})
    assert not wait_gone(left, DEADLINE)
    shows(start_again(), WORDS)


@pytest.mark.either_nvim
def test_what_a_host_has_taken_is_kept_by_it(start_again: StartAgain, tmp_path: Path) -> None:
    first = start_again()
    host = send_unheard(first)
    first.wait_for(lambda: unsent(tmp_path) == [WORDS], "the prompt on the disk")
    os.kill(host, signal.SIGCONT)
    wait_line(first, WORDS)
    first.wait_for(lambda: unsent(tmp_path) == [], "the file to go")
    assert draft(first) == ""


# --- several Neovims -----------------------------------------------------------------------------


def end_together(nvims: Iterable[Neovim], number: int | None) -> None:
    """End Neovims at one instant: by a signal, or by `:qa!`."""
    for nvim in nvims:
        if number is None:
            nvim.child.channel.notify("nvim_command", "qa!")
        else:
            nvim.child.signal(number)
    for nvim in nvims:
        nvim.child.wait(DEADLINE)


def one_of(texts: set[str], nvim: Neovim) -> str:
    """Wait until one of these texts is the draft, and give it."""
    return str(nvim.wait_for(lambda: {draft(nvim)} & texts, f"one of {texts}").pop())


@pytest.mark.either_nvim
@pytest.mark.parametrize("number", [None, signal.SIGTERM], ids=["quit", "terminated"])
def test_five_that_end_at_once(start_again: StartAgain, number: int | None) -> None:
    five = [start_again() for _ in range(5)]
    texts = {f"draft {place}" for place in range(5)}
    for text, nvim in zip(sorted(texts), five, strict=True):
        nvim.keys(f"i{text}")
    left = set[int]().union(*(nvim.child.descendants() for nvim in five))
    end_together(five, number)
    assert not wait_gone(left, DEADLINE)
    first, second = start_again(), start_again()
    returned = {one_of(texts, first), one_of(texts, second)}
    offered = set(second.lua("return require('eca.input.history').newest_first()"))
    assert len(returned) == 2
    assert returned | offered == texts


# --- a buffer ends -------------------------------------------------------------------------------


@pytest.mark.either_nvim
@pytest.mark.parametrize("command", ["bd", "bw!", "edit"])
def test_an_input_that_is_taken_away(start_again: StartAgain, command: str) -> None:
    first = start_again()
    first.keys(f"i{WORDS}<Esc>:{command}<CR>:EcaChat<CR>")
    shows(first, WORDS)
    first.keys("A five<Esc>:Eca toggle<CR>:Eca toggle<CR>")
    shows(first, f"{WORDS} five")
    ends(first, lambda nvim: nvim.kill(signal.SIGTERM))
    shows(start_again(), f"{WORDS} five")


def test_an_input_that_is_taken_away_without_a_host(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path)}
    nvim = start_nvim(settings={"python": "/nowhere/python"}, environment=state)
    nvim.keys(":EcaChat<CR>")
    nvim.wait_screen("/nowhere/python")
    nvim.keys(f"i{WORDS}<Esc>:bw!<CR>")
    nvim.wait_for(lambda: unsent(tmp_path) == [WORDS], "the draft on the disk")
    nvim.keys(":EcaChat<CR>")
    shows(nvim, WORDS)
    nvim.take_errors()
    nvim.kill(signal.SIGTERM)
    assert unsent(tmp_path) == [WORDS]


# --- the view ------------------------------------------------------------------------------------


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    return open_view(start_nvim)


def test_a_draft_is_told_while_the_user_types_on(view: View) -> None:
    typed = type_on(view.nvim, lambda: view.sent("keep_draft"))
    assert typed.startswith(view.sent("keep_draft")[0]["text"])


@pytest.mark.either_nvim
@pytest.mark.parametrize("event", ["InsertLeave", "FocusLost", "VimSuspend", "BufUnload"])
def test_a_draft_is_told_when_something_is_left(view: View, event: str) -> None:
    how = {"InsertLeave": "<Esc>", "BufUnload": "<Cmd>bdelete<CR>"}
    view.nvim.keys("ihalf" + how.get(event, f"<Cmd>doautocmd {event}<CR>"))
    assert [it["text"] for it in view.sent("keep_draft")] == ["half"]


def test_text_that_a_plugin_writes_is_told(view: View) -> None:
    view.nvim.lua("""
    local input = require('eca.chat.buffers').get('one').input
    vim.cmd.wincmd('p')
    vim.api.nvim_buf_set_lines(input, 0, -1, false, { 'a', 'b', 'c' })
    vim.api.nvim_buf_set_lines(input, 1, 2, false, {})
    vim.api.nvim_buf_set_text(input, 0, 1, 0, 1, { 'nd' })
    vim.api.nvim_exec_autocmds('FocusLost', {})
    """)
    assert [it["text"] for it in view.sent("keep_draft")] == ["and\nc"]


def test_a_draft_that_made_room_for_an_answer_is_told(view: View) -> None:
    view.nvim.keys("ihalf<Esc>")
    draw(view.nvim, ["pending", [question(chat=CHAT)]])
    view.nvim.wait_until("#require('eca.state.mirror').pending() == 1")
    view.nvim.lua(
        "require('eca.input.answer_mode').write(require('eca.state.mirror').pending()[1])"
    )
    view.nvim.keys("mauve<Esc>")
    assert [it["text"] for it in view.sent("keep_draft")] == ["half", "half\nmauve"]


def test_a_comment_that_no_host_has_confirmed_is_told(view: View) -> None:
    """Like a draft, and to the next host; what one has confirmed is its own to keep."""
    view.nvim.lua("""
    vim.ui.input = function(_, done) done('why loud?') end
    require('eca.review.notes').on_place('one', {
      paths = { '/a' }, line = 1, count = 1, subject = '', turn = 0,
    })
    """)
    view.nvim.keys("ihalf<Esc>")
    assert view.sent("keep_draft")[-1]["text"] == "why loud?\nhalf"
    (told,) = view.sent("comment")
    view.nvim.lua("require('eca.view.host_gone').show()")
    assert told in view.nvim.lua(
        "return vim.tbl_map(function(it) return it.payload end, "
        "require('eca.host.held_intents').all())"
    )
    view.draw(SetComments(CHAT, [{**told, "state": "unsent"}]))
    view.nvim.lua("require('eca.input.drafts').flush()")
    assert view.sent("keep_draft")[-1]["text"] == "half"
