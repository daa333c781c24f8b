"""Options that have no command of their own: listed, set and completed by `:Eca options`."""

from functools import partial
from pathlib import Path

from msgspec.structs import replace
from tests.support import acp_script as agent
from tests.support import script
from tests.support.factories import StartNeovim
from tests.support.servers import scripted_acp
from tests.ui.talk import wait_line
from tests.ui.test_choices import SELECT
from tests.ui.view import CHAT, View, open_view

from eca_nvim.chat.render.status import option_rows
from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.options import (
    MODE,
    ChatOption,
    OptionKind,
    OptionOffer,
    SetOptions,
    Unasked,
)

MODE_OPTION = ChatOption("mode", "Mode", "", MODE, value="x", offers=(OptionOffer("x", "Auto"),))
WEB = ChatOption("web", "Web search", "look things up", kind=OptionKind.TOGGLE, value=False)
EFFORT = ChatOption(
    "effort-id",
    "Effort",
    category="model_config",
    value="lo",
    offers=(
        OptionOffer("lo", "Low"),
        OptionOffer("hi", "High %#Error#", "slow\x1b[31m\nbut good", "Dear"),
        OptionOffer("max|qa!", "Most of all"),
    ),
)
STATUS = {"state": "idle", "agent": "Auto", "trust": False}


def list_options(view: View, *options: ChatOption, **status: object) -> None:
    view.draw(SetOptions(CHAT, option_rows(options)), ops.SetStatus(CHAT, STATUS | status))


def chosen(view: View) -> list[tuple[str, object]]:
    return [(it["option"], it["value"]) for it in view.sent("choose")]


def test_options_are_listed_set_and_completed(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, init=SELECT)
    nvim = view.nvim
    nvim.keys(":Eca options<CR>")
    nvim.wait_screen("this chat has no other options")
    list_options(view, MODE_OPTION, WEB, EFFORT)

    nvim.keys("<C-l>:Eca options<CR>")
    assert nvim.lua("return _G.offered") == [
        "Web search: off  look things up",
        "Effort: Low",
    ]
    nvim.lua("_G.choose(1)")
    assert chosen(view) == [("web", True)]
    nvim.lua("_G.choose(2)")
    assert nvim.lua("return _G.offered") == [
        "● Low",
        "  Dear: High %#Error#  slow but good",
        "  Most of all",
    ]
    nvim.lua("_G.choose(2)")
    assert chosen(view)[1:] == [("effort-id", "hi")]
    nvim.command("set columns=40 | Eca options")
    nvim.lua("_G.choose(2)")
    assert [row[:6] for row in nvim.lua("return _G.offered")] == ["● Low", "  Dear", "  Most"]
    nvim.command("set columns=100")

    for typed, sent in (
        ("web", ("web", True)),
        ("Web search on", ("web", True)),
        ("web off", ("web", False)),
        ("web n", ("web", "n")),
        ("EFFORT low", ("effort-id", "lo")),
        ("effort-id most of", ("effort-id", "max|qa!")),
        ("eff max|qa!", ("effort-id", "max|qa!")),
        ("Effort other", ("effort-id", "other")),
    ):
        nvim.keys(f":Eca options {typed}<CR>")
        assert chosen(view)[-1] == sent, typed
    count = len(chosen(view))
    nvim.keys(":Eca options mode x<CR>")
    nvim.wait_screen("unknown option 'mode x': there are Web search, Effort")
    assert len(chosen(view)) == count

    complete = "getcompletion('Eca options %s', 'cmdline')"
    assert nvim.eval(complete % "") == ["Effort", "web"]
    assert nvim.eval(complete % "Eff") == ["Effort"]
    assert nvim.eval(complete % "Effort ") == ["Low", "hi", "max|qa!"]
    assert nvim.eval(complete % "Web search o") == ["off", "on"]
    assert nvim.eval(complete % "nothing ") == []
    assert "options" in nvim.eval("getcompletion('Eca opt', 'cmdline')")

    nvim.keys(":map <lt>F5> <lt>Plug>(EcaOptions)<CR>")
    nvim.lua("_G.offered = nil")
    nvim.keys("<F5>")
    assert len(nvim.lua("return _G.offered")) == 2


