# serq: every command a developer or a user of a fresh checkout needs.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: install demo test check bench lint types imports drift peer clean

install: $(STAMP)

$(STAMP): pyproject.toml requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[peer,test,bench,dev]'
	touch $@

demo: install
	$(BIN)/serq oracle --demo

test: install
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

imports: install
	$(BIN)/lint-imports

drift: install
	$(BIN)/python tools/regenerate.py --check

# The comparison with the peer at its full size.
peer: install
	SERQ_PEER_N=300 $(BIN)/python -m pytest -n 2 tests/peer

check: lint types imports drift test peer

bench: install
	$(BIN)/python bench/run.py

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
