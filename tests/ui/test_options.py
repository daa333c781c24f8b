"""Options: their sources, and messages about wrong ones."""

import pytest
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.view import start_view

CONTRACT = {
    "server",
    "servers",
    "layout",
    "width",
    "input",
    "icons",
    "keymaps",
    "approval",
    "checkpoints",
    "previews",
    "diff",
    "diagnostics",
    "contexts",
    "completion",
    "code_actions",
    "notify",
    "log_level",
}
"""The names of the contract that have a default; `python` has none."""
BEYOND = {"follow", "install", "templates", "turn"}
"""Options that the contract does not name."""


def test_the_options_are_those_of_the_contract(start_nvim: StartNeovim) -> None:
    view = start_view(start_nvim)
    assert set(view.nvim.lua("return require('eca.config').defaults()")) == CONTRACT | BEYOND


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"layuot": "left"}, "unknown option 'layuot' (did you mean 'layout'?)"),
        (
            {"server": {"comand": ["eca"]}},
            "unknown option 'server.comand' (did you mean 'server.command'?)",
        ),
        ({"zzzzzzzzz": 1}, "unknown option 'zzzzzzzzz'"),
        ({"layout": 3}, "option 'layout' must be a string, not a number"),
        (
            {"notify": "loud"},
            'option \'notify\' must be one of "error", "warn", "info", false, not "loud"',
        ),
        ({"completion": 3}, "option 'completion' must be a boolean or table, not a number"),
        ({"completion": {"auto": 1}}, "option 'completion.auto' must be a boolean, not a number"),
        ({"server": 3}, "option 'server' must be a table or string, not a number"),
        ({"servers": {"two": {"idle": -1}}}, "option 'servers.two.idle' must be 0 or more, not -1"),
        ({"servers": {"two": "eca"}}, "option 'servers.two' must be a table"),
        ({"servers": {"a b": {}}}, "option 'servers.a b' must have a name without spaces"),
        (
            {"servers": {"two": {"comand": ["eca"]}}},
            "unknown option 'servers.two.comand' (did you mean 'servers.two.command'?)",
        ),
        (
            {"servers": {"two": {"protocol": "lsp"}}},
            'option \'servers.two.protocol\' must be one of "eca", "acp", not "lsp"',
        ),
        ({"diff": {"lines": 0}}, "option 'diff.lines' must be 1 or more, not 0"),
        ({"server": {"command": [1]}}, "option 'server.command' must contain only strings, not 1"),
        ({"icons": {"done": True}}, "option 'icons' must contain only strings, not true"),
    ],
)
def test_wrong_options_are_told_in_one_line_each(
    start_nvim: StartNeovim, given: dict[str, Value], complaint: str
) -> None:
    view = start_view(start_nvim, settings={**given, "width": 70})
    assert view.nvim.lua("return require('eca.config').get().width") == 70
    assert view.nvim.lua("return require('eca.config').get().layout") == "right"
    told = view.nvim.wait_until("vim.fn.execute('messages'):match('eca: [^\\n]+')")
    assert told == f"eca: {complaint}"


def test_setup_adds_to_the_global_and_does_nothing_else(start_nvim: StartNeovim) -> None:
    view = start_view(start_nvim, settings={"layout": "left", "server": {"env": {"A": "1"}}})
    loaded = "return vim.tbl_count(package.loaded)"
    view.nvim.lua("require('eca').setup({})")
    before = view.nvim.lua(loaded)
    view.nvim.lua("require('eca').setup({ width = 80, server = { command = { 'x', 'y' } } })")
    assert view.nvim.lua(loaded) == before
    options = view.nvim.lua("return require('eca.config').get()")
    assert (options["layout"], options["width"]) == ("left", 80)
    server = {"env": {"A": "1"}, "command": ["x", "y"], "download": True, "idle": 0}
    assert options["server"] == server


def test_the_global_may_be_a_function(start_nvim: StartNeovim) -> None:
    view = start_view(start_nvim, init="vim.g.eca = function() return { layout = 'tab' } end")
    assert view.nvim.lua("return require('eca.config').get().layout") == "tab"


def test_a_function_that_fails_is_not_fatal(start_nvim: StartNeovim) -> None:
    view = start_view(start_nvim, init="vim.g.eca = function() error('oh') end")
    assert view.nvim.lua("return require('eca.config').get().layout") == "right"
    view.nvim.wait_until("vim.fn.execute('messages'):find('vim.g.eca', 1, true)")


def test_a_wrong_mcp_server_is_left_out_and_the_others_stay(start_nvim: StartNeovim) -> None:
    view = start_view(start_nvim)
    check = (
        "local complaints = {} "
        "local right = require('eca.config').check(..., complaints) "
        "return { right.servers.two.mcp, complaints }"
    )
    right: dict[str, Value] = {
        "editor": True,
        "local": {"command": ["a", "-b"], "env": {"KEY": "secret"}},
        "far": {"url": "https://a", "type": "sse", "headers": {"Authorization": "secret"}},
    }
    wrong: dict[str, Value] = {
        "a": {"comand": ["a"]},
        "b": {"headers": {"A": 1}},
        "c": True,
        "d e": {},
        "f": {"type": "ws"},
        "g": {"env": {"KEY": ["secret"]}},
    }
    kept, complaints = view.nvim.lua(check, {"servers": {"two": {"mcp": {**right, **wrong}}}})
    assert {name: kept[name] for name in right} == right
    assert not any(kept.get(name) for name in wrong)
    option = "servers.two.mcp"
    _, wrong_options = view.nvim.lua(check, {"servers": {"two": {"options": {"model": 7}}}})
    assert wrong_options == [
        "option 'servers.two.options' must contain only strings or booleans, not 7"
    ]
    assert complaints == [
        f"option '{option}.b.headers' must contain only strings, not 1",
        f"option '{option}.c' must be a table",
        f"option '{option}.d e' must have a name without spaces",
        f'option \'{option}.f.type\' must be one of "http", "sse", not "ws"',
        f"option '{option}.g.env' must contain only strings, not a table",
        f"unknown option '{option}.a.comand' (did you mean '{option}.a.command'?)",
    ]
