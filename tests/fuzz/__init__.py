"""Fuzz: what reads text of others, on inputs that a fuzzer makes up. `make fuzz RUNS=100000`.

`targets.py` has a function for each theme, `mutations.py` changes recorded messages, `texts.lua`
reads texts in a Neovim. `whole.py` plays changed recordings (`whole_runs.py`) in a Neovim with the
plugin, whose servers are `player.py`. A finding becomes a row of a test.
"""
