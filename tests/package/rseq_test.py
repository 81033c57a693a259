#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""Restartable sequences as the compiler left them: no lock prefix, no call, one store, and it is the last
instruction; the kernel's signature before each abort address. usage: rseq_test.py SOURCE"""
import os
import platform
import re
import struct
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(sys.argv[1])
PROGRAM = """#include "firn.h"
static const struct firn_shape shape = FIRN_INLINE_SHARDS_SHAPE(1767225600000, 1, 41, 10, 12, 2);
int main(int argc, char **argv)
{
	uint64_t id;
	(void)argv;
	return argc > 5 ? firn_inline_shards_next((struct firn_shards *)argv, &shape, &id) : 0;
}
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def check(program, start, length, abort):
    listing = run("objdump", "-d", "--no-show-raw-insn", "--start-address=%d" % start,
                  "--stop-address=%d" % (start + length), program)
    lines = [line.split(":", 1)[1].strip() for line in listing.splitlines() if re.match(r"\s+[0-9a-f]+:", line)]
    assert len(lines) > 8, "the sequence at %x is too short: %s" % (start, lines)
    stores = [line for line in lines if re.search(r"\)$", line) and re.match(r"mov\w*\s+%", line)]
    assert not any("lock" in line or line.startswith("call") for line in lines), lines
    assert len(stores) == 1 and lines[-1] == stores[0], "not one store at the end: %s" % lines
    before = run("objdump", "-s", "--start-address=%d" % (abort - 4), "--stop-address=%d" % abort, program)
    assert "53300553" in before.replace(" ", ""), "no signature before the abort address %x:\n%s" % (abort, before)
    return len(lines)


def main():
    if platform.machine() != "x86_64":
        print("skipped: restartable sequences (there are none for %s)" % platform.machine())
        return
    with tempfile.TemporaryDirectory() as where:
        run(sys.executable, os.path.join(SOURCE, "tools", "amalgamate.py"), where)
        with open(os.path.join(where, "main.c"), "w") as out:
            out.write(PROGRAM)
        for compiler in ("gcc", "clang"):
            for level in ("-O1", "-O2", "-O3"):
                program = os.path.join(where, "program")
                run(compiler, "-std=c11", level, "-no-pie", "-I", where, os.path.join(where, "main.c"),
                    os.path.join(where, "firn.c"), "-o", program)
                section = os.path.join(where, "section")
                run("objcopy", "-O", "binary", "--only-section=__rseq_cs", program, section)
                with open(section, "rb") as file:
                    bytes_ = file.read()
                assert len(bytes_) >= 64 and len(bytes_) % 32 == 0, "descriptors of %d bytes" % len(bytes_)
                sizes = []
                for at in range(0, len(bytes_), 32):
                    version, flags, start, length, abort = struct.unpack_from("<IIQQQ", bytes_, at)
                    assert version == 0 and flags == 0, (version, flags)
                    assert not start <= abort < start + length, "the abort address lies in its own sequence"
                    sizes.append(check(program, start, length, abort))
                print("%s %s: %d sequences of %s instructions" % (compiler, level, len(sizes), sizes))


main()
