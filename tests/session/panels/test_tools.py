"""The panel of tools: what each does, whether it asks, and what is taken back from there."""

from collections.abc import Sequence
from itertools import count
from typing import Any, TypeAlias

import pytest
from msgspec.structs import replace
from tests.session.panels.test_panels import applied
from tests.session.rig import Rig
from tests.support.announced import announced

from eca_nvim.agents.abilities import Grant
from eca_nvim.chat.vocabulary.agent_events import Tool, ToolServerChanged, ToolServerState
from eca_nvim.chat.vocabulary.intents import SetTrust
from eca_nvim.chat.vocabulary.ops import Notify, SetTools
from eca_nvim.chat.vocabulary.panels import ActInPanel, Row, SetPanel, SetRows, ShowPanel
from eca_nvim.session.panels.panel import _safe
from eca_nvim.session.panels.tools import parameters

pytestmark = pytest.mark.anyio

Value: TypeAlias = Any

NUMBERS = count(100)

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The file"},
        "mode": {"enum": ["a", "b"]},
        "odd": 7,
    },
    "required": ["path"],
}
NATIVE = ToolServerChanged(
    *("ECA", ToolServerState.RUNNING, "native"),
    (Tool("write_file", "Writes a file.\nWhole.", SCHEMA), Tool("preview", disabled=True)),
)
MOCK = ToolServerChanged(
    "mock", ToolServerState.RUNNING, "mcp", (Tool("echo"), Tool("image"), Tool("echo"))
)


class FakeGrants:
    """What was allowed; what is revoked is gone."""

    def __init__(self, *grants: Grant) -> None:
        self.grants = [*grants]

    def standing(self) -> Sequence[Grant]:
        return self.grants

    def revoke(self, grant_id: str) -> None:
        self.grants = [it for it in self.grants if it.id != grant_id]

    def has_asked(self, tool: str, tool_server: str | None) -> bool:
        return (tool, tool_server) == ("image", "mock")


GRANTS = (
    Grant("1", ("any echo on any server",), tool="echo", ends="until it restarts"),
    Grant("2", ("this command here: ls", "read this file: /a"), "a"),
)


def rows_of(rig: Rig) -> list[Row]:
    """Return the rows that the view has."""
    rows: list[Row] = []
    for op in rig.view.of(SetRows):
        rows = applied(rows, [op])
    return rows


def shown(rig: Rig) -> list[str]:
    return [" ".join(" ".join(text for text, *_ in row.line).split()) for row in rows_of(rig)]


async def open_panel(
    rig: Rig, *servers: ToolServerChanged, grants: FakeGrants | None = None
) -> None:
    agent = await rig.ready()
    agent.grants = grants or FakeGrants(*GRANTS)
    agent.announce(*servers)
    rig.do(ShowPanel("tools", "a"))
    await rig.view.until(lambda: rows_of(rig))


async def press(rig: Rig, action: str, row: str) -> object:
    found = next(it for it in rows_of(rig) if row in " ".join(text for text, *_ in it.line))
    assert action in found.actions
    return await rig.ask(ActInPanel("tools", action, next(NUMBERS), row=found.id))


async def test_each_tool_says_whether_it_asks_and_opens_what_it_does(rig: Rig) -> None:
    await open_panel(rig, NATIVE, MOCK)
    assert rig.view.of(SetPanel)[-1].title == "tools: 5, 1 disabled"
    assert shown(rig)[2:] == [
        "ECA the agent's own: 2 tools",
        "preview disabled",
        "write_file asks? Writes a file.",
        "mock MCP server, running: 3 tools",
        *("echo allowed", "echo allowed", "image asks"),
    ]
    assert len({row.id for row in rows_of(rig)}) == len(rows_of(rig))
    rig.agent.announce(announced(agents=("code",), agent="code"))
    await press(rig, "details", "write_file")
    await press(rig, "details", "preview")
    await rig.view.until(lambda: "disabled for the agent code" in shown(rig))
    at = shown(rig).index("write_file asks? Writes a file.")
    assert shown(rig)[at + 3].startswith("asks or not as ECA's config says")
    assert shown(rig)[at + 4 : at + 7] == [
        "path string, needed The file",
        "mode one of a, b.",
        "odd",
    ]


async def test_what_is_allowed_is_taken_back_where_the_plugin_keeps_it(rig: Rig) -> None:
    await open_panel(rig, NATIVE)
    kept, ours = shown(rig)[:2]
    assert kept == "allowed any echo on any server in all chats, until it restarts"
    assert ours == "allowed this command here: ls and 1 more in a chat without a title"
    assert "revoke" not in rows_of(rig)[0].actions
    await press(rig, "details", "this command")
    await rig.view.until(lambda: "read this file: /a" in shown(rig))
    assert await press(rig, "chat", "this command") == {"chat": "a"}
    row = rows_of(rig)[1].id
    await press(rig, "revoke", "this command")
    await rig.view.until(lambda: not any("this command" in line for line in shown(rig)))
    await rig.ask(ActInPanel("tools", "revoke", 8, row=row))
    assert rig.view.of(Notify) == [Notify("warn", "this is allowed no more")]


async def test_trust_is_listed_and_turned_off(rig: Rig) -> None:
    await open_panel(rig, NATIVE, grants=FakeGrants())
    assert shown(rig)[0] == "no answer for always stands"
    rig.do(SetTrust("a", trusted=True))
    await rig.view.until(lambda: shown(rig)[0].startswith("trust all tools run without asking in"))
    assert "write_file trust Writes a file." in shown(rig)
    assert await press(rig, "chat", "all tools") == {"chat": "a"}
    await press(rig, "revoke", "all tools")
    await rig.view.until(lambda: shown(rig)[0] == "no answer for always stands")
    assert ("set", "a", "trust", False) in rig.agent.told


async def test_a_server_that_tells_no_tools_says_so_beside_what_is_allowed(rig: Rig) -> None:
    await open_panel(rig)
    assert len(shown(rig)) == 3
    assert shown(rig)[-1] == "eca does not tell its tools: ECA does, an ACP agent cannot"


async def test_a_script_gets_them_as_tables(rig: Rig) -> None:
    await open_panel(rig, NATIVE, MOCK)
    native, mock = rig.view.of(SetTools)
    assert (native.mcp, mock.mcp) == (None, "mock")
    assert {"name": "preview", "description": "", "disabled": True} in native.tools
    whole = {"name": "write_file", "description": "Writes a file. Whole.", "disabled": False}
    assert whole in native.tools
    rig.agent.announce(replace(MOCK, status=ToolServerState.STOPPED))
    assert len(rig.view.of(SetTools)) == len((NATIVE, MOCK))  # they are the same


async def test_five_thousand_tools_cost_no_noticeable_time(rig: Rig) -> None:
    tools = tuple(Tool(f"tool {number}", f"Does {number}." * 20) for number in range(5000))
    agent = await rig.ready()
    agent.announce(ToolServerChanged("many", ToolServerState.RUNNING, "mcp", tools))
    rig.do(ShowPanel("tools", "a"))
    await rig.view.until(lambda: rows_of(rig))
    assert len(rows_of(rig)) > len(tools)
    assert _safe.cache_info().currsize > 2 * len(tools), "they are not made again each second"


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        (None, []),
        ([], []),
        ({"properties": 3}, []),
        ({"properties": ["b", ["c"]]}, ["b", "['c']"]),
        ({"properties": {"a": {"type": ["string", "null"]}}, "required": "a"}, ["a"]),
    ],
)
def test_a_schema_may_be_anything(schema: object, names: list[str]) -> None:
    assert [name for name, *_ in parameters(schema)] == names
