"""A person against an agent: the game as a state machine (`session`), and the terminal around it (`terminal`)."""
