"""Played games judged: what every play lost, what every roll was worth, and what that makes of the result."""
