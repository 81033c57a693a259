#!/bin/sh
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
# Builds the firn command and runs the main job: IDs made through the default state file, decoded, timed.
set -eu
cd "$(dirname "$0")/.."
sh tools/setup.sh gcc libc6-dev meson ninja-build pkg-config libjansson-dev zlib1g-dev
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { { [ -d build-try ] || meson setup build-try --buildtype=release -Dtests=disabled -Dmodel=disabled \
	-Dbench=disabled; } && ninja -C build-try; } >"$log" 2>&1; then
	cat "$log" >&2
	exit 1
fi
firn=build-try/tools/firn/firn
echo "three IDs, made and decoded:"
"$firn" next -n 3 | "$firn" decode --layout default
echo
echo "their state file:"
"$firn" state show
echo
echo "four million more, through the same file (the layout's ceiling is 4,096,000 a second):"
start=$(date +%s%N)
"$firn" next -n 4000000 >/dev/null
end=$(date +%s%N)
echo "4000000 IDs in $(((end - start) / 1000000)) ms"
