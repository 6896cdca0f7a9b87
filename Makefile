# The commands of a newcomer and of the hosted CI. Each installs what it needs where that is allowed.

PROOFLOAD := $(or $(CARGO_TARGET_DIR),target)/release/proofload
DEMO_DIRECTORY ?= demo
# A proofload that is installed or unpacked, to run the demo with instead of building one.
DEMO_BINARY ?=

# rustup's programs, also right after it was installed.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
# The pinned toolchain under the name that rustup has it by.
ifeq ($(origin RUSTUP_TOOLCHAIN),undefined)
toolchain := $(shell scripts/toolchain)
ifneq ($(toolchain),)
export RUSTUP_TOOLCHAIN := $(toolchain)
endif
endif

.PHONY: help build demo test test-scripts crashtest-million faults-million clean-runs lint deny wasm page bench release setup setup-test setup-bench clean

help:
	@echo "make demo     build, run a mail test and a brokerage of about a minute each on ./$(DEMO_DIRECTORY), predict three arrays, print the verdicts"
	@echo "              (DEMO_BINARY=/path/to/proofload: with that binary, without building)"
	@echo "make test     install what the tests use where that is allowed, run every test, list those that were skipped"
	@echo "make crashtest-million   simulate a million databases on storage that loses power, fails and lies (hours)"
	@echo "make faults-million   damage a million pages of databases of mail at rest, and check that runs find them (half an hour)"
	@echo "make clean-runs   run, kill and run again on every kind of database: sound storage must raise no alarm (about half an hour)"
	@echo "make lint     cargo fmt --check, clippy and rustdoc with warnings as errors"
	@echo "make deny     check the licences, versions and sources of dependencies, and advisories where they can be fetched"
	@echo "make wasm     build the prediction library for WebAssembly, and compare its figures where node is installed"
	@echo "make page     the predictor as a web page, target/page/proofload.html, and a binary that writes it (proofload page)"
	@echo "make bench    measure Proofload beside fio and pgbench in the same run and print the ratios"
	@echo "make build    an optimised binary in $(PROOFLOAD)"
	@echo "make release  the files of a release in ./release: static binaries, .deb, .rpm, man pages, completions, checksums"
	@echo "make clean    remove what was built"

setup:
	@scripts/setup-rust

build: setup
	cargo build --release --locked -p cli

demo: $(if $(DEMO_BINARY),,build)
	@scripts/demo $(or $(DEMO_BINARY),$(PROOFLOAD)) $(DEMO_DIRECTORY)

setup-test: setup
	@scripts/setup test

test: setup-test test-scripts
	@scripts/test

# The scripts for what a machine lacks, with stand-ins for package managers and rustup.
test-scripts:
	@scripts/tests/setup-rust

# What docs/reliability.md has figures of.
crashtest-million: build
	$(PROOFLOAD) crashtest --seeds 1000000

faults-million: setup
	PROOFLOAD_HARMED_PAGES=1000000 cargo test --locked -p cli --test faults more_harmed_pages -- --nocapture

# Where an MPI is installed, what is built with it is checked, too.
MPI_FEATURE := $(if $(shell command -v mpicc),--features cli/mpi)

# Exit status 1 where sound storage raised an alarm.
clean-runs: build
	@scripts/clean-runs $(PROOFLOAD) clean-runs-storage --runs $(or $(RUNS),100)

lint: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked $(MPI_FEATURE) -- -D warnings
	cargo clippy -p proofload --no-default-features --all-targets --locked -- -D warnings
	cargo clippy -p proofload --no-default-features --features brokerage/host --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

deny: setup
	@scripts/deny

wasm: setup
	@scripts/wasm

# The page, and a binary with it.
page: setup
	@scripts/page target/page/proofload.html
	PROOFLOAD_PAGE_FILE=$(CURDIR)/target/page/proofload.html cargo build --release --locked -p cli --features page

setup-bench: setup
	@scripts/setup bench

bench: setup-bench build
	@scripts/bench

release: setup
	@scripts/release

clean:
	cargo clean
	rm -rf bench-results clean-runs-storage release .venv
