"""The doubling cube and match play of short nardy (R8.6): decisions from the probabilities of the outcomes."""
