"""Options: what the user sets in the chats of a server, and what is to be set in each of them."""

from eca_nvim.session.options.chat_options import Options
from eca_nvim.session.options.lines import NotOffered

__all__ = ["NotOffered", "Options"]
