"""Ctrl-C while a script imports nardy_rl, which takes seconds: the end at once, without a word, with code 130."""

import contextlib
import os
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def importing() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # where it is ignored, as under `nohup ... &`, it stays so
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # an exception may get lost in a callback of numba's
    yield
    signal.signal(signal.SIGINT, before)
