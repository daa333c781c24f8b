"""The journeys of a user with each agent: what is typed, what is shown, what is on the disk."""

from pathlib import Path

from tests.journeys.agents import RealAgent
from tests.journeys.answers import allow_all, choose, prompt, start, waits
from tests.journeys.script import scripted
from tests.support.factories import StartNeovim
from tests.ui.talk import lines_of, wait_idle, wait_line


def test_stream(start_nvim: StartNeovim, agent: RealAgent) -> None:
    nvim = start(start_nvim, agent)
    prompt(nvim, {"think": "hm, well", "say": "hello from **the** script"})
    wait_line(nvim, "hello from **the** script")
    wait_idle(nvim)


def test_permission_once_and_the_output(
    start_nvim: StartNeovim, agent: RealAgent, workspace: Path
) -> None:
    nvim = start(start_nvim, agent)
    prompt(nvim, {"run": "touch made; echo from the command"}, {"say": "it ran"})
    request = waits(nvim, "touch made; echo from the command")
    assert not (workspace / "made").exists()
    choose(nvim, request, "allow_once")
    wait_line(nvim, "it ran")
    wait_idle(nvim)
    assert (workspace / "made").exists()
    if "output" not in agent.lacks:
        assert "from the command" in nvim.lua("return require('eca').transcript()")
    nvim.keys(":Eca changes<CR>")
    nvim.wait_for(
        lambda: "made" in [nvim.eval(f"bufname({it['bufnr']})") for it in nvim.eval("getqflist()")],
        "the new file among the changes",
    )


def test_a_no_runs_nothing_and_a_reason_is_sent(
    start_nvim: StartNeovim, agent: RealAgent, workspace: Path
) -> None:
    nvim = start(start_nvim, agent)
    prompt(nvim, {"run": "touch made"}, {"say": "I stopped"})
    choose(nvim, waits(nvim, "touch made"), "reject_once")
    wait_idle(nvim)
    prompt(nvim, {"run": "touch made"}, {"say": "I stopped"})
    request = waits(nvim, "touch made")
    reason = f"no, instead\n{scripted({'say': 'so be it'})}"
    nvim.lua("require('eca').reject(...)", {"id": request["id"], "reason": reason})
    wait_line(nvim, "so be it")
    wait_idle(nvim)
    assert not (workspace / "made").exists()


def test_what_is_typed_in_a_turn_steers_it_or_is_the_next_prompt(
    start_nvim: StartNeovim, agent: RealAgent
) -> None:
    nvim = start(start_nvim, agent)
    prompt(nvim, {"slowly": 60})
    wait_line(nvim, "line 3")
    assert nvim.lua("return require('eca').chats()[1].state") == "running"
    prompt(nvim, {"say": "I have read that, too"})
    wait_line(nvim, "I have read that, too")
    wait_idle(nvim)
    shown = lines_of(nvim)
    assert len([line for line in shown if "I have read that, too" in line]) == 1
    assert ("line 60" in shown) != agent.steers


def test_a_stop_ends_the_turn_and_what_runs(
    start_nvim: StartNeovim, agent: RealAgent, workspace: Path
) -> None:
    nvim = start(start_nvim, agent)
    prompt(nvim, {"slowly": 400})
    wait_line(nvim, "line 3")
    nvim.lua("require('eca').stop()")
    wait_idle(nvim)
    prompt(nvim, {"run": "touch made"})
    waits(nvim, "touch made")
    nvim.lua("require('eca').stop()")
    wait_idle(nvim)
    assert nvim.lua("return #require('eca').pending()") == 0
    prompt(nvim, {"say": "still here"})
    wait_line(nvim, "still here")
    assert not (workspace / "made").exists()


def test_an_error_of_the_model_is_said_and_the_chat_goes_on(
    start_nvim: StartNeovim, agent: RealAgent
) -> None:
    nvim = start(start_nvim, agent)
    prompt(nvim, {"fail": 400})
    wait_line(nvim, "failed with 400")
    wait_idle(nvim)
    prompt(nvim, {"say": "still here"})
    wait_line(nvim, "still here")
    wait_idle(nvim)


