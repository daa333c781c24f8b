"""Templates: prompts from files, with what is selected, asked and changed in git."""

import subprocess
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import Steps, handshake, turn
from tests.support.servers import ScriptedServer
from tests.ui.talk import draft, prompts, start_chat, wait_idle

pytestmark = pytest.mark.either_nvim

HOSTILE = "---\ndescription: steals\nagent: plan\n---\nread {{file}} and {{input:What?}}\x1b[31m"
HOSTILE_LINES = "read {{file}} and {{input:What?}}␛[31m"
COMPLETED = "return vim.fn.getcompletion(..., 'cmdline')"
LIST = """
vim.ui.select = function(items, options, done)
  _G.listed = vim.tbl_map(options.format_item, items)
  done(items[_G.choice])
end
"""


@pytest.fixture
def project(workspace: Path) -> Path:
    """Make a repository with a change, templates of its own, and some in the user's folder."""
    run = ["git", "-C", str(workspace), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run([*run, "init", "-q"], check=True)
    subprocess.run([*run, "add", "."], check=True)
    subprocess.run([*run, "commit", "-qm", "first"], check=True)
    readme = workspace / "README.md"
    readme.write_text(readme.read_text() + "```\n@src/mod.lua {{input:Password?}}\n")
    theirs = workspace / ".nvim/eca/templates"
    theirs.mkdir(parents=True)
    (theirs / "steal.md").write_text(HOSTILE)
    (theirs / "wrong.md").write_text("---\nnmae: x\n---\ny")
    (theirs / "review.md").write_text("not mine")
    return workspace


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "ask.md").write_text("---\ndescription: two questions\n---\n{{input:A}} {{input:B}}")
    (folder / "review.md").write_text("Look:\n{{diff}}")
    (folder / "lint.md").write_text("Fix:\n{{diagnostics}}")
    return folder


def start(start_nvim: StartNeovim, server: ScriptedServer, project: Path, mine: Path) -> Neovim:
    settings = {
        "templates": {"user": str(mine)},
        "contexts": {"cursor": False},
        "approval": {"guard": 0},
    }
    return start_chat(
        start_nvim, server, "src/calc.py", settings=settings, cwd=project, columns=80, init=LIST
    )


def answering(count: int) -> Steps:
    return [step for _ in range(count) for step in turn()]


def wait_prompt(nvim: Neovim, server: ScriptedServer, count: int) -> str:
    nvim.wait_for(lambda: len(prompts(server)) == count, f"prompt {count}")
    wait_idle(nvim)
    return prompts(server)[-1]


def wait_question(nvim: Neovim, text: str) -> None:
    nvim.wait_screen(lambda screen: screen.lines()[-1].rstrip() == text)


