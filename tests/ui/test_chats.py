"""Several chats: the winbar, the list, switching, and chats that appear and disappear."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import WITHOUT_HOST
from tests.ui.view import CHAT, View

from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.ops import BlockKind

pytestmark = pytest.mark.either_nvim

IDLE, RUNNING, WAITING = ({"state": state} for state in ("idle", "running", "waiting"))


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    view = View(start_nvim(init=WITHOUT_HOST, columns=100, lines=24))
    view.open()
    return view


def status(chat: str, state: str, title: str | None = None) -> ops.SetStatus:
    return ops.SetStatus(chat, {"state": state} | ({"title": title} if title else {}))


def said(block: int, text: str, chat: str = CHAT, after: int | None = None) -> list[ops.ViewOp]:
    """Make the ops of a message of the user."""
    return [
        ops.OpenBlock(chat, block, BlockKind.USER, after=after),
        ops.AppendText(chat, block, text),
    ]


def older(text: str = "▴ older messages") -> ops.OpenBlock:
    return ops.OpenBlock(CHAT, 1, BlockKind.OLDER, ((text, "EcaMuted"),))


def make(view: View, *chats: str) -> None:
    """Make chats that are not shown."""
    view.nvim.lua("vim.tbl_map(require('eca.chat.buffers').ensure, ...)", chats)


def winbar(nvim: Neovim) -> str:
    """Return the winbar of the transcript that is shown, without its markup."""
    code = """
    local win = require('eca.window').shown()
    return vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win, use_winbar = true }).str
    """
    text: str = nvim.lua(code)
    return text.strip()


def chats_in_winbar(nvim: Neovim) -> str:
    """Return the left part of the winbar: the chats."""
    return winbar(nvim).partition("   ")[0]


def topline(nvim: Neovim) -> str:
    """Return the text of the first row that the transcript's window shows."""
    code = """
    local win = require('eca.window').shown()
    return vim.api.nvim_win_call(win, function() return vim.fn.getline('w0') end)
    """
    text: str = nvim.lua(code)
    return text


class TestBar:
    """The winbar tells of the other chats."""

    def test_there_is_none_for_one_chat(self, view: View) -> None:
        view.draw(status(CHAT, "idle", "Fix"))
        assert chats_in_winbar(view.nvim) == "Fix"

    def test_chats_are_told_by_number_and_sign(self, view: View) -> None:
        make(view, "two", "three")
        view.draw(status(CHAT, "idle", "Fix"), status("two", "running"), status("three", "waiting"))
        assert chats_in_winbar(view.nvim) == "1 Fix  2●  3?"
        view.open("two")
        view.draw(status(CHAT, "running"))
        assert chats_in_winbar(view.nvim) == "2 New chat  1●  3?"

    def test_what_ended_unseen_is_told_until_it_is_seen(self, view: View) -> None:
        make(view, "two")
        view.draw(status("two", "running"), status("two", "idle"))
        assert chats_in_winbar(view.nvim) == "1 New chat  2✓"
        view.open("two")
        view.open(CHAT)
        assert chats_in_winbar(view.nvim) == "1 New chat  2"

    def test_a_roomy_window_shows_titles(self, view: View) -> None:
        view.nvim.resize(280, 24)
        view.nvim.keys(":Eca hide<CR>:EcaChat<CR>:vertical resize 120<CR>")
        make(view, "two")
        title = "100% of a title that is too long\n%#Error#x"
        view.draw(status("two", "waiting", title))
        assert chats_in_winbar(view.nvim) == "1 New chat  2? 100% of a title t…"

    def test_what_waits_stays_when_there_is_no_room(self, view: View) -> None:
        make(view, *(f"chat{number}" for number in range(2, 30)))
        view.draw(status(CHAT, "idle", "y" * 80), status("chat29", "waiting"))
        bar = winbar(view.nvim)
        assert "29?" in bar
        assert "  20  " not in bar

    def test_a_chat_keeps_its_number(self, view: View) -> None:
        make(view, "two", "three")
        name = view.nvim.lua(
            "return vim.fs.basename(vim.fn.bufname(require('eca.chat.buffers').get('three').buf))"
        )
        view.draw(ops.ForgetChat("two"), status("three", "waiting", "Third"))
        assert chats_in_winbar(view.nvim) == f"1 New chat  {name}?"
        view.nvim.lua("vim.ui.select = function(items, how) _G.row = how.format_item(items[1]) end")
        view.nvim.keys(":Eca chats<CR>")
        assert view.nvim.lua("return _G.row").startswith(f"chat {name} ? Third ")
        view.nvim.keys(":Eca chats 2<CR>")
        view.nvim.wait_until("vim.fn.execute('messages'):find('no chat 2')")
        view.nvim.keys(f":Eca chats {name}<CR>")
        assert view.nvim.lua("return require('eca').status().chat") == "three"

    def test_a_click_goes_there(self, view: View) -> None:
        view.nvim.command("set mouse=a")
        make(view, "two")
        view.draw(status("two", "waiting", "Other"))
        view.nvim.wait_screen(lambda screen: "2?" in screen.lines()[0])
        view.nvim.click(0, view.nvim.screen.lines()[0].index("2?"))
        view.nvim.wait_until("require('eca').status().chat == 'two'")


