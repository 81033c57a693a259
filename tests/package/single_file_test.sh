#!/bin/sh
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
# Makes firn.h and firn.c, compiles them alone, and runs programs on them. usage: single_file_test.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$source/tools/amalgamate.py" "$work"
python3 "$source/tools/amalgamate.py" "$work/again"
cmp "$work/firn.h" "$work/again/firn.h"
cmp "$work/firn.c" "$work/again/firn.c"
if grep -n '#include [<"]firn/\|#include "gen/' "$work/firn.h" "$work/firn.c"; then
	echo "an include of our own was left"
	exit 1
fi
cat >"$work/lanes.cpp" <<'C'
#include "firn.h"
static const struct firn_shape shape = FIRN_INLINE_SHAPE(1767225600000, 1, 41, 10, 12);
int main() {
	struct firn_layout layout;
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	struct firn_gen *gen;
	struct firn_shards *shards;
	uint64_t one, two, three;
	config.layout = &layout;
	return firn_layout_parse("default", &layout, NULL) != 0 || firn_gen_open(&config, &gen) != 0 ||
	       firn_inline_check(gen, &shape) != 0 || firn_inline_next(gen, &shape, &one) != 0 ||
	       firn_gen_next(gen, &two) != 0 || two <= one || firn_gen_close(gen) != 0 ||
	       firn_shards_open(&config, 4, &shards) != 0 || firn_shards_next(shards, &three) != 0;
}
C
for compiler in gcc:g++ clang:clang++; do
	cc=${compiler%:*}
	cxx=${compiler#*:}
	if ! command -v "$cc" >/dev/null || ! command -v "$cxx" >/dev/null; then
		echo "skipped: $cc (not installed)"
		continue
	fi
	for level in -O0 -O2 -O3; do
		"$cc" -std=c11 $level -Wall -Wextra -Werror -I"$work" -c "$work/firn.c" -o "$work/firn.o"
	done
	"$cc" -std=c11 -O2 -I"$work" "$source/examples/ten_lines.c" "$work/firn.o" -o "$work/ten_lines"
	"$work/ten_lines"
	for standard in c++11 c++20; do
		"$cxx" -std=$standard -O2 -Wall -Wextra -Werror -I"$work" "$work/lanes.cpp" "$work/firn.o" -o "$work/lanes"
		"$work/lanes"
	done
	foreign=$(nm --defined-only "$work/firn.o" | awk '$2 ~ /[TDBRV]/ {print $3}' | grep -v '^firni*_' || true)
	[ -z "$foreign" ] || { echo "exported by accident: $foreign"; exit 1; }
done
echo "one pair of files: made twice alike, compiled alone, run"
