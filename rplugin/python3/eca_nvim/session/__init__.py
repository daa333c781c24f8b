"""The session: one agent, its chats, one view.

session.py      intents in, and what each leads to
hearing.py      what the agent says, and whom it concerns
work.py         what the agent is busy with beside its chats
histories.py    the chats the agent keeps, and what the user does with them
revising.py     a history rolled back, forked, flagged
server.py       the life of the agent: start, restart, end
telling.py      what the agent must be told, kept until it can be
chats.py        the chats, and what the view sees of them
choices.py      what the user may choose from, and what is chosen
reading.py      what the user wants to know of a chat
reviewing.py    what the user asks about the changes of tools
surveying.py    the workspace looked at when commands may change it
view.py         where ops go, and what becomes of faults of our own
diff.py         a tool call's change as two whole files
whole_writes.py a file written whole, told as what changes in it
warnings.py     what only a look at the disk tells of a call that waits
keeping.py      what outlives Neovim: prompts, drafts, choices
images.py       images on their way to the system's own viewer
"""

from eca_nvim.session.diff import Files
from eca_nvim.session.keeping import Keeper
from eca_nvim.session.server import Candidate, MakeAgent
from eca_nvim.session.session import Session

__all__ = ["Candidate", "Files", "Keeper", "MakeAgent", "Session"]
