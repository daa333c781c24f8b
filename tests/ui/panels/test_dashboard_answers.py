"""Answers from the dashboard are to what the float shows of its row; the tests draw the ops."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.panels.test_dashboard import rows_covered
from tests.ui.staged import CHAT, WITHOUT_HOST, approval, draw, question, sent, wait_sent

CLOCK = "_G.now = 1e9 vim.uv.hrtime = function() return _G.now end "
HALF_A_SECOND = "_G.now = _G.now + 5e8"
KEYS = {"allow": "a", "reject": "r", "always": "A", "reason": "R", "diff": "d"}
LONG = [f"line {number}" for number in range(200)]


def row(chat: str, *actions: str) -> dict[str, Value]:
    line = [["waiting", "EcaWaiting", 8], [f"title of {chat} " * 4, "", 0]]
    return {"id": chat, "chat": chat, "line": line, "values": {}} | {
        "actions": ["open", *(actions or KEYS)]
    }


def wait(nvim: Neovim, *items: Value) -> None:
    """Let requests wait, instead of those that waited before."""
    draw(nvim, ["pending", list(items)])
    nvim.keys("")


def asked(call: str, chat: str, **fields: Value) -> Value:
    return approval(call, chat=chat, title=f"$ ls {call}", lines=[f"$ ls {call}"], **fields)


def wait_float(nvim: Neovim, text: str) -> None:
    """Wait until the float shows a text, and the time in which keys answer nothing is over."""
    nvim.wait_screen(text)
    nvim.keys("")
    nvim.lua(HALF_A_SECOND)


def show(start_nvim: StartNeovim, columns: int = 80) -> Neovim:
    """Show a dashboard of three chats; those of the first two ask."""
    nvim = start_nvim(init=CLOCK + WITHOUT_HOST, columns=columns, lines=24)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.lua("require('eca.chat.buffers').ensure('c2') require('eca.chat.buffers').ensure('c3')")
    fill(nvim)
    wait(nvim, asked("t2", "c2"), asked("t1", "c1"))
    nvim.wait_screen("$ ls t1")
    return nvim


def fill(nvim: Neovim) -> None:
    """Show the dashboard, and fill it as the host does."""
    nvim.keys("<Esc>:Eca dashboard<CR>")
    common: dict[str, Value] = {"asks": [], "everywhere": False, "sure": ""}
    actions = [{**common, "name": "open", "key": "o", "text": "open the chat", "answers": False}]
    for name, key in KEYS.items():
        actions.append({**common, "name": name, "key": key, "text": name, "answers": True})
    rows = [row("c1"), row("c2"), row("c3", "open")]
    showing = sent(nvim, "show_panel")[-1]["showing"]
    draw(
        nvim,
        ["panel", "dashboard", showing, "chats", actions],
        ["panel_rows", "dashboard", showing, 0, 0, rows],
    )
    nvim.wait_screen("3 waiting")


@pytest.mark.parametrize("columns", [80, 41])
def test_a_key_answers_what_stands_beside_its_row(start_nvim: StartNeovim, columns: int) -> None:
    nvim = show(start_nvim, columns)
    nvim.keys("a")
    nvim.wait_screen("again to answer")
    assert sent(nvim, "decide") == []
    for down, call in (("", "t1"), ("j", "t2")):
        nvim.keys(down)
        nvim.wait_screen(f"$ ls {call}")
        assert not rows_covered(nvim)
        nvim.keys("a")
        assert call not in [it["digest"] for it in sent(nvim, "decide")]
        nvim.lua(HALF_A_SECOND)
        nvim.keys("a")
        assert [it["digest"] for it in sent(nvim, "decide")][-1:] == [call]
    nvim.wait_until("not require('eca.approval.float').state()")
    nvim.keys("a")
    nvim.wait_screen("s on the screen")  # no request of this chat is
    assert len(sent(nvim, "decide")) == 2


@pytest.mark.either_nvim
def test_nothing_else_is_answered(start_nvim: StartNeovim) -> None:
    nvim = show(start_nvim)
    wait_float(nvim, "$ ls t1")
    # Before what the other row asks is drawn, its key answers nothing.
    nvim.keys("ja")
    nvim.wait_screen("press again to answer")
    # A row whose chat asks nothing has no float, also if the host still says that it asks.
    draw(nvim, ["panel_rows", "dashboard", 1, 2, 1, [row("c3")]])
    nvim.keys("G")
    nvim.wait_until("not require('eca.approval.float').state()")
    nvim.lua(HALF_A_SECOND)
    nvim.keys("a")
    nvim.wait_screen("no request of this chat is on the screen")
    nvim.lua("vim.keymap.set('n', '<F5>', '<Plug>(EcaApprove)')")
    nvim.keys("<F5>")
    nvim.wait_screen("no pending request")
    # What has changed meanwhile is shown, and guarded again.
    nvim.keys("gg")
    wait_float(nvim, "$ ls t1")
    changed = asked("t1", "c1") | {"lines": ["$ rm -r /"], "title": "$ rm -r /", "digest": "worse"}
    wait(nvim, asked("t2", "c2"), changed)
    nvim.wait_screen("$ rm -r /")
    nvim.keys("a")
    assert sent(nvim, "decide") == []
    nvim.lua(HALF_A_SECOND)
    nvim.keys("A")  # there is no such choice
    nvim.wait_screen("A does nothing for this request")
    nvim.keys("a")
    assert [it["digest"] for it in wait_sent(nvim, "decide")] == ["worse"]


@pytest.mark.either_nvim
def test_what_was_not_on_the_screen_whole_is_not_allowed_from_there(
    start_nvim: StartNeovim,
) -> None:
    nvim = show(start_nvim)
    wait(nvim, approval("t3", lines=LONG), approval("t4", chat="c2", cut=True))
    for down in ("", "j"):
        nvim.keys(down)
        wait_float(nvim, "1/2" if not down else "2/2")
        nvim.keys("a")
        nvim.wait_screen("not all of it was on the screen: g<CR>")
        assert sent(nvim, "decide") == []
        nvim.keys(":<Esc>")
    nvim.keys("r")
    assert [it["digest"] for it in wait_sent(nvim, "decide")] == ["t4"]
    # Scrolled through in the float, it was seen.
    nvim.keys("gg")
    wait_float(nvim, "line 3")
    nvim.keys("g<CR>" + "<C-e>" * len(LONG))
    nvim.wait_until("vim.fn.line('w$') == vim.fn.line('$')")
    nvim.keys("<C-w>p")
    nvim.wait_until("vim.bo.filetype == 'eca-panel'")
    nvim.keys("a")
    assert [it["digest"] for it in wait_sent(nvim, "decide", 2)] == ["t4", "t3"]


@pytest.mark.either_nvim
def test_the_row_decides_only_while_the_user_is_there(start_nvim: StartNeovim) -> None:
    nvim = show(start_nvim)
    nvim.keys("j")
    nvim.wait_screen("$ ls t2")
    nvim.keys("g<CR>")
    nvim.wait_until("vim.api.nvim_win_get_config(0).relative ~= ''")
    assert "$ ls t2" in nvim.screen.text()
    nvim.lua(HALF_A_SECOND)
    nvim.keys("q")  # puts it aside
    nvim.wait_until("not require('eca.approval.float').state()")
    nvim.keys("k")
    nvim.wait_screen("$ ls t1")
    nvim.keys("j")
    nvim.wait_screen("$ ls t2")  # until the user comes back to it
    nvim.keys("<C-w>t")
    nvim.wait_screen("$ ls t1")  # of the chat in this tab page
    nvim.keys("<C-w>b")
    nvim.wait_screen("$ ls t2")
    wait(nvim, question("q1", chat="c2"), asked("t1", "c1"))
    wait_float(nvim, "Which colour?")
    nvim.keys("a")
    nvim.wait_screen("a does nothing for this request: g<CR> goes to it")
    nvim.keys("q")
    nvim.wait_screen("$ ls t1")
    nvim.lua("require('eca').setup({ approval = { float = false } })")
    fill(nvim)
    nvim.keys("a")
    nvim.wait_screen("the option approval.float is off: open the chat to answer")
    assert sent(nvim, "decide") == sent(nvim, "answer") == []


@pytest.mark.either_nvim
def test_the_next_that_needs_the_user_is_found_from_anywhere(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST)
    for number in range(1, 5):
        nvim.lua("require('eca').open({ chat = ... })", f"c{number}")
    states = {"c1": "waiting", "c2": "running", "c3": "login", "c4": "idle"}
    draw(nvim, *(["status", chat, {"state": state}] for chat, state in states.items()))
    nvim.wait_until("require('eca.state.mirror').turn('c3') == 'login'")
    nvim.keys("<Esc>")
    seen = []
    for key in ("]w", "]w", "[w", "[w"):
        nvim.keys(key)
        seen.append(nvim.lua("return require('eca').status().chat"))
    assert seen == ["c1", "c3", "c1", "c3"]
    # In a window for files the chat beside it counts first; one that has ended unseen counts, too.
    draw(nvim, ["status", "c2", {"state": "idle"}])
    wait_sent(nvim, "unseen")
    nvim.lua("vim.keymap.set({ 'n', 'i' }, '<F5>', '<Plug>(EcaNextWaiting)')")
    nvim.keys(":Eca hide<CR>i<F5>")
    assert nvim.lua("return require('eca').status().chat") == "c3"
    nvim.keys("<F5>")
    draw(nvim, *(["status", chat, {"state": "idle"}] for chat in ("c1", "c3")))
    wait_sent(nvim, "unseen", 2)
    nvim.keys("<F5>")
    assert nvim.lua("return require('eca').status().chat") == "c2"
    assert sent(nvim, "unseen") == [
        {"chat": "c2", "unseen": True},
        {"chat": "c3", "unseen": True},
        {"chat": "c2", "unseen": False},
    ]
    nvim.keys("<Esc><C-w>k]w")
    assert nvim.lua("return require('eca').status().chat") == "c3"
    nvim.keys("]w")
    nvim.wait_screen("no chat needs you")
