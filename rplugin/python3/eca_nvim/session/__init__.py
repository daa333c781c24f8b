"""The session: one agent, its chats, one view.

session.py          intents in, and what each leads to
incoming.py         what the agent says, and which chat it is for
outgoing.py         what the agent must be told, kept until it can be
requests/           what the user asks for, answered: saved chats, search, review of changes
server.py           the life of the agent: start, restart, end
chats.py            the chats, and what the view sees of them
choices.py          what the user may choose from, and what is chosen
trust.py            which chats work without asking
turn_checks.py      turns of which the agent says nothing any more
tool_servers.py     tool servers of the agent that failed
background_work.py  what the agent does beside its chats
files/              what calls do to files on the disk: diff tab, surveys, warnings
persistence.py      what outlives Neovim: prompts, drafts, choices
secrets.py          answers that must not stand in the log
view.py             where ops go, and how errors of our own are shown

Rule: intents are taken one after the other; the chats outlive the server.
"""

from eca_nvim.session.files.diff_tab import Files
from eca_nvim.session.persistence import Keeper
from eca_nvim.session.server import Candidate, MakeAgent
from eca_nvim.session.session import Session

__all__ = ["Candidate", "Files", "Keeper", "MakeAgent", "Session"]
