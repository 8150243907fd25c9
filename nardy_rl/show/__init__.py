"""Boards to look at and to play on: SVG, PNG, a terminal in colour, and a notebook."""
