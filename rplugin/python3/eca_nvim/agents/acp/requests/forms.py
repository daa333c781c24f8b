"""Forms: the agent asks the user to fill in a form (a JSON Schema), or to open a link.

Each request becomes one question in a chat; the chat asks its fields and checks the answers.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.agents.acp.link import Link
from eca_nvim.agents.acp.session import Session, TurnState
from eca_nvim.chat.model.field_values import fault_of
from eca_nvim.chat.text.safe_text import host_of, one_line
from eca_nvim.chat.vocabulary import events, requests
from eca_nvim.chat.vocabulary.requests import FieldKind, FormField
from eca_nvim.digests import new_id
from eca_nvim.jsonrpc import MessageId
from eca_nvim.protocol.acp import elicitation

MOST_FIELDS: Final = 100
MOST_OFFERS: Final = 20_000
MOST_CHARACTERS: Final = 4_000_000
_MOST_TITLE: Final = 1000
_SECRET: Final = "password"  # noqa: S105 - the name of a format
_FORMATS: Final[Mapping[str, requests.TextFormat]] = {it.value: it for it in requests.TextFormat}
_KINDS: Final[Mapping[str, FieldKind]] = {
    "string": FieldKind.TEXT,
    "number": FieldKind.NUMBER,
    "integer": FieldKind.WHOLE,
    "boolean": FieldKind.YES_NO,
    "array": FieldKind.SEVERAL,
}
"""By the type of a field in the schema."""

MOST_OPEN: Final = 50
MOST_LINK: Final = 4000
_NOT_ASKED: Final = "The agent asks for something that cannot be asked here, it was declined"

logger = logging.getLogger(__name__)


class CannotAsk(Exception):
    """Raised for a form that cannot be asked; the message is one line."""


def read_form(schema: elicitation.FormSchema) -> tuple[tuple[FormField, ...], Sequence[str]]:
    """Return the fields of a form, and the names of those that are left out. Raises CannotAsk.

    What cannot be asked is left out if it is optional.
    """
    if len(schema.properties) > MOST_FIELDS:
        raise CannotAsk(f"it has more than {MOST_FIELDS} fields")
    fields, left_out = list[FormField](), list[str]()
    for name, described in schema.properties.items():
        required = name in (schema.required or ())
        quoted = f"'{one_line(name)[:40]}'"
        field = _field(name, described)
        if field is not None:
            fields.append(replace(field, required=required))
        elif required:
            raise CannotAsk(f"its field {quoted} is of a type that is not known here")
        else:
            left_out.append(quoted)
    if sum(len(it.offers) for it in fields) > MOST_OFFERS:
        raise CannotAsk(f"it has more than {MOST_OFFERS} choices")
    if sum(map(_characters, fields)) > MOST_CHARACTERS:
        raise CannotAsk(f"it has more than {MOST_CHARACTERS} characters")
    return tuple(fields), left_out


def _characters(field: FormField) -> int:
    texts = (field.name, field.description, field.pattern, str(field.default or ""))
    offers = sum(len(it.value) + len(it.name) + len(it.description) for it in field.offers)
    return sum(map(len, texts)) + offers


def _field(name: str, described: elicitation.Field) -> FormField | None:
    """Return a field; None for a type that is not known, and for an array without choices."""
    kind = _KINDS.get(str(described.type))
    if described.type is None or (isinstance(described.type, list) and "string" in described.type):
        kind = FieldKind.TEXT
    if kind is None:
        return None
    field = FormField(
        name=name,
        kind=kind,
        title=(described.title or name)[:_MOST_TITLE],
        description=described.description or "",
    )
    match kind:
        case FieldKind.TEXT:
            field = _of_text(field, described)
        case FieldKind.WHOLE | FieldKind.NUMBER:
            field = replace(field, least=described.minimum, most=described.maximum)
        case FieldKind.SEVERAL:
            offers = _offers(described.items.any_of, described.items.enum)
            if not offers:
                return None
            least, most = described.min_items or None, described.max_items
            field = replace(field, offers=offers, least=least, most=most)
    default = described.default
    # A default that does not fit its own field is none.
    is_usable = default not in (None, ()) and fault_of(field, default) is None
    return replace(field, default=default) if is_usable else field


def _of_text(field: FormField, described: elicitation.Field) -> FormField:
    offers = _offers(described.one_of, described.enum)
    if offers:
        return replace(field, kind=FieldKind.ONE, offers=offers)
    codex = described.meta and described.meta.codex
    return replace(
        field,
        least=described.min_length or None,
        most=described.max_length,
        format=_FORMATS.get(described.format or ""),
        pattern=described.pattern or "",
        secret=described.format == _SECRET or bool(codex and codex.is_secret),
    )


def _offers(
    titled: Iterable[elicitation.EnumOption] | None, plain: Iterable[str] | None
) -> tuple[requests.Offer, ...]:
    """Return the choices, each value once."""
    found = dict[str, requests.Offer]()
    for option in titled or map(elicitation.EnumOption, plain or ()):
        name, about = option.title or option.const, option.description or ""
        found.setdefault(option.const, requests.Offer(option.const, name, about))
    return tuple(found.values())


class _Open(Struct, frozen=True):
    """A request that waits for the user.

    session: None for one outside of sessions. elicitation_id: the agent's, of a link that it may
    declare done; None for a form, which only the user can answer.
    """

    request_id: MessageId
    session: Session | None
    question: events.QuestionAsked
    elicitation_id: str | None


class Elicitations:
    """Answers the elicitations of one agent process (elicitation/create)."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._ids = map(f"{new_id()[:8]} {{}}".format, count(1))
        self._open: dict[str, _Open] = {}
        self._opened: dict[str, _Open] = {}
        """The links that the user has opened, by the agent's ids, until they are completed."""

    def start(
        self, request_id: MessageId, session: Session | None, asked: elicitation.CreateElicitation
    ) -> None:
        """Ask the user. What cannot be asked is declined at once: agents wait."""
        is_stopping = session is not None and session.turn is TurnState.STOPPING
        if is_stopping or len(self._open) >= MOST_OPEN:
            logger.info("cancelled an elicitation: a stop is under way, or too many are open")
            self._answer(request_id, "cancel")
            return
        chat_id = None if session is None else session.chat_id
        try:
            question, notice = self._question(asked)
        except CannotAsk as reason:
            self._answer(request_id, "decline")
            self._link.say(chat_id, events.NoticeReceived(f"{_NOT_ASKED}: {reason}"))
            return
        elicitation_id = None if question.link is None else asked.elicitation_id
        self._open[question.id] = _Open(request_id, session, question, elicitation_id)
        self._link.on_cancel(request_id, partial(self._withdraw, question.id))
        self._link.say(chat_id, *([] if notice is None else [notice]), question)

    def answer_form(self, question_id: str, content: Mapping[str, requests.Value] | None) -> None:
        """Send the answer to a form, or the consent to a link; None declines it."""
        asked = self._open.pop(question_id, None)
        if asked is None:
            logger.debug("question %s is closed already", question_id)
        elif content is None:
            self._answer(asked.request_id, "decline")
        else:
            given = None if asked.question.form is None else dict(content)
            self._answer(asked.request_id, "accept", given)
            if asked.elicitation_id is not None:
                self._opened[asked.elicitation_id] = asked

    def cancel_question(self, question_id: str) -> None:
        """Cancel a question that the chat has closed without an answer."""
        asked = self._open.pop(question_id, None)
        if asked is not None:
            self._answer(asked.request_id, "cancel")

    def cancel(self, session: Session) -> None:
        """Cancel what is open in a session; the chat has closed it already."""
        for asked in [it for it in self._open.values() if it.session is session]:
            self.cancel_question(asked.question.id)
            self._close(asked)

    def completed(self, elicitation_id: str) -> None:
        """Close a link whose purpose was reached, by the user's way or by another one."""
        opened = self._opened.pop(elicitation_id, None)
        if opened is not None:
            self._close(opened, is_done=True)
            return
        for asked in [it for it in self._open.values() if it.elicitation_id == elicitation_id]:
            self.cancel_question(asked.question.id)
            self._close(asked, is_done=True)

    def _question(
        self, asked: elicitation.CreateElicitation
    ) -> tuple[events.QuestionAsked, events.NoticeReceived | None]:
        """Return what to ask, and what to say about it. Raises CannotAsk."""
        words = asked.message.strip() or "The agent asks"
        question = events.QuestionAsked(next(self._ids), words, allow_freeform=False)
        if asked.mode == elicitation.URL:
            return replace(question, link=_link(asked.url or "")), None
        if asked.mode != elicitation.FORM:
            raise CannotAsk("it is neither a form nor a link")
        if asked.requested_schema is None:
            raise CannotAsk("its fields cannot be read")
        fields, left_out = read_form(asked.requested_schema)
        line = f"The agent's form is asked without {', '.join(left_out)}."
        notice = events.NoticeReceived(line) if left_out else None
        return replace(question, form=fields), notice

    def _answer(
        self, request_id: MessageId, action: str, content: dict[str, Any] | None = None
    ) -> None:
        self._link.respond(request_id, elicitation.ElicitationResult(action, content))

    def _withdraw(self, question_id: str) -> None:
        asked = self._open.pop(question_id)
        self._link.refuse_cancelled(asked.request_id)
        self._close(asked)

    def _close(self, asked: _Open, *, is_done: bool = False) -> None:
        chat_id = None if asked.session is None else asked.session.chat_id
        self._link.say(chat_id, events.QuestionClosed(asked.question.id, is_done))


def _link(url: str) -> str:
    """Return a link that may be shown and opened. Raises CannotAsk."""
    if host_of(url) is None:
        raise CannotAsk("its link is not a web link")
    if len(url) > MOST_LINK:
        raise CannotAsk(f"its link has more than {MOST_LINK} characters")
    return url
