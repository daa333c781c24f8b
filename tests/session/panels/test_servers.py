"""The panel of servers: a plan is shown whole and approved by its digest, and then carried out."""

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from tests.server.test_installing import Web
from tests.session.panels.test_panels import applied
from tests.session.rig import Rig

from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.panels import ActInPanel, Row, SetRows, ShowPanel
from eca_nvim.server.find import Finding, ServerOptions
from eca_nvim.server.installed import versions
from eca_nvim.server.offers import newest

pytestmark = pytest.mark.anyio
NUMBERS = count(1)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    server = Web(tmp_path_factory.mktemp("web"))
    yield server
    server.close()


class Shown:
    """The panel as the view has it."""

    def __init__(self, rig: Rig, web: Web, folder: Path) -> None:
        self.rig, self.web, self.folder = rig, web, str(folder)

    def use(self, row: str, *, download: bool = True) -> None:
        base = f"https://127.0.0.1:{self.web.port}/{row}"
        self.rig.session.configure({}, Finding({}, self.folder, base, base, download))

    @property
    def rows(self) -> list[Row]:
        shown: list[Row] = []
        for op in self.rig.view.of(SetRows):
            shown = applied(shown, [op])
        return shown

    def text(self, name: str) -> str:
        """Return what is said of a server, and below it."""
        rows = [it for it in self.rows if it.id.partition("\n")[0] == name]
        return "\n".join("".join(text for text, _, _ in it.line) for it in rows)

    async def act(self, action: str, row: str, **values: str) -> object:
        return await self.rig.ask(
            ActInPanel("server", action, next(NUMBERS), row=row, values=values)
        )

    async def until(self, name: str, text: str) -> None:
        await self.rig.view.until(lambda: text in self.text(name))

    def answer_row(self, name: str) -> Row:
        (row,) = [it for it in self.rows if it.id.startswith(f"{name}\nyes ")]
        return row

    def said(self) -> list[str]:
        return [it.text for it in self.rig.view.of(Notify)]


