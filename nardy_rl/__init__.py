"""Long nardy for reinforcement learning: exact rules, fast self-play, measured strength."""
