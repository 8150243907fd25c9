"""`random_afterstates` draws from exactly what `legal_afterstates` lists."""

import numpy as np
import pytest

from nardy_rl.rules import dice
from nardy_rl.rules.board import new_boards
from nardy_rl.rules.plays import legal_afterstates, random_afterstates
from nardy_rl.rules.spec import PRESETS
from tests.rules.positions import random_positions

OFFICIAL = PRESETS["official"]
