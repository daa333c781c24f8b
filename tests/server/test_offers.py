"""What can be installed, from the list of known agents and the public registry."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from eca_nvim.server.find import ECA, KNOWN
from eca_nvim.server.offers import (
    ARCHIVE,
    MOST_PLANNED,
    NPM,
    UV,
    NoOffer,
    Plan,
    Source,
    builds_of_eca,
    listed_as,
    plan_of_agent,
    read_plan,
    refresh,
    registry,
)

SUM = "ab" * 32
PLATFORM = {"archive": "https://x.example.com/a.tar.gz", "cmd": "./bin/a", "args": ["acp"]}
MACHINES = ("linux-x86_64", "linux-aarch64", "darwin-x86_64", "darwin-aarch64")


def agent(id_: str, **ways: object) -> Mapping[str, object]:
    return {"id": id_, "name": id_, "version": "1.2.3", "distribution": ways}


def binary(**more: object) -> Mapping[str, object]:
    return {it: {**PLATFORM, **more} for it in MACHINES}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    for name in ("npm", "uv"):
        (tmp_path / name).touch(0o755)
    agents = [
        agent("summed", binary=binary(sha256=SUM), npx={"package": "summed"}),
        agent("packed", binary=binary(), npx={"package": "@x/packed@1.2.3", "args": ["--acp"]}),
        agent("snake", uvx={"package": "snake[acp]==1.2.3", "cmd": "snake-acp"}),
        agent("bare", binary=binary()),
        agent("elsewhere", binary={"plan9-mips": PLATFORM}),
        agent("codex-acp", npx={"package": "@agentclientprotocol/codex-acp@1.2.3"}),
        agent("goose", binary=binary(sha256=SUM)),
        agent("option", npx={"package": "--global"}),
        agent("folder", npx={"package": "../folder"}),
        agent("short", npx={"package": "owner/repository"}),
        agent("far", npx={"package": "https://x.example.com/x.tgz"}),
        agent("plain", binary=binary(archive="http://x.example.com/a.zip", sha256=SUM)),
        agent("outside", binary=binary(cmd="../../bin/sh", sha256=SUM)),
        agent("broken", binary=binary(archive="https://[x/a.zip", sha256=SUM)),
        agent("endless", npx={"package": "endless", "args": ["x" * MOST_PLANNED]}),
        agent("demo", npx={"package": "evil"}),
        agent("registry", npx={"package": "evil"}),
        agent("../evil", npx={"package": "evil"}),
        "nonsense",
    ]
    told = Source(str(tmp_path / "servers"), str(tmp_path), registry="https://r.example.com/v1/")
    asked: list[str] = []

    def read(url: str) -> bytes:
        asked.append(url)
        return json.dumps({"agents": agents}).encode()

    assert refresh(told, read) == len(agents) - 4, "four have no name that an agent may have"
    assert asked == ["https://r.example.com/v1/registry.json"]
    return told


PLANS: Mapping[str, Mapping[str, object]] = {
    "summed": {"how": ARCHIVE, "sum": SUM, "program": "bin/a", "arguments": ("acp",)},
    "packed": {"how": NPM, "arguments": ("--acp",), "version": "1.2.3"},
    "snake": {"how": UV, "program": "snake-acp"},
    "bare": {"how": ARCHIVE, "sum": ""},
    "goose": {"how": ARCHIVE, "sum": SUM},
    "codex": {"how": NPM, "version": "1.2.3"},
    "claude": {"how": NPM, "version": "newest", "program": "claude-agent-acp"},
    "vibe": {"how": UV, "version": "newest", "program": "vibe-acp"},
}


@pytest.mark.parametrize(("name", "fields"), PLANS.items(), ids=PLANS)
def test_the_best_way_is_planned(name: str, fields: Mapping[str, object], source: Source) -> None:
    plan = plan_of_agent(source, name)
    assert {key: getattr(plan, key) for key in fields} == fields
    assert plan.place.startswith(f"{source.folder}/{name}/")
    assert read_plan(json.loads(json.dumps(plan.table()))).digest == plan.digest
    if plan.how == NPM:
        assert plan.command[:2] == ("npm", "install")
        assert plan.place in plan.command
        assert plan.without_scripts().without_scripts() == plan
        assert "--ignore-scripts" in plan.without_scripts().command
    assert plan._replace(url="x").digest != plan.digest


REFUSED = {
    "elsewhere": "nobody says how",
    "option": "is not a package of npm",
    "folder": "is not a package of npm",
    "short": "is not a package of npm",
    "far": "is not a package of npm",
    "plain": "no https address",
    "broken": "no https address",
    "endless": "too many to be shown whole",
    "demo": "there is no agent",
    "registry": "there is no agent",
    "outside": "outside of its archive",
    "nobody": "there is no agent 'nobody' to install",
    "../evil": "there is no agent",
    "cursor": "is not installed by a command",
}


@pytest.mark.parametrize(("name", "line"), REFUSED.items(), ids=REFUSED)
def test_what_cannot_be_trusted_is_refused(name: str, line: str, source: Source) -> None:
    with pytest.raises(NoOffer, match=line):
        plan_of_agent(source, name)


def test_every_known_agent_has_a_way_or_a_page(source: Source) -> None:
    for name in KNOWN:
        if name != ECA and not KNOWN[name].install.startswith("https:"):
            assert isinstance(plan_of_agent(source, name), Plan)
    assert listed_as(ECA, registry(source.folder)) is None


def test_uv_takes_the_python_that_a_known_agent_needs(source: Source) -> None:
    plan = plan_of_agent(source, "vibe")
    assert plan.command[3:] == ("uv", "tool", "install", "--python", "3.13", "mistral-vibe")
    plan = plan_of_agent(source, "snake")
    assert plan.command[3:] == ("uv", "tool", "install", "snake[acp]==1.2.3")


@pytest.mark.parametrize(
    ("machine", "names"),
    [
        (("linux", "x86_64", True), ["static-linux-amd64", "linux-amd64"]),
        (("linux", "x86_64", False), ["static-linux-amd64"]),
        (("linux", "aarch64", True), ["static-linux-aarch64", "linux-aarch64"]),
        (("darwin", "aarch64", False), ["macos-aarch64"]),
        (("darwin", "x86_64", False), ["macos-amd64"]),
    ],
)
def test_the_build_fits_the_machine_and_its_libc(
    machine: tuple[str, str, bool], names: list[str]
) -> None:
    system, cpu, has_glibc = machine
    wanted = [f"eca-native-{it}.zip" for it in names]
    assert builds_of_eca(system, cpu, has_glibc=has_glibc) == wanted
