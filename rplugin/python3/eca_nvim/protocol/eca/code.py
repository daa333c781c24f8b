"""What happens in the code itself: completion, rewriting, and a chat beside it."""

from typing import ClassVar, TypeAlias

from eca_nvim.protocol.eca.base import Int, Notification, Request, UnknownPart, Wire
from eca_nvim.protocol.eca.chat import PromptResult
from eca_nvim.protocol.eca.contexts import Context
from eca_nvim.protocol.eca.failures import Failure
from eca_nvim.protocol.eca.positions import Position, Range


class CompletionItem(Wire, frozen=True, kw_only=True):
    """A text to put at `range`, as long as the document is still at `doc_version`."""

    text: str = ""
    doc_version: Int | None = None
    range: Range | None = None


class CompletionResult(Wire, frozen=True, kw_only=True):
    """The completions; `error` when there are none."""

    items: tuple[CompletionItem, ...] = ()
    error: Failure | None = None


class CompletionParams(Request[CompletionResult], frozen=True, kw_only=True):
    """Complete the code at a position, lines and characters counted from 1.

    A position outside the text is answered with an internal error.
    """

    method: ClassVar[str] = "completion/inline"

    doc_text: str
    doc_version: Int
    position: Position


class RewriteResult(Wire, frozen=True, kw_only=True):
    """The rewriting began (`status` is prompting)."""

    status: str | None = None
    model: str | None = None
    error: Failure | None = None


class RewriteParams(Request[RewriteResult], frozen=True, kw_only=True):
    """Rewrite a text as the prompt says; `id` names the contents that follow.

    Lines of `range` count from 1.
    """

    method: ClassVar[str] = "rewrite/prompt"

    id: str
    text: str
    prompt: str
    path: str | None = None
    range: Range | None = None


class RewriteStarted(Wire, frozen=True, tag_field="type", tag="started"):
    """The model answers."""


class RewriteReasoning(Wire, frozen=True, tag_field="type", tag="reasoning"):
    """The model reasons."""


class RewriteText(Wire, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """A piece of the new text."""

    text: str = ""


class RewriteReplace(Wire, frozen=True, kw_only=True, tag_field="type", tag="replace"):
    """The whole new text, instead of the pieces so far; fences were taken off."""

    text: str = ""


class RewriteError(Wire, frozen=True, kw_only=True, tag_field="type", tag="error"):
    """The rewriting failed."""

    message: str | None = None


class RewriteFinished(Wire, frozen=True, kw_only=True, tag_field="type", tag="finished"):
    """The new text is complete; time in milliseconds."""

    total_time_ms: Int | None = None


class UnknownRewriteContent(UnknownPart, frozen=True, tag_field="type", tag=""):
    """A kind of content this client does not know."""


RewriteContent: TypeAlias = (
    RewriteStarted
    | RewriteReasoning
    | RewriteText
    | RewriteReplace
    | RewriteError
    | RewriteFinished
    | UnknownRewriteContent
)


class RewriteContentReceived(Notification, frozen=True, kw_only=True):
    """A piece of a rewriting."""

    method: ClassVar[str] = "rewrite/contentReceived"

    rewrite_id: str
    content: RewriteContent


class InlinePromptParams(Request[PromptResult], frozen=True, kw_only=True):
    """Prompt a chat that belongs to a place in the code (servers newer than 0.155).

    A new `chat_id` makes the chat; with `source_chat_id` it begins with that chat's history,
    which is not replayed. The server's `chatInline` config fills in what is None.
    """

    method: ClassVar[str] = "chat/inlinePrompt"

    chat_id: str
    source_chat_id: str | None = None
    message: str
    model: str | None = None
    agent: str | None = None
    variant: str | None = None
    contexts: tuple[Context, ...] = ()
