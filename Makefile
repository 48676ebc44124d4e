# serq: every command a developer or a user of a fresh checkout needs.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

# The environment of the real scheduler, for `make oracle-env` and what builds on it.
VLLM     ?= 0.33.0
VLLM_ENV ?= .vllm/$(VLLM)

.PHONY: install demo test check bench lint types imports drift peer lean drt oracle-env oracle-check clean

install: $(STAMP)

$(STAMP): pyproject.toml requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[peer,test,bench,dev]'
	touch $@

# With Lean as the third side, where a Lean is there or can be installed.
demo: install
	if $(BIN)/serq lean setup lean; then $(BIN)/serq oracle --demo --lean; else $(BIN)/serq oracle --demo; fi

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

check: lint types imports drift test peer drt

# The Lean model, its theorems and the generated files, with whatever toolchain is there.
lean: install
	$(BIN)/python tools/regenerate.py --check lean
	$(BIN)/serq lean setup lean
	$(BIN)/serq lean check -j 2 lean

# Random programs of the fragment through the interpreter and Lean.
N ?= 200
drt: install
	$(BIN)/serq lean setup lean
	$(BIN)/serq lean drt -n $(N)

# A virtual environment with the real scheduler, about 3 GB; nothing else needs it.
oracle-env: $(VLLM_ENV)/.installed

$(VLLM_ENV)/.installed: oracle/recording/requirements.txt
	test -x $(VLLM_ENV)/bin/python || $(PYTHON) -m venv $(VLLM_ENV)
	$(VLLM_ENV)/bin/python -m pip install torch==2.13.0
	$(VLLM_ENV)/bin/python -m pip install -r oracle/recording/requirements.txt
	$(VLLM_ENV)/bin/python -m pip install --no-deps vllm==$(VLLM)
	touch $@

# What the recorder relies on, and every committed trace recorded again.
oracle-check: install oracle-env
	SERQ_VLLM=$(VLLM_ENV) $(BIN)/python -m pytest tests/oracle/with_vllm.py

bench: install
	$(BIN)/python bench/run.py

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
