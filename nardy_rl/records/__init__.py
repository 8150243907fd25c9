"""Records of games and matches: what was played, its replay, and the files it is kept in."""
