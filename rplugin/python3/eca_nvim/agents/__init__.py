"""Agents: one adapter for each protocol.

Rule: above this package nobody knows which protocol an agent speaks.
"""
