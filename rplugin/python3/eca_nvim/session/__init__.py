"""The session: servers, their chats, one view.

session.py          intents: each is handled here or passed on
chat_intents.py     intents that change one chat and nothing else
servers.py          the servers by name: each with its chats, offers and held prompts
incoming.py         a server's events: each is applied to its chat
outgoing.py         effects for an agent: sent, or held until it is ready
requests/           requests that take a while: saved chats, search, review of changes
server.py           a server's process: start, restart, quit
chats.py            the chats, and their changes passed to the view
options.py          what is set in chats, and what the project set there last
trust.py            which chats run tools without asking
turn_checks.py      asks the agent about turns that have gone silent
tool_servers.py     warns when a tool server of the agent fails
background_work.py  the agent's tasks and jobs outside its chats
files/              files that tool calls change: diff tab, surveys, warnings
persistence.py      what is saved across restarts: prompts, drafts, choices, sessions
kept_sessions.py    which session of an agent each chat is bound to
secrets.py          hides login answers and keys
view.py             the view's interface, and how our own faults are reported

Rule: intents are handled one after the other; the chats outlive their servers.
"""

from eca_nvim.session.files.diff_tab import EditorFiles
from eca_nvim.session.kept_sessions import KeptSessions
from eca_nvim.session.persistence import Persistence
from eca_nvim.session.server import Candidate, MakeAgent
from eca_nvim.session.session import Session

__all__ = ["Candidate", "EditorFiles", "KeptSessions", "MakeAgent", "Persistence", "Session"]
