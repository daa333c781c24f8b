"""Code: completion, rewriting, and inline chats."""

from typing import TypeAlias

from eca_nvim.protocol.base.types import Int, Notification, Request, UnknownPart, Wire
from eca_nvim.protocol.eca import chat, editor, lifecycle
from eca_nvim.protocol.eca.contexts import Context


class CompletionItem(Wire, frozen=True, kw_only=True):
    """A text to insert at `range`, if the document is still at `doc_version`."""

    text: str = ""
    doc_version: Int | None = None
    range: editor.Range | None = None


class CompletionResult(Wire, frozen=True, kw_only=True):
    """The completions, or `error`."""

    items: tuple[CompletionItem, ...] = ()
    error: lifecycle.Failure | None = None


class CompletionParams(Request[CompletionResult], frozen=True, kw_only=True):
    """Complete the code at a position, with 1-based lines and characters.

    A position outside the text is an internal error.
    """

    method = "completion/inline"
    doc_text: str
    doc_version: Int
    position: editor.Position


class RewriteResult(Wire, frozen=True, kw_only=True):
    """Rewriting has begun (`status` is prompting)."""

    status: str | None = None
    model: str | None = None
    error: lifecycle.Failure | None = None


class RewriteParams(Request[RewriteResult], frozen=True, kw_only=True):
    """Rewrite a text as the prompt says; the contents that follow have the same `id`.

    The lines of `range` are 1-based.
    """

    method = "rewrite/prompt"
    id: str
    text: str
    prompt: str
    path: str | None = None
    range: editor.Range | None = None


class RewriteStarted(Wire, frozen=True, tag_field="type", tag="started"):
    """The model has begun to answer."""


class RewriteReasoning(Wire, frozen=True, tag_field="type", tag="reasoning"):
    """The model is reasoning."""


class RewriteText(Wire, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """A piece of the new text."""

    text: str = ""


class RewriteReplace(Wire, frozen=True, kw_only=True, tag_field="type", tag="replace"):
    """The whole new text, without fences; it replaces the pieces so far."""

    text: str = ""


class RewriteError(Wire, frozen=True, kw_only=True, tag_field="type", tag="error"):
    """Rewriting has failed."""

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
    """A piece of a rewritten text."""

    method = "rewrite/contentReceived"
    rewrite_id: str
    content: RewriteContent


class InlinePromptParams(Request[chat.PromptResult], frozen=True, kw_only=True):
    """Prompt an inline chat at a position in the code (servers newer than 0.155).

    A new `chat_id` creates the chat; with `source_chat_id` it starts with that chat's history,
    which is not replayed. The server's `chatInline` config replaces values that are None.
    """

    method = "chat/inlinePrompt"
    chat_id: str
    source_chat_id: str | None = None
    message: str
    model: str | None = None
    agent: str | None = None
    variant: str | None = None
    contexts: tuple[Context, ...] = ()
