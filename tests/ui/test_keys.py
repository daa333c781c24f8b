"""Keys: a <Plug> for everything, defaults only in the chat's own buffers, and their list."""

import re
from pathlib import Path

import pytest
from tests.support.factories import StartNeovim
from tests.ui.staged import offered
from tests.ui.view import CHAT, View, assistant, numbered, open_view, start_view, tool, user

from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.ops import BlockKind

WAITING = {
    "chat": CHAT,
    "id": "call",
    "digest": "call",
    "kind": "approval",
    "title": "edit a",
    "block": 3,
    "choices": offered("edit_file"),
}


TEXTS = ("open or close the block, follow", "always allow", "stop the turn", "list the keys")
SETTINGS = {"approval": {"float": False, "guard": 0}}


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    """Open a chat of several blocks, the cursor on the first row of the transcript."""
    view = open_view(start_nvim, "README.md", settings=SETTINGS)
    view.draw(
        *user(1, "first"),
        tool(2, "read a"),
        tool(3, "edit a"),
        *user(4, "second"),
        *assistant(5, "see src/calc.py:5 and\n```lua\nlocal x\n```\nhttps://example.org/a?b=%41"),
        ops.OpenBlock(CHAT, 6, BlockKind.LINK, [("↗ link", "EcaLink")]),
        ops.SetPending([WAITING]),
    )
    view.nvim.keys("<C-w>kgg")
    return view


def line(view: View) -> str:
    return str(view.nvim.eval("getline('.')"))


def test_every_action_can_be_done(start_nvim: StartNeovim) -> None:
    code = """
    local missing = {}
    for name, action in pairs(require('eca.keymaps.actions')) do
      if not require('eca.actions.' .. action.at)[action.call] then
        table.insert(missing, name)
      end
    end
    return missing
    """
    assert start_view(start_nvim).nvim.lua(code) == []


def test_no_key_is_taken_outside_the_chat(start_nvim: StartNeovim) -> None:
    view = start_view(start_nvim)
    code = "return vim.tbl_map(function(map) return map.lhs end, vim.api.nvim_get_keymap('n'))"
    before = set(view.nvim.lua(code))
    view.open()
    assert set(view.nvim.lua(code)) == before


def test_the_users_key_replaces_the_default(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, init="vim.keymap.set('n', '<C-g>', '<Plug>(EcaStop)')")
    assert view.nvim.eval("maparg('<C-c>', 'n')") == ""
    assert view.nvim.eval("maparg('<C-s>', 'n')") != ""
    view.nvim.keys("<C-g>")
    assert view.sent("stop") == [{"chat": CHAT}]


def test_a_second_chat_has_the_keys_too(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    view.open("two")
    view.nvim.keys("ihi<C-s>")
    assert view.sent("prompt")[0]["chat"] == "two"


def test_there_may_be_no_default_keys(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, settings={"keymaps": False})
    assert view.nvim.lua("return vim.api.nvim_buf_get_keymap(0, 'n')") == []


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    ("keys", "payload"),
    [
        ("<Tab>", {"block": 2}),
        ("za", {"block": 2}),
        ("zo", {"block": 2, "open": True}),
        ("zc", {"block": 2, "open": False}),
        ("<CR>", {"block": 2}),
        ("zR", {"block": 0, "open": True}),
        ("zM", {"block": 0, "open": False}),
    ],
)
def test_blocks_open_and_close(view: View, keys: str, payload: dict[str, object]) -> None:
    view.nvim.keys("3gg" + keys)
    assert view.sent("toggle") == [{"chat": CHAT, **payload}]


