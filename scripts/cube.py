"""See `nardy_rl.cli.cube`."""

from nardy_rl.cli import cube

if __name__ == "__main__":
    cube()
