"""Text: makes outside text safe to draw; bodies of lines with colours; diffs.

Rule: knows no chat. For any input the cost is linear, and only documented errors are raised.
"""
