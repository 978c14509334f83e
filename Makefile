# Each target makes the environment it needs, once, outside the tree (see tests/matrix.py).
IN = python3 tests/matrix.py --in

# These start TensorFlow; all other tests run without it.
WITH_TENSORFLOW = contract harmless leaks
ROOMS = $(filter-out $(WITH_TENSORFLOW:%=tests/%/) %/__pycache__/, $(wildcard tests/*/))

# Two processes: with the modules of all tests in one, a program would be many times as large as programs are.
define side_by_side
@said=$$(mktemp); $(IN) $(1) -c pass; \
$(IN) $(1) -m pytest -q $(2) >$$said 2>&1 & others=$$!; \
trap "kill $$others; exit 130" INT TERM; \
$(IN) $(1) -m pytest -q $(3); with=$$?; \
wait $$others; without=$$?; cat $$said; rm -f $$said; exit $$((with + without))
endef

.PHONY: demo quick test lint docs tables gallery matrix replicas bench clean

demo:  ## a small serving loop with a leak in it, and the warning that names the line
	@$(IN) newest examples/serving_loop_with_a_leak.py

quick:  ## all tests that need no TensorFlow, in seconds
	$(call side_by_side,quick,-m "not slow" tests/test_*.py,-m "not slow" $(ROOMS))

test:  ## all tests, on the newest TensorFlow
	$(call side_by_side,newest,$(WITH_TENSORFLOW:%=--ignore tests/%),$(WITH_TENSORFLOW:%=tests/%))

lint:  ## style, types, import contracts
	@$(IN) lint -m ruff check
	@$(IN) lint -m ruff format --check
	@$(IN) lint -m mypy
	@$(IN) lint -c "import importlinter.cli as cli; cli.lint_imports_command()"

docs:  ## the documentation as web pages, in build/docs; a broken link is an error
	@NO_MKDOCS_2_WARNING=1 $(IN) docs -m mkdocs build -q -f docs/mkdocs.yml

tables:  ## the documentation's tables and the example's dashboard, from the catalogue
	@$(IN) quick tests/tables.py

gallery:  ## the gallery of the documentation: its programs are run, and their pages drawn by Chromium; some minutes
	@$(IN) newest tests/gallery.py

matrix:  ## the contract and leak tests, on every TensorFlow but the newest, which `make test` has
	@python3 tests/matrix.py

replicas:  ## the metrics of killed replicas, under Ray Serve and BentoML
	@python3 tests/matrix.py replicas-py3.11

bench:  ## what the watch costs
	@$(IN) newest benchmarks/overhead.py

clean:  ## leaves the environments
	rm -rf build dist *.egg-info .hypothesis .*_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
