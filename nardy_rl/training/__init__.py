"""Self-play training: play, targets, learn, log."""