class TestSwitching:
    """Nothing is lost on the way."""

    def test_to_the_next_and_back(self, view: View) -> None:
        view.open("two")
        view.nvim.keys("]b")
        assert view.nvim.lua("return require('eca').status().chat") == CHAT
        view.nvim.keys("[b")
        assert view.nvim.lua("return require('eca').status().chat") == "two"
        view.nvim.keys(":Eca chats 1<CR>")
        assert view.nvim.lua("return require('eca').status().chat") == CHAT
        view.nvim.keys(":Eca chats 7<CR>")
        view.nvim.wait_until("vim.fn.execute('messages'):find('no chat 7')")

    def test_a_chat_is_where_its_reader_was(self, view: View) -> None:
        for number in range(1, 41):
            view.draw(*said(number, f"message {number}"))
        view.nvim.keys("<C-w>kgg10jzt")
        before = topline(view.nvim)
        view.open("two")
        view.draw(*said(41, "new"))
        view.open(CHAT)
        assert topline(view.nvim) == before
        assert "↓ 2 new" in winbar(view.nvim)

    def test_a_chat_at_its_end_is_followed(self, view: View) -> None:
        view.draw(*said(1, "one"))
        view.open("two")
        for number in range(2, 40):
            view.draw(*said(number, f"message {number}"))
        view.open(CHAT)
        view.nvim.wait_screen(lambda screen: "message 39" in screen.text())
        assert "new" not in winbar(view.nvim).removeprefix("1 New chat")

    def test_drafts_are_kept(self, view: View) -> None:
        view.nvim.keys("ione<Esc>")
        view.open("two")
        view.nvim.keys("itwo<Esc>[b")
        assert (view.draft(), view.draft("two")) == ("one", "two")


class TestOlder:
    """A page of older messages comes above what is read."""

    @pytest.fixture
    def paged(self, view: View) -> View:
        view.draw(older(), *(op for number in range(2, 40) for op in said(number, f"new {number}")))
        view.nvim.keys("<C-w>kgg")
        return view

    def test_enter_loads_it(self, paged: View) -> None:
        paged.nvim.keys("<CR>")
        assert paged.sent("older") == [{"chat": CHAT}]
        paged.nvim.keys(":lua require('eca.keymaps').run('Older')<CR>")
        assert len(paged.sent("older")) == 2

    def test_what_is_read_stays_in_its_place(self, paged: View) -> None:
        read = paged.nvim.lua("return vim.fn.getline(3)")
        page = [
            op
            for number in range(50, 60)
            for op in said(number, f"old\n{number}", after=number - 1)
        ]
        page[0] = ops.OpenBlock(CHAT, 50, BlockKind.USER, after=1)
        paged.draw(*page[:6])
        paged.draw(*page[6:])
        row = paged.nvim.eval("line('w0')")
        assert paged.nvim.eval(f"getline({row} + 2)") == read
        assert paged.lines()[:3] == ["▴ older messages", "", "old"]
        assert "new" not in winbar(paged.nvim).removeprefix("New chat")
        paged.draw(ops.RemoveBlock(CHAT, 1))
        assert paged.nvim.eval("getline(line('w0') + 2)") == read
        assert paged.lines()[:2] == ["old", "50"]

    def test_a_reader_at_the_end_stays_there(self, paged: View) -> None:
        paged.nvim.keys("G")
        paged.draw(*said(50, "old", after=1))
        assert paged.nvim.eval("getline('.')") == "new 39"

    def test_a_flag_moves_nothing(self, paged: View) -> None:
        header = (("▴ older messages (1 of 2)", ""),)
        paged.draw(*said(50, "old", after=1), ops.SetHeader(CHAT, 1, header))
        paged.nvim.keys("gg")
        header = (("⚑ here", "EcaFlag"),)
        paged.draw(ops.OpenBlock(CHAT, 60, BlockKind.FLAG, header, after=50))
        assert paged.nvim.eval("line('w0')") == 1
        assert paged.lines()[2:5] == ["old", "", "⚑ here"]


