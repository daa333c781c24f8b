"""The panel of MCP servers: what its rows say, and what its actions send."""

import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace
from tests.session.panels.test_panels import shown
from tests.session.rig import FakeAgent, Rig

from eca_nvim.agents.abilities import AgentRefused, LoginEnd, LoginUser, Target, ToolServerAction
from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.vocabulary.agent_events import Offered, Tool, ToolServerChanged
from eca_nvim.chat.vocabulary.agent_events import ToolServerState as State
from eca_nvim.chat.vocabulary.intents import OpenChat
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.panels import ActInPanel, SetPanel, SetRows, ShowPanel
from eca_nvim.session.panels.mcp_config import find_place, read_target
from eca_nvim.session.view import Refused

pytestmark = pytest.mark.anyio

ECHO = ToolServerChanged(
    *("echo", State.RUNNING, "mcp", (Tool("say", "says\nit"), Tool("off", disabled=True))),
    prompts=(Offered("greet", "Greets"),),
    resources=(Offered("a", ""), Offered("b", "")),
    command=("python3", "a b.py"),
)
NUMBERS = count(1)
NATIVE = ToolServerChanged("ECA", State.RUNNING, "native", (Tool("read_file"),))


class FakeToolServers:
    """The tool servers of an agent: records what is done."""

    may_go_on: anyio.Event | None = None

    def __init__(self, *files: Path) -> None:
        self.done: list[tuple[object, ...]] = []
        self.config_files: Sequence[Path] = files
        self.fault: AgentRefused | None = None

    async def do(self, action: ToolServerAction, name: str) -> None:
        self._note(action.value, name)
        if self.may_go_on is not None:
            await self.may_go_on.wait()

    async def add(self, name: str, target: Target, *, in_workspace: bool) -> None:
        self._note("add", name, target, in_workspace)

    async def change(self, name: str, target: Target) -> None:
        self._note("change", name, target)

    async def remove(self, name: str) -> None:
        self._note("remove", name)

    def _note(self, *what: object) -> None:
        self.done.append(what)
        if self.fault is not None:
            raise self.fault


async def with_servers(
    rig: Rig, *known: ToolServerChanged, files: Sequence[Path] = ()
) -> FakeToolServers:
    agent = await rig.ready()
    servers = agent.tool_servers = FakeToolServers(*files)
    agent.announce(*known)
    rig.do(ShowPanel("mcp", "a"))
    await rig.view.until(lambda: shown(rig))
    return servers


def rows(rig: Rig) -> dict[str, tuple[str, ...]]:
    """Return the last actions of each row, by its id."""
    return {row.id: tuple(row.actions) for op in rig.view.of(SetRows) for row in op.rows}


async def act(rig: Rig, action: str, name: str, **values: str) -> object:
    return await rig.ask(ActInPanel("mcp", action, next(NUMBERS), row=f'["{name}"]', values=values))


def told(rig: Rig) -> list[str]:
    return [op.text for op in rig.view.of(Notify) if not op.text.startswith("the MCP server")]


