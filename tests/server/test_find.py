"""Which server is started: the user's command, eca on PATH, the demo agent."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.launch import REPOSITORY

from eca_nvim.server import find
from eca_nvim.server.find import (
    DEMO,
    DEMO_FOLDER,
    DEMO_INSTEAD,
    DEMO_LABEL,
    ECA,
    KNOWN,
    BadServerOption,
    ServerCommand,
    ServerOptions,
    find_server,
)
from eca_nvim.server.installed import Versions, versions

NOWHERE = {"PATH": "/nowhere"}

HELP = REPOSITORY / "doc" / "eca.txt"


def look_for(
    command: list[str] | None, variables: dict[str, str], *, demo: bool = False
) -> ServerCommand:
    """Find the server of the option `server`, or the demo agent."""
    options = ServerOptions(command, variables)  # type: ignore[arg-type]
    return find_server(DEMO if demo else ECA, {ECA: options})


def program(folder: Path, name: str) -> Path:
    """Make a program that can be run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_users_command_comes_first(tmp_path: Path) -> None:
    mine = program(tmp_path / "mine", "my-eca")
    program(tmp_path / "bin", "eca")
    found = look_for([str(mine), "server", "--verbose"], {"PATH": str(tmp_path / "bin")})
    assert found.command == (str(mine), "server", "--verbose")
    assert found.label == str(mine)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("python3 agent.py --acp", "agent.py"),
        ("python3.12 -I ~/src/agent.py", "~/src/agent.py"),
        ("python3 -m my_agent", "my_agent"),
        ("python3 -Im my_agent", "my_agent"),
        ("npx -y @maker/agent --acp", "@maker/agent"),
        ("java -jar agent.jar", "agent.jar"),
        ("python3 -c pass", "python3"),
        ("python3 -Ic pass", "python3"),
        ("python3 -X dev agent.py", "python3"),
        ("node --require setup agent.js", "node"),
        ("python3", "python3"),
        ("my-python agent.py", "my-python"),
        ("env KEY=secret my-agent --acp", "my-agent"),
        ("env -i - A=1 --unset=B -- B= python3 -I agent.py", "agent.py"),
        ("env A=1 env B=2 ~/bin/my-agent", "~/bin/my-agent"),
        ("env -u A my-agent", "env"),
        ("env A=1", "env"),
        ("env", "env"),
    ],
)
def test_an_interpreter_is_called_by_what_it_runs(tmp_path: Path, words: str, name: str) -> None:
    first, *rest = words.split()
    interpreter = program(tmp_path, first)
    found = look_for([first, *rest], {"PATH": str(tmp_path)})
    assert found.command == (str(interpreter), *rest)
    assert found.label == (str(interpreter) if name == first else name)


def test_the_users_command_may_be_on_path(tmp_path: Path) -> None:
    mine = program(tmp_path, "my-eca")
    assert look_for(["my-eca"], {"PATH": str(tmp_path)}).command == (str(mine),)


def test_the_users_command_may_be_in_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = program(tmp_path / "bin", "my-eca")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert look_for(["~/bin/my-eca"], {}).command == (str(mine),)


@pytest.mark.parametrize("searched", ["", ":", "/nowhere:"])
def test_the_working_folder_is_not_on_path(
    searched: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository may contain any program."""
    program(tmp_path, "eca")
    monkeypatch.chdir(tmp_path)
    assert look_for(None, {"PATH": searched}).label == DEMO_LABEL


def test_a_folder_on_path_that_may_not_be_read_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stat(path: object, **_: object) -> os.stat_result:
        raise PermissionError(path)

    monkeypatch.setattr(os, "stat", stat)
    assert look_for(None, {"PATH": str(tmp_path)}).label == DEMO_LABEL


def test_eca_on_path_is_found(tmp_path: Path) -> None:
    eca = program(tmp_path, "eca")
    found = look_for(None, {"PATH": str(tmp_path)})
    assert found.command == (str(eca), "server")
    assert found.label == str(eca)


def test_without_eca_the_demo_agent_answers() -> None:
    assert look_for(None, NOWHERE).label == DEMO_LABEL


def test_the_demo_agent_can_be_wanted(tmp_path: Path) -> None:
    eca = program(tmp_path, "eca")
    found = look_for([str(eca)], {"PATH": str(tmp_path)}, demo=True)
    assert found.label == DEMO_LABEL


def test_variables_are_added_to_what_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVIM", "/run/nvim.socket")
    inherited = {name: value for name, value in os.environ.items() if name != "NVIM"}
    found = look_for(None, {**NOWHERE, "ECA_CONFIG": "x"})
    own = {name: found.environment[name] for name in (DEMO_FOLDER, DEMO_INSTEAD)}
    assert found.environment == {**inherited, **NOWHERE, **own, "ECA_CONFIG": "x"}


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ([], "names no program"),
        ([" "], "names no program"),
        (["no-such-eca", "server"], "'no-such-eca' not found"),
        (["/no/such/eca"], "'/no/such/eca' not found"),
        (["eca\0"], "'eca\\x00' not found"),
        ("eca server", "it must be a list of words"),
        ([["eca"]], "it must be a list of words"),
    ],
)
def test_an_option_that_cannot_be_used_is_named(option: list[str], said: str) -> None:
    with pytest.raises(BadServerOption, match=r"server\.command") as fault:
        look_for(option, NOWHERE)
    assert said in str(fault.value)
    assert "\n" not in str(fault.value)


def test_the_demo_agent_starts_anywhere_and_knows_no_other_python_settings(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the project shadows a module')\n")
    found = look_for(None, {"PYTHONPATH": str(tmp_path)}, demo=True)
    assert found.command[0] == sys.executable
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    run = subprocess.run(
        found.command,
        input=f"Content-Length: {len(body)}\r\n\r\n{body}",
        env=found.environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "chatWelcomeMessage" in run.stdout, run.stderr


def test_a_file_that_is_not_executable_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "eca").touch(0o644)
    with pytest.raises(BadServerOption, match=r"not executable.*chmod \+x"):
        look_for([str(tmp_path / "eca")], {})


def test_a_server_is_known_by_its_whole_command_without_telling_it(tmp_path: Path) -> None:
    mine = str(program(tmp_path, "my-eca"))
    one, again, other = (
        look_for([mine, f"--api-key={key}"], {}).identity for key in ("a", "a", "b")
    )
    assert one == again != other
    assert "key" not in one


def test_it_needs_nothing_but_the_standard_library() -> None:
    """`make chat` asks it which agent will answer, with whatever Python there is."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import eca_nvim.server.find"
    package = Path(find.__file__).parents[2]
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, package], check=False)
    assert done.returncode == 0