def test_jumps(view: View) -> None:
    view.nvim.keys("]]")
    assert line(view) == "second"
    view.nvim.keys("[[")
    assert line(view) == "first"
    view.nvim.keys("]a")
    assert line(view) == "✓ edit a"
    view.nvim.keys("G[a")
    assert line(view) == "✓ edit a"
    view.nvim.keys("<C-o>")
    assert line(view) == "↗ link"


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    ("key", "intent", "payload"),
    [
        ("a", "decide", {"chat": CHAT, "block": 3, "digest": "call", "choice": "allow"}),
        ("A", "decide", {"chat": CHAT, "block": 3, "digest": "call", "choice": "always"}),
        ("r", "decide", {"chat": CHAT, "block": 3, "digest": "call", "choice": "reject"}),
        (
            "Ruse sed<CR>",
            "decide",
            {"chat": CHAT, "block": 3, "digest": "call", "choice": "reject", "reason": "use sed"},
        ),
        ("gd", "diff", {"chat": CHAT, "block": 3, "instead": [CHAT, 3]}),
        ("d", "diff", {"chat": CHAT, "block": 3, "instead": [CHAT, 3]}),
    ],
)
def test_keys_on_a_waiting_block(
    view: View, key: str, intent: str, payload: dict[str, object]
) -> None:
    view.nvim.keys("4gg" + key)
    assert view.sent(intent) == [payload]


@pytest.mark.parametrize("key", ["a", "A", "r", "R"])
def test_keys_on_a_block_that_has_only_just_come_up_answer_nothing(view: View, key: str) -> None:
    view.nvim.lua("require('eca').setup({ approval = { guard = 60000 } })")
    view.nvim.keys("4gg" + key)
    view.nvim.wait_screen("the request has just appeared: press again to answer")
    assert view.sent("decide") == []
    assert view.nvim.mode == "n"


def test_nothing_new_is_not_remembered(view: View) -> None:
    view.draw(ops.SetPending([{**WAITING, "choices": offered()}]))
    view.nvim.keys("4ggA")
    view.nvim.wait_screen("this request cannot be allowed always: allow it once")
    assert view.sent("decide") == []


@pytest.mark.either_nvim
@pytest.mark.parametrize("key", ["a", "A", "r", "R", "d"])
def test_elsewhere_these_keys_go_to_what_waits(view: View, key: str) -> None:
    view.nvim.keys(key)
    assert line(view) == "✓ edit a"
    assert view.sent("decide") == view.sent("diff") == []


@pytest.mark.parametrize("keys", ["aa", "ar"])
def test_who_types_on_after_such_a_key_answers_nothing(view: View, keys: str) -> None:
    view.nvim.lua("require('eca').setup({ approval = { guard = 60000 } })")
    view.nvim.lua("local now = vim.uv.hrtime vim.uv.hrtime = function() return now() + 7e13 end")
    view.nvim.keys(keys)
    view.nvim.wait_screen("the request has just appeared: press again to answer")
    assert view.sent("decide") == []


@pytest.mark.either_nvim
@pytest.mark.parametrize("key", ["a", "A", "rx", "R", "dd"])
def test_with_nothing_waiting_these_keys_are_vims(view: View, key: str) -> None:
    view.draw(ops.SetPending([]))
    view.nvim.keys(key)
    assert view.sent("decide") == []
    assert "E21" in view.nvim.take_errors()[0]
    assert view.nvim.mode == "n"


def test_enter_follows_links_and_files(view: View) -> None:
    view.nvim.lua("vim.ui.open = function(target) _G.opened = target end")
    view.nvim.keys("/example<CR><CR>")
    assert view.nvim.lua("return _G.opened") == "https://example.org/a?b=%41"
    view.nvim.keys("/link<CR><CR>")
    assert view.sent("act") == [{"chat": CHAT, "block": 6}]
    view.nvim.keys("?calc<CR><CR>")
    assert view.current() == "calc.py"
    assert view.nvim.eval("line('.')") == 5
    assert view.windows() == ["calc.py", "chat", "input"]


