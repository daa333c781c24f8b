"""The Lua interface, the events, and the highlight groups."""

import re
from itertools import chain

import pytest
from tests.support.factories import StartNeovim
from tests.support.highlights import HIGHLIGHTS
from tests.support.launch import REPOSITORY
from tests.ui.staged import offered
from tests.ui.view import CHAT, View, assistant, open_view, start_view

from eca_nvim.chat.vocabulary import ops

FUNCTIONS = {
    "setup",
    "open",
    "hide",
    "toggle",
    "new",
    "send",
    "stop",
    "approve",
    "reject",
    "answer",
    "pending",
    "add_context",
    "contexts",
    "chats",
    "status",
    "statusline",
    "transcript",
}


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    return open_view(start_nvim, "README.md", settings={"approval": {"float": False}})


def pending(chat: str, name: str, kind: str = "approval") -> dict[str, object]:
    item = {"chat": chat, "id": name, "call": f"call {name}", "digest": name, "block": 1}
    choices = {"choices": offered("x")} if kind == "approval" else {}
    return {**item, "kind": kind, "title": name, "detail": None, **choices}


def test_the_view_defines_all_groups_that_the_host_uses(view: View) -> None:
    groups = view.nvim.lua("return require('eca.ui.highlights').groups")
    names = [group["name"] for group in groups]
    assert set(HIGHLIGHTS) <= set(names)
    used = set()
    for path in (REPOSITORY / "lua").rglob("*.lua"):
        used |= set(re.findall(r"'(Eca[A-Z][A-Za-z]+)'", path.read_text()))
    events = set(re.findall(r"Eca[A-Za-z]+", " ".join(EVENTS)))
    assert used - set(names) - events - {"EcaIntent"} == set()


EVENTS = [
    "EcaServerReady",
    "EcaServerExited",
    "EcaFilesUsed",
    "EcaChatOpened",
    "EcaChatClosed",
    "EcaTurnStarted",
    "EcaTurnFinished",
    "EcaApprovalRequested",
    "EcaApprovalResolved",
    "EcaQuestionAsked",
    "EcaFileChanged",
    "EcaJobsChanged",
    "EcaPreviewChanged",
    "EcaToolServerChanged",
    "EcaStatusChanged",
]


def test_groups_are_links_and_survive_another_colour_scheme(view: View) -> None:
    view.nvim.command("colorscheme habamax")
    link = "return vim.api.nvim_get_hl(0, { name = 'EcaToolFailed' }).link"
    assert view.nvim.lua(link) == "DiagnosticError"


def test_groups_of_the_user_win(start_nvim: StartNeovim) -> None:
    init = "vim.api.nvim_set_hl(0, 'EcaUser', { link = 'Visual' })"
    view = open_view(start_nvim, init=init)
    assert view.nvim.lua("return vim.api.nvim_get_hl(0, { name = 'EcaUser' }).link") == "Visual"


def test_the_functions_are_those_of_the_contract(view: View) -> None:
    assert set(view.nvim.lua("return vim.tbl_keys(require('eca'))")) >= FUNCTIONS


def test_chats_are_listed_with_their_buffers(view: View) -> None:
    assert view.nvim.lua("return require('eca').chats()") == [
        {"id": CHAT, "state": "idle", "buf": view.buffer(), "server_name": "eca"}
    ]
    other = view.nvim.lua("return require('eca').new()")
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", other)
    assert [chat["id"] for chat in view.nvim.lua("return require('eca').chats()")] == [CHAT, other]


def test_a_prompt_is_sent_without_a_window(start_nvim: StartNeovim) -> None:
    view = start_view(start_nvim, settings={"contexts": {"cursor": False}})
    extra = {"type": "text", "label": "x", "content": "y"}
    chat = view.nvim.lua("return require('eca').send('hi', { contexts = { ... } })", extra)
    expected = {"chat": chat, "text": "hi", "contexts": [extra], "queue": False}
    assert view.sent("prompt") == [expected]
    assert view.current() != "input"


