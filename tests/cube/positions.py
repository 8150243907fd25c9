"""Chances and scores for the tests of the cube."""

import numpy as np

from nardy_rl.cube.chances import Chances
from nardy_rl.cube.match import Scores

OWNERS = {"centred": 0, "ours": 1, "theirs": -1}


def known(win, gammons=0.0, lost_gammons=None, backgammons=0.0):
    """Chances of N positions; gammons (backgammons included) are shares of the wins, and of the losses."""
    win, gammons, backgammons = np.broadcast_arrays(np.atleast_1d(np.asarray(win, dtype=float)), gammons, backgammons)
    lost = gammons if lost_gammons is None else np.broadcast_to(lost_gammons, win.shape)
    shares = [np.stack([1 - g, g - backgammons, backgammons], axis=1) for g in (gammons, lost)]
    return Chances(win, *shares, np.array([1, 2, 3]))


def owner(name, n=1):
    return np.full(n, OWNERS[name], dtype=np.int8)


def x(efficiency, n=1):
    return np.full(n, float(efficiency))


def score(own, theirs, cube=1, whose="centred", crawford=False, n=1):
    """Scores of n games, `own` and `theirs` points needed."""
    return Scores(
        np.tile(np.array([[own, theirs]]), (n, 1)),
        np.full(n, crawford),
        np.full(n, cube),
        owner(whose, n),
    )
