"""Usage: a chat's tokens and their cost."""

from eca_nvim.protocol.base.types import Int, Wire


class UsageLimit(Wire, frozen=True, kw_only=True):
    """The model's limits, in tokens of input (`context`) and output."""

    context: Int | None = None
    output: Int | None = None


class ContextCategory(Wire, frozen=True, kw_only=True):
    """A part of the context window; `color` is hexadecimal ("#61afef")."""

    name: str = ""
    tokens: Int = 0
    color: str | None = None
    emoji: str | None = None


class ContextBreakdown(Wire, frozen=True, kw_only=True):
    """Estimated contents of the context window, in tokens; unknown values are None."""

    categories: tuple[ContextCategory, ...] = ()
    used_tokens: Int = 0
    free_tokens: Int | None = None
    context_limit: Int | None = None
    free_color: str | None = None
    free_emoji: str | None = None


class UsageContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="usage"):
    """The usage of the whole chat so far, sent after each request to the model.

    Costs are decimal numbers in dollars, as text. Costs, limit and breakdown are None for a model
    whose price and size the server does not know.
    """

    session_tokens: Int = 0
    last_message_cost: str | None = None
    session_cost: str | None = None
    limit: UsageLimit | None = None
    auto_compact_percentage: Int | None = None
    context_breakdown: ContextBreakdown | None = None
