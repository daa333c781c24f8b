"""The session: servers, their chats, one view."""

from eca_nvim.session.persistence import Persistence
from eca_nvim.session.server import Candidate, MakeAgent
from eca_nvim.session.session import Session

__all__ = ["Candidate", "MakeAgent", "Persistence", "Session"]
