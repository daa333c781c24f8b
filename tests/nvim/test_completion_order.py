"""What the host leaves out in a large workspace is not what `matchfuzzy()` would have put first.

This holds for letters in a row; apart, only for Neovim 0.12, as 0.10 has another order.
"""

import pytest
from tests.support.editor import Neovim

from eca_nvim.chat.vocabulary.completion import MOST_ITEMS
from eca_nvim.session.completion.names import distance, matches

WORDS = ("account", "billing", "cache", "driver", "engine", "format", "gateway", "handler")
NAMES = [
    f"src/{WORDS[place % 8]}_{place % 97}/part{place}/sources/{WORDS[number % 8]}{number}.py"
    for number in range(10_000)
    for place in (number // 10,)
]
SHOWN = 20


@pytest.mark.parametrize("query", ["c", "ca", "cache", "gateway/handler", "part999", "drv", "scap"])
def test_the_best_names_are_sent(nvim: Neovim, query: str) -> None:
    if query == "scap" and nvim.eval("has('nvim-0.12')") == 0:
        pytest.skip("0.10 has another order")
    matching = [name for name in NAMES if matches(query, name)]
    sent = sorted(matching, key=lambda name: distance(query, name))[: MOST_ITEMS - 40]
    code = "local names, query = ... return vim.fn.matchfuzzypos(names, query)"
    _, _, all_scores = nvim.lua(code, NAMES, query)
    _, _, scores = nvim.lua(code, sent, query)
    assert scores[:SHOWN] == all_scores[:SHOWN]