def test_a_key_never_goes_on_to_a_mode_that_does_not_ask(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, init=SELECT)
    names = ("Plan", "Yolo", "Turbo", "Code")
    offers = tuple(OptionOffer(name.lower(), name) for name in names)
    mode = ChatOption(
        "m",
        "Mode",
        "",
        MODE,
        value="plan",
        offers=offers,
        unasked={"yolo": Unasked.ALL},
        unsure=frozenset({"turbo"}),
    )
    list_options(view, mode)
    view.nvim.keys("<S-Tab>")
    list_options(view, replace(mode, value="code"))
    view.nvim.keys("<S-Tab>")
    list_options(view, replace(mode, value="yolo"))
    view.nvim.keys("<S-Tab>")
    assert chosen(view) == [("m", "code"), ("m", "plan"), ("m", "plan")]
    view.nvim.keys(":Eca agent<CR>")
    offered = [
        "  Plan",
        "● Yolo  tools run without asking",
        "  Turbo  not known whether it asks",
        "  Code",
    ]
    assert view.nvim.lua("return _G.offered") == offered
    view.nvim.keys(":Eca agent yolo<CR>")
    assert chosen(view)[-1] == ("m", "yolo")


def test_a_mode_that_does_not_ask_is_loud_from_the_first_moment(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    view.draw(ops.SetServer("ready", "eca"))
    list_options(view, MODE_OPTION)
    view.nvim.wait_screen("Auto")
    assert "EcaTrust" not in str(view.nvim.lua("return vim.wo.winbar"))
    list_options(view, MODE_OPTION, unasked=["Auto", "Allow %#Error# all: on"])
    view.nvim.wait_screen("Allow %#Error# all: on · Auto")
    winbars = view.nvim.lua(
        "return vim.tbl_map(function(win) return vim.wo[win].winbar end, vim.api.nvim_list_wins())"
    )
    assert "%#EcaTrust#Auto" in str(winbars)
    assert "%#EcaTrust#Allow %%#Error# all: on" in str(winbars)
    status = view.nvim.lua("return require('eca').statusline()")
    assert status.endswith("Auto Allow %%#Error# all: on")


OPTIONS: list[dict[str, object]] = [
    {
        "id": "mode",
        "name": "Mode",
        "category": "mode",
        "type": "select",
        "currentValue": "auto",
        "options": [{"value": "auto", "name": "Auto"}, {"value": "plan", "name": "Plan first"}],
    },
    {
        "id": "effort",
        "name": "Effort",
        "category": "model_config",
        "type": "select",
        "currentValue": "low",
        "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}],
    },
    {"id": "web", "name": "Web search", "type": "boolean", "currentValue": True},
]


def test_an_agent_lists_and_refuses(start_nvim: StartNeovim, tmp_path: Path) -> None:
    high = [OPTIONS[0], OPTIONS[1] | {"currentValue": "high"}, OPTIONS[2]]
    offline = [*high[:2], OPTIONS[2] | {"currentValue": False}]
    planned = [OPTIONS[0] | {"currentValue": "plan"}, *offline[1:]]
    expect_set = script.expect("session/set_config_option")
    server = scripted_acp(
        [
            *agent.handshake(),
            *agent.session(configOptions=OPTIONS),
            *(*expect_set, *script.reply("session/set_config_option", {"configOptions": high})),
            *(*expect_set, *script.reply("session/set_config_option", {"configOptions": offline})),
            *(*expect_set, *script.reply("session/set_config_option", {"configOptions": planned})),
            *(*expect_set, *script.fail("session/set_config_option", -32602, "Not with it")),
        ],
        tmp_path / "agent",
    )
    options = {"effort": "high", "web": False}
    servers = {"mine": {"command": server.command, "protocol": "acp", "options": options}}
    nvim = start_nvim(settings={"server": "mine", "servers": servers}, columns=120, lines=30)
    nvim.keys(":EcaChat<CR>")
    nvim.wait_screen("Auto · ○ idle")  # before anything was asked of it
    assert nvim.lua("return require('eca').status().unasked") == ["Auto"]
    asked = partial(server.received, "session/set_config_option")
    nvim.wait_for(lambda: len(asked()) == len(options), "the options of the server to be set")
    nvim.keys("<Esc>:Eca agent plan first<CR>")
    nvim.wait_screen("Plan first · ○ idle")
    assert nvim.lua("return require('eca').status().agent") == "Plan first"
    nvim.keys(":Eca options effort low<CR>")
    wait_line(nvim, "Effort stays High: the agent refused it: Not with it")
    assert [it["params"]["value"] for it in asked()] == ["high", False, "plan", "low"]
