"""Exact endgames: bear-off tables, built once, used by agents where a position is covered (docs/endgames.md)."""