def test_a_file_with_an_odd_name_opens_and_nothing_runs(
    start_nvim: StartNeovim, workspace: Path
) -> None:
    (workspace / "%|let_g:run=1#").write_text("odd\n")
    view = open_view(start_nvim, "README.md")
    view.draw(*assistant(1, "%|let_g:run=1#"))
    view.nvim.keys("<C-w>k0")
    view.nvim.lua(
        "require('eca.chat.reference').show({ path = vim.fn.getcwd() .. '/%|let_g:run=1#' })"
    )
    assert view.nvim.eval("getline(1)") == "odd"
    assert view.nvim.eval("exists('g:run')") == 0


def test_code_is_yanked_without_its_fences(view: View) -> None:
    view.nvim.keys("/local<CR>gy")
    assert view.nvim.eval("getreg('\"')") == "local x\n"
    view.nvim.keys('"%gy')
    view.nvim.wait_screen("in \", press p: Invalid register name: '%'")


def test_typing_starts_from_the_transcript(view: View) -> None:
    view.nvim.keys("ihello<C-s>")
    assert view.sent("prompt")[0]["text"] == "hello"


@pytest.mark.either_nvim
@pytest.mark.parametrize("key", ["i", "I", "o", "O"])
def test_keys_that_insert_go_to_the_input(view: View, key: str) -> None:
    view.nvim.keys(key)
    assert (view.current(), view.nvim.mode) == ("input", "i")


@pytest.mark.parametrize("key", ["p", "P"])
def test_a_register_is_put_into_the_input(view: View, key: str) -> None:
    view.nvim.lua("vim.fn.setreg('x', 'from x')")
    view.nvim.keys(f'"x{key}')
    assert (view.current(), view.nvim.mode) == ("input", "n")
    assert view.nvim.buffer_lines() == ["from x"]
    view.nvim.keys(f'<C-w>k"y{key}')
    view.nvim.wait_screen("eca: Nothing in register y")


def test_one_key_hides_the_chat_from_both_its_windows(view: View) -> None:
    for place in ("", "<C-w>j"):
        view.nvim.keys(f"{place}g?")
        view.nvim.wait_screen(re.compile(r"gQ.* hide the chat"))
        view.nvim.keys("qgQ")
        assert view.windows() == ["README.md"]
        view.nvim.keys(":EcaChat<CR><C-w>k")
    view.nvim.keys("<C-w>jqq")
    assert view.nvim.eval("reg_recording()") == "q"


def test_the_keys_are_listed_as_they_are(start_nvim: StartNeovim) -> None:
    init = "vim.keymap.set('n', '<F5>', '<Plug>(EcaStop)')"
    view = open_view(start_nvim, init=init)
    view.nvim.keys("g?")
    screen = view.nvim.wait_screen("send the prompt")
    assert re.search(r"<F5> +stop the turn", screen.text())
    assert "<C-c>" not in screen
    view.nvim.keys("q")
    assert view.current() == "input"


def test_the_list_of_keys_has_an_order_and_columns(view: View) -> None:
    view.nvim.keys("g?")
    lines = view.nvim.buffer_lines()
    assert lines[0] == "on a pending request"
    assert [line.split()[0] for line in lines[1:4]] == ["a", "A", "d"]
    assert len({line.index(text) for line in lines for text in TEXTS if text in line}) == 1
    keys = [line.split()[0] for line in lines]
    assert keys[keys.index("]]") + 1] == "[["
    assert "<C-c>" in keys


def test_a_long_chat_is_jumped_through(view: View) -> None:
    view.draw(*assistant(7, numbered(1, 5_000)), *user(8, "third"))
    view.nvim.keys("]]]]")
    assert line(view) == "third"


def test_a_buffer_that_comes_up_gets_the_keys_of_its_kind(start_nvim: StartNeovim) -> None:
    view = start_view(start_nvim)
    view.nvim.lua("require('eca.ui.others').announce(0, 'input')")
    assert view.nvim.eval("maparg('<C-s>', 'i')") == "<Plug>(EcaSubmit)"
    assert view.nvim.eval("maparg('i', 'n')") == ""
