#!/bin/sh
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages named as arguments that are missing. Silent if none is.
set -eu
missing=
for package in "$@"; do
	dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "missing packages:$missing (install them as root, then run this again)" >&2
	exit 1
fi
echo "installing:$missing" >&2
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
if ! { apt-get update && apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "a package could not be had (its name is above): check the network and apt's sources" >&2
	rm -f "$log"
	exit 1
fi
rm -f "$log"
