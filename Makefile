# `make help` lists what there is. Everything runs in .venv, which `make set-up` fills.
# PYTHON=python3.12 chooses the Python that the environment is made of.
export PYTHON
.DEFAULT_GOAL := help
.PHONY: help set-up setup book serve test lint bench mutate colab repository notebooks requirements clean clean-all
python := .venv/bin/python

help: ## list these commands
	@echo "make COMMAND, with COMMAND one of:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{printf "%-16s%s\n", $$1, $$2}'

set-up: ## virtual environment, pinned packages, the library, browser scripts
	@sh tools/python.sh tools/set_up.py

setup: set-up

book: set-up ## build the whole book, every notebook run, into _build/html
	@$(python) tools/build_book.py

serve: ## show the built book on localhost (builds it first if it is not there)
	@test -f _build/html/index.html && test -x $(python) || $(MAKE) --no-print-directory book
	@$(python) tools/serve_book.py

test: set-up ## run every test: library, exercises, notebooks, the built book in a browser
	@$(python) tools/run_tests.py

lint: set-up ## check the code's style, the notebooks' form and the text of every file
	@$(python) tools/lint.py

bench: set-up ## time the library next to what else one would use
	@$(python) benchmarks/run.py

mutate: set-up ## break the exercises' solutions in every way: which changes does no check notice?
	@$(python) tools/mutate_solutions.py

colab: set-up ## rehearse Colab: every notebook in a fresh environment with Colab's versions
	@$(python) tools/colab.py

repository: set-up ## give the book another address: make repository URL=https://github.com/OWNER/NAME
	@$(python) tools/repository.py $(if $(URL),"$(URL)")

notebooks: set-up ## bring the notebooks into their common form: badge, set-up, exercises, no outputs
	@$(python) tools/notebooks.py fix
	@$(python) tools/exercise_page.py fix

requirements: set-up ## write requirements.txt again from requirements.in
	@$(python) tools/requirements.py

clean: ## remove the built book, its cache of outputs and other leavings
	@rm -rf _build .pytest_cache .ruff_cache *.egg-info
	@find . -name .venv -prune -o -name __pycache__ -type d -exec rm -rf {} +
	@echo "Removed what was built; the environment stays (make clean-all removes it too)."

clean-all: clean ## remove the environment and the browser scripts as well
	@rm -rf .venv .cache web/vendor web/vendor.part
	@echo "Removed the environment: the next command sets up everything again."