def test_each_server_has_its_own_command_and_variables(tmp_path: Path) -> None:
    one, two = program(tmp_path, "one"), program(tmp_path, "two")
    servers = {
        "one": ServerOptions((str(one),), {"WHO": "one"}),
        "two": ServerOptions((str(two), "server"), {"WHO": "two"}),
    }
    found = [find_server(name, servers) for name in servers]
    assert [(it.command, it.environment["WHO"]) for it in found] == [
        ((str(one),), "one"),
        ((str(two), "server"), "two"),
    ]


def test_a_server_on_another_machine_is_called_as_the_options_name_it(tmp_path: Path) -> None:
    ssh = (str(program(tmp_path, "ssh")), "far.example", "agent")
    assert find_server("far", {"far": ServerOptions(ssh)}).label == "far"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none", r"there is no server 'none': set servers\.none\.command"),
        ("bare", r"servers\.bare names no program: set servers\.bare\.command"),
        ("gone", r"servers\.gone\.command: '/no/such' not found"),
        ("lsp", r"servers\.lsp\.protocol is 'lsp': it must be 'eca' or 'acp'"),
    ],
)
def test_a_server_that_cannot_be_started_is_named(name: str, said: str) -> None:
    servers = {
        "bare": ServerOptions(),
        "gone": ServerOptions(("/no/such",)),
        "lsp": ServerOptions(("sh",), protocol="lsp"),
    }
    with pytest.raises(BadServerOption, match=said):
        find_server(name, servers)


def test_the_protocol_is_the_users_or_what_is_usual_for_the_name() -> None:
    servers = {"mine": ServerOptions(("sh",), protocol="acp"), "gemini": ServerOptions(("sh",))}
    assert find_server("mine", servers).protocol == "acp"
    assert find_server("gemini", servers).protocol == "acp"
    assert find_server(DEMO, servers).protocol == "eca"


def test_a_known_agent_is_found_on_path(tmp_path: Path) -> None:
    program = tmp_path / "gemini"
    program.touch(0o755)
    servers = {"gemini": ServerOptions(environment={"PATH": str(tmp_path)})}
    found = find_server("gemini", servers)
    assert found.command == (str(program), "--acp")
    assert found.protocol == "acp"


@pytest.mark.parametrize("name", [it for it in KNOWN if it != ECA])
def test_a_known_agent_that_is_missing_says_how_to_install_it(name: str, tmp_path: Path) -> None:
    servers = {name: ServerOptions(environment={"PATH": str(tmp_path)})}
    with pytest.raises(BadServerOption) as fault:
        find_server(name, servers)
    program, install = KNOWN[name].command[0], KNOWN[name].install
    assert str(fault.value).startswith(f"there is no {program} on PATH: install it")
    assert str(fault.value).endswith(f" {install}, or by :Eca install {name}")


def test_the_help_lists_the_known_agents() -> None:
    rows = re.findall(r"(?m)^ {8}`([\w-]+)` +(\w[\w =-]*)$", HELP.read_text(encoding="utf-8"))
    agents = {it: " ".join(KNOWN[it].command) for it in KNOWN if it != ECA}
    assert dict(rows).items() >= agents.items()


@pytest.mark.parametrize(
    "wrong",
    [{"command": "/bin/sh"}, {"command": ["/bin/sh", 1]}, {"environment": None}, {"folder": 3},
     {"environment": {"A": 1}}, {"more": 1}],
)  # fmt: skip
def test_a_state_that_another_program_has_written_installs_nothing(
    wrong: Mapping[str, object], tmp_path: Path
) -> None:
    right = {"version": "1", "command": ["/bin/sh"], "protocol": "acp", "folder": "/x"}
    (tmp_path / "odd").mkdir()
    state = tmp_path / "odd" / "state.json"
    state.write_text(json.dumps({"current": right}))
    assert versions(str(tmp_path), "odd").current
    state.write_text(json.dumps({"current": {**right, **wrong}}))
    assert versions(str(tmp_path), "odd") == Versions()
    with pytest.raises(BadServerOption):
        find_server("odd", {}, str(tmp_path))
