"""Agents: what ranks afterstates (`base`), and the kinds there are (`registry`)."""
