"""Each mode of each agent asks if the plugin says so: seen, not read."""

from collections.abc import Iterator
from pathlib import Path

from tests.agents.acp.agent_options import read_options
from tests.journeys.agents import RealAgent
from tests.journeys.alone.announced import announced
from tests.journeys.alone.talk import Table, Talk
from tests.journeys.conftest import Show

from eca_nvim.chat.vocabulary.options import MODE, ChatOption


def test_a_mode_that_is_known_as_asking_does_nothing_unasked(
    plain_agent: RealAgent, workspace: Path, show: Show
) -> None:
    news = announced(plain_agent, workspace)
    faults = []
    for option, value in _modes(news):
        done = _done_in(plain_agent, workspace, option, value, news)
        known = "known as not asking" if value in option.unasked else "known as asking"
        line = f"{plain_agent.name}: {value}, {known}: unasked {', '.join(done) or 'nothing'}"
        show(line)
        faults += [line] if done and value not in option.unasked else []
    assert not faults


def _modes(news: Table) -> Iterator[tuple[ChatOption, str]]:
    for option in read_options(news):
        if option.category == MODE:
            yield from ((option, offer.value) for offer in option.offers)


def _done_in(
    agent: RealAgent, workspace: Path, option: ChatOption, value: str, news: Table
) -> list[str]:
    """Return what the agent does in a mode though it gets no for all that it asks."""
    [kind] = [it["type"] for it in news["options"] if it["id"] == option.id]
    new, made, boxed = (workspace / name for name in ("new.txt", "made", "boxed"))
    with Talk(agent, workspace) as talk:
        session = {"sessionId": talk.begin()["sessionId"]}
        if kind == "modes":
            talk.ask("session/set_mode", session | {"modeId": value})
        else:
            talk.ask("session/set_config_option", session | {"configId": option.id, "value": value})
        steps = {"write": [str(new), "text\n"]}, {"run": f"touch {made}"}
        for step in (*steps, {"run_boxed": f"touch {boxed}"}):
            talk.prompt(session["sessionId"], step, {"say": "ready"})
    done = {"writes": new, "runs": made, "runs in its sandbox": boxed}
    found = [word for word, path in done.items() if path.exists()]
    for path in done.values():
        path.unlink(missing_ok=True)
    return found
