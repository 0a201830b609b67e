"""What every test folder shares: the options that also run the slow tests, or as many tests as there is time for."""

from __future__ import annotations

import signal
from hashlib import sha256
from time import monotonic

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says something about the machine, not about the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests that take more than a few seconds")
    parser.addoption("--slow-minutes", type=float, help="run slow tests only; start none after this many minutes")
    parser.addoption("--quick-minutes", type=float, help="run quick tests only; start none after this many minutes")
    parser.addoption("--order", default="", help="with these minutes: a text, such as a commit, that orders the tests")
    parser.addoption("--part", default="1/1", help="2/3: the second, fifth, eighth ... of these tests")


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts background jobs with Ctrl-C ignored, and children inherit that: the tests of Ctrl-C need it heard.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    slow, quick = (config.getoption(f"--{kind}-minutes") for kind in ("slow", "quick"))
    minutes = quick if slow is None else slow
    config.stash[ENDS] = None if minutes is None else monotonic() + 60 * minutes


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    wanted = config.getoption("--slow-minutes") is not None
    others = [item for item in items if (item.get_closest_marker("slow") is not None) != wanted]
    items[:] = [item for item in items if (item.get_closest_marker("slow") is not None) == wanted]
    if config.stash[ENDS] is not None:
        order = config.getoption("--order")
        items.sort(key=lambda item: rank(item.nodeid, order))
    part, parts = map(int, config.getoption("--part").split("/"))
    others += [item for place, item in enumerate(items, start=1) if (place - part) % parts]
    items[:] = items[part - 1 :: parts]
    if others:
        config.hook.pytest_deselected(items=others)


def pytest_runtest_setup(item: pytest.Item) -> None:
    ends = item.config.stash[ENDS]
    if ends is not None and monotonic() > ends:
        pytest.skip("the share of these tests is over; another order has others first")


def rank(name: str, order: str) -> str:
    """Where a test stands: another order, another place, so that in time every test has its turn."""
    return sha256(f"{order} {name}".encode()).hexdigest()


ENDS = pytest.StashKey[float | None]()
