"""The host orders names as `matchfuzzy()` of Neovim 0.12 does; 0.10 has another order.

A capital in a query matches a small letter, too: in `matchfuzzy()` of 0.12 it does not.
"""

from itertools import product

from tests.support.editor import Neovim

from eca_nvim.session.completion.fuzzy import ranked

FOLDERS = ("", "src/", "lib/core-api/", "Docs/très_bon/", "a.b/camelCase/")
FILES = ("calc.py", "my_calc.lua", "CallCenter.c", "README.md", "x-y z.txt", "İstanbul", "alcalc/")
QUERIES = ["c", "calc", "ca", "cc", "src/c", "py", "sc", "bon", "a.c", "readme.md", "zz", "tb"]


def test_names_are_in_the_order_of_matchfuzzy(nvim: Neovim) -> None:
    names = [folder + file for folder, file in product(FOLDERS, FILES)]
    is_today = nvim.eval("has('nvim-0.12')") == 1
    for query in QUERIES:
        order = nvim.lua("return vim.fn.matchfuzzypos(...)", names, query)
        ours = ranked(query, names, len(names))
        assert {rank[-1] for rank in ours} == set(order[0]), query
        if is_today:
            assert [-rank[0] for rank in ours] == order[2], query
