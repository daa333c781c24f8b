"""Commands: what a prompt may begin with: those of the agent, and templates.

Rules kept here:
- A name is offered once, as its first owner describes it.
- Every key asks again, so what an agent may announce is limited: the rest is not offered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from eca_nvim.agents.queries import FoundCommand
from eca_nvim.chat.text.safe_text import literal_name, one_line
from eca_nvim.chat.vocabulary.commands import Command
from eca_nvim.chat.vocabulary.completion import Argument, CompletionItem
from eca_nvim.session.completion.fuzzy import ranked
from eca_nvim.session.completion.names import typable

MOST_COMMANDS: Final = 1000
LONGEST_NAME: Final = 200
LONGEST_DETAIL: Final = 2000
"""Characters of a description, and of the name of an argument, that are shown."""
MOST_ARGUMENTS: Final = 100
MOST_WORDS: Final = 4
"""Words of an announced name, such as `memory show`: the agent finds it in the prompt by itself."""


def pushed(command: Command) -> FoundCommand:
    """Return a command that the agent announced in a chat."""
    if not command.hint:
        return FoundCommand(command.name, description=command.description)
    hint = command.hint if command.hint.startswith(("<", "[")) else f"<{command.hint}>"
    shown = f"{hint} {command.description}"  # a menu shows the beginning
    return FoundCommand(command.name, description=shown, arguments=(Argument(command.hint),))


def command_items(
    commands: Iterable[FoundCommand], *, most_words: int = 1
) -> Iterator[CompletionItem]:
    """Yield the items of commands whose name can be typed, in so many words."""
    for command in islice(commands, MOST_COMMANDS):
        if len(command.name) > LONGEST_NAME:
            continue
        name, words = command.name, command.name.split()
        if typable(name) and name == " ".join(words) and 1 <= len(words) <= most_words:
            arguments = tuple(map(_safe, command.arguments[:MOST_ARGUMENTS]))
            detail = one_line(command.description[:LONGEST_DETAIL])
            yield CompletionItem(name, literal_name(name), command.kind, detail, arguments)


def _safe(argument: Argument) -> Argument:
    name = one_line(argument.name[:LONGEST_DETAIL])
    description = one_line(argument.description[:LONGEST_DETAIL])
    return Argument(name, description, argument.required)


def matching(query: str, items: Iterable[CompletionItem]) -> list[CompletionItem]:
    """Return the items whose name matches a query, the best first; an empty one changes nothing."""
    by_name: dict[str, CompletionItem] = {}
    for item in items:
        by_name.setdefault(item.text, item)
    if not query:
        return list(by_name.values())
    return [by_name[rank[-1]] for rank in ranked(query, by_name, len(by_name))]
