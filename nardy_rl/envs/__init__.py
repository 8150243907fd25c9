"""Nardy for Gymnasium; importing this package registers `nardy_rl/LongNardy-v0`."""

import gymnasium

from nardy_rl.envs.env import NardyEnv

__all__ = ["NardyEnv"]

gymnasium.register(id="nardy_rl/LongNardy-v0", entry_point="nardy_rl.envs.env:NardyEnv")
