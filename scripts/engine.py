"""Rules and agents for any other program, JSON lines on standard input and output: docs/engine.md."""

from interrupts import importing

if __name__ == "__main__":
    with importing():
        from nardy_rl.engine import main
    main()
