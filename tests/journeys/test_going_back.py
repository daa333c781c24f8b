"""Back with agents that cannot: in chat and files, the model gets what was said before that."""

from pathlib import Path

from tests.journeys.agents import RealAgent
from tests.journeys.answers import allow_all, prompt, start
from tests.journeys.script import scripted
from tests.journeys.test_going_on import WORD, recalls
from tests.support.factories import StartNeovim
from tests.ui.remembered import Reader
from tests.ui.talk import draft, lines_of, wait_idle, wait_line


def test_back_three_prompts_in_chat_and_files_and_one_sent_again(
    start_nvim: StartNeovim, agent: RealAgent, workspace: Path
) -> None:
    agent.needs("edit")
    nvim = start(start_nvim, agent)
    mode = nvim.wait_until("require('eca').status().agent")
    prompt(nvim, {"say": f"the word is {WORD}"})
    wait_line(nvim, f"the word is {WORD}")
    wait_idle(nvim)
    made = [workspace / f"made{number}.txt" for number in range(3)]
    for number, path in enumerate(made):
        prompt(nvim, {"write": [str(path), "one\n"]}, {"say": f"wrote number {number}"})
        allow_all(nvim, f"wrote number {number}")
    assert [it.read_text() for it in made] == ["one\n"] * 3

    reader = Reader(nvim)
    nvim.command("call search('number 0$', 'bcw')")
    nvim.keys("<Esc>:EcaChat<CR><Esc><C-w>k")
    nvim.command("call search('number 0$', 'bcw')")
    nvim.input("gu")
    reader.choose('Roll back to before "go', "both")
    nvim.wait_screen("undo turns 2 to 4")

    def is_back() -> bool:
        nvim.keys("u")  # again: the float takes no key at first
        return not any(it.exists() for it in made)

    nvim.wait_for(is_back, "the files to be gone")
    nvim.take_errors()  # the last u was one too many
    wait_line(nvim, "The agent goes on in a new session")
    assert not any("wrote number" in line for line in lines_of(nvim))
    nvim.keys(":EcaChat<CR><Esc>ggdG")
    recalls(nvim)
    nvim.wait_until(f"require('eca').status().agent == '{mode}'")

    nvim.keys(":EcaChat<CR><Esc><C-w>kG")
    nvim.input("gs")
    nvim.wait_for(lambda: draft(nvim).startswith("go"), "the prompt in the input")
    nvim.keys(":%d _<CR>")
    nvim.paste(f"go\n{scripted({'say': 'sent again'})}")
    nvim.input("<CR>")
    wait_line(nvim, "sent again")
    wait_idle(nvim)
    recalls(nvim)
