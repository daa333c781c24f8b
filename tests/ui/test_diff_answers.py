"""The diff tab page on narrow screens, and if the request is answered elsewhere."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.diffed import AFTER, BEFORE, LAYOUT, show
from tests.ui.staged import BLOCK, CHAT, WITHOUT_HOST, approval, draw, request, sent, wait_sent


@pytest.fixture
def compared(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    """Neovim whose user compares in a tab page; `g:layout` is what he came from."""
    (workspace / "code.txt").write_text(BEFORE)
    settings = {"approval": {"guard": 0}}
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings=settings, columns=160, lines=40)
    nvim.lua("vim.g.layout = vim.inspect((function() " + LAYOUT + " end)())")
    show(nvim, workspace / "code.txt")
    return nvim


@pytest.mark.parametrize("command", ["approve", "approve!", "reject"])
def test_an_answer_by_command_leads_back(compared: Neovim, command: str) -> None:
    compared.keys(f":Eca {command}<CR>")
    wait_sent(compared, "decide")
    assert compared.lua("return vim.inspect((function() " + LAYOUT + " end)()) == vim.g.layout")


@pytest.mark.either_nvim
@pytest.mark.parametrize("key", ["a", "A", "r", "Rno<CR>"])
def test_a_diff_of_what_has_changed_answers_nothing(compared: Neovim, key: str) -> None:
    other = approval(paths=["/x"], remember=["edit_file"], digest="other")
    draw(compared, ["pending", [other]])
    compared.wait_screen("outdated proposal")
    compared.wait_screen("allow this?")
    compared.keys(key)
    compared.wait_screen("this request has changed since you saw it")
    assert sent(compared, "decide") == []
    assert compared.eval("tabpagenr('$')") == 2
    compared.keys(":Eca approve<CR>")
    (payload,) = wait_sent(compared, "decide")
    assert payload["digest"] == "other", "that is what the float shows"


def test_a_diff_that_is_asked_for_again_shows_what_waits(compared: Neovim, workspace: Path) -> None:
    path = str(workspace / "code.txt")
    draw(compared, ["pending", [approval(paths=[path], digest="other")]])
    compared.wait_screen("allow this?")
    compared.keys(":Eca diff<CR>")
    wait_sent(compared, "diff")
    fresh = {**request(), "digest": "other"}
    draw(compared, ["diff", CHAT, "t1", path, BEFORE, "another\n", "changed", fresh, None, None])
    screen = compared.wait_screen("another")
    assert "allow this?" not in screen
    compared.keys("a")
    assert [it["digest"] for it in wait_sent(compared, "decide")] == ["other"]


def test_a_request_that_is_gone_leaves_the_tab_page(compared: Neovim) -> None:
    draw(compared, ["pending", []])
    compared.wait_screen(lambda screen: "a allow" not in screen)
    assert compared.eval("tabpagenr('$')") == 2


def test_edits_of_a_proposal_stay_until_the_answer(compared: Neovim, workspace: Path) -> None:
    (workspace / "other.txt").write_text(BEFORE)
    first, second = ({"block": BLOCK, "place": place, "count": 2} for place in (0, 1))
    compared.keys("q")
    show(compared, workspace / "code.txt", file=first, is_open=True)
    compared.keys("Omine<Esc>")
    mine = "".join(f"{line}\n" for line in compared.buffer_lines())
    assert wait_sent(compared, "edit_proposal")[0]["text"] == mine
    show(compared, workspace / "other.txt", file=second)
    assert "mine" not in compared.buffer_lines()
    show(compared, workspace / "code.txt", after=mine, file=second, is_open=True)
    compared.keys("u")
    assert "mine" in compared.buffer_lines(), "that is another change of the same file"
    show(compared, workspace / "code.txt", after=mine, file=first, is_open=True)
    assert compared.eval("&diff") == 1
    compared.keys("u")
    assert "\n".join(compared.buffer_lines()) + "\n" == AFTER, "its undo history is there"
    compared.keys("<C-r>q")
    show(compared, workspace / "code.txt", after=AFTER.replace("line 9\n", ""), file=first)
    assert "mine" not in compared.buffer_lines(), "that was another proposal"
    compared.keys("q")
    draw(compared, ["pending", []])
    compared.wait_until("vim.fn.bufexists('eca://code.txt (proposed)') == 0")
    assert compared.lua("return vim.fn.bufexists('eca://other.txt (proposed)')") == 0


def test_a_change_of_the_agent_voids_what_was_taken(compared: Neovim, workspace: Path) -> None:
    paths = [str(workspace / "code.txt")]
    draw(compared, ["pending", [approval(paths=paths, digest="1-a", stands="1 of 2 hunks")]])
    compared.wait_screen("allow 1 of 2 hunks?")
    draw(compared, ["pending", [approval(paths=paths, digest="1-b", stands="as edited")]])
    compared.wait_screen("allow as edited?")
    draw(compared, ["pending", [approval(paths=paths, digest="2-c")]])
    compared.wait_screen("the request has changed: your edits of it are gone")


@pytest.mark.parametrize("command", ["noautocmd tabclose", "set eventignore=all | tabclose"])
def test_a_tab_page_that_was_closed_unheard_is_forgotten(compared: Neovim, command: str) -> None:
    compared.keys(f":{command} | set eventignore=<CR>")
    draw(compared, ["pending", [approval(digest="other"), approval("t2", chat="c2")]])
    compared.wait_screen("allow this?")
    compared.keys(":Eca approve<CR>")
    wait_sent(compared, "decide")
    compared.wait_screen("run ls t2")
    draw(compared, ["pending", []])
    compared.wait_screen(lambda screen: "allow this?" not in screen)
    assert "cannot draw" not in compared.messages()
