"""What is asked about chats and prompts: which one, its name, and whether to go on."""

import pytest
from tests.support.factories import StartNeovim
from tests.ui.staged import WITHOUT_HOST, wait_sent
from tests.ui.view import CHAT, View

from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.ops import BlockKind

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


class TestAsking:
    """What is gone for good is asked for; what is typed along is taken."""

    def test_delete_asks(self, view: View) -> None:
        view.nvim.lua("vim.ui.select = function(items, _, done) done(items[_G.choice]) end")
        view.nvim.lua("_G.choice = 2")
        view.nvim.keys(":Eca delete<CR>")
        assert view.sent("delete") == []
        view.nvim.lua("_G.choice = 1")
        view.nvim.keys(":Eca delete<CR>")
        assert view.sent("delete") == [{"chat": CHAT}]
        view.nvim.keys(":Eca delete!<CR>:Eca clear!<CR>")
        assert len(view.sent("delete")) == 2
        assert view.sent("clear") == [{"chat": CHAT}]

    def test_what_ends_a_job_asks(self, view: View) -> None:
        view.nvim.lua("""
        _G.asked = {}
        vim.ui.select = function(items, how, done)
          table.insert(_G.asked, how.prompt)
          done(items[2])
        end
        """)

        def job(
            title: str, chat: str = CHAT, state: str = "running", **more: object
        ) -> dict[str, object]:
            return {
                "id": title,
                "title": title,
                "state": state,
                "chat": chat,
                "background": True,
            } | more

        listed = [job("sleep 40", "other"), job("make x"), job("old", state="killed")]
        listed += [job("in a turn", background=False), *(job(f"{it}" * 50, "b") for it in "12")]
        view.draw(ops.SetJobs(listed))
        view.nvim.keys(":Eca delete<CR>:Eca restart<CR>:Eca quit<CR>")
        named = f"sleep 40, make x, {'1' * 39}…"
        all_jobs = f"4 jobs that run, see :Eca jobs: {named} and 1 more"
        assert view.nvim.lua("return _G.asked") == [
            'Delete "New chat" for good? It ends 1 job that runs, see :Eca jobs: make x.',
            f"Restart eca? It ends {all_jobs}.",
            f"Quit eca? It ends {all_jobs}.",
        ]
        assert [view.sent(name) for name in ("delete", "start", "quit")] == [[], [], []]
        view.nvim.keys(":Eca delete!<CR>:Eca restart!<CR>:Eca quit!<CR>")
        view.draw(ops.SetJobs([]))
        view.nvim.keys(":Eca restart<CR>:Eca quit<CR>")
        assert [len(view.sent(name)) for name in ("delete", "start", "quit")] == [1, 2, 2]
        assert len(view.nvim.lua("return _G.asked")) == 3

    @pytest.mark.parametrize("columns", [40, 80, 160])
    def test_rows_of_lists_do_not_wrap(self, view: View, columns: int) -> None:
        view.nvim.resize(columns, 24)
        view.nvim.lua("""
        _G.rows = {}
        vim.ui.select = function(items, how)
          vim.list_extend(_G.rows, vim.tbl_map(how.format_item, items))
        end
        """)
        title = "a title that says ünï code in more words than anybody would want to read"
        kept = {"id": "k", "title": title, "messages": 27, "updated": 1000, "running": False}
        models = ("mock/mock-1", "provider/with-a-model-of-a-long-name-2025-09-29")
        view.nvim.keys(":Eca resume<CR>")
        [asked] = view.sent("list_chats")
        chats = [{**kept, "model": model, "open": True} for model in models]
        view.draw(status(CHAT, "waiting", title), ops.Answer(asked["request"], chats))
        view.nvim.wait_until("#_G.rows == 2")
        view.nvim.keys(":Eca chats<CR>")
        cells = view.nvim.lua("return vim.tbl_map(vim.api.nvim_strwidth, _G.rows)")
        assert max(cells) + len("100: ") < columns
        short, _long, chat = view.nvim.lua("return _G.rows")
        assert ("27 messages · open · mock/mock-1" in short) == (columns > 40)
        assert "waiting" in chat

    def test_saved_chats_say_what_tells_them_apart(self, view: View) -> None:
        view.nvim.resize(80, 24)
        view.nvim.keys(":Eca resume  Flaky  test <CR>")
        [asked] = view.sent("list_chats")
        assert asked["words"] == "Flaky  test"
        folder = view.nvim.lua("return vim.fn.fnamemodify(vim.fn.getcwd(), ':~')")
        kept = {"id": "k", "title": "Fix it", "messages": 27, "updated": 1000, "open": False}
        last = {"last": "the clock is to blame, and so is the sleep before it", "files": 3}
        view.draw(ops.Answer(asked["request"], [{**kept, **last}, kept]))
        view.nvim.wait_screen(f"Resume a chat of …{folder[-59:]}")
        view.nvim.wait_screen("3 changed · “the clock is to")
        view.nvim.keys("<C-c>")
        view.nvim.keys(":Eca resume nowhere<CR>")
        view.draw(ops.Answer(view.sent("list_chats")[-1]["request"], []))
        view.nvim.wait_screen("eca: no saved chat has 'nowhere': :Eca resume lists all")

    def test_rename(self, view: View) -> None:
        view.nvim.keys(":Eca rename  A | b 'c' <CR>")
        view.nvim.keys(":Eca rename<CR>Other<CR>")
        titles = [it["title"] for it in view.sent("rename")]
        assert titles == ["A | b 'c'", "Other"]
        view.nvim.keys(":Eca rename<CR> <CR>")
        assert len(view.sent("rename")) == 2

    def test_a_flag_is_asked_for(self, view: View) -> None:
        view.draw(*said(7, "hello"))
        view.nvim.keys("<C-w>kgmhere<CR>")
        assert view.sent("add_flag") == [{"chat": CHAT, "block": 7, "text": "here"}]
        view.nvim.keys(":Eca flag!<CR>")
        assert view.sent("remove_flag") == []

    def test_a_place_is_chosen_where_there_is_no_cursor(self, view: View) -> None:
        view.nvim.lua("vim.ui.select = function(items, _, done) done(items[1]) end")
        view.nvim.keys(":Eca rollback<CR>")
        [asked] = view.sent("timeline")
        moments = [
            {"block": 3, "kind": "user", "title": "old"},
            {"block": 5, "kind": "flag", "title": "flag"},
            {"block": 7, "kind": "user", "title": "new"},
        ]
        view.draw(ops.Answer(asked["request"], moments))
        _, chosen = wait_sent(view.nvim, "timeline", 2)
        assert chosen["block"] == 7
        view.draw(ops.Answer(chosen["request"], [{**moments[2], "text": "new"}]))
        expected = {"chat": CHAT, "block": 7, "messages": True, "tools": False}
        assert wait_sent(view.nvim, "rollback") == [expected]

    def test_no_list_comes_up_under_a_user_who_types_on(self, view: View) -> None:
        view.nvim.lua("vim.ui.select = function() _G.came = true end")
        view.nvim.keys(":Eca rollback<CR>")
        [asked] = view.sent("timeline")
        view.nvim.keys("ihello")
        view.draw(ops.Answer(asked["request"], [{"block": 3, "kind": "user", "title": "old"}]))
        view.nvim.keys(" you<Esc>")
        view.nvim.wait_screen("the list was not opened, as you kept typing: ask again")
        assert view.nvim.lua("return _G.came") is None
        assert view.nvim.eval("getline('.')") == "hello you"