def test_what_waits_is_told_without_nils(view: View) -> None:
    view.draw(ops.SetPending([pending(CHAT, "a"), pending("two", "b", "question")]))
    assert view.nvim.lua("return require('eca').pending()") == [
        {
            "chat": CHAT,
            "id": "a",
            "digest": "a",
            "kind": "approval",
            "title": "a",
            "choices": [
                {"id": "allow", "name": "allow", "kind": "allow_once"},
                {"id": "always", "name": "always allow", "kind": "allow_always"},
                {"id": "reject", "name": "reject", "kind": "reject_once"},
            ],
        },
        {"chat": "two", "id": "b", "digest": "b", "kind": "question", "title": "b"},
    ]
    view.nvim.lua("require('eca').approve({ id = 'a', digest = 'of before' })")
    assert view.sent("decide") == []
    view.nvim.wait_screen("this request has changed since you saw it, look again")
    view.nvim.lua("require('eca').approve({ id = 'a', digest = 'a' })")
    assert [it["digest"] for it in view.sent("decide")] == ["a"]


def test_the_current_chats_approval_comes_first(view: View) -> None:
    view.draw(ops.SetPending([pending("two", "a"), pending(CHAT, "b")]))
    view.nvim.lua("require('eca').approve()")
    view.nvim.lua("require('eca').reject({ all = true })")
    first, *others = view.sent("decide")
    assert first == {"chat": CHAT, "block": 1, "digest": "b", "choice": "allow"}
    assert [sent["digest"] for sent in others] == ["a", "b"]


def test_an_approval_that_is_gone_is_not_sent(view: View) -> None:
    view.nvim.lua("require('eca').approve({ id = 'late' })")
    assert view.sent("decide") == []


def test_questions_are_answered_and_cancelled(view: View) -> None:
    view.draw(ops.SetPending([pending("two", "q", "question")]))
    view.nvim.lua("require('eca').answer('yes') require('eca').answer()")
    assert view.sent("answer") == [
        {"chat": "two", "block": 1, "digest": "q", "text": "yes"},
        {"chat": "two", "block": 1, "digest": "q"},
    ]


def test_a_transcript_comes_by_callback(view: View) -> None:
    view.nvim.lua("require('eca').transcript(nil, function(text) _G.got = text end)")
    view.draw(ops.Answer(1, "# all"))
    view.draw(ops.Answer(1, "late"), ops.Answer(99, "never asked"))
    assert view.nvim.lua("return _G.got") == "# all"


def test_a_transcript_is_waited_for_without_a_callback(view: View) -> None:
    answered = view.nvim.lua("""
    require('eca.host').send = function(_, payload)
      vim.schedule(function()
        local op = { op = 'answer', request = payload.request, value = '# all' }
        require('eca.view.ops').draw({ op })
      end)
    end
    return require('eca').transcript()
    """)
    assert answered == "# all"


def test_events_carry_data_without_nils(view: View) -> None:
    view.nvim.lua("""
    _G.events = {}
    vim.api.nvim_create_autocmd('User', { pattern = 'Eca*', callback = function(event)
      table.insert(_G.events, { event.match, event.data })
    end })
    """)
    view.draw(
        ops.SetServer("starting"),
        ops.SetServer("ready", "eca 1"),
        ops.SetServer("ready", "eca 1"),
        ops.Emit("EcaTurnFinished", {"chat": CHAT, "reason": "done", "fault": None}),
        ops.SetServer("failed", "gone"),
    )
    events = view.nvim.lua("return _G.events")
    assert [event for event in events if event[0] != "EcaStatusChanged"] == [
        ["EcaServerReady", {"state": "ready", "label": "eca 1", "server_name": "eca"}],
        ["EcaTurnFinished", {"chat": CHAT, "reason": "done"}],
        ["EcaServerExited", {"state": "failed", "label": "gone", "server_name": "eca"}],
    ]


