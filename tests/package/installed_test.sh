#!/bin/sh
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
# Installs into a temporary prefix and builds consumers against it. usage: installed_test.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
meson setup "$work/build" "$source" --prefix "$prefix" --libdir lib --default-library both -Dtests=disabled \
	-Dtool=disabled -Dmodel=disabled -Dbench=disabled >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
meson install -C "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
# shellcheck disable=SC2046
gcc -std=c11 "$source/examples/ten_lines.c" $(pkg-config --cflags --libs firn) -Wl,-rpath,"$prefix/lib" -o "$work/shared"
"$work/shared"
# shellcheck disable=SC2046
gcc -std=c11 "$source/examples/ten_lines.c" $(pkg-config --cflags firn) "$prefix/lib/libfirn.a" -o "$work/static"
"$work/static"
cat >"$work/inline.cpp" <<'C'
#include <firn.h>
#include <firn/inline.h>
static const struct firn_shape shape = FIRN_INLINE_SHAPE(1767225600000, 1, 41, 10, 12);
int main() {
	struct firn_layout layout;
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	struct firn_gen *gen;
	uint64_t one, two;
	config.layout = &layout;
	return firn_layout_parse("default", &layout, NULL) != 0 || firn_gen_open(&config, &gen) != 0 ||
	       firn_inline_check(gen, &shape) != 0 || firn_inline_next(gen, &shape, &one) != 0 ||
	       firn_inline_next(gen, &shape, &two) != 0 || two <= one || firn_gen_close(gen) != 0;
}
C
# shellcheck disable=SC2046
g++ -std=c++11 "$work/inline.cpp" $(pkg-config --cflags --libs firn) -Wl,-rpath,"$prefix/lib" -o "$work/inline"
"$work/inline"
mkdir -p "$work/parent/subprojects"
ln -s "$source" "$work/parent/subprojects/firn"
cp "$source/examples/ten_lines.c" "$work/parent/"
cat >"$work/parent/meson.build" <<'M'
project('parent', 'c', default_options: ['c_std=c11'])
firn = subproject('firn', default_options: ['tests=disabled', 'tool=disabled', 'model=disabled', 'bench=disabled'])
executable('parent', 'ten_lines.c', dependencies: firn.get_variable('firn_dep'))
M
{ meson setup "$work/sub" "$work/parent" && ninja -C "$work/sub"; } >"$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; }
"$work/sub/parent"
# CMake, by name and for each kind of library; a version that is not there is refused by its number.
cmake_says="CMake"
if command -v cmake >/dev/null; then
	mkdir "$work/cmake"
	cp "$source/examples/ten_lines.c" "$work/cmake/"
	cat >"$work/cmake/CMakeLists.txt" <<'K'
cmake_minimum_required(VERSION 3.16)
project(consumer C)
find_package(firn ${WANTED} REQUIRED CONFIG)
foreach(kind firn shared static)
  add_executable(ten_${kind} ten_lines.c)
  target_link_libraries(ten_${kind} PRIVATE firn::${kind})
endforeach()
K
	{ cmake -S "$work/cmake" -B "$work/cmake-build" -DCMAKE_PREFIX_PATH="$prefix" -DWANTED=0.1 &&
		cmake --build "$work/cmake-build"; } >"$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; }
	for kind in firn shared static; do
		"$work/cmake-build/ten_$kind"
	done
	if cmake -S "$work/cmake" -B "$work/cmake-refused" -DCMAKE_PREFIX_PATH="$prefix" -DWANTED=9 >"$work/log" 2>&1; then
		echo "CMake took a version that is not there"
		exit 1
	fi
	grep -q 'version: 0.1' "$work/log" || { cat "$work/log"; exit 1; }
else
	echo "skipped: CMake consumer (cmake is not installed)"
	cmake_says="no CMake"
fi
# Only what the version script means to export.
foreign=$(nm -D --defined-only "$prefix/lib/libfirn.so" | awk '$2 ~ /[TDBRV]/ {print $3}' | sed 's/@.*//' |
	grep -vE '^(firn_[a-z0-9_]+|firni_(clock_read_cold|gen_turn|gen_refuse|gen_refuse_clock|gen_refuse_forked|inline_check|block_refill|shards_next_n_at|inline_shards_check))$' || true)
[ -z "$foreign" ] || { echo "exported by accident: $foreign"; exit 1; }
echo "shared, static, C++ with the inline lane, subproject, $cmake_says: built and run"
