"""Recap: what was said in a chat so far, for a new session, which gets it with its first prompt.

Rule kept here: it stands between two marks that its text cannot contain, so that what the user has
typed is found when the agent replays the prompt.
"""

from typing import Final

BEGIN: Final = "<conversation-so-far>"
"""The mark before it."""
_END: Final = "</conversation-so-far>"
_ABOUT: Final = (
    "This is a record of the conversation until now, which goes on in a new session. "
    "Tools in it have run already, and files may have changed since. "
    "Answer only what the user says outside of it."
)

HEADING: Final = "what was said before, as the agent got it"
"""The heading under which a replayed one is shown."""


def wrap(said: str) -> str:
    """Return a recap as a text for an agent."""
    marked = said.replace(BEGIN, "<conversation so far>").replace(_END, "</conversation so far>")
    return f"{BEGIN}\n{_ABOUT}\n\n{marked.strip()}\n{_END}"


def unwrap(text: str) -> tuple[str, str]:
    """Return the recap that a user's message begins with, "" if none, and the rest."""
    begin, _, marked = text.lstrip().partition(f"{BEGIN}\n")
    if begin or not marked:
        return "", text
    said, _, rest = marked.partition(_END)
    return said.removeprefix(_ABOUT).strip(), rest.lstrip("\n")


def is_title(title: str) -> bool:
    """Return whether an agent has made a title of a recap."""
    return title.lstrip().startswith(BEGIN)
