"""What the next Neovim restores: prompts, drafts, choices; and how they are used."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.msgpack import decode
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import handshake, text, turn
from tests.ui.talk import catch_up, draft, say, start_chat, wait_idle, wait_kept, wait_line
from tests.ui.view import CHAT, View, open_view

from eca_nvim.chat.vocabulary import ops

StartAgain = Callable[[], Neovim]


@pytest.fixture
def start_again(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> StartAgain:
    """Start a Neovim that keeps its state where the others do, and open the chat."""

    def start() -> Neovim:
        server = scripted_server(handshake(), turn(text("done")), turn(text("done again")))
        return start_chat(
            start_nvim, server, environment={"XDG_STATE_HOME": str(tmp_path / "state")}
        )

    return start


def asked(nvim: Neovim, words: str) -> None:
    say(nvim, words)
    wait_line(nvim, "done")
    wait_idle(nvim)


def shows(nvim: Neovim, words: str) -> None:
    nvim.wait_for(lambda: draft(nvim) == words, f"the draft {words!r}")


def wait_kept_prompt(nvim: Neovim, words: str) -> None:
    """Wait until a prompt was saved, not only the draft that it was."""

    def kept() -> list[str]:
        files = Path(nvim.eval("$XDG_STATE_HOME")).rglob("*.msgpack")
        saved = (decode(file.read_bytes()) for file in files)
        return [text for it in saved for text, _ in it["prompts"] if text == words]

    nvim.wait_for(kept, f"the prompt {words!r} to be kept")


@pytest.mark.either_nvim
def test_prompts_are_there_in_the_next_neovim(start_again: StartAgain) -> None:
    first = start_again()
    asked(first, "one<CR>of two lines")
    first.keys(":EcaChat two | three<CR>")
    wait_line(first, "done again")
    first.finish()
    second = start_again()
    second.wait_until("#require('eca.input.history').newest_first() == 2")
    second.keys("ihalf<M-p>")
    shows(second, "two | three")
    second.keys("<M-p>")
    shows(second, "one\nof two lines")
    second.keys("<M-p><M-n><M-n>")
    shows(second, "half")


@pytest.mark.either_nvim
def test_prompts_of_a_neovim_that_runs_are_there_too(start_again: StartAgain) -> None:
    first, second = start_again(), start_again()
    asked(first, "of the first")
    wait_kept_prompt(first, "of the first")
    asked(second, "of the second")
    second.wait_until("#require('eca.input.history').newest_first() == 2")
    first.finish()
    second.finish()
    third = start_again()
    third.wait_until("#require('eca.input.history').newest_first() == 2")


@pytest.mark.either_nvim
def test_a_draft_outlives_neovim(start_again: StartAgain) -> None:
    first = start_again()
    first.wait_screen("mock/mock-1")
    first.keys("ihalf a<CR>thought<Esc>")
    first.finish()
    second = start_again()
    shows(second, "half a\nthought")
    second.keys(":Eca new<CR>")
    second.wait_until("#require('eca').chats() == 2")
    assert draft(second) == ""


@pytest.mark.either_nvim
def test_a_draft_outlives_a_host_that_dies(start_again: StartAgain) -> None:
    nvim = start_again()
    nvim.wait_screen("mock/mock-1")
    nvim.keys("ihalf<Esc>:Eca quit<CR>")
    nvim.wait_screen("stopped")
    nvim.keys(":Eca restart<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    assert draft(nvim) == "half"


@pytest.mark.either_nvim
def test_a_draft_is_there_once_when_its_chat_is_shown_again(start_again: StartAgain) -> None:
    nvim = start_again()
    nvim.wait_screen("mock/mock-1")
    nvim.keys("ione draft<Esc>")
    wait_kept(nvim, "one draft")
    nvim.keys(":Eca toggle<CR>:Eca toggle<CR>")
    catch_up(nvim)
    assert draft(nvim) == "one draft"


@pytest.mark.either_nvim
def test_a_draft_of_an_earlier_life_is_there_once_too(start_again: StartAgain) -> None:
    first = start_again()
    first.wait_screen("mock/mock-1")
    first.keys("ihalf<Esc>")
    first.finish()
    second = start_again()
    shows(second, "half")
    second.keys("A thought<Esc>")
    wait_kept(second, "half thought")
    second.keys(":Eca toggle<CR>:Eca toggle<CR>")
    catch_up(second)
    assert draft(second) == "half thought"


@pytest.mark.either_nvim
def test_the_last_choices_of_a_project_are_there_again(start_again: StartAgain) -> None:
    first = start_again()
    first.wait_screen("mock/mock-1 · code")
    first.keys(":Eca model mock-2<CR>:Eca agent plan<CR>:Eca trust<CR>")
    first.wait_screen("TRUST · mock/mock-2 · plan")
    first.finish()
    second = start_again()
    second.wait_screen("mock/mock-2 · plan")
    assert second.lua("return require('eca').status().trust") is False


@pytest.mark.either_nvim
def test_a_file_that_is_damaged_is_set_aside_and_told(
    start_again: StartAgain, tmp_path: Path
) -> None:
    first = start_again()
    asked(first, "one")
    first.finish()
    [kept] = (tmp_path / "state").rglob("*.msgpack")
    kept.write_bytes(b"nonsense")
    second = start_again()
    second.wait_until("vim.fn.execute('messages'):find('was damaged')")
    assert not second.blocked()
    asked(second, "two")
    second.finish()
    assert kept.with_suffix(".damaged").read_bytes() == b"nonsense"
    assert b"two" in kept.read_bytes()


# --- the view ------------------------------------------------------------------------------------


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    view = open_view(start_nvim)
    view.draw(ops.SetPrompts(["old", "two\nlines"]))
    return view


def test_a_prompt_is_there_once_and_newest(view: View) -> None:
    view.nvim.keys("iold<C-s>new<C-s>")
    assert [it["typed"] for it in view.sent("prompt")] == ["old", "new"]
    assert view.nvim.lua("return require('eca.input.history').newest_first()") == [
        "new",
        "old",
        "two\nlines",
    ]


def test_what_others_sent_does_not_disturb_who_is_looking_back(view: View) -> None:
    view.nvim.keys("i<M-p>")
    view.draw(ops.SetPrompts(["old", "two\nlines", "theirs"]))
    view.nvim.keys("<M-p>")
    assert view.draft() == "old"


def test_a_prompt_is_chosen_from_a_list(view: View) -> None:
    view.nvim.lua("""
    vim.ui.select = function(items, options, done)
      _G.offered = vim.tbl_map(options.format_item, items)
      done(items[2])
    end
    """)
    view.nvim.keys("idraft<Esc>:Eca prompts<CR>")
    assert view.nvim.lua("return _G.offered") == ["two ⏎ lines", "old"]
    assert view.draft() == "old\ndraft"


def test_a_draft_comes_back_once_and_above_what_is_typed(view: View) -> None:
    view.nvim.keys("ityped<Esc>")
    kept = ops.RestoreDraft(CHAT, "kept", adopted=True)
    view.draw(kept, kept)
    assert view.draft() == "kept\ntyped"


def test_drafts_are_told_when_they_rest(view: View) -> None:
    view.nvim.keys("ihalf<Esc>")
    view.nvim.wait_for(lambda: view.sent("keep_draft"), "the draft to be told")
    view.nvim.keys("<CR>")
    view.nvim.wait_for(lambda: len(view.sent("keep_draft")) == 2, "that it is gone")
    assert [it["text"] for it in view.sent("keep_draft")] == ["half", ""]


def test_a_full_disk_and_a_lack_of_handles_are_told_once_each(view: View) -> None:
    view.nvim.lua("""
    local faults = { 'ENOSPC: no space left on device', 'EMFILE: too many open files' }
    for _, fault in ipairs(faults) do
      vim.uv.fs_write = function() return nil, fault end
      for _, text in ipairs({ 'one', 'two' }) do require('eca.host.draft_file').save(text) end
    end
    """)
    told = ("no space left on device; free some space", "too many open files; raise ulimit -n")
    for line in told:
        assert view.nvim.messages().count(f"nothing is saved: {line}") == 1
    assert list(Path(view.nvim.eval("$XDG_STATE_HOME")).rglob("*.unsent*")) == []


def test_another_neovim_may_make_the_folders_first(view: View) -> None:
    view.nvim.lua("""
    local make = vim.fn.mkdir
    vim.fn.mkdir = function(...)
      make(...)
      error('E739: Cannot create directory')
    end
    require('eca.host.draft_file').save('one')
    vim.fn.mkdir = make
    """)
    assert view.nvim.messages() == ""
    state = view.nvim.lua("return vim.fn.stdpath('state')")
    assert [it.read_text() for it in Path(state, "eca").glob("*.unsent")] == ["one"]


def test_windows_open_without_the_slow_first_digest(view: View) -> None:
    view.nvim.lua("""
    vim.fn.sha256 = function() error('Vim tests it at its first use') end
    assert(require('eca.host.draft_file').take() == nil)
    """)
