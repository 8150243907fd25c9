"""Agents against each other, with intervals."""