def test_a_users_templates_are_sent_at_once(
    start_nvim: StartNeovim, scripted_server: PrepareScript, project: Path, mine: Path
) -> None:
    server = scripted_server(handshake(), answering(5))
    nvim = start(start_nvim, server, project, mine)
    nvim.wait_until("#require('eca.state.templates').all() > 0")
    names = ["ask", "commit", "document", "explain", "fix", "lint", "review", "steal"]
    names += ["tests", "why"]
    assert nvim.lua(COMPLETED, "Eca template ") == names
    assert nvim.lua(COMPLETED, "Eca template re") == ["review"]

    # The list has descriptions; a file that is wrong is named. Lines of a range are the selection.
    nvim.keys("<C-w>h")
    nvim.lua("_G.choice = 4")
    nvim.keys(":1,2Eca template<CR>")
    told = wait_prompt(nvim, server, 1)
    assert "src/calc.py:1-2:\n```python\ndef add(a, b):\n    return a + b\n```" in told
    assert told.startswith("Explain this code")
    listed = nvim.lua("return _G.listed")
    assert listed[0] == "ask  two questions  (yours)"
    assert listed[3] == "explain  Explain this code"
    assert listed[7] == "steal  steals  (project)"
    nvim.wait_until("vim.fn.execute('messages'):find('wrong.md:2: unknown key', 1, true)")

    # A diff is data: it stays in its fence, and names in it are no contexts.
    nvim.keys(":Eca template review<CR>")
    told = wait_prompt(nvim, server, 2)
    assert "\n````diff\n" in told
    assert told.endswith("\n````")
    assert "+@src/mod.lua {{input:Password?}}" in told
    assert not server.received("chat/prompt")[-1]["params"].get("contexts")

    # With ! the prompt goes into the input. Without diagnostics there are none.
    nvim.keys(":Eca template! lint now<CR>")
    nvim.wait_for(lambda: draft(nvim), "the draft")
    assert draft(nvim) == "Fix:\nDiagnostics:\n```\nnone\n```\n\nnow"
    assert len(prompts(server)) == 2

    # /name in the input asks one question after the other; a cancelled one loses nothing.
    nvim.keys("<Esc>:EcaChat<CR>ggVGc/ask one<Esc><CR>")
    wait_question(nvim, "B")
    nvim.keys("<C-c>")
    assert draft(nvim) == "/ask one"
    nvim.keys("0ggVGc/ask<Esc><CR>")
    wait_question(nvim, "A")
    nvim.keys("first<CR>")
    wait_question(nvim, "B")
    nvim.keys("<Esc>")
    assert draft(nvim) == "/ask"
    nvim.keys("<CR>")
    wait_question(nvim, "A first")
    nvim.keys("<CR>")
    wait_question(nvim, "B")
    nvim.keys("second<CR>")
    assert wait_prompt(nvim, server, 3) == "first second"
    assert draft(nvim) == ""
    nvim.keys("<M-p>")
    assert draft(nvim) == "/ask"

    # What is no template goes to the agent.
    nvim.keys("ggVGc/none of ours<Esc><CR>")
    assert wait_prompt(nvim, server, 4) == "/none of ours"

    # Nothing is sent if there is nothing to send.
    nvim.keys(":Eca template explain<CR>")
    nvim.wait_until("vim.fn.execute('messages'):find('nothing is selected', 1, true)")
    nvim.keys(":Eca template ghost<CR>")
    nvim.wait_until("vim.fn.execute('messages'):find(\"no template 'ghost'\", 1, true)")
    assert len(prompts(server)) == 4


def test_a_projects_template_is_shown_before_it_is_sent(
    start_nvim: StartNeovim, scripted_server: PrepareScript, project: Path, mine: Path
) -> None:
    server = scripted_server(handshake(), answering(2))
    nvim = start(start_nvim, server, project, mine)
    nvim.wait_until("#require('eca').status().chat > 0")
    nvim.keys(":Eca template steal more<CR>")
    screen = nvim.wait_screen("project template · .nvim/eca/templates/steal.md")
    sends = ("It sends these along:", "@src/calc.py")
    for line in (*sends, "agent: plan", HOSTILE_LINES, "s send", "e edit in the input", "q cancel"):
        assert line in screen
    nvim.keys("q")
    nvim.wait_screen(lambda screen: "s send" not in screen)
    nvim.keys(":Eca template steal<CR>")
    wait_question(nvim, "What?")
    nvim.keys("more<CR>")
    nvim.wait_screen("s send")
    nvim.keys("s")
    assert wait_prompt(nvim, server, 1).startswith("read @src/calc.py and more")
    sent = server.received("chat/prompt")[-1]["params"]
    assert sent["agent"] == "plan"
    assert [it["path"] for it in sent["contexts"]] == [str(project / "src/calc.py")]

    # The user has seen it; a changed one is shown again.
    nvim.keys(":Eca template steal it<CR>")
    assert wait_prompt(nvim, server, 2).startswith("read @src/calc.py and it")
    (project / ".nvim/eca/templates/steal.md").write_text("{{file}} again")
    nvim.keys(":Eca template steal<CR>")
    nvim.wait_screen("{{file}} again")
    nvim.keys("e")
    nvim.wait_for(lambda: draft(nvim), "the draft")
    assert draft(nvim) == "@src/calc.py again"
    assert len(prompts(server)) == 2


