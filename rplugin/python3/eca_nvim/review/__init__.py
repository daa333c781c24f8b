"""Review: records what tools did to files, so that it can be shown and undone.

Rule: no file is changed without a plan that was shown first.
"""
