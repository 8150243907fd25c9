"""Nardy for Gymnasium; importing this package registers the environments.

- `nardy_rl/LongNardy-v0`, `nardy_rl/ShortNardy-v0`: one step is one turn (`NardyEnv`, in batches `NardyVectorEnv`).
- `nardy_rl/LongNardySteps-v0`, `nardy_rl/ShortNardySteps-v0`: one step is one checker's (`NardyStepsEnv`).

`nardy_rl.envs.aec` has the game of two learners for PettingZoo; it is not imported here, as it needs that package.
"""

import gymnasium

from nardy_rl.envs.env import NardyEnv
from nardy_rl.envs.steps_env import NardyStepsEnv
from nardy_rl.envs.vector_env import NardyVectorEnv

__all__ = ["NardyEnv", "NardyStepsEnv", "NardyVectorEnv"]

for _game, _rules in (("Long", "official"), ("Short", "short")):
    gymnasium.register(
        id=f"nardy_rl/{_game}Nardy-v0",
        entry_point="nardy_rl.envs.env:NardyEnv",
        vector_entry_point="nardy_rl.envs.vector_env:NardyVectorEnv",
        kwargs={"rules": _rules},
    )
    gymnasium.register(
        id=f"nardy_rl/{_game}NardySteps-v0",
        entry_point="nardy_rl.envs.steps_env:NardyStepsEnv",
        kwargs={"rules": _rules},
    )