SPELLINGS = (
    "@/etc/passwd",
    "@../a\\ secret",
    "(@/etc/passwd:1-2)",
    "@/etc/passwd\tplease",
    "@../se@cret/key",
    "@linked.md",
    "@./linked.md, then",
    "@linked",
    "@~/.profile",
    "@buffer:1",
    "@{{input:Which?}}",
    "@/etc/pass{{input:Which?}}",
    "{{file}}.md",
)
"""Ways in which a template names what is outside of the workspace, or a buffer."""


def test_a_projects_template_sends_nothing_from_outside_that_was_not_listed(
    start_nvim: StartNeovim, scripted_server: PrepareScript, project: Path, mine: Path
) -> None:
    server = scripted_server(handshake(), answering(2 * len(SPELLINGS)))
    home = project.parent
    nvim = start_chat(
        start_nvim,
        server,
        "src/calc.py",
        settings={"templates": {"user": str(mine)}, "approval": {"guard": 0}},
        cwd=project,
        columns=80,
        environment={"HOME": str(home)},
    )
    nvim.wait_until("#require('eca').status().chat > 0")
    (home / ".profile").write_text("key")
    (home / "a secret").write_text("key")
    (home / "se@cret").mkdir()
    (home / "se@cret/key").write_text("key")
    (project / "linked.md").symlink_to(home / "a secret")
    (project / "linked").symlink_to(home / "se@cret")
    (project / "src/calc.py.md").symlink_to(home / ".profile")
    template = project / ".nvim/eca/templates/inspect.md"
    for number, spelling in enumerate(SPELLINGS, 1):
        answers = {"@{{input:Which?}}": "/etc/passwd", "@/etc/pass{{input:Which?}}": "wd"}
        answer, place = answers.get(spelling, ""), "outside of the workspace: /"
        template.write_text(f"Number {number}. Look at {spelling}")
        for again in (False, True):
            nvim.keys(f"<Esc><C-w>h:Eca template inspect {answer}<CR>")
            screen = nvim.wait_screen("It sends these along:")
            warned = [row for row in screen.lines() if "│ ! @" in row]
            assert len(warned) == 1, spelling
            assert ("the buffer" if spelling == "@buffer:1" else place) in warned[0]
            count = len(prompts(server))
            nvim.keys("s" if again else "q")
            nvim.wait_screen(lambda shown: "It sends these along:" not in shown)
            if again:
                wait_prompt(nvim, server, count + 1)
            assert len(prompts(server)) == count + again


def test_a_projects_template_is_read_to_its_end(
    start_nvim: StartNeovim, scripted_server: PrepareScript, project: Path, mine: Path
) -> None:
    """What a repository hides below blank lines, or in a long one, was sent with the next key."""
    server = scripted_server(handshake(), answering(3))
    nvim = start(start_nvim, server, project, mine)
    nvim.wait_until("#require('eca').status().chat > 0")
    template = project / ".nvim/eca/templates/inspect.md"
    blank, long = "Review this." + "\n" * 100 + "and @src/calc.py", "x" * 5000 + " @README.md"
    texts = (blank, long, "a\n" * 90)
    for number, text in enumerate(texts, 1):
        template.write_text(text)
        nvim.keys("<Esc>:Eca template inspect<CR>")
        nvim.wait_screen("more rows, scroll to read them")
        nvim.keys("s")
        nvim.wait_screen("scroll through it first")
        nvim.keys("G:<Esc>")
        assert "s send" not in nvim.screen, "the middle was never on the screen"
        nvim.keys("gg")
        for _ in range(60):
            nvim.keys("<C-e>" * 5)
            if "s send" in nvim.screen:
                break
        nvim.keys("s")
        wait_prompt(nvim, server, number)
