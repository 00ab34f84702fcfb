# The commands of the project in short. Whatever is more than a line is in `cargo xtask`; see CONTRIBUTING.md.

PREFIX ?= /usr/local

# Where rustup puts Cargo, for shells that have not heard of it yet.
export PATH := $(PATH):$(HOME)/.cargo/bin

.PHONY: demo test build install uninstall check bench setup clean

# The Mandelbrot set in four languages, on 1, 2 and 4 ranks, through both transports; results in demo/.
demo: build
	@scripts/setup fortran
	@cargo xtask setup
	@cargo xtask demo

# Everything that can be checked, on this machine.
test: setup
	@scripts/setup slurm
	@cargo xtask verify

# A usable installation in build/.
build: setup
	@cargo xtask build

# The same installation in another place.
install: build
	@cargo xtask install --prefix "$(PREFIX)"

# Out of that place again: what `make install` put there, and nothing else.
uninstall:
	@cargo xtask uninstall --prefix "$(PREFIX)"

# Formatting, lints, the rules of the house, header and exported names.
check: build
	@cargo xtask check

# Postrider beside MPICH and Open MPI; results in bench/runs.
bench: build
	@cargo xtask bench

# What the machine lacks of compilers, Octave, Python and Rust.
setup:
	@scripts/setup

# Back to a fresh clone.
clean:
	rm -rf build demo target .venv
