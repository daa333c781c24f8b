"""Text: what came from outside made safe to draw, bodies of lines with colours, diffs.

Rule: knows no chat. Whatever the input, the cost is linear and nothing raises but what is named.
"""
