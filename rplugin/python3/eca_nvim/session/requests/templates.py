"""Templates: lists them, says what one needs, and makes the prompt of one; nothing is sent here."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import anyio

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.base import AgentFault
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import literal_lines, literal_name, one_line
from eca_nvim.chat.vocabulary import completion, ops, options
from eca_nvim.session.chats import Chats
from eca_nvim.session.servers import Servers
from eca_nvim.session.templates.expansion import (
    Value,
    expand,
    kinds_of,
    parse,
    questions_of,
)
from eca_nvim.session.templates.library import Found, Library, Source, TemplateFolders, read_library
from eca_nvim.session.view import Refused, View
from eca_nvim.threads import run_in_thread

NO_DIAGNOSTICS: Final = Value("none", "Diagnostics")
MOST_FAULTS: Final = 3
"""Files that are named when the templates are listed."""
PATIENCE: Final = 5.0
"""Seconds that an agent has to list its commands."""


class UnusableTemplate(Refused):
    """Raised when a template cannot be used."""


class Templates:
    """The templates of the user, of the project, and our own."""

    def __init__(
        self,
        folders: Callable[[], TemplateFolders],
        workspace: Sequence[str],
        chats: Chats,
        servers: Servers,
        view: View,
    ) -> None:
        self._folders = folders
        self._workspace = workspace
        self._chats = chats
        self._servers = servers
        self._view = view
        self._told: Sequence[Mapping[str, object]] | None = None

    async def refresh(self) -> Library:
        """Read all templates again; the view learns what has changed."""
        library = await run_in_thread(partial(read_library, self._folders(), self._workspace))
        told = [*map(_summary, library.templates.values())]
        if told != self._told:
            self._told = told
            self._view.push([completion.SetTemplates(told)])
        return library

    async def items(self) -> Iterable[completion.CompletionItem]:
        """Return all templates, to complete `/` in the input."""
        library = await self.refresh()
        return [
            completion.CompletionItem(
                name, name, completion.ItemKind.TEMPLATE, one_line(found.template.description)
            )
            for name, found in library.templates.items()
        ]

    async def list(self, _intent: completion.ListTemplates) -> bool:
        """Read all templates, and report the files that cannot be used."""
        library = await self.refresh()
        self._view.push([ops.Notify("warn", line) for line in _reported(library.faults)])
        return True

    async def prepare(self, intent: completion.PrepareTemplate) -> Mapping[str, object]:
        """Return what a template needs, or that the agent has a command of this name."""
        library = await self.refresh()
        # What a server or its documents call `/login` must never be a text from a repository.
        if intent.typed and await self._is_command(intent.chat, intent.template):
            return {"command": True}
        found = _named(library, intent.template)
        parts = parse(found.template.body)
        return {
            "digest": found.digest,
            "kinds": kinds_of(parts),
            "questions": [one_line(it) for it in questions_of(parts, intent.rest)],
        }

    async def _is_command(self, chat_id: str, name: str) -> bool:
        """Return whether the agent of a chat has a command with this name."""
        chat = self._chats.table.get(chat_id)
        if chat is None or any(it.name == name for it in chat.commands):
            return chat is not None
        process = self._servers.of(chat).process
        if not process.may_complete:
            return False
        with anyio.move_on_after(PATIENCE), suppress(AgentRefused, AgentFault):
            queries = (await process.ready()).queries
            found = () if queries is None else await queries.commands(chat_id)
            return any(it.name == name for it in found)
        return False

    async def expand(self, intent: completion.ExpandTemplate) -> Mapping[str, object]:
        """Return the prompt of a template; one of the project only once the user has decided."""
        found = _named(await self.refresh(), intent.template)
        if found.digest != intent.digest:
            raise UnusableTemplate(f"{found.shown} has just changed: use the template again")
        parts = parse(found.template.body)
        values = dict(_values(kinds_of(parts), intent.values))
        prompt = expand(parts, values, intent.answers, intent.rest)
        answer: dict[str, object] = {"text": prompt.text, "own": prompt.own}
        # Of a project's template the user sees all that would be sent, and decides on it.
        if found.source is Source.PROJECT and not intent.decided:
            answer["title"] = f"project template · {found.shown}"
            answer["lines"] = literal_lines(found.text)
            seen = self._servers.persistence.kept("template", found.shown)
            return answer | {"seen": seen == found.digest}
        if found.source is Source.PROJECT:
            self._servers.persistence.keep("template", found.shown, found.digest)
        if found.template.agent is not None:
            self._choose_agent(self._chats.get(intent.chat), found.template.agent)
        return answer

    def _choose_agent(self, chat: Chat, agent: str) -> None:
        """Choose an agent for a chat; a message says why it is not chosen."""
        mode = options.first_of(chat.options, options.MODE)
        offers = () if mode is None else mode.offers
        offer = next((it for it in offers if agent in (it.value, it.name)), None)
        if mode is None or offer is None:
            reason = "is not offered: the prompt goes to the chat's agent"
        elif offer.value in {*mode.unasked, *mode.unsure}:
            how = "runs" if offer.value in mode.unasked else "may run"
            reason = f"{how} tools without asking: choose it yourself if you want that"
        else:
            if offer.value != mode.value:
                self._servers.of(chat).options.set(chat, mode.id, offer.value, is_saved=False)
            return
        self._view.push([ops.Notify("warn", f"agent '{literal_name(agent)}' {reason}")])


def _reported(faults: Sequence[str]) -> Sequence[str]:
    """Return the first faults, and how many there are beyond these."""
    more = len(faults) - MOST_FAULTS
    return (*faults[:MOST_FAULTS], *([f"{more} more templates cannot be used"] if more > 0 else ()))


def _summary(found: Found) -> Mapping[str, object]:
    template = found.template
    return {
        "name": template.name,
        "description": one_line(template.description),
        "source": found.source.value,
        "variables": kinds_of(parse(template.body)),
    }


def _named(library: Library, name: str) -> Found:
    """Return a template. Raises UnusableTemplate."""
    if found := library.templates.get(name):
        return found
    for fault in library.faults:  # it may be in a file that cannot be used
        if f"{name}.md:" in fault:
            raise UnusableTemplate(fault)
    raise UnusableTemplate(f"there is no template '{name}': :Eca template lists them")


def _values(kinds: Sequence[str], tables: Mapping[str, object]) -> Iterator[tuple[str, Value]]:
    """Read the values from the editor. Raises UnusableTemplate if one is missing."""
    for kind in kinds:
        match tables.get(kind):
            case {"content": str(content), "label": str(label), "language": str(language)}:
                yield kind, Value(content, literal_name(label), language)
            case None if kind == "diagnostics":
                yield kind, NO_DIAGNOSTICS
            case _:
                raise UnusableTemplate(f"there is no value for {{{{{kind}}}}}")
