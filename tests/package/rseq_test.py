#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""Restartable sequences as the compiler left them: no atomic operation, no call, one store, and it is the last
instruction; the kernel's signature before each abort address. usage: rseq_test.py SOURCE x86_64|aarch64
Exit 77 where no compiler for that processor is there."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

PROGRAM = """#include "firn.h"
static const struct firn_shape shape = FIRN_INLINE_SHARDS_SHAPE(1767225600000, 1, 41, 10, 12, 2);
int main(int argc, char **argv)
{
	uint64_t id;
	(void)argv;
	return argc > 5 ? firn_inline_shards_next((struct firn_shards *)argv, &shape, &id) : 0;
}
"""


# Per processor: the commands' prefix where it is not our own, clang's option, a plain store, what must
# not be there, the signature's bytes.
MACHINES = {
    "x86_64": ("x86_64-linux-gnu-", "--target=x86_64-linux-gnu", r"mov\w*\s+%\w+,.*\)$", r"lock|xchg|call", "53300553"),
    "aarch64": ("aarch64-linux-gnu-", "--target=aarch64-linux-gnu", r"str\s+x\w+, \[", r"bl|blr|ld\w*x\w*|st\w*x\w*|"
                r"st\w*l\w*|lda\w*|cas\w*|swp\w*|ldadd\w*|ldset\w*|ldclr\w*|dmb|dsb|stp|svc", "00bc28d4"),
}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def check(program, machine, start, length, abort):
    prefix, _, store, forbidden, signature = MACHINES[machine]
    listing = run(prefix + "objdump", "-d", "--no-show-raw-insn", "--start-address=%d" % start,
                  "--stop-address=%d" % (start + length), program)
    lines = [line.split(":", 1)[1].strip() for line in listing.splitlines() if re.match(r"\s+[0-9a-f]+:", line)]
    assert len(lines) > 8, "the sequence at %x is too short: %s" % (start, lines)
    stores = [line for line in lines if re.match(store, line)]
    assert not any(re.match(r"(%s)\b" % forbidden, line) for line in lines), lines
    assert len(stores) == 1 and lines[-1] == stores[0], "not one store at the end: %s" % lines
    # And no other instruction that writes to memory: all but the store load, compare, branch or compute.
    others = [line for line in lines[:-1] if re.match(r"st|push|(add|sub|mov|inc|xor|and|or)\w*\s+[^,]*,.*\)$", line)]
    assert not others, "these write to memory as well: %s" % others
    before = run(prefix + "objdump", "-s", "--start-address=%d" % (abort - 4), "--stop-address=%d" % abort, program)
    assert signature in before.replace(" ", ""), "no signature before the abort address %x:\n%s" % (abort, before)
    return len(lines)


def main():
    source, machine = os.path.abspath(sys.argv[1]), sys.argv[2]
    prefix, target, *_ = MACHINES[machine]
    compilers = [[prefix + "gcc"], ["clang", target]]
    for command in (prefix + "gcc", prefix + "objdump", prefix + "objcopy"):
        if shutil.which(command) is None:
            print("skipped: restartable sequences of %s (%s is not installed)" % (machine, command))
            sys.exit(77)
    if shutil.which("clang") is None:
        print("skipped: clang (not installed)")
        compilers.pop()
    with tempfile.TemporaryDirectory() as where:
        run(sys.executable, os.path.join(source, "tools", "amalgamate.py"), where)
        with open(os.path.join(where, "main.c"), "w") as out:
            out.write(PROGRAM)
        for compiler in compilers:
            for level in ("-O1", "-O2", "-O3"):
                program = os.path.join(where, "program")
                run(*compiler, "-std=c11", level, "-no-pie", "-I", where, os.path.join(where, "main.c"),
                    os.path.join(where, "firn.c"), "-o", program)
                section = os.path.join(where, "section")
                run(prefix + "objcopy", "-O", "binary", "--only-section=__rseq_cs", program, section)
                with open(section, "rb") as file:
                    bytes_ = file.read()
                assert len(bytes_) >= 64 and len(bytes_) % 32 == 0, "descriptors of %d bytes" % len(bytes_)
                sizes = []
                for at in range(0, len(bytes_), 32):
                    version, flags, start, length, abort = struct.unpack_from("<IIQQQ", bytes_, at)
                    assert version == 0 and flags == 0, (version, flags)
                    assert not start <= abort < start + length, "the abort address lies in its own sequence"
                    sizes.append(check(program, machine, start, length, abort))
                print("%s %s: %d sequences of %s instructions" % (" ".join(compiler), level, len(sizes), sizes))


main()
