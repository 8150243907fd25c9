# `make train` and `make test` need only Python >= 3.11 and make: they create .venv and install into it first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: help install train test test-slow test-extras test-browser test-gnubg test-yardsticks yardsticks evaluate benchmark \
	lint clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 24

install: $(VENV)/.installed ## Only create .venv and install into it

train: $(VENV)/.installed ## Train the quick bot (about 3 minutes of training) and play it against the baselines
	$(BIN)/python scripts/train.py experiment=quick

test: $(VENV)/.installed ## Run all tests but the slow ones
	$(BIN)/python -m pytest $(if $(MARKS),-m "$(MARKS)")

test-slow: $(VENV)/.installed ## Run the slow tests too (about 15 minutes more)
	$(BIN)/python -m pytest -m "not extras and not browser and not gnubg and not yardsticks"

test-extras: $(VENV)/.installed ## Install PettingZoo and Stable-Baselines3 and run the tests that need them
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test,pettingzoo,sb3]"
	$(BIN)/python -m pytest -m extras

test-browser: $(VENV)/.installed ## Play in a notebook in a headless Chromium (needs Debian's chromium and chromium-driver)
	@{ command -v chromium && command -v chromedriver; } >/dev/null || { echo "test-browser needs chromium and chromedriver: apt-get install chromium chromium-driver"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[browser]"
	$(BIN)/python -m pytest -m browser

test-gnubg: $(VENV)/.installed ## Check the .mat files with GNU Backgammon (Debian's package gnubg)
	@PATH="$$PATH:/usr/games" command -v gnubg >/dev/null || { echo "gnubg is missing: install GNU Backgammon, Debian's package gnubg"; exit 1; }
	$(BIN)/python -m pytest -m gnubg

test-yardsticks: yardsticks ## Compare short nardy with GNU Backgammon, bgsage and OpenSpiel, slow tests too (5 minutes)
	$(BIN)/python -m pytest -m yardsticks

yardsticks: $(VENV)/.installed-yardsticks ## Install the packages that short nardy is measured by

benchmark: $(VENV)/.installed ## Measure the speeds of benchmarks/speed.md (about 5 minutes)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[benchmark]"
	$(BIN)/python scripts/benchmark.py

evaluate: $(VENV)/.installed ## Play the kept checkpoint against the baselines
	$(BIN)/python scripts/evaluate.py "agents=[checkpoints/long-quick-v1,heuristic,random]"

lint: $(VENV)/.installed-dev ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean: ## Remove the virtual environment and caches (not runs/)
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "nardy_rl needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test]"
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

$(VENV)/.installed-yardsticks: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[yardsticks]"
	@touch $@
