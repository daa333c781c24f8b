"""Options: what the user sets in the chats of a server, and what is to be set in each of them.

`chat_options` sets them, `wanted` knows what counts more than what, `lines` words it.

Rule: options belong to their chat, whatever way the user comes back to it.
"""

from eca_nvim.session.options.chat_options import Options
from eca_nvim.session.options.lines import NotOffered

__all__ = ["NotOffered", "Options"]
