"""Forms: the agent asks the user to fill in a form (a JSON Schema), or to open a link.

Rules kept here:
- A field of an unknown type is asked as text if it can be a string. Else it is left out if it is
  optional, and the whole form cannot be asked if it is required.
- A default that does not fit its own field is none.
- What an agent sends is bounded: in fields, in choices, and in characters.
- Each request becomes one question in a chat; the chat asks its fields and checks the answers.
- What cannot be asked is declined at once, and a line in the chat says why: agents wait.
- Only web links are asked about, and only whole ones of plain characters.
- A stop, the end of the turn, and the end of what a link was for cancel. Only the user accepts and
  declines.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any, Final
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.agents.acp.faults import one_line
from eca_nvim.agents.acp.requests.acts import Answers
from eca_nvim.agents.acp.session import Session
from eca_nvim.chat.model.field_values import fault_of
from eca_nvim.chat.text.safe_text import host_of
from eca_nvim.chat.vocabulary import agent_events, events, requests
from eca_nvim.jsonrpc import REQUEST_CANCELLED, MessageId
from eca_nvim.protocol.acp import elicitation

MOST_FIELDS: Final = 100
MOST_OFFERS: Final = 20_000
MOST_CHARACTERS: Final = 4_000_000
_MOST_TITLE: Final = 1000
_SECRET: Final = "password"  # noqa: S105 - the name of a format
_FORMATS: Final[Mapping[str, requests.TextFormat]] = {it.value: it for it in requests.TextFormat}


class CannotAsk(Exception):
    """Raised for a form that cannot be asked; the message is one line."""


class ReadForm(Struct, frozen=True):
    """The fields of a form; `left_out`: the names of those that cannot be asked."""

    fields: tuple[requests.FormField, ...]
    left_out: tuple[str, ...] = ()


def read_form(schema: elicitation.FormSchema) -> ReadForm:
    """Read a form. Raises CannotAsk."""
    if len(schema.properties) > MOST_FIELDS:
        raise CannotAsk(f"it has more than {MOST_FIELDS} fields")
    fields = list[requests.FormField]()
    left_out = list[str]()
    required = frozenset(schema.required or ())
    for name, described in schema.properties.items():
        field = _field(name, described, required=name in required)
        if field is not None:
            fields.append(field)
        elif name in required:
            raise CannotAsk(f"its field {_quoted(name)} is of a type that is not known here")
        else:
            left_out.append(_quoted(name))
    _check_size(fields)
    return ReadForm(tuple(fields), tuple(left_out))


def _check_size(fields: Sequence[requests.FormField]) -> None:
    if sum(len(it.offers) for it in fields) > MOST_OFFERS:
        raise CannotAsk(f"it has more than {MOST_OFFERS} choices")
    if sum(map(_characters, fields)) > MOST_CHARACTERS:
        raise CannotAsk(f"it has more than {MOST_CHARACTERS} characters")


def _characters(field: requests.FormField) -> int:
    texts = (field.name, field.description, field.pattern, str(field.default or ""))
    offers = sum(len(it.value) + len(it.name) + len(it.description) for it in field.offers)
    return sum(map(len, texts)) + offers


def _field(name: str, described: elicitation.Field, *, required: bool) -> requests.FormField | None:
    default: requests.Value | None
    match described:
        case elicitation.StringField():
            field, default = _text(name, described), described.default
        case elicitation.IntegerField() | elicitation.NumberField():
            field, default = _number(name, described), described.default
        case elicitation.BooleanField():
            field, default = _of_kind(name, described, requests.FieldKind.YES_NO), described.default
        case elicitation.ArrayField():
            return _several(name, described, required=required)
        case elicitation.UnknownField(fields=wire):
            return _string_like(name, wire, required=required)
    return _with_default(replace(field, required=required), default)


def _text(name: str, described: elicitation.StringField) -> requests.FormField:
    titled = _offers(described.one_of, described.enum)
    field = _of_kind(name, described, requests.FieldKind.ONE if titled else requests.FieldKind.TEXT)
    if titled:
        return replace(field, offers=titled)
    return replace(
        field,
        least=described.min_length or None,
        most=described.max_length,
        format=_FORMATS.get(described.format or ""),
        pattern=described.pattern or "",
        secret=described.format == _SECRET or _is_secret(described.meta),
    )


def _number(
    name: str, described: elicitation.IntegerField | elicitation.NumberField
) -> requests.FormField:
    kind = (
        requests.FieldKind.WHOLE
        if isinstance(described, elicitation.IntegerField)
        else requests.FieldKind.NUMBER
    )
    field = _of_kind(name, described, kind)
    return replace(field, least=described.minimum, most=described.maximum)


def _several(
    name: str, described: elicitation.ArrayField, *, required: bool
) -> requests.FormField | None:
    offers = _offers(described.items.any_of, described.items.enum)
    if not offers:
        return None
    field = replace(
        _of_kind(name, described, requests.FieldKind.SEVERAL),
        required=required,
        offers=offers,
        least=described.min_items or None,
        most=described.max_items,
    )
    return _with_default(field, described.default or None)


def _string_like(
    name: str, wire: Mapping[str, Any], *, required: bool
) -> requests.FormField | None:
    """Return a field whose type is not known as a text, if it can be a string."""
    kind = wire.get("type")
    if kind is not None and not (isinstance(kind, list) and "string" in kind):
        return None
    title, description = wire.get("title"), wire.get("description")
    return requests.FormField(
        name=name,
        kind=requests.FieldKind.TEXT,
        title=title[:_MOST_TITLE] if isinstance(title, str) and title else name,
        description=description if isinstance(description, str) else "",
        required=required,
    )


def _of_kind(
    name: str,
    described: elicitation.StringField
    | elicitation.IntegerField
    | elicitation.NumberField
    | elicitation.BooleanField
    | elicitation.ArrayField,
    kind: requests.FieldKind,
) -> requests.FormField:
    title = (described.title or name)[:_MOST_TITLE]
    return requests.FormField(
        name=name, kind=kind, title=title, description=described.description or ""
    )


def _offers(
    titled: Iterable[elicitation.EnumOption] | None, plain: Iterable[str] | None
) -> tuple[requests.Offer, ...]:
    """Return the choices, each value once."""
    found = dict[str, requests.Offer]()
    for option in titled or ():
        offer = requests.Offer(option.const, option.title or option.const, option.description or "")
        found.setdefault(option.const, offer)
    for value in () if found else plain or ():
        found.setdefault(value, requests.Offer(value, value))
    return tuple(found.values())


def _with_default(field: requests.FormField, default: requests.Value | None) -> requests.FormField:
    fits = default is not None and fault_of(field, default) is None
    return replace(field, default=default) if fits else field


def _is_secret(meta: elicitation.FieldMeta | None) -> bool:
    return bool(meta and meta.codex and meta.codex.is_secret)


def _quoted(name: str) -> str:
    return f"'{one_line(name)[:40]}'"


MOST_OPEN: Final = 50
MOST_LINK: Final = 4000
_NOT_ASKED: Final = "The agent asks for something that cannot be asked here, it was declined"

logger = logging.getLogger(__name__)


class _Open(Struct, frozen=True):
    """A request that waits for the user.

    session: None for one outside of sessions. elicitation_id: the agent's, of a link that it may
    declare done; None for a form, which only the user can answer.
    """

    request_id: MessageId
    session: Session | None
    question: events.QuestionAsked
    elicitation_id: str | None

    @property
    def chat_id(self) -> str | None:
        return None if self.session is None else self.session.chat_id


class Elicitations:
    """Answers the elicitations of one agent process (elicitation/create)."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._ids = map(f"{uuid4().hex[:8]} {{}}".format, count(1))
        self._open: dict[str, _Open] = {}
        self._opened: dict[str, _Open] = {}
        """The links that the user has opened, by the agent's ids, until they are completed."""

    def start(
        self, request_id: MessageId, session: Session | None, asked: elicitation.CreateElicitation
    ) -> Sequence[agent_events.AgentEvent]:
        """Ask the user; returns the events that do it."""
        if (session is not None and session.is_stopping) or len(self._open) >= MOST_OPEN:
            logger.info("cancelled an elicitation: a stop is under way, or too many are open")
            self._answers.respond(request_id, elicitation.ElicitationResult("cancel"))
            return ()
        chat_id = None if session is None else session.chat_id
        try:
            question, notice = self._question(asked)
        except CannotAsk as reason:
            self._answers.respond(request_id, elicitation.ElicitationResult("decline"))
            return (events.Addressed(chat_id, events.NoticeReceived(f"{_NOT_ASKED}: {reason}")),)
        elicitation_id = None if question.link is None else asked.elicitation_id
        self._open[question.id] = _Open(request_id, session, question, elicitation_id)
        told = (question,) if notice is None else (notice, question)
        return [events.Addressed(chat_id, event) for event in told]

    def answer_form(self, question_id: str, content: Mapping[str, requests.Value] | None) -> None:
        """Send the answer to a form, or the consent to a link; None declines it."""
        asked = self._open.pop(question_id, None)
        if asked is None:
            logger.debug("question %s is closed already", question_id)
            return
        if content is None:
            self._answers.respond(asked.request_id, elicitation.ElicitationResult("decline"))
            return
        self._answers.respond(asked.request_id, _accepted(asked.question, content))
        if asked.elicitation_id is not None:
            self._opened[asked.elicitation_id] = asked

    def cancel_question(self, question_id: str) -> None:
        """Cancel a question that the chat has closed without an answer."""
        asked = self._open.pop(question_id, None)
        if asked is not None:
            self._answers.respond(asked.request_id, elicitation.ElicitationResult("cancel"))

    def cancel(self, session: Session) -> Sequence[agent_events.AgentEvent]:
        """Cancel what is open in a session; the chat has closed it already."""
        asked = [it for it in self._open.values() if it.session is session]
        for each in asked:
            self.cancel_question(each.question.id)
        return [_closed(each) for each in asked]

    def withdraw(self, request_id: MessageId) -> Sequence[agent_events.AgentEvent] | None:
        """Close a request that the agent has cancelled ($/cancel_request); None: it is not open."""
        asked = next((it for it in self._open.values() if it.request_id == request_id), None)
        if asked is None:
            return None
        del self._open[asked.question.id]
        self._answers.refuse(request_id, REQUEST_CANCELLED, "the request was cancelled")
        return [_closed(asked)]

    def completed(
        self, told: elicitation.ElicitationCompleted
    ) -> Sequence[agent_events.AgentEvent]:
        """Close a link whose purpose was reached, by the user's way or by another one."""
        opened = self._opened.pop(told.elicitation_id, None)
        if opened is not None:
            return [_closed(opened, is_done=True)]
        waits = [it for it in self._open.values() if it.elicitation_id == told.elicitation_id]
        for each in waits:
            self.cancel_question(each.question.id)
        return [_closed(each, is_done=True) for each in waits]

    def _question(
        self, asked: elicitation.CreateElicitation
    ) -> tuple[events.QuestionAsked, events.NoticeReceived | None]:
        """Return what to ask, and what to say about it. Raises CannotAsk."""
        if asked.mode == elicitation.URL:
            return self._new(asked, link=_link(asked.url or "")), None
        if asked.mode != elicitation.FORM:
            raise CannotAsk("it is neither a form nor a link")
        if asked.requested_schema is None:
            raise CannotAsk("its fields cannot be read")
        form = read_form(asked.requested_schema)
        left_out = f"The agent's form is asked without {', '.join(form.left_out)}."
        notice = events.NoticeReceived(left_out) if form.left_out else None
        return self._new(asked, form=form.fields), notice

    def _new(
        self,
        asked: elicitation.CreateElicitation,
        form: tuple[requests.FormField, ...] | None = None,
        link: str | None = None,
    ) -> events.QuestionAsked:
        words = asked.message.strip() or "The agent asks"
        return events.QuestionAsked(
            next(self._ids), words, allow_freeform=False, form=form, link=link
        )


def _accepted(
    question: events.QuestionAsked, content: Mapping[str, requests.Value]
) -> elicitation.ElicitationResult:
    given: dict[str, Any] | None = None if question.form is None else dict(content)
    return elicitation.ElicitationResult("accept", given)


def _closed(asked: _Open, *, is_done: bool = False) -> events.Addressed:
    return events.Addressed(asked.chat_id, events.QuestionClosed(asked.question.id, is_done))


def _link(url: str) -> str:
    """Return a link that may be shown and opened. Raises CannotAsk."""
    if host_of(url) is None:
        raise CannotAsk("its link is not a web link")
    if len(url) > MOST_LINK:
        raise CannotAsk(f"its link has more than {MOST_LINK} characters")
    return url
