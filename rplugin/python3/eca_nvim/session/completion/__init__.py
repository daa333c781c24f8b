"""What completes a prompt: paths of the workspace, commands, and what the agent offers.

Rules: the first answer comes from what is known already, and nothing that was answered changes its
place. Nothing is read before the first query.
"""