class TestComing:
    """The host makes chats and takes them away."""

    def test_a_copy_is_shown_to_who_is_still_there(self, view: View) -> None:
        view.draw(
            status("copy", "idle", "Copy"), ops.SetInput("copy", "anew"), ops.ShowChat("copy")
        )
        assert view.nvim.lua("return require('eca').status().chat") == "copy"
        assert view.draft("copy") == "anew"

    @pytest.mark.parametrize("elsewhere", ["<C-w>h", "ityping"])
    def test_nobody_is_taken_along_from_elsewhere(self, view: View, elsewhere: str) -> None:
        view.nvim.keys(elsewhere)
        before = view.nvim.eval("[win_getid(), mode()]")
        view.draw(status("copy", "idle", "Copy"), ops.ShowChat("copy"))
        assert view.nvim.eval("[win_getid(), mode()]") == before
        assert view.nvim.lua("return require('eca.window').chat_shown()") == CHAT
        view.nvim.keys("<Esc>")
        view.nvim.wait_until("""vim.fn.execute('messages'):find('new chat: "Copy"')""")

    def test_the_chat_before_takes_the_place_of_one_that_is_gone(self, view: View) -> None:
        view.open("two")
        buf = view.buffer("two")
        view.draw(ops.ForgetChat("two"))
        assert view.windows() == ["", "chat", "input"]
        assert view.nvim.lua("return require('eca').status().chat") == CHAT
        assert view.nvim.eval(f"bufexists({buf})") == 0
        assert [chat["id"] for chat in view.nvim.lua("return require('eca').chats()")] == [CHAT]

    def test_the_windows_of_the_last_one_go(self, view: View) -> None:
        view.nvim.keys("ia draft<Esc>")
        view.draw(ops.ForgetChat(CHAT))
        assert view.windows() == [""]
        assert view.nvim.lua("return require('eca').chats()") == []
        view.nvim.keys(":EcaChat<CR>")
        assert view.windows() == ["", "chat", "input"]

    def test_one_that_is_not_shown_goes_unseen(self, view: View) -> None:
        make(view, "two")
        view.nvim.keys("itext")
        view.draw(ops.ForgetChat("two"))
        assert view.nvim.eval("mode()") == "i"
        assert view.windows() == ["", "chat", "input"]
        view.nvim.keys("<Esc>")

    def test_one_in_another_tab_page_goes(self, view: View) -> None:
        view.nvim.keys(":tabnew<CR>")
        view.draw(ops.ForgetChat(CHAT))
        assert view.nvim.eval("tabpagenr()") == 2
        view.nvim.keys("gt")
        assert view.windows() == [""]

    def test_an_open_chat_of_another_day_is_resumed_by_its_id(self, view: View) -> None:
        view.open("kept")
        assert {"chat": "kept", "quiet": True} in view.sent("resume")
        view.open("kept")
        assert len([it for it in view.sent("resume") if it["chat"] == "kept"]) == 1
