"""The panel of tools: what a model may call, what of it asks, and what the user has allowed."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final

from eca_nvim.agents.abilities import Grant
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.status import unasked_names
from eca_nvim.chat.text.safe_text import literal_line, one_line, width
from eca_nvim.chat.vocabulary.agent_events import ToolServerChanged
from eca_nvim.chat.vocabulary.options import MODE, first_of
from eca_nvim.chat.vocabulary.panels import Action, Cell, Row
from eca_nvim.session.panels.panel import Answer, Panel, cell, column, note, rest, whole_column
from eca_nvim.session.tools import Consent, KnownTool, KnownTools, told_servers
from eca_nvim.session.view import Refused

_INDENT: Final[Cell] = ("    ", "", 0)
_MEASURE: Final = 72
"""Cells of a line of a description."""
_LONGEST: Final = 20_000
"""Characters of a description that are shown."""
_MOST_PARAMETERS: Final = 200
_COVERED: Final = 120
"""Cells of what an answer covers in its row; its details have all of it."""
_NAME, _ABOUT = 24, 42
"""Cells of a name, and of a description in its row: all that fits in 80 columns."""

_LOOKS: Final[Mapping[Consent, tuple[str, str]]] = {
    Consent.DISABLED: ("disabled", "EcaMuted"),
    Consent.TRUST: ("trust", "EcaTrust"),
    Consent.ALLOWED: ("allowed", "EcaWarning"),
    Consent.ASKS: ("asks", "EcaToolDone"),
    Consent.CONFIG: ("asks?", "EcaMuted"),
}
"""A word for each row, and its highlight group."""
_WORDS: Final[Mapping[Consent, str]] = {
    Consent.TRUST: "does not ask: this chat is trusted",
    Consent.ALLOWED: "always allowed in this session (until the server restarts)",
    Consent.ASKS: "asks",
    Consent.CONFIG: "asks or not as ECA's config says: it has not asked since the server started",
}


class ToolsPanel(Panel):
    """The tools of one server, below what runs without asking in its chats."""

    ACTIONS: ClassVar = (
        Action("details", "o", "details"),
        Action("revoke", "x", "take it back"),
        Action("chat", "c", "go to its chat"),
    )

    @property
    def title(self) -> str:
        """How many tools there are, and how many are disabled."""
        told = self._told()
        if not told:
            return "tools: not told"
        tools = [tool for it in told for tool in it.tools or ()]
        disabled = sum(it.disabled for it in tools)
        return f"tools: {len(tools)}" + (f", {disabled} disabled" if disabled else "")

    def rows(self) -> Iterator[Row]:
        """Yield what runs without asking, then the tools, each tool server's together."""
        known = KnownTools(self.server, self._chat)
        yield from self._trusted()
        yield from self._granted(known)
        for told in self._told():
            yield from self._of_server(told, known)
        if not self._told():
            yield note(self._why_none())

    async def act(self, action: str, row: str, values: Mapping[str, str]) -> Answer | None:  # noqa: ARG002 - nothing is asked for
        """Show more of a row, take back what it allows, or go to its chat."""
        kind, _, key = row.partition("\n")
        if action == "details":
            self.toggle(row)
        elif kind == "trust":
            return self._act_on_trusted(action, key)
        else:
            return self._act_on_grant(action, key)
        return None

    def _act_on_trusted(self, action: str, chat_id: str) -> Answer | None:
        chat = self.scene.chats.table.get(chat_id)
        if chat is None:
            raise Refused("this chat is gone")
        if action == "chat":
            return {"chat": chat_id}
        self.scene.servers.of(chat).trust.choose(chat, trusted=False)
        return None

    def _act_on_grant(self, action: str, grant_id: str) -> Answer | None:
        agent = self.server.process.agent
        grants = None if agent is None else agent.grants
        found = [] if grants is None else [it for it in grants.standing() if it.id == grant_id]
        if not found or grants is None:
            raise Refused("this is allowed no more")
        if action == "revoke":
            grants.revoke(grant_id)
            return None
        if found[0].chat_id not in self.scene.chats.table:
            raise Refused("its chat is not open")
        return {"chat": found[0].chat_id or ""}

    # --- what runs without asking -----------------------------------------------------------------

    def _trusted(self) -> Iterator[Row]:
        """Yield the chats that are trusted, and those in a mode that does not ask."""
        for chat in self.scene.chats.of(self.server.name):
            name, tag = _name_of(chat), column("trust", 8, "EcaTrust")
            if chat.trust:
                line = (tag, rest(f"all tools run without asking in {name}"))
                yield Row(f"trust\n{chat.id}", line, ("revoke", "chat"), {"name": name})
            for mode in unasked_names(chat.options):
                line = (tag, rest(f"tools run without asking in {name}, by its mode {mode}"))
                yield Row(f"mode\n{chat.id}\n{mode}", line)

    def _granted(self, known: KnownTools) -> Iterator[Row]:
        """Yield what was always allowed: the words of the question, where, and what ends it."""
        for grant in known.standing:
            row = f"grant\n{grant.id}"
            yield self._of_grant(row, grant)
            if row in self.opened:
                yield from _paragraphs(row, "\n".join(map(literal_line, grant.covers)))
        if not known.standing and self._told():
            yield note("no answer for always stands")

    def _of_grant(self, row: str, grant: Grant) -> Row:
        chat = self.scene.chats.table.get(grant.chat_id or "")
        where = "in all chats" if grant.chat_id is None else f"in {_name_of(chat)}"
        first, more = literal_line(grant.covers[0]), len(grant.covers) - 1
        covered = cell(first, _COVERED) + (f" and {more} more" if more else "")
        told = rest(f"{where}, {grant.ends}" if grant.ends else where, "EcaMuted")
        line = (column("allowed", 8, "EcaWarning"), (covered, "", 0), (" ", "", 0), told)
        possible = {
            "details": bool(more) or covered != first or not chat,
            "chat": bool(chat),
            "revoke": not grant.ends,
        }
        return Row(row, line, [it for it, is_so in possible.items() if is_so], {"name": covered})

    # --- tools ------------------------------------------------------------------------------------

    def _of_server(self, told: ToolServerChanged, known: KnownTools) -> Iterator[Row]:
        what = "the agent's own" if told.kind == "native" else f"MCP server, {told.status}"
        count = len(told.tools or ())
        head = (cell(told.name, 60), "EcaHeading", 0)
        yield Row(
            f"server\n{told.name}",
            (
                head,
                ("  ", "", 0),
                rest(f"{what}: {count} {'tool' if count == 1 else 'tools'}", "EcaMuted"),
            ),
        )
        seen = Counter[str]()
        for tool in known.of(told):
            name = tool.tool.name
            row = f"tool\n{told.name}\n{name}\n{seen[name]}"
            seen[name] += 1
            yield _row_of(row, tool)
            if row in self.opened:
                yield from self._details(row, tool)

    def _details(self, row: str, known: KnownTool) -> Iterator[Row]:
        """Yield all that is known of a tool."""
        tool = known.tool
        if width(one_line(tool.name)) > _NAME:
            yield Row(f"{row}\nname", (_INDENT, rest(tool.name, "EcaToolName")))
        yield from _paragraphs(row, tool.description or "it has no description")
        yield Row(
            f"{row}\nasks", (_INDENT, rest(self._consent_of(known), _LOOKS[known.consent][1]))
        )
        given = list(parameters(tool.parameters))
        for index, (name, kind, about) in enumerate(given[:_MOST_PARAMETERS]):
            line = (
                _INDENT,
                whole_column(name, 20, "EcaOption"),
                whole_column(kind, 16, "EcaMuted"),
                rest(about),
            )
            yield Row(f"{row}\n{index}", line)
        if len(given) > _MOST_PARAMETERS:
            yield Row(f"{row}\nmore", (_INDENT, rest(f"and {len(given) - _MOST_PARAMETERS} more")))
        if not given:
            yield Row(f"{row}\nmore", (_INDENT, rest("no parameters", "EcaMuted")))

    def _consent_of(self, known: KnownTool) -> str:
        if known.consent is not Consent.DISABLED:
            return _WORDS[known.consent]
        # The server has one list for all chats: that for the agent which was selected last.
        options = (first_of(it.options, MODE) for it in self.scene.chats.of(self.server.name))
        agents = {str(it.value) for it in options if it is not None}
        one = agents.pop() if len(agents) == 1 else ""
        return f"disabled for the agent {one or 'that was selected last'}"

    def _why_none(self) -> str:
        if self.server.process.agent is None:
            return f"{self.server.name} does not run: :Eca start starts it"
        return f"{self.server.name} does not tell its tools: ECA does, an ACP agent cannot"

    def _told(self) -> Sequence[ToolServerChanged]:
        return told_servers(self.server)

    @property
    def _chat(self) -> Chat | None:
        return self.scene.chats.table.get(self.chat_id or "")