def test_a_status_that_is_another_one_is_told(view: View) -> None:
    view.nvim.lua("""
    _G.told = {}
    vim.api.nvim_create_autocmd('User', { pattern = 'EcaStatusChanged', callback = function(event)
      local title = event.data.status.title
      table.insert(_G.told, { event.data.chat, title, vim.g.eca_status.title })
    end })
    """)
    running = {"server": "ready", "state": "running", "title": "one", "elapsed": 1000}
    view.draw(
        ops.SetStatus(CHAT, running),
        ops.SetStatus(CHAT, {**running, "elapsed": 2000}),
        ops.SetStatus(CHAT, {**running, "title": "two"}),
    )
    assert view.nvim.lua("return _G.told") == [[CHAT, "one", "one"], [CHAT, "two", "two"]]


def test_an_unknown_op_is_an_error_and_changes_nothing(view: View) -> None:
    view.draw(*assistant(1, "text"))
    worked = view.nvim.lua("return (pcall(require('eca.view.ops').draw, { { op = 'dance' } }))")
    assert worked is False
    assert view.lines() == ["text"]


def test_a_message_is_one_line(view: View) -> None:
    view.draw(ops.Notify("warn", "two\nlines\x1b[31m"))
    told = view.nvim.wait_until("vim.fn.execute('messages'):match('eca: [^\\n]+')")
    assert told == "eca: two lines [31m"


def test_a_message_that_fits_the_screen_is_whole_in_a_narrow_window(
    start_nvim: StartNeovim,
) -> None:
    view = open_view(start_nvim, columns=80, lines=24)
    told = f"word {'x' * 38} word word word"  # wide, where it wraps between words
    view.draw(ops.Notify("warn", told))
    view.nvim.wait_screen(f"eca: {told}")


def test_an_id_of_the_host_cannot_make_a_path(view: View) -> None:
    ids = ["../../etc/%|x", "../../etc/%?x"]
    view.nvim.command("wincmd h | split eca://input/2 | hide")
    view.draw(*chain(*(assistant(1, f"text of {chat}", chat=chat) for chat in ids)))
    names = [view.nvim.request("nvim_buf_get_name", view.buffer(chat)) for chat in (CHAT, *ids)]
    assert names == ["eca://chat/1", "eca://chat/3", "eca://chat/4"]
    assert [view.lines(chat) for chat in ids] == [[f"text of {chat}"] for chat in ids]


def test_the_title_of_a_chat_is_beside_the_names_of_its_buffers(view: View) -> None:
    titles = "return vim.tbl_map(function(buf) return vim.b[buf].eca_title end, { ... })"
    chat = view.nvim.lua("return require('eca.chat.buffers').ensure(...)", CHAT)
    assert view.nvim.lua(titles, chat["buf"], chat["input"]) == ["New chat", "New chat"]
    status = {"state": "idle", "title": "fix %{it}", "pending": 0}
    view.draw(ops.SetStatus(CHAT, status))
    assert view.nvim.lua(titles, chat["buf"], chat["input"]) == ["fix %{it}", "fix %{it}"]
    view.nvim.request("nvim_buf_delete", chat["input"], {"force": True})
    again = view.nvim.lua("return require('eca.chat.buffers').ensure(...)", CHAT)
    assert again["input"] != chat["input"]
    assert view.nvim.lua(titles, again["input"]) == ["fix %{it}"]
    assert view.nvim.request("nvim_buf_get_name", again["input"]) == "eca://input/1"


def test_the_plugin_loads_nothing_at_start(start_nvim: StartNeovim) -> None:
    nvim = start_nvim()
    loaded = nvim.lua("return vim.tbl_keys(package.loaded)")
    assert [name for name in loaded if name.startswith("eca")] == []
    assert nvim.eval("exists(':EcaChat') + exists(':Eca')") == 4