@pytest.mark.parametrize(
    ("known", "line", "actions"),
    [
        (ECHO, "running echo 2 tools, 1 prompt, 2 resources", "open restart stop disable"),
        (
            replace(ECHO, disabled=True),
            "disabled in the configuration",
            "open restart stop disable enable",
        ),
        (replace(ECHO, status=State.STOPPED), "stopped echo s starts it", "open start disable"),
        (replace(ECHO, status=State.DISABLED), "disabled echo + enables it", "open enable"),
        (
            replace(ECHO, status=State.NEEDS_LOGIN),
            "needs a login echo i logs in",
            "open connect disable",
        ),
        (
            replace(ECHO, status=State.FAILED),
            "failed echo s starts it again, :Eca log",
            "open start edit disable",
        ),
        (
            replace(ECHO, status=State.FAILED, error="api_key=sk-secret1"),
            "failed echo api_key=[hidden]",
            "open start",
        ),
        (
            replace(ECHO, status=State.FAILED, has_login=True),
            *("failed", "open start edit disable connect"),
        ),
        (
            replace(ECHO, status=State.RUNNING, has_login=True),
            "running",
            "open restart stop disable logout",
        ),
        (
            replace(ECHO, status=State.STARTING),
            "starting 2m05s echo it does not start: r starts it again",
            "open restart disable",
        ),
        (
            replace(ECHO, status=State.LOGGING_IN),
            "logging in 2m05s echo its page is in the chat",
            "open restart",
        ),
        (
            replace(ECHO, status=State.STARTING, tools=None, since=-1.0),
            *("starting echo python3 'a b.py'", "open restart disable"),
        ),
        (NATIVE, "running ECA 1 tool, the server's own", "open"),
    ],
)
async def test_a_row_says_the_state_and_what_to_press(
    rig: Rig, known: ToolServerChanged, line: str, actions: str
) -> None:
    known = replace(known, since=time.monotonic() - (0 if known.since else 125))
    await with_servers(rig, known)
    row = next(it for it in shown(rig) if not it.startswith("no MCP"))
    assert line in row
    assert rows(rig)[f'["{known.name}"]'][: len(actions.split())] == tuple(actions.split())
    running = known.kind == "mcp" and known.status is State.RUNNING
    count = f": {running:d} of 1 running" if known.kind == "mcp" else ""
    assert rig.view.of(SetPanel)[-1].title == f"mcp of eca{count}"


async def test_a_panel_stays_at_its_server_when_its_chat_goes(rig: Rig) -> None:
    await with_servers(rig, ECHO)
    rig.session._chats.default_server = "other"
    del rig.session._chats.table["a"]
    rig.agent.announce(replace(ECHO, status=State.STOPPED, tools=None))
    await rig.view.until(lambda: rig.view.of(SetPanel)[-1].title != "mcp of eca: 1 of 1 running")
    assert rig.view.of(SetPanel)[-1].title == "mcp of eca: 0 of 1 running"


async def test_details_are_rows_below_and_name_the_file(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "eca" / "config.json"
    file.parent.mkdir()
    file.write_text('{\n  // mine\n  "mcpServers": {\n    "echo": {"command": "python3"}}}')
    await with_servers(rig, ECHO, NATIVE, files=[tmp_path / "none", file])
    await act(rig, "open", "echo")
    await rig.view.until(lambda: "config.json:4" in "\n".join(shown(rig)))
    assert [line.split(maxsplit=1) for line in shown(rig)[1:-1]] == [
        ["command", "python3 'a b.py'"],
        ["file", f"{file}:4, in all projects"],
        ["tool", "say   says it"],
        ["tool", "off   (disabled)"],
        ["prompt", "greet   Greets"],
        ["resource", "a   "],
        ["resource", "b   "],
    ]
    await rig.ask(
        ActInPanel("mcp", "open", next(NUMBERS), row='["echo", 3]')
    )  # a detail acts as its server
    await rig.view.until(lambda: len(shown(rig)) == 2)
    assert await act(rig, "edit", "echo") == {"open": str(file), "line": 4}
    file.unlink()
    assert await act(rig, "edit", "echo") is None
    assert "no configuration file names echo: looked in" in told(rig)[-1]


async def test_actions_are_sent_as_they_are_meant(rig: Rig) -> None:
    servers = await with_servers(rig, ECHO)
    for action in ("start", "stop", "restart", "enable", "disable"):
        await act(rig, action, "echo")
    await act(rig, "change", "echo", target="node 'a b.js' --x")
    await act(rig, "remove", "echo")
    add = {"new_name": " new ", "new_target": "https://a.b/mcp"}
    for scope in ("in all projects", "in this workspace"):
        await rig.ask(ActInPanel("mcp", "add", next(NUMBERS), values=add | {"scope": scope}))
    assert servers.done == [
        *((it, "echo") for it in ("start", "stop", "restart", "enable", "disable")),
        ("change", "echo", Target(("node", "a b.js", "--x"))),
        ("remove", "echo"),
        ("add", "new", Target(url="https://a.b/mcp"), False),
        ("add", "new", Target(url="https://a.b/mcp"), True),
    ]
    servers.fault = AgentRefused("it is\nthere")
    await act(rig, "stop", "echo")
    await act(rig, "stop", "nope")
    await rig.ask(
        ActInPanel("mcp", "add", next(NUMBERS), values=add | {"new_name": " ", "scope": ""})
    )
    assert told(rig) == ["it is there", "this MCP server is gone", "an MCP server needs a name"]


async def test_a_server_with_several_rows_does_one_thing_at_a_time(rig: Rig) -> None:
    servers = await with_servers(rig, ECHO)
    servers.may_go_on = anyio.Event()
    rig.do(ActInPanel("mcp", "restart", next(NUMBERS), row='["echo"]'))
    await rig.view.until(lambda: servers.done)
    await rig.ask(ActInPanel("mcp", "stop", next(NUMBERS), row='["echo", 0]'))
    assert told(rig) == ["still waiting for echo"]
    servers.may_go_on.set()
    await act(rig, "stop", "echo")
    assert servers.done == [("restart", "echo"), ("stop", "echo")]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("node 'a", "the command line cannot be read: no closing quotation"),
        ("  ", "a command line or a url is needed"),
        ("''", "a command line or a url is needed"),
        ("KEY=1 node", "variables cannot be set here: add the server, then e edits"),
        ("https://", "this is no url of a host"),
    ],
)
def test_what_is_no_command_and_no_url_is_refused(text: str, fault: str) -> None:
    with pytest.raises(Refused, match=fault):
        read_target(text)


