"""For all tests."""

import os
import signal

os.environ["NARDY_RL_TABLES"] = ""
"""No test may depend on the bear-off tables somebody has built; those that want one name its folder."""

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # so it is for what a shell starts in the background (`make test &`): tests that press Ctrl-C would wait for ever
    signal.signal(signal.SIGINT, signal.default_int_handler)
