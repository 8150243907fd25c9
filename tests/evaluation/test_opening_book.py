"""The opening book: which rolls and plays are in it, that equal choices share a rollout, and that it is kept right."""

import dataclasses
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from nardy_rl.agents.luck import load_judge
from nardy_rl.agents.rollout import RolloutSettings, rollout, rollout_candidates
from nardy_rl.config import OpeningBookConfig
from nardy_rl.evaluation.opening_book import (
    BookError,
    OpeningBook,
    as_table,
    build_book,
    edge_text,
    judge_text,
    load_book,
    page_text,
    save_book,
)
from nardy_rl.rules.board import flip, new_boards
from nardy_rl.rules.dice import ROLLS
from nardy_rl.rules.notation import find_play
from nardy_rl.rules.plays import Afterstates
from nardy_rl.rules.reference import legal_plays
from nardy_rl.rules.spec import OFFICIAL, make_rules
from nardy_rl.value.checkpoint import save_checkpoint
from nardy_rl.value.net import NetConfig, make_net

ROOT = Path(__file__).parents[2]
ALL_ROLLS = [f"{a}{b}" for a, b in ROLLS]
FEW = RolloutSettings(trials=72, min_trials=36, truncate=1, variance_reduction=False)


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nets") / "small"
    save_checkpoint(folder, make_net(NetConfig(8, 4), OFFICIAL, 1), OFFICIAL, {"run": "tiny", "games": 0})
    return str(folder)


def config(net, **others):
    return OpeningBookConfig(**{"judge": net, "rollout": FEW, "edge_trials": 72, "within": 9.0, **others})


@pytest.fixture(scope="module")
def book(net) -> OpeningBook:
    return build_book(config(net))


def after(board, entry, rules=OFFICIAL, number=0):
    return np.array([find_play(entry.plays[number].play, board, map(int, entry.roll), rules).board], dtype=np.int8)


def test_all_rolls_and_all_their_plays_are_there(book):
    assert [entry.roll for entry in book.first] == ALL_ROLLS
    assert list(book.replies) == ALL_ROLLS
    start = new_boards(1, OFFICIAL)[0]
    for entry in book.first:
        assert len(entry.plays) == min(5, len(legal_plays(start, tuple(map(int, entry.roll)), OFFICIAL)))
        faced = flip(after(start, entry))[0]
        assert [answer.roll for answer in book.replies[entry.roll]] == ALL_ROLLS
        for answer in book.replies[entry.roll]:
            plays = {after(faced, answer, number=k).tobytes() for k in range(len(answer.plays))}
            assert len(plays) == min(5, len(legal_plays(faced, tuple(map(int, answer.roll)), OFFICIAL)))
    assert {len(entry.plays) for entry in book.first} == {1, 2}, "only 3-3 leaves a choice (R2.1, R2.2)"


def test_plays_are_ranked_with_their_differences(book):
    for entry in (*book.first, *(answer for answers in book.replies.values() for answer in answers)):
        best, *others = entry.plays
        assert (best.loss, best.loss_stderr) == (0.0, 0.0)
        assert [play.loss for play in others] == sorted(play.loss for play in others)
        for play in others:
            assert play.loss == pytest.approx(best.equity - play.equity, abs=2e-6)
        assert all(play.stderr > 0 and play.trials == 72 for play in entry.plays)


def test_equities_are_those_of_rollouts_on_one_stream_of_dice(net, book):
    start = new_boards(1, OFFICIAL)
    entry = book.first[ALL_ROLLS.index("33")]
    boards = np.concatenate([after(start[0], entry, number=k) for k in range(2)])
    judge = load_judge(net, OFFICIAL)
    seats, offsets = np.array([True]), np.array([0, 2])
    result = rollout_candidates(judge, start, seats, Afterstates(boards, offsets), OFFICIAL, FEW)
    assert [play.equity for play in entry.plays] == pytest.approx(result.equity.tolist(), abs=1e-6)
    answer = book.replies["64"][ALL_ROLLS.index("21")]
    faced = flip(after(start[0], book.first[ALL_ROLLS.index("64")]))
    answered = after(faced[0], answer)
    result = rollout_candidates(judge, faced, ~seats, Afterstates(answered, np.array([0, 1])), OFFICIAL, FEW)
    assert answer.plays[0].equity == pytest.approx(result.equity[0], abs=1e-6)


def test_rolls_that_leave_the_same_choice_are_rolled_out_once(net, book):
    by_roll = {entry.roll: entry.plays[0] for entry in book.first}
    assert by_roll["31"].play != by_roll["11"].play
    assert dataclasses.replace(by_roll["31"], play="") == dataclasses.replace(by_roll["11"], play="")
    counts = []
    build_book(config(net, replies=False), lambda *count: counts.append(count))
    first_rolls = max(planned for _, planned in counts)
    assert first_rolls == 72 * 14, "13 different sums and doubles, and two plays of 3-3"


def test_the_edge_is_that_of_whole_games_and_the_mean_of_the_first_rolls(net, book):
    judge = load_judge(net, OFFICIAL)
    whole = RolloutSettings(trials=72, min_trials=72, truncate=None, variance_reduction=False)
    alone = rollout(judge, new_boards(1, OFFICIAL), np.array([True]), OFFICIAL, whole)
    assert (book.edge, book.edge_stderr) == (alone.equity[0], alone.stderr[0])
    mean = stderr = 0.0
    for entry in book.first:
        chance = (1 if entry.roll[0] == entry.roll[1] else 2) / 36
        mean += chance * entry.plays[0].equity
        stderr += chance * entry.plays[0].stderr
    assert book.mean_of_first == pytest.approx((mean, stderr))