def test_the_file_that_names_a_server_first_owns_it(tmp_path: Path) -> None:
    here, everywhere = tmp_path / "a.json", tmp_path / "b.json"
    here.write_text('{"x": {"db": 1}, "mcpServers": {"other": {"args": ["db"]}}}')
    everywhere.write_text('{"mcpServers": {\n"d\\"b": {},\n\n"b\\u00fc": {}, "db" : {}}}', "utf-8")
    files = [tmp_path / "missing", here, everywhere]
    assert find_place(files, "db") == (everywhere, 4)
    assert find_place(files, 'd"b') == (everywhere, 2)
    assert find_place(files, "bü") == (everywhere, 4)
    assert find_place(files, "nope") is None
    assert find_place(files, "other") == (here, 1)


async def test_logging_in_and_out_is_the_one_of_eca_login(rig: Rig) -> None:
    rig.do(OpenChat("a"))
    await with_servers(rig, replace(ECHO, status=State.NEEDS_LOGIN, has_login=True))
    agent = rig.agent
    assert isinstance(agent, FakeAgent)

    async def log_in(_way: str, _user: LoginUser) -> LoginEnd:
        return LoginEnd.DONE

    agent.log_in = log_in
    await act(rig, "connect", "echo")
    await rig.view.until(lambda: ("login", "mcp:echo") in agent.told)
    agent.still = "You may still be logged in"
    await act(rig, "logout", "echo")
    assert ("logout", "mcp:echo") in agent.told
    assert "You may still be logged in" in told(rig)


async def test_what_this_server_cannot_do_is_said_in_a_row(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(NATIVE)
    rig.do(ShowPanel("mcp", "a"))
    await rig.view.until(lambda: shown(rig))
    assert "eca is an ACP agent and starts MCP servers itself" in shown(rig)[0]
    await act(rig, "stop", "ECA")
    assert "is an ACP agent" in told(rig)[-1]
    agent.end(AgentExit("gone"))
    await rig.view.until(
        lambda: shown(rig) == ["eca is not running: a prompt or :Eca start starts it"]
    )


async def test_bad_names_are_rows_of_their_own_and_many_changes_few_drawings(rig: Rig) -> None:
    names = ["\x1b[31mx", "x\ny", '["x"]', "", "\u202e" * 3, "n" * 3000]
    await with_servers(rig, *(replace(ECHO, name=name) for name in names))
    assert len(shown(rig)) == len(names)
    assert all("\x1b" not in line and "\u202e" not in line for line in shown(rig))
    before = len(rig.view.of(SetRows))
    for number in range(100):
        status = State.STARTING if number % 2 else State.RUNNING
        rig.agent.announce(replace(ECHO, name="x\ny", status=status, tools=(Tool("t"),) * number))
    await rig.view.until(lambda: len(rig.view.of(SetRows)) > before)
    assert len(rig.view.of(SetRows)) == before + 1
