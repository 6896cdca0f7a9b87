# What a newcomer needs: `make demo` and `make test`. Both do their own set-up.

PROOFLOAD := target/release/proofload
DEMO_DIRECTORY ?= demo

.PHONY: help build demo test lint bench setup-test setup-bench clean

help:
	@echo "make demo   build, run a mail test and a brokerage of about a minute each on ./$(DEMO_DIRECTORY), predict three arrays, print the verdicts"
	@echo "make test   install what the tests use where that is allowed, run every test"
	@echo "make lint   cargo fmt --check and clippy with warnings as errors"
	@echo "make bench  measure Proofload beside fio and pgbench in the same run and print the ratios"
	@echo "make build  an optimised binary in $(PROOFLOAD)"

build:
	@scripts/need-cargo
	cargo build --release --locked -p proofload

demo: build
	@scripts/demo $(PROOFLOAD) $(DEMO_DIRECTORY)

setup-test:
	@scripts/need-cargo
	@scripts/setup test

test: setup-test
	@scripts/test

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

setup-bench:
	@scripts/need-cargo
	@scripts/setup bench

bench: setup-bench build
	@scripts/bench

clean:
	cargo clean
	rm -rf bench-results .venv