def _name_of(chat: Chat | None) -> str:
    if chat is None:
        return "a chat that is closed"
    return f"“{cell(chat.title, 40)}”" if chat.title else "a chat without a title"


def _row_of(row: str, known: KnownTool) -> Row:
    tool = known.tool
    about = next((it for it in tool.description[:_LONGEST].splitlines() if it.strip()), "")
    word, of_consent = _LOOKS[known.consent]
    group = "EcaMuted" if known.consent is Consent.DISABLED else ""
    line = (
        ("  ", "", 0),
        column(cell(tool.name) or "(no name)", _NAME, group or "EcaToolName"),
        column(word, 8, of_consent),
        (cell(about, _ABOUT), group, 0),
    )
    return Row(row, line, ("details",), {"name": cell(tool.name)})


def _paragraphs(row: str, text: str) -> Iterator[Row]:
    """Yield a text of several lines as rows."""
    lines = (one_line(it) for it in text[:_LONGEST].splitlines())
    wrapped = [part for line in lines for part in textwrap.wrap(line, _MEASURE)]
    if len(text) > _LONGEST:
        wrapped.append("…")
    for index, line in enumerate(wrapped):
        yield Row(f"{row}\ntext {index}", (_INDENT, rest(line)))


def parameters(schema: object) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the type in words, and the description of each parameter of a tool.

    schema: a JSON schema that others wrote: what is not as it should be is left out.
    """
    table = schema if isinstance(schema, dict) else {}
    properties, needed = table.get("properties"), table.get("required")
    if not isinstance(properties, dict):
        properties = dict.fromkeys(map(str, properties if isinstance(properties, list) else ()))
    for name, value in properties.items():
        about = value if isinstance(value, dict) else {}
        kind, offered = about.get("type", ""), about.get("enum")
        words = " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)
        if isinstance(needed, list) and name in needed:
            words += ", needed" if words else "needed"
        told = str(about.get("description") or "")
        if isinstance(offered, list):
            told = f"one of {', '.join(map(str, offered[:_MOST_PARAMETERS]))}. {told}"
        yield str(name), words, told