def test_where_the_lot_is_played_there_are_no_doubles(net):
    fnr = build_book(config(net, rules="fnr", replies=False, rollout=dataclasses.replace(FEW, truncate=None)))
    assert [entry.roll for entry in fnr.first] == [roll for roll in ALL_ROLLS if roll[0] != roll[1]]
    assert fnr.replies == {}
    assert fnr.mean_of_first[0] == pytest.approx(np.mean([entry.plays[0].equity for entry in fnr.first]))
    assert fnr.rules == make_rules("fnr")


def test_a_stopped_build_goes_on_and_threads_change_nothing(net, book, tmp_path):
    def stop(done, planned):
        raise KeyboardInterrupt

    folder = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        build_book(config(net, threads=1, state=str(folder)), stop)
    assert (folder / "first.npz").exists()
    assert build_book(config(net, threads=1, state=str(folder))) == book
    with pytest.raises(ValueError, match="belongs to a rollout of other"):
        build_book(config(net, state=str(folder), candidates=1))


def test_saved_and_loaded_it_is_the_same(book, tmp_path):
    save_book(book, tmp_path / "book.json")
    assert load_book(tmp_path / "book.json") == book


def test_damaged_books_are_refused(book, tmp_path):
    path = tmp_path / "book.json"
    save_book(book, path)
    text = path.read_text()
    broken = tmp_path / "broken.json"

    def change(edit):
        content = json.loads(text)
        edit(content)
        return json.dumps(content)

    for content in (
        text[:-100], "[]", "{}", change(lambda c: c.pop("edge")), change(lambda c: c["first"].clear()),
        change(lambda c: c["first"][3]["plays"][0].update(play="24/19")),
        change(lambda c: c["first"][3]["plays"][0].update(equity=None)),
        change(lambda c: c["first"][3]["plays"][0].update(loss=0.5)),
        change(lambda c: c["first"][3].update(roll="77")),
        change(lambda c: c["replies"]["31"].pop()),
        change(lambda c: c.update(format=0)),
    ):  # fmt: skip
        broken.write_text(content)
        with pytest.raises(BookError, match=r"broken\.json"):
            load_book(broken)
    with pytest.raises(BookError, match="cannot be read"):
        load_book(tmp_path / "none.json")
    with pytest.raises(BookError, match="no opening book for rules=club"):
        load_book(rules="club")


def test_shown_and_as_a_page(book):
    shown = io.StringIO()
    console = Console(file=shown, width=100)
    console.print(as_table(book))
    console.print(as_table(book, reply_to="13"))
    text = shown.getvalue()
    threes = book.first[ALL_ROLLS.index("33")]
    assert all(play.play in text for play in threes.plays)
    assert f"{book.replies['31'][4].plays[0].equity:+.4f}" in text
    with pytest.raises(ValueError, match="reply_to='77'"):
        as_table(book, reply_to="77")
    assert f"{book.edge:+.4f}" in edge_text(book)
    assert "run tiny after 0 games" in judge_text(book)

    page = page_text({"official": book})
    assert "for 1 of 21 first rolls and 21 of 441 replies." in " ".join(page.split())
    for entry in (*book.first, *book.replies["65"]):
        best = entry.plays[0]
        assert f"| {entry.roll[0]}-{entry.roll[1]} | {best.play} | {best.equity:+.4f} ±" in page
    assert page.count("### After") == 13, "one table for all first rolls that lead to the same position"
    assert "### After 1-1" in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edge_trials": 50}, "trials=50"),
        ({"rollout": RolloutSettings(trials=10)}, "trials=10"),
        ({"judge": "/no/such/net"}, "is not a checkpoint"),
        ({"rules": "nardy"}, "unknown rules"),
        ({"rules": "fnr"}, "was trained for draw 'last_roll', not 'none': it cannot judge unfinished games"),
        ({"options": {"scoring": "backgammon"}}, "was trained for scoring"),
        ({"threads": 0}, "threads=0"),
    ],
)
def test_mistakes(net, change, message):
    with pytest.raises(ValueError, match=message):
        build_book(dataclasses.replace(config(net), **change))


def test_as_a_user_types_it(net, tmp_path):
    def run(*arguments):
        command = [sys.executable, str(ROOT / "scripts" / "opening_book.py"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path)

    few = ("rollout.trials=36", "rollout.min_trials=36", "rollout.truncate=1", "edge_trials=36", "replies=false")
    built = run("build=true", f"judge={net}", *few, "out=book.json")
    assert built.returncode == 0, built.stderr
    assert load_book(tmp_path / "book.json").meta["edge_trials"] == 36
    kept = run("rules=fnr", "page=page.md")
    assert kept.returncode == 0, kept.stderr
    assert f"{load_book(rules='fnr').edge:+.4f}" in kept.stdout
    assert (tmp_path / "page.md").read_text() == (ROOT / "docs" / "opening_book.md").read_text()
    refused = run("rules=club")
    assert refused.returncode == 2
    assert "no opening book" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_the_books_of_the_package_are_whole_and_exact():
    official, fnr = load_book(), load_book(rules="fnr")
    assert [entry.roll for entry in official.first] == list(official.replies) == ALL_ROLLS
    assert len(fnr.first) == 15
    for book in (official, fnr):
        assert book.edge_stderr < 0.004
        assert book.mean_of_first[0] == pytest.approx(book.edge, abs=0.02)
        entries = [*book.first, *(answer for answers in book.replies.values() for answer in answers)]
        assert max(entry.plays[0].stderr for entry in entries) < 0.006
        assert max(play.loss_stderr for entry in entries for play in entry.plays) < 0.006
