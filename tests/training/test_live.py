"""A run watched in a notebook, without the notebook."""

import base64
import re
from pathlib import Path

from nardy_rl.config import MatchConfig, TrainConfig
from nardy_rl.training.live import LiveCurve
from nardy_rl.training.train import train
from nardy_rl.value.net import NetConfig


def test_it_shows_how_far_the_run_is_and_the_curve(tmp_path: Path) -> None:
    live = LiveCurve()
    match = MatchConfig(["random"], every_games=32, pairs=2)
    config = TrainConfig("a", str(tmp_path), games=64, net=NetConfig(8, 4), batches=2, threads=1, match=match)
    live.start(tmp_path, config, 0)
    assert live.as_html().count("64 games of official") == 1
    assert "<img" not in live.as_html()
    train(config, live)
    page = live.as_html()
    assert 'value="64" max="64"' in page
    assert re.search(r"64 games, [\d,]+ a second, loss [\d.]+, \d+ s trained, done", page)
    (curve,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert b"<svg" in base64.b64decode(curve)
    live.stopping()
    assert "Stopping after 64 games" in live.as_html()
