"""Which files an agent has used: counts, heat and limits; how the list reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.chat.driver import Driver
from tests.support.calls import eca_call

from eca_nvim.chat.handlers import reducer
from eca_nvim.chat.model import calls, used_files
from eca_nvim.chat.model.calls import LONGEST_COMMAND, MOST_NAMED, named_by, named_in
from eca_nvim.chat.model.used_files import UsedFiles, cooled
from eca_nvim.chat.render.panel_rows import MOST_ROWS, used_file_rows
from eca_nvim.chat.update import Update
from eca_nvim.chat.user_actions import prompts
from eca_nvim.chat.user_actions.earlier_messages import Page, show_history
from eca_nvim.chat.vocabulary.call_details import (
    FileChange,
    FileNamed,
    FileUsed,
    Location,
    SetUsedFiles,
    ToolCall,
    ToolKind,
    Use,
)
from eca_nvim.chat.vocabulary.contexts import (
    CursorContext,
    FileContext,
    PathMention,
    Position,
    WebContext,
)
from eca_nvim.chat.vocabulary.effects import FindFiles
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatCleared,
    ChatEvent,
    ToolFinished,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded, UsageReported

CHANGE = FileChange("/workspace/a", "@@ -1 +1,2 @@\n-x\n+y\n+z", 2, 1)


def read(call_id: str, path: str = "/workspace/b") -> ToolFinished:
    return ToolFinished(ToolCall(call_id, kind=ToolKind.READ, locations=(Location(path),)))


def counted(driver: Driver) -> dict[str, dict[str, int]]:
    return {
        path: {use.value: count for use, count in file.counts.items()}
        for path, file in driver.chat.used.hottest_first()
    }


def looked_for(driver: Driver) -> list[tuple[str, str]]:
    return [(it.path, it.use.value) for each in driver.told(FindFiles) for it in named_in(each)]


class TestHeat:
    """Each use adds, each turn halves."""

    def test_each_use_adds_one_and_each_turn_halves(self) -> None:
        used = UsedFiles()
        used.begin_turn(1)
        used.note("/a", Use.READ)
        used.note("/a", Use.WRITTEN)
        used.note("/b", Use.READ)
        assert (used.heat("/a"), used.heat("/b")) == (2, 1)
        used.begin_turn(3)
        assert (used.heat("/a"), used.heat("/b")) == (0.5, 0.25)
        used.note("/b", Use.READ)
        assert used.heat("/b") == 1.25
        assert [path for path, _ in used.hottest_first()] == ["/b", "/a"]
        assert used.files["/b"].turn == 3

    @pytest.mark.parametrize(("turns", "left"), [(0, 8), (1, 4), (3, 1), (5000, 0), (-1, 8)])
    def test_what_turns_leave(self, turns: int, left: float) -> None:
        assert cooled(8, turns) == left

    def test_a_replay_counts_but_does_not_warm(self) -> None:
        driver = Driver()
        driver.run()
        driver.hear(read("live", "/workspace/live"))
        events = [Addressed("chat", read(f"r{number}")) for number in range(9)]
        driver.take(show_history(driver.chat, Page(events), 0))
        assert counted(driver) == {"/workspace/b": {"read": 9}}
        assert driver.chat.used.heat("/workspace/b") == 0
        assert not looked_for(driver)
        driver.hear(read("again", "/workspace/live"))
        assert list(counted(driver)) == ["/workspace/live", "/workspace/b"]


class TestSources:
    """What counts as a use."""

    def test_calls_that_read_and_change(self) -> None:
        driver = Driver()
        driver.run()
        edit = eca_call("e", "edit_file", arguments={"path": "/workspace/a"}, details=CHANGE)
        driver.hear(ToolRequested(edit), ToolFinished(eca_call("e")))
        for number in range(3):
            driver.hear(read(f"r{number}"))
        driver.hear(ToolRejected(ToolCall("no", locations=(Location("/workspace/no"),))))
        failed = ToolCall("f", kind=ToolKind.READ, locations=(Location("/workspace/f"),))
        driver.hear(ToolFinished(failed, failed=True))
        driver.hear(read("up", "/workspace/src/../b"))
        assert counted(driver) == {"/workspace/b": {"read": 4}, "/workspace/a": {"written": 1}}
        file = driver.chat.used.files["/workspace/a"]
        assert (file.added, file.removed) == (2, 1)

    def test_a_request_and_its_call_count_once(self) -> None:
        driver = Driver()
        driver.run()
        driver.hear(FileUsed("/workspace/b", Use.READ, by_request=True))
        driver.hear(read("r1"))
        assert counted(driver) == {"/workspace/b": {"read": 1}}
        driver.hear(read("r2"))
        driver.hear(FileUsed("/workspace/b", Use.WRITTEN, by_request=True))
        driver.hear(FileUsed("/workspace/b", Use.READ))
        assert counted(driver) == {"/workspace/b": {"read": 3, "written": 1}}

    def test_a_call_that_ends_before_its_request_counts_once(self) -> None:
        driver = Driver()
        driver.run()
        request = FileUsed("/workspace/b", Use.READ, by_request=True)
        driver.hear(read("r1"), request)
        assert counted(driver) == {"/workspace/b": {"read": 1}}
        driver.hear(request, request, read("r2"))
        assert counted(driver) == {"/workspace/b": {"read": 3}}

    def test_a_request_of_another_turn_is_another_use(self) -> None:
        driver = Driver()
        driver.run()
        driver.hear(FileUsed("/workspace/b", Use.READ, by_request=True), TurnEnded())
        driver.run("again")
        driver.hear(read("r"))
        assert counted(driver) == {"/workspace/b": {"read": 2}}

    def test_a_subagents_calls_count_for_its_chat(self) -> None:
        driver = Driver()
        driver.run()
        driver.hear(read("r"), child="sub")
        assert counted(driver) == {"/workspace/b": {"read": 1}}

    def test_contexts_of_prompts_are_looked_for(self) -> None:
        driver = Driver()
        place = Position(1, 1)
        contexts = (
            FileContext("/workspace/a", token="@a"),
            FileContext("/workspace/a", 1, 2),
            PathMention("/workspace/src"),
            WebContext("https://x"),
            CursorContext("/workspace/c", place, place),
            CursorContext("/workspace/d", place, Position(2, 1)),
        )
        driver.take(prompts.send_prompt(driver.chat, "hello", 0, contexts))
        paths = [("/workspace/a", "mentioned"), ("/workspace/src", "mentioned")]
        assert looked_for(driver) == [*paths, ("/workspace/d", "mentioned")]
        assert counted(driver) == {}

    def test_what_a_message_names_is_looked_for(self) -> None:
        driver = Driver()
        driver.hear(FileNamed("/workspace/x"))
        assert looked_for(driver) == [("/workspace/x", "mentioned")]

    def test_places_that_may_be_folders_are_looked_for(self) -> None:
        driver = Driver()
        driver.run()
        for kind in (ToolKind.SEARCH, ToolKind.EXECUTE, ToolKind.FETCH, ToolKind.OTHER):
            call = ToolCall(kind.value, kind=kind, locations=(Location(f"/w/{kind.value}"),))
            driver.hear(ToolFinished(call))
        uses = [("/w/search", "read"), ("/w/execute", "run"), ("/w/fetch", "mentioned")]
        assert looked_for(driver) == [*uses, ("/w/other", "mentioned")]

    def test_arguments_are_looked_for_if_a_call_says_nothing_else(self) -> None:
        driver = Driver()
        driver.run()
        given = {"filePath": "src/a", "path": "/etc/x", "file": 3, "pattern": "b"}
        given["long_path"] = "x" * 9999
        for kind in (ToolKind.READ, ToolKind.EDIT, ToolKind.FETCH):
            driver.hear(ToolFinished(ToolCall(kind.value, kind=kind, arguments=given)))
        read_b = ToolCall(
            "b", kind=ToolKind.READ, arguments=given, locations=(Location("/workspace/b"),)
        )
        driver.hear(ToolFinished(read_b))
        assert looked_for(driver) == [("/workspace/src/a", "read"), ("/workspace/src/a", "written")]

    @pytest.mark.parametrize("failed", [False, True])
    def test_words_of_commands_are_looked_for(self, failed: bool) -> None:
        driver = Driver()
        driver.run()
        line = "cat src/a.py '/workspace/b c'|tee --out=d.txt>e; x f.py:3 ../no /etc/no ~/no"
        call = ToolCall("t", kind=ToolKind.EXECUTE, command=line)
        driver.hear(ToolRequested(call), ToolRunning(call), ToolFinished(call, failed=failed))
        names = {path.removeprefix("/workspace/") for path, use in looked_for(driver)}
        assert {"src/a.py", "b c", "d.txt", "e", "f.py"} <= names
        assert not any("no" in name and not name.startswith("~") for name in names)
        assert all(path.startswith("/workspace/") for path, _ in looked_for(driver))

    def test_a_command_may_run_in_a_folder_of_its_own(self) -> None:
        def paths(folder: object) -> list[str]:
            call = ToolCall("t", kind=ToolKind.EXECUTE, command="x", arguments={"cwd": folder})
            return [it.path for it in named_by(call, ("/w",))]

        assert paths("/w/src") == ["/w/src/x"]
        assert paths("/elsewhere") == []
        assert paths("src") == paths(3) == ["/w/x"]

    def test_a_command_is_read_within_limits(self) -> None:
        def named(line: str) -> tuple[FileNamed, ...]:
            return named_by(ToolCall("t", kind=ToolKind.EXECUTE, command=line), ("/w", "/v"))

        assert named("echo 'open") != ()
        assert len(named(" ".join(map(str, range(5000))))) == MOST_NAMED
        assert not any("late" in it.path for it in named("x " * LONGEST_COMMAND + "late"))
        assert named("") == ()
        assert named_by(ToolCall("t", command="cat a"), ()) == ()

    def test_a_cleared_chat_has_no_files(self) -> None:
        driver = Driver()
        driver.run()
        driver.hear(read("r"), ChatCleared())
        assert counted(driver) == {}
        assert shown(driver) == {}


def shown(driver: Driver) -> dict[str, Mapping[str, Any]]:
    """Return what the view knows: the sum of all ops."""
    files: dict[str, Mapping[str, Any]] = {}
    for op in driver.view.used:
        for path in op.dropped:
            files.pop(path, None)
        files |= {it["path"]: it for it in op.files}
    return files


class TestOps:
    """What the view gets."""

    def test_the_view_gets_only_what_is_new(self) -> None:
        driver = Driver()
        driver.run()
        driver.hear(read("1"), read("2", "/etc/hosts"), read("3"))
        ops = driver.view.used
        assert [[it["path"] for it in op.files] for op in ops] == [
            ["/workspace/b"],
            ["/etc/hosts"],
            ["/workspace/b"],
        ]
        assert {op.turn for op in ops} == {1}
        assert shown(driver)["/workspace/b"] == {
            "path": "/workspace/b",
            "outside": False,
            "turn": 1,
            "heat": 2.0,
            "read": 2,
        }
        assert shown(driver)["/etc/hosts"]["outside"]

    def test_events_that_come_together_are_one_op(self) -> None:
        driver = Driver()
        driver.run()
        update = Update(driver.chat, driver.chat.root, 0, more_follow=True)
        for number in range(5):
            reducer.change(update, read(f"r{number}"))
        assert not [op for op in update.finish().ops if isinstance(op, SetUsedFiles)]
        changes = Update(driver.chat, driver.chat.root, 0).finish()
        (op,) = [it for it in changes.ops if isinstance(it, SetUsedFiles)]
        assert [it["read"] for it in op.files] == [5]

    def test_text_makes_no_op(self) -> None:
        driver = Driver()
        driver.run()
        before = len(driver.view.used)
        events: list[ChatEvent] = [TurnBegan(), UsageReported(1, 2)]
        driver.hear(*events)
        assert len(driver.view.used) == before


class TestLimits:
    """Nothing grows without end."""

    @pytest.mark.parametrize("path", ["a", "", "/a\nb", "/\x1b[31m", "/" + "x" * 5000, "/a\u202eb"])
    def test_only_clean_absolute_paths_count(self, path: str) -> None:
        used = UsedFiles()
        used.note(path, Use.READ)
        used.note_request(path, Use.READ)
        used.note_call(path, Use.READ, replayed=False)
        assert not used.files
        assert not used.unmatched

    def test_the_coldest_are_forgotten(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(used_files, "MOST_FILES", 100)
        used = UsedFiles()
        for number in range(1, 251):
            used.begin_turn(number)
            used.note(f"/{number}", Use.READ)
        assert len(used.files) <= 100
        assert "/250" in used.files
        assert "/200" in used.files
        assert "/1" in used.take_news()[1]
        assert used.characters == sum(map(len, used.files))

    def test_requests_of_one_turn_are_forgotten_with_their_files(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(used_files, "MOST_FILES", 100)
        used = UsedFiles()
        for number in range(1000):
            used.note_request(f"/{number}", Use.READ)
        assert {path for path, _ in used.unmatched} == set(used.files)

    def test_long_paths_are_fewer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(used_files, "MOST_CHARACTERS", 10_000)
        used = UsedFiles()
        for number in range(100):
            used.note(f"/{number:0>1000}", Use.READ)
        assert 5 < len(used.files) <= 10
        assert used.characters == sum(map(len, used.files)) <= 10_000


class TestRows:
    """What `:Eca files` shows."""

    def rows(self, driver: Driver) -> list[str]:
        table = used_file_rows(driver.chat, {"/workspace/a": (1, 0)})
        head = "".join(text for text, _ in table["head"])
        files = [
            "".join(text for text, _ in (*it["heat"], (f" {it['path']}", ""), *it["use"]))
            for it in table["files"]
        ]
        return [head, *files]

    def test_a_hot_file_has_a_fuller_bar(self) -> None:
        driver = Driver()
        assert self.rows(driver) == ["no turn yet"]
        driver.run()
        edit = eca_call("e", "edit_file", arguments={"path": "/workspace/a"}, details=CHANGE)
        driver.hear(ToolRequested(edit), ToolFinished(eca_call("e")), TurnEnded())
        driver.run("again")
        driver.hear(UsageReported(34_000, 200_000))
        driver.hear(*(read(str(number)) for number in range(4)))
        driver.hear(FileUsed("/etc/hosts", Use.RUN))
        assert self.rows(driver) == [
            "turn 2 · 34,000 of 200,000 tokens · 17% of the context window",
            "█████ /workspace/b  turn 2   read \N{MULTIPLICATION SIGN}4",
            "███░░ /etc/hosts  turn 2   run  outside the workspace",
            "██░░░ /workspace/a  turn 1   written  +3 -1",
        ]

    def test_a_long_list_is_cut(self) -> None:
        driver = Driver()
        for number in range(MOST_ROWS + 7):
            driver.chat.used.note(f"/{number}", Use.READ)
        table = used_file_rows(driver.chat, {})
        assert (len(table["files"]), table["more"]) == (MOST_ROWS, 7)


@pytest.mark.parametrize(
    "command", ["cat a", "", " a\t-b=c \n", "a;b&&c|d>e 2>&1", "(a)<b#c", "$(a) `b` *.c !{d}"]
)
def test_a_command_without_quotes_has_the_same_words(command: str) -> None:
    assert list(calls._words(f"{command} ''")) == list(calls._words(command))
