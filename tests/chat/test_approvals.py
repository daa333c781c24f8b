"""Requests to the user, and their answers."""

from __future__ import annotations

from tests.chat.driver import ENDED, STOPPING, Driver, all_pending, call, remembered
from tests.support.calls import eca_call

from eca_nvim.agents.eca.contents import ALWAYS_ID
from eca_nvim.chat.handlers.reducer import apply
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.user_actions.approvals import SUBAGENT_GOES_ON, TOO_LONG
from eca_nvim.chat.vocabulary.call_details import (
    FileChange,
    ShellCommand,
    ShellPart,
    Subagent,
)
from eca_nvim.chat.vocabulary.effects import Decision, Prompt
from eca_nvim.chat.vocabulary.events import (
    QuestionAsked,
    ToolFinished,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import Notify, SetInput
from eca_nvim.chat.vocabulary.requests import REJECT

SHELL = ShellCommand((ShellPart("ls", (), "ls"), ShellPart("echo", ("x",), "echo", True)))


def asked(call_id: str = "t1") -> ToolRequested:
    arguments = {"command": "ls\necho x"}
    shell = call(call_id, "shell_command", details=SHELL, arguments=arguments)
    return ToolRequested(shell, needs_approval=True)


def test_a_waiting_call_opens_and_says_what_will_happen() -> None:
    driver = Driver()
    driver.run()
    driver.hear(asked())
    parts = ["· ls      always allow: ls", "· echo x  always allowed"]
    assert driver.view.lines[1:] == [
        "? $ ls echo x waiting",
        *("  $ ls", "    echo x", *(f"  {part}" for part in parts)),
    ]
    assert driver.items == [
        {
            "chat": "chat",
            "id": "chat:2:1000",
            "block": 2,
            "call": "t1",
            "kind": "approval",
            "title": "$ ls echo x",
            "titled": True,
            "detail": "\n".join(("$ ls", "  echo x", *parts)),
            "lines": ["$ ls", "  echo x", *parts],
            "marks": [
                *((2, 0, 2, "EcaMuted"), (2, 5, -1, "EcaMuted")),
                *((3, 0, 2, "EcaMuted"), (3, 9, -1, "EcaMuted")),
            ],
            "language": "",
            "choices": [
                {"id": "allow", "name": "allow", "kind": "allow_once"},
                {
                    "id": ALWAYS_ID,
                    "name": "always allow",
                    "kind": "allow_always",
                    "remembers": ["any ls"],
                },
                {"id": "reject", "name": "reject", "kind": "reject_once"},
            ],
            "tool": "shell_command",
            "digest": driver.shown("t1")[1],
        }
    ]
    assert driver.view.fired("EcaApprovalRequested") == [
        {"chat": "chat", "id": "chat:2:1000", "title": "$ ls echo x"}
    ]


def test_nothing_new_to_remember_is_absent_48() -> None:
    driver = Driver()
    known = ShellCommand((ShellPart("ls", (), "ls", True), ShellPart("((", ())))
    driver.hear(ToolRequested(call("s", "shell_command", details=known), needs_approval=True))
    driver.hear(ToolRequested(call("e", "edit_file"), needs_approval=True))
    driver.hear(ToolRequested(eca_call("x", "made_up"), needs_approval=True))
    told = [None, ["any edit_file on any server"], None]
    assert [remembered(item) for item in driver.items] == told


def test_who_asks_for_what_is_told() -> None:
    driver = Driver()
    mcp = eca_call("m", "jira", "tracker", "mcp", arguments={})
    driver.hear(ToolRequested(mcp, needs_approval=True))
    nameless = eca_call("n", arguments={"path": "/workspace/a"})
    driver.hear(ToolRequested(nameless, needs_approval=True))
    silent = call("s", "edit_file")
    driver.hear(ToolRequested(silent, needs_approval=True))
    first, second, third = driver.items
    assert (first["tool"], first["title"]) == ("tracker/jira", "tracker/jira")
    assert "warnings" not in first
    assert "tool" not in second
    assert second["title"] == "unknown tool"
    assert second["lines"] == ["path: /workspace/a"]
    assert "warnings" not in second
    assert third["warnings"] == ["the server does not say what it will do"]


def test_what_leads_out_of_the_workspace_is_told() -> None:
    driver = Driver()
    arguments = {"paths": [f"/{letter}" for letter in "abcde"]}
    driver.hear(ToolRequested(call("e", "x", arguments=arguments), needs_approval=True))
    assert driver.items[0]["warnings"] == ["outside the workspace: /a, /b, /c and 2 more"]


def test_a_command_is_shown_to_its_last_character() -> None:
    driver = Driver()
    command = "echo " + "x" * 5000 + "\n" + "\n".join(map(str, range(500)))
    hidden = command + " \x1b]0;$(reboot)\x07"
    driver.hear(
        ToolRequested(
            call("c", "shell_command", arguments={"command": hidden}), needs_approval=True
        )
    )
    lines = driver.items[0]["lines"]
    assert isinstance(lines, list)
    assert "\n".join(line[2:] for line in lines) == command + " ␛]0;$(reboot)␇"


def test_the_folder_of_a_command_comes_before_it_unless_it_is_the_chats() -> None:
    driver = Driver()
    long = "/" + "x" * 200
    for number, folder in enumerate(["/", "sub\nfolder", long, "/workspace/", 3]):
        arguments = {"command": "make\nall", "cwd": folder, "timeout": 1}
        waiting = call(f"c{number}", "shell_command", arguments=arguments)
        driver.hear(ToolRequested(waiting, needs_approval=True))
    command, last = ["$ make", "  all"], "timeout: 1"
    assert [item["lines"] for item in driver.items] == [
        ["cwd: /", *command, last],
        ["cwd: sub folder", *command, "cwd: sub", "  folder", last],
        [f"cwd: {long[:119]}…", *command, f"cwd: {long}", last],
        [*command, "cwd: /workspace/", last],
        [*command, "cwd: 3", last],
    ]


def test_what_is_too_long_says_so_and_cannot_be_allowed() -> None:
    driver = Driver()
    arguments = {"content": "x" * 120_000, "more": "y"}
    driver.hear(ToolRequested(call("c", "x", arguments=arguments), needs_approval=True))
    [item] = driver.items
    lines, choices = item["lines"], item["choices"]
    assert isinstance(lines, list)
    assert isinstance(choices, list)
    assert lines[0].endswith("x… 20009 more characters")
    assert lines[1] == "… 1 more line"
    assert [it["kind"] for it in choices] == ["reject_once"]
    assert item["warnings"] == [TOO_LONG]
    driver.approve("c")
    [told] = driver.told(Decision)
    assert not told.allows


def test_a_move_can_be_looked_at() -> None:
    driver = Driver()
    arguments = {"source": "/workspace/a", "destination": "/workspace/b"}
    driver.hear(ToolRequested(call("m", "move_file", arguments=arguments), needs_approval=True))
    assert driver.items[0]["paths"] == ["/workspace/a"]


def test_a_reason_follows_as_a_prompt_when_the_turn_has_ended() -> None:
    driver = Driver()
    driver.run()
    driver.hear(asked())
    driver.reject("t1", "use rg")
    assert [it.text for it in driver.told(Prompt)] == ["hello"]
    driver.hear(ToolRejected(call(), "user"), ENDED)
    assert [it.text for it in driver.told(Prompt)] == ["hello", "use rg"]


def test_a_reason_for_a_subagent_is_the_users_to_send() -> None:
    driver = Driver()
    driver.run()
    spawn = call("s", "spawn_agent", details=Subagent("explorer", "child"))
    driver.hear(ToolRunning(spawn))
    driver.hear(asked(), child="child")
    assert driver.items[0]["agent"] == "explorer"
    driver.reject("t1", "use rg\x07")
    assert driver.decided == [("child", "t1", REJECT.id)]
    assert driver.chat.queue == []
    assert SetInput("chat", "use rg␇") in driver.view.other
    assert Notify("info", SUBAGENT_GOES_ON) in driver.view.other


def test_an_edit_brings_its_diff() -> None:
    driver = Driver()
    change = FileChange("/workspace/a.py", "@@ -1 +1 @@\n-old\n+new", 1, 1)
    driver.hear(ToolRequested(call("e", "edit_file", details=change), needs_approval=True))
    item = driver.items[0]
    assert item["title"] == "edit a.py +1 -1"
    assert item["paths"] == ["/workspace/a.py"]
    assert item["language"] == "diff"
    assert item["lines"] == ["-old", "+new"]


def test_an_approval_goes_out_once_and_leaves_the_list_at_once() -> None:
    driver = Driver()
    driver.run()
    driver.hear(asked())
    driver.approve("t1", remember=True)
    assert driver.items == []
    assert driver.state == "running"
    driver.approve("t1")
    driver.reject("t1")
    driver.hear(ToolRunning(asked().call))
    driver.approve("t1")
    assert driver.told(Decision) == [
        Decision("chat", asked().call, ALWAYS_ID, allows=True, home="chat", block=2)
    ]
    resolved = driver.view.fired("EcaApprovalResolved")
    assert resolved == [{"chat": "chat", "id": "chat:2:1000", "outcome": "approved"}]


def test_a_rejection_goes_out_once() -> None:
    driver = Driver()
    driver.run()
    driver.hear(asked())
    driver.reject("t1")
    driver.reject("t1")
    driver.hear(ToolRejected(call(), "user"))
    assert driver.decided == [("chat", "t1", REJECT.id)]
    outcomes = [data["outcome"] for data in driver.view.fired("EcaApprovalResolved")]
    assert outcomes == ["rejected"]


def test_a_rejection_stands_when_the_agent_never_confirms_it() -> None:
    driver = Driver()
    driver.run()
    driver.hear(asked())
    driver.reject("t1")
    driver.hear(ENDED)
    assert driver.view.lines[1:] == ["⊘ $ ls echo x rejected"]
    assert driver.ends == ["rejected"]


def test_a_stopped_or_finished_call_leaves_the_list() -> None:
    driver = Driver()
    driver.run()
    driver.hear(asked("a"), asked("b"), asked("c"), ToolFinished(call("a")))
    assert [item["call"] for item in driver.items] == ["b", "c"]
    driver.stop()
    assert driver.items == []
    outcomes = [data["outcome"] for data in driver.view.fired("EcaApprovalResolved")]
    assert outcomes == ["approved", "stopped", "stopped"]
    driver.hear(STOPPING)
    driver.approve("b")
    assert driver.decided == []


def test_all_chats_oldest_first() -> None:
    first, second = Chat("one"), Chat("two")
    apply(first, asked("late"), 30)
    apply(second, asked("early"), 10)
    apply(first, QuestionAsked("q", "Which?"), 20)
    items = all_pending([first, second]).items
    assert [item["call"] for item in items] == ["early", "q", "late"]
