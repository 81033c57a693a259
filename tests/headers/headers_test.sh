#!/bin/sh
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
# Compiles each public header by itself. usage: headers_test.sh STANDARD INCLUDE
set -eu
standard=$1
include=$2
case $standard in
c++*) compiler=g++ language=c++ ;;
*) compiler=gcc language=c ;;
esac
count=0
cd "$include"
for header in firn.h firn/*.h; do
	printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
		$compiler -x $language -std="$standard" -Wall -Wextra -Wpedantic -Werror -I. -fsyntax-only -D_GNU_SOURCE -
	count=$((count + 1))
done
echo "$count headers as $standard"
[ "$count" -ge 8 ]
