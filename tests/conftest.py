"""For all tests."""

import os

os.environ["NARDY_RL_TABLES"] = ""
"""No test may depend on the bear-off tables somebody has built; those that want one name its folder."""
