#!/bin/sh
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
# Compiles each header by itself, and the use of every macro. usage: headers_test.sh COMPILER STANDARD INCLUDE USES
set -eu
compiler=$1 standard=$2 include=$3 uses=$4
case $standard in
c++*) language=c++ ;;
*) language=c ;;
esac
# Nothing is defined for the headers: a caller's bare command line is what has to do.
compile() {
	"$compiler" -x $language -std="$standard" -Wall -Wextra -Wpedantic -Werror -I"$include" -fsyntax-only "$@"
}
count=0
cd "$include"
for header in firn.h firn/*.h firn/detail/*.h; do
	# Twice, for the guard; and a declaration, because a file without one is not ISO C.
	printf '#include <%s>\n#include <%s>\nextern int firn_headers_test;\n' "$header" "$header" | compile -
	count=$((count + 1))
done
compile "$uses"
compile -D_POSIX_C_SOURCE=200809L "$uses"
echo "$count headers as $standard by $compiler"
[ "$count" -ge 13 ]
