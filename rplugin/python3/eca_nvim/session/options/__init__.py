"""Options: what the user sets in the chats of a server (`chat_options`), and what is to be set in
one (`wanted`), with what the user reads about it (`lines`).

Rule: options belong to their chat, whatever way the user comes back to it.
"""

from eca_nvim.session.options.chat_options import Options
from eca_nvim.session.options.lines import NotOffered

__all__ = ["NotOffered", "Options"]
