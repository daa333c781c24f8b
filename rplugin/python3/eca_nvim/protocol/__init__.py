"""The protocols that the plugin speaks, as types: one package for each.

Rule: types and their decoding only. A message that does not fit loses as little as possible.
"""
