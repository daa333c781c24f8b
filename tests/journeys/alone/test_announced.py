"""What the newest agents announce is kept, and known as asking or as not asking."""

from pathlib import Path

from tests.agents.acp.agent_options import read_options
from tests.journeys.agents import RealAgent
from tests.journeys.alone.announced import KEPT, announced, keep, kept
from tests.journeys.conftest import Show


def test_what_an_agent_announces_is_kept_and_known(
    plain_agent: RealAgent, workspace: Path, show: Show
) -> None:
    news = announced(plain_agent, workspace)
    is_news = keep(plain_agent.name, news)
    show(f"{plain_agent.name} {news['version']}")
    for it in news["options"]:
        show(f"  {it['id']}: {it.get('value', '')} of {it.get('values', '…')}")
    if is_news:
        show(f"  that is news: commit {KEPT.name}")
    for option in read_options(kept()[plain_agent.name]):
        assert not option.unsure, f"{option.id}: neither in UNASKED nor in ASKING"