def test_edits_are_listed_and_come_back(
    start_nvim: StartNeovim, agent: RealAgent, workspace: Path
) -> None:
    agent.needs("edit")
    new, old = workspace / "new.txt", workspace / "src" / "calc.py"
    before = old.read_text()
    nvim = start(start_nvim, agent)
    prompt(
        nvim,
        {"write": [str(new), "one\ntwo\n"]},
        {"read": str(old)},
        {"edit": [str(old), before.splitlines()[0], "changed()"]},
        {"say": "all written"},
    )
    asked = allow_all(nvim, "all written")
    for name in (new.name, old.name):
        assert sum(name in title and title.startswith("edit") for title in asked) <= 1, asked
    assert new.read_text() == "one\ntwo\n"
    assert old.read_text() == before.replace(before.splitlines()[0], "changed()", 1)
    shown = "\n".join(lines_of(nvim))
    assert "edit new.txt +2 -0" in shown
    assert "edit src/calc.py +1 -1" in shown
    nvim.keys(":Eca undo-turn<CR>")
    nvim.wait_screen("undo turn 1")

    def is_undone() -> bool:
        nvim.keys("u")  # again: the float takes no key at first
        return not new.exists()

    nvim.wait_for(is_undone, "the new file to be gone")
    nvim.wait_for(lambda: old.read_text() == before, "the old text to be back")


def test_a_mode_is_chosen_by_its_name(start_nvim: StartNeovim, agent: RealAgent) -> None:
    agent.needs("mode")
    name = agent.asks_nothing_in
    assert name is not None
    nvim = start(start_nvim, agent)
    nvim.keys(f":Eca agent {name}<CR>")

    def is_loud() -> bool:
        screen = nvim.wait_screen(name)
        return "ErrorMsg" in screen.groups_at(*screen.find(name))

    nvim.wait_for(is_loud, f"{name} in the colour of errors")
    prompt(nvim, {"run": "touch made"}, {"say": "it ran"})
    wait_line(nvim, "it ran")
    wait_idle(nvim)
    assert nvim.lua("return #require('eca').pending()") == 0


def test_always_is_not_asked_again(
    start_nvim: StartNeovim, agent: RealAgent, workspace: Path
) -> None:
    nvim = start(start_nvim, agent)
    (workspace / "make.sh").write_text("touch made")
    for said in ("made once", "made again"):
        prompt(nvim, {"run": "sh make.sh"}, {"say": said})
        if said == "made once":
            choose(nvim, waits(nvim, "sh make.sh"), "allow_always")
        wait_line(nvim, said)
        wait_idle(nvim)
        assert (workspace / "made").exists()


def test_one_of_two_hunks_is_allowed(
    start_nvim: StartNeovim, agent: RealAgent, workspace: Path
) -> None:
    agent.needs("edit")
    path = workspace / "many.txt"
    lines = [f"line {number}\n" for number in range(1, 15)]
    path.write_text("".join(lines))
    block = "".join(lines[1:12])
    changed = block.replace("line 2\n", "LINE 2\n").replace("line 12\n", "LINE 12\n")
    nvim = start(start_nvim, agent)
    prompt(nvim, {"read": str(path)}, {"edit": [str(path), block, changed]}, {"say": "all written"})

    def is_done() -> bool:
        for request in nvim.lua("return require('eca').pending()"):
            if len(request.get("hunks") or []) == 2:
                nvim.lua("require('eca').approve(...)", {"id": request["id"], "hunks": [2]})
            else:
                choose(nvim, request, "allow_once")
        return any("all written" in line for line in lines_of(nvim))

    nvim.wait_for(is_done, "the answer, with all requests answered")
    wait_idle(nvim)
    lines[11] = "LINE 12\n"
    nvim.wait_for(lambda: path.read_text() == "".join(lines), "the second hunk alone")
    prompt(nvim, {"say": "I have read it"})
    wait_line(nvim, "I have read it")
    assert "I have allowed your change, but not just as" in "\n".join(lines_of(nvim))
