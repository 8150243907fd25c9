"""Rules and agents for any other program, JSON lines on standard input and output: docs/engine.md."""

from nardy_rl.engine import main

if __name__ == "__main__":
    main()
