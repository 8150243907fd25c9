"""The value net, its evaluators and checkpoints."""