@pytest.fixture
async def shown(rig: Rig, web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    for key, value in web.trust.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    panel = Shown(rig, web, tmp_path / "servers")
    panel.use("good")
    rig.do(ShowPanel("server"))
    await panel.until("eca", "github")
    return panel


def list_agents(shown: Shown, *agents: object) -> None:
    """Have these agents listed, as if the registry had been asked."""
    Path(shown.folder).mkdir(exist_ok=True)
    (Path(shown.folder) / "registry.json").write_text(json.dumps({"agents": agents}))


async def test_a_plan_is_shown_whole_and_what_was_shown_is_done(shown: Shown) -> None:
    assert await shown.act("install", "eca") == {"row": "eca"}
    await shown.until("eca", "y does this")
    text = shown.text("eca")
    assert "Get eca 1.0" in text
    assert newest(shown.folder, "eca") == "1.0"
    assert f"https://127.0.0.1:{shown.web.port}/good/eca-native-" in text
    assert f"{shown.folder}/eca/1.0-" in text
    assert text.index("It is started") < text.index("eca server") < text.index("y does this")
    row = shown.answer_row("eca")
    assert row.actions == ["yes", "cancel"]
    await shown.act("yes", "eca\nyes " + "0" * 40)
    assert "something else is planned now" in shown.said()[-1]
    assert versions(shown.folder, "eca").current is None
    await shown.act("yes", row.id)
    await shown.until("eca", "eca 1.0 is installed")
    assert shown.said()[-1] == "eca 1.0 is installed"
    current = versions(shown.folder, "eca").current
    assert current
    assert current.version == "1.0"
    assert "needs login" not in shown.text("eca")
    shown.rig.session._servers.wanted_logins.note("eca", wanted=True)
    await shown.act("details", "eca")
    await shown.until("eca", "needs login")
    assert "it asked for a login when it was last used: :Eca login" in shown.text("eca")
    await shown.act("details", "eca")

    shown.use("slow")
    await shown.act("install", "eca")
    await shown.until("eca", "is the newest version, and installed")
    await shown.act("uninstall", "eca")
    await shown.until("eca", "eca is removed")
    await shown.act("install", "eca")
    await shown.until("eca", "y does this")
    await shown.act("yes", shown.answer_row("eca").id)
    await shown.until("eca", "of 0.3 MB")
    await shown.act("cancel", "eca")
    await shown.rig.view.until(lambda: "MB" not in shown.text("eca"))
    assert versions(shown.folder, "eca").current is None
    assert list((Path(shown.folder) / "eca").glob("download-*"))

    shown.use("newer")
    await shown.act("install", "eca")
    await shown.until("eca", "Get eca 2.0")
    assert newest(shown.folder, "eca") == "2.0"
    await shown.act("cancel", shown.answer_row("eca").id)
    await shown.rig.view.until(lambda: "Get eca" not in shown.text("eca"))


async def test_a_failure_is_said_and_can_be_tried_again(shown: Shown) -> None:
    shown.use("wrong")
    await shown.act("install", "eca")
    await shown.until("eca", "y does this")
    await shown.act("yes", shown.answer_row("eca").id)
    await shown.until("eca", "not done")
    text = shown.text("eca")
    assert "its SHA-256 is wrong" in text
    assert "SHA-256 of what came" in text
    assert "y does this again" in text
    shown.use("nosum")
    await shown.act("install", "eca")
    await shown.until("eca", "nobody says its sum, so type it")
    assert shown.answer_row("eca").actions == ["sum", "cancel"]
    await shown.act("sum", shown.answer_row("eca").id, sum="123")
    assert "has 64 digits" in shown.said()[-1]
    await shown.act("sum", shown.answer_row("eca").id, sum="A" * 64)
    await shown.until("eca", f"SHA-256 {'a' * 64}")


async def test_the_registry_is_asked_on_request(shown: Shown) -> None:
    assert "new-agent" not in {it.id for it in shown.rows}
    await shown.act("refresh", "")
    await shown.until("new-agent", "4.5.6")
    assert "4.5.6 what it is for" in shown.text("new-agent")
    assert [it.id for it in shown.rows].count("codex") == 1
    assert "codex-acp" not in {it.id for it in shown.rows}
    await shown.until("codex", "9.9.9")
    assert "4 agents were listed" in "".join(text for text, _, _ in shown.rows[-1].line)
    await shown.act("install", "new-agent")
    await shown.until("new-agent", "it needs npm, which is not on PATH")


async def test_nothing_that_a_registry_says_is_hidden_in_a_plan(
    shown: Shown, tmp_path: Path
) -> None:
    """What ends a comment, turns text around or has no width, and what is cut nowhere."""
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text("")
    npm.chmod(0o755)
    code = "// fine\nevil() \u202e  \ta\u200b\x1b[8mb\r" + "\u202e" * 300 + "last"
    way = {"package": "odd", "args": ["-e", code], "env": {"A\nB": "c d"}}
    entry = {"id": "odd", "version": "1\n" + "9" * 99, "distribution": {"npx": way}}
    list_agents(shown, entry)
    await shown.act("install", "odd")
    await shown.until("odd", "y does this")
    plan = [it for it in shown.rows if it.id.startswith("odd\nplan")]
    text = "".join(text for row in plan for text, group, _ in row.line if group == "EcaCode")
    assert "'A␤B=c d'" in text
    assert "'// fine␤evil() <U+202E>  ␉a<U+200B>␛[8mb" in text
    assert text.count("<U+202E>") == 301
    assert "last'" in text
    assert "Install odd 1 99" in shown.text("odd")
    assert "… by" in shown.text("odd")


async def test_an_agent_that_needs_more_says_so_and_starts_with_the_users_variables(
    shown: Shown, tmp_path: Path
) -> None:
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    agent = (
        '#!/bin/sh\nread it; [ -n "$FAST_AGENT_MODEL" ] || { echo No model >&2; exit 1; }\n'
        'echo \'{"jsonrpc": "2.0", "id": 1, "result": {"agentInfo": {"version": "1.2"}}}\'; read it'
    )
    uv.write_text(
        '#!/bin/sh\n/bin/mkdir -p "$UV_TOOL_BIN_DIR"\ncd "$UV_TOOL_BIN_DIR"\n'
        f"/bin/cat >fast-agent-acp <<'END'\n{agent}\nEND\n/bin/chmod +x fast-agent-acp\n"
    )
    uv.chmod(0o755)
    (uv.parent / "env").symlink_to("/usr/bin/env")
    needs = "set $FAST_AGENT_MODEL, or that in servers.fast-agent.env, as to sonnet"
    await shown.act("install", "fast-agent")
    await shown.until("fast-agent", f"It does not start before you {needs}.")
    await shown.act("yes", shown.answer_row("fast-agent").id)
    await shown.until("fast-agent", "not done")
    assert f"exit code 1: No model; {needs}, then install it again" in shown.text("fast-agent")
    options = {"fast-agent": ServerOptions(environment={"FAST_AGENT_MODEL": "sonnet"})}
    shown.rig.session.configure({}, Finding(options, shown.folder))
    await shown.act("yes", shown.answer_row("fast-agent").id)
    await shown.until("fast-agent", "fast-agent 1.2 is installed")


async def test_what_needs_npm_says_so_and_download_may_be_off(shown: Shown, tmp_path: Path) -> None:
    await shown.act("install", "claude")
    await shown.until("claude", "it needs npm, which is not on PATH: install Node.js")
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(
        '#!/bin/sh\n/bin/mkdir -p "$5/node_modules/.bin"\necho "installing $6 $7"\n'
        'echo \'#!/bin/sh\nread it; echo "{\\"jsonrpc\\": \\"2.0\\", \\"id\\": 1, \\"result\\":'
        ' {\\"agentInfo\\": {\\"name\\": \\"c\\", \\"version\\": \\"9.1\\"}}}"; read it\''
        ' > "$5/node_modules/.bin/claude-agent-acp"\n'
        '/bin/chmod +x "$5/node_modules/.bin/claude-agent-acp"\n'
    )
    npm.chmod(0o755)
    await shown.act("install", "claude")
    await shown.until("claude", "y does this")
    text = shown.text("claude")
    package = "@agentclientprotocol/claude-agent-acp"
    assert f"npm install --no-audit --no-fund --prefix {shown.folder}/claude/newest-" in text
    assert package in text
    assert "npm runs the scripts that these packages bring, as you." in text
    before = shown.answer_row("claude").id
    await shown.act("scripts", before)
    await shown.until("claude", "--ignore-scripts")
    await shown.act("yes", before)
    assert "something else is planned now" in shown.said()[-1]
    await shown.act("yes", shown.answer_row("claude").id)
    await shown.until("claude", "claude 9.1 is installed")
    current = versions(shown.folder, "claude").current
    assert current
    assert current.version == "9.1"
    await shown.act("details", "claude")
    await shown.until("claude", f"installing --ignore-scripts {package}")
    await shown.act("all", "claude")

    shown.use("good", download=False)
    await shown.act("install", "eca")
    assert "server.download is false" in shown.said()[-1]
