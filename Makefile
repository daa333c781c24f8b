# Each target does the set-up it needs; if that is done already, it costs next to nothing.

PYTHON := .venv/bin/python
# Tests often wait for processes: six at a time keep two processors busy.
PYTEST := .venv/bin/pytest -n 6 --dist worksteal
STYLUA := .cache/stylua/stylua
LUACHECK := .cache/luacheck/luacheck
LUA := $(wildcard build.lua plugin lua scripts/chat.lua tests bench)

# The prompt reaches the chat as typed: make does not expand it, and no shell sees it.
unexport PROMPT
ifeq ($(origin SERVER),command line)
export ECA_SERVER := $(value SERVER)
endif
ifeq ($(origin PROMPT),command line)
export ECA_PROMPT := $(value PROMPT)
endif

# Else each worker of the tests compiles all of them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: chat test lint types unit ui agents bench bench-checkpoints performance fuzz soak faults picture
.PHONY: format install setup clean help
.PHONY: collected python

chat: ## Open the chat, or send it something: make chat PROMPT="…" SERVER=acp-demo
	@python3 -m scripts.chat

test: ## Check and test everything
	@$(MAKE) --no-print-directory -j 3 types collected lint
	$(PYTEST)

# It compiles the tests once, while the other processor checks types.
collected: python
	@told=$$($(PYTHON) -m pytest --collect-only -qq 2>&1) || { echo "$$told"; exit 1; }

lint: setup ## Check style, layers and formatting
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/lint-imports
	$(STYLUA) --check $(LUA)
	$(LUACHECK) --quiet $(LUA)

types: python ## Check the types
	.venv/bin/mypy

unit: setup ## Run the tests that need no Neovim on a screen
	$(PYTEST) --ignore=tests/ui

ui: setup ## Run the tests that drive Neovim
	$(PYTEST) tests/ui

# What agents announce is written to a file: one test at a time.
agents: ## Play conversations with the newest real agents and a scripted model
	@python3 -m scripts.setup agents
	$(PYTHON) -m pytest --agents tests/journeys/alone; alone=$$?; \
	$(PYTEST) --agents --nvim=0.12.4 --ignore=tests/journeys/alone tests/journeys && exit $$alone

bench: setup ## Measure against plain Lua on both Neovims
	$(PYTHON) -m bench

bench-checkpoints: setup ## Measure checkpoints of 100,000 files against git add: minutes, 3 GB
	$(PYTHON) -m bench.checkpoints

performance: setup ## Measure all of that, and write doc/performance.md
	$(PYTHON) -m bench --json bench/figures.jsonl
	$(PYTHON) -m bench.checkpoints --json bench/figures.jsonl
	$(PYTHON) -m bench.page

# The fuzzer goes into a folder of its own: checks and tests do without.
fuzz: setup ## Give made-up texts to what reads them: make fuzz RUNS=100000
	@$(PYTHON) -m pip install --quiet --upgrade --target .cache/fuzz/packages atheris
	PYTHONPATH=.cache/fuzz/packages $(PYTHON) -m tests.fuzz $(or $(RUNS),25000)

# The tests play a sample of it.
faults: setup ## Have servers die at every message of every recording: 20 minutes
	$(PYTHON) -m tests.faults

soak: setup ## Use both Neovims at random and count what stays: make soak MINUTES=60
	$(PYTHON) -m tests.soak $(or $(MINUTES),3) $(SEED:%=--seed %) $(JSON:%=--json %)

picture: setup ## Draw the pictures in README again
	UPDATE_GOLDEN=1 $(PYTHON) -m pytest --nvim=0.12.4 tests/ui/test_picture.py

format: setup ## Format the code
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	$(STYLUA) $(LUA)

install: ## Create the plugin's Python environment: the build step of an installation
	@python3 -m scripts.setup plugin

# What checks Python needs no Neovim: it runs while these are fetched.
python:
	@python3 -m scripts.setup python

setup: python
	@python3 -m scripts.setup

clean: ## Remove everything that set-up and tests have made
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

help: ## Show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16
