"""See `nardy_rl.cli.rollout`."""

from nardy_rl.cli import rollout

if __name__ == "__main__":
    rollout()
