"""What a chat uses, as rows."""

from __future__ import annotations

import pytest

from eca_nvim.chat.render.panel_rows import CELLS, usage_rows
from eca_nvim.chat.vocabulary.turn_events import UsageCategory, UsageReported, UsageRow

KNOWN = UsageReported(
    session_tokens=50_000,
    context_limit=200_000,
    output_limit=8_000,
    session_cost="0.09",
    last_message_cost="$0.01",
    auto_compact_percentage=75,
    free_tokens=150_000,
    free_color="#5C6370",
    categories=(
        UsageCategory("System\nprompt", 10_000, "#61afef"),
        UsageCategory("会话", 40_000, "red | quit"),
    ),
)


def text(row: UsageRow) -> str:
    return "".join(segment[0] for segment in row)


def lines(usage: UsageReported | None) -> list[str]:
    return [text(row) for row in usage_rows(usage)]


def test_usage_is_a_bar_with_its_legend() -> None:
    assert lines(KNOWN) == [
        "50,000 of 200,000 tokens",
        "█" * 12 + "░" * 23 + "┃" + "░" * 12,
        "█ System prompt     10,000    5.0%",
        "█ 会话              40,000   20.0%",
        "░ free             150,000   75.0%",
        "┃ is compacted at 75%",
        "answers of up to 8,000 tokens",
        "this chat $0.09 · last message $0.01",
    ]


def test_only_colours_are_colours() -> None:
    bar = usage_rows(KNOWN)[1]
    assert [segment[1:] for segment in bar] == [
        ("EcaUsage1", "#61afef"),
        ("EcaUsage2",),
        ("EcaUsageFree", "#5c6370"),
        ("EcaUsageMark",),
        ("EcaUsageFree", "#5c6370"),
    ]


@pytest.mark.parametrize("color", ["", "#", "61afef", "##1afef", "#61afe", "#61afeg", "#61afef\n"])
def test_other_words_of_the_agent_are_none(color: str) -> None:
    usage = UsageReported(session_tokens=1, categories=(UsageCategory("x", 1, color),))
    assert usage_rows(usage)[1][0] == ("█", "EcaUsage1")


def test_categories_take_turns_in_our_own_groups() -> None:
    categories = tuple(UsageCategory(str(number), 1) for number in range(8))
    rows = usage_rows(UsageReported(session_tokens=8, categories=categories))
    assert [row[0][1][-1] for row in rows[1:]] == ["1", "2", "3", "4", "5", "6", "1", "2"]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, []),
        (UsageReported(context_limit=9), []),
        (UsageReported(session_tokens=0), ["0 tokens"]),
        (UsageReported(session_tokens=1_234), ["1,234 tokens", "█ used      1,234  100.0%"]),
        (
            UsageReported(session_tokens=75, context_limit=100),
            [
                "75 of 100 tokens",
                "█" * 36 + "░" * 12,
                "█ used         75   75.0%",
                "░ free         25   25.0%",
            ],
        ),
    ],
)
def test_what_is_not_known_is_left_out(usage: UsageReported | None, expected: list[str]) -> None:
    assert lines(usage) == expected


@pytest.mark.parametrize("tokens", [(10**9, 1 - 10**9), (-5, 6), (0, 1)])
@pytest.mark.parametrize("percent", [-1, 0, 3, 100, 10**6])
def test_odd_numbers_make_no_bar_that_is_wider(tokens: tuple[int, ...], percent: int) -> None:
    categories = tuple(UsageCategory("x", count) for count in tokens)
    usage = UsageReported(
        session_tokens=1,
        context_limit=1,
        categories=categories,
        auto_compact_percentage=percent,
    )
    assert len(lines(usage)[1]) <= CELLS + 1
