#!/bin/sh
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
# Installs what the tests need, builds every variant and runs all tests. Arguments go to check.py.
set -eu
cd "$(dirname "$0")/.."
sh tools/setup.sh gcc g++ clang libclang-rt-14-dev libc6-dev python3 meson ninja-build pkg-config \
	libjansson-dev zlib1g-dev libcriterion-dev libck-dev relacy-dev spin libbenchmark-dev cmake \
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
exec python3 tools/check.py "$@"
