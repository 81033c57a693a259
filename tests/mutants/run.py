#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""Breaks the sources in one place at a time and expects the named check to fail. usage: run.py SOURCE

A mutant is one replacement of a text that stands exactly once; the product's sources hold no switch for it.
"""
import concurrent.futures
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.abspath(sys.argv[1])
FLAGS = ["-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-O1", "-w", "-Iinclude", "-Isrc", "-Itests/lib"]
LEAST = ["-DLEAST_%s=1" % n for n in ("TAKES", "THREE", "LIMIT", "SEAL", "ADDS", "ADDS_THREE",
                                        "ADDS_LIMIT", "ADDS_SEAL", "OBSERVE")]

WORD = "include/firn/detail/word.h"
PATH = "include/firn/detail/gen.h"
OPEN_LIST = "src/gen/open_list.c"
MARK = "src/gen/mark.c"
FILE = "src/gen/mark_file.c"

# name, file, old, new, check
MUTANTS = [
    ("forget the limit", WORD, "first >= bound || bound - first < count", "0", "model"),
    ("the first of a batch is tested, not the last", WORD, "bound - first < count", "bound - first < 1", "model"),
    ("one word past the bound", WORD, "bound - first < count", "bound - first + 1 < count", "model"),
    ("an add past the bound is owned", WORD, "first < bound && bound - first >= count", "1", "model"),
    ("an add is tested by its first word", WORD, "bound - first >= count", "bound - first >= 1", "model"),
    ("an add below the floor is owned", WORD, "FIRNI_LIKELY(first >= floor && ", "FIRNI_LIKELY(", "model"),
    ("given back though others have added", WORD, "while (!firni_atomic64_cas_weak(word, &expected, first))\n\t\tif (",
     "for (firni_atomic64_store(word, first); 0;)\n\t\tif (", "model"),
    ("adds carry a sealed word round", WORD, "(UINT64_C(3) << 62)", "UINT64_MAX", "model"),
    ("a refused add is not counted as burnt", WORD, "take->loss.burnt = (uint32_t)count;", ";", "model"),
    ("a refusal leaves the gate open", "src/gen/path.c", "&open, FIRNI_GATE_SHUT)", "&open, FIRNI_GATE_OPEN)", "gen_test"),
    ("the gate stays shut", PATH, "FIRNI_UNLIKELY(gate == FIRNI_GATE_SHUT)", "0", "gen_test"),
    ("a refused add stays in the word", WORD, "while (!firni_atomic64_cas_weak(word, &expected, first))", "while (0)", "gen_test"),
    ("a fresh offset is believed for ever", "include/firn/detail/clock.h",
     "counter - firni_atomic64_load(&clock->tsc_renewed) < clock->tsc_span", "1", "clock_lane_test"),
    ("a sequence does not look which processor it is on", "include/firn/detail/percpu.h", '"jne 6f\\n\\t"', '""', "shards_test"),
    ("a sequence does not look whether it is closed", "include/firn/detail/percpu.h", '"jne 7f\\n\\t"', '""', "shards_stress"),
    ("interrupted sequences go on", "include/firn/detail/percpu.h", '"movq %[scratch], %[cs]\\n"', '"movq $0, %[cs]\\n"', "shards_stress"),
    ("the seal leaves running sequences be", "src/gen/shards.c", "(void)syscall(SYS_membarrier, MEMBARRIER_RSEQ, 0, 0);", ";", "shards_test"),
    ("a block survives the fork", "include/firn/detail/block.h", "FIRNI_LIKELY(*block->alive != 0)", "1", "block_test"),
    ("a block is fresh for ever", "include/firn/detail/block.h",
     "(uint64_t)now_ms - (uint64_t)block->from_ms < block->tick_ms", "1", "block_test"),
    ("what a block leaves is not burnt", "src/gen/block.c", "firni_state_count(block->gen->state, FIRNI_TALLY_SKIPPED, left);",
     ";", "block_test"),
    ("a ticker is not restarted in a child", "src/clock/ticker.c",
     "firni_atomic64_store(&c->cached_ms, FIRNI_CLOCK_UNCACHED);", ";", "clock_lane_test"),
    ("reset the sequence: the clock overrides the word", WORD, "first = seen > floor ? seen : floor;",
     "first = floor;", "model"),
    ("non-atomic read-modify-write", WORD, "firni_atomic64_cas_weak(word, &expected, first + count)",
     "(firni_atomic64_store(word, first + count), 1)", "model"),
    ("non-atomic add", WORD, "uint64_t first = firni_atomic64_fetch_add(word, count);",
     "uint64_t first = firni_atomic64_load(word); firni_atomic64_store(word, first + count);", "model"),
    ("own one word too many", WORD, "&expected, first + count)", "&expected, first + count - 1)", "model"),
    ("lower the limit", WORD, "return firni_word_lift(limit, value);",
     "uint64_t was = firni_atomic64_load(limit); firni_atomic64_store(limit, value); return was;", "model"),
    ("issue after seal: the seal only reads", WORD, "return firni_atomic64_exchange(word, FIRNI_WORD_SEALED);",
     "return firni_atomic64_load(word);", "model"),
    ("seal in two steps", WORD, "return firni_atomic64_exchange(word, FIRNI_WORD_SEALED);",
     "uint64_t was = firni_atomic64_load(word); firni_atomic64_store(word, FIRNI_WORD_SEALED); return was;", "model"),
    ("a lift may go down", WORD, "while (seen < value && !firni_atomic64_cas_weak(word, &seen, value))\n\t\t;",
     "firni_atomic64_store(word, value);", "model"),
    ("a stale word after a lost swap", WORD, "seen = expected;\n\t\ttake->loss.retries++;",
     "firni_atomic64_store(word, first + count); break;", "model"),
    ("publish before the mark is durable", FILE,
     "return error != FIRN_OK ? error : firni_file_sync(file);", "return error;", "power_cut"),
    ("a failed sync is ignored", FILE, "return fdatasync(file->fd) == 0 ? FIRN_OK : FIRN_E_SYNC;",
     "(void)fdatasync(file->fd); return FIRN_OK;", "power_cut"),
    ("new memory starts below the mark", MARK, "if (start < slot->mark)\n\t\tstart = slot->mark;",
     "if (start < slot->mark)\n\t\tstart = slot->mark > 4096 ? slot->mark - 4096 * 2000 : 0;", "power_cut"),
    ("what a dead writer left is trusted unsynced", MARK,
     "error = firni_file_write(turn, slot);\n\tif (error == FIRN_OK)\n\t\terror = firni_file_write(turn, &next);",
     "error = firni_file_write(turn, &next);", "power_cut"),
    ("the clean mark is written without a seal", MARK, "next.mark = firni_state_seal(gen->state);",
     "next.mark = firni_state_word(gen->state);", "power_cut"),
    ("both slots in the same place", FILE, "(off_t)(slot->sequence % FIRNI_SLOTS) * FIRNI_SLOT_STRIDE;",
     "(off_t)0;", "power_cut"),
    ("the newer slot does not win", "src/gen/mark_slot.c", "read[i].sequence > read[newest].sequence",
     "read[i].sequence < read[newest].sequence", "power_cut"),
    ("the slot's check is not compared", "src/gen/mark_slot.c", "get(bytes + AT_CHECK, 8) != check(bytes, AT_CHECK)",
     "0", "state_test"),
    ("identity is not compared: a replaced file goes on", MARK, "slot->sequence < firni_atomic64_load(&state->synced))",
     "0)", "state_test"),
    ("nobody looks whether the file is still there", FILE,
     "fstat(copy->fd, &st) != 0 || st.st_dev != file->device || st.st_ino != file->inode", "fstat(copy->fd, &st) != 0",
     "state_test"),
    ("the owner and mode of the file are not looked at", FILE,
     "st.st_uid != geteuid() || (st.st_mode & 077) != 0", "0", "state_test"),
    ("LIFE is not asked: every opener makes its own memory", MARK,
     "if (firni_file_lock(&mark->file, FIRNI_LOCK_LIFE, 1, 0) == FIRN_OK) {",
     "if (firni_file_lock(&mark->file, FIRNI_LOCK_LIFE, 0, 0) == FIRN_OK) {", "state_test"),
    ("a private child may issue", PATH, "if (FIRNI_UNLIKELY(*gen->alive == 0))\n\t\treturn firni_gen_refused(firni_gen_refuse_forked(gen));\n\treturn FIRN_OK;",
     "return FIRN_OK;", "fork_test"),
    ("a child is told by the clock alone", PATH,
     "if (FIRNI_UNLIKELY(*gen->alive == 0))\n\t\treturn firni_gen_refused(firni_gen_refuse_forked(gen));\n\tif (", "if (", "clock_lane_test"),
    ("a range survives the fork", "src/gen/path.c", "FIRNI_UNLIKELY(*range->gen->range_alive == 0)", "0", "fork_test"),
    ("readings before the epoch wrap", PATH, "FIRNI_UNLIKELY(since_ms >= shape->span_ms)", "0", "gen_test"),
    ("a step back and a full layout are confused", "src/gen/path.c",
     "last_tick > tick && last_tick - tick > (gen->lead_words >> shape->seq_bits) - 1", "last_tick > tick", "gen_test"),
    ("observe stops at the foreign word", "src/gen/gen.c",
     "if (firni_shape_id(&gen->shape, gen->node_image, word) > id)\n\t\treturn word;", "return word;", "gen_test"),
    ("two generators of one node are not seen", OPEN_LIST, "error = FIRN_E_NODE_OPEN;", ";", "open_list_test"),
    ("nodes of different widths are told apart by bits of one", OPEN_LIST, " & a->node_mask & b->node_mask) == 0", ") == 0",
     "open_list_test"),
    ("a sealed generator keeps its node", OPEN_LIST, "firni_atomic64_load(&e->sealed) == 0 && ", "", "open_list_test"),
    ("a closed generator keeps its node", "src/gen/gen.c", "\tfirni_open_list_leave(gen);\n}\n\nint\nfirn_gen_close",
     "}\n\nint\nfirn_gen_close", "open_list_test"),
    ("borrowed ticks are not counted", "src/gen/path.c", "if (last > reached)", "if (0)", "gen_test"),
    ("the deadline starts anew with every try", "src/gen/wait.c", "(now_ns - start_ns)", "(now_ns - now_ns)", "gen_test"),
    ("a spike enters the word", "src/clock/guard.c",
     "if (firni_clock_wall(cold, &wall) != FIRN_OK)\n\t\treturn FIRN_E_CLOCK;\n\tif (first - wall", "wall = first;\n\tif (first - wall",
     "clock_test"),
    ("a step forward is believed at once", "src/clock/guard.c", "if (hold_ms == 0)", "if (1)", "clock_test"),
]

PERCPU = "include/firn/detail/percpu.h"

# The other processor's sequence, in an emulator.
CROSS = [
    ("aarch64: the last instruction is not in the sequence", PERCPU, "1f, 2f - 1f, 4f", "1f, 2f - 1f - 4, 4f", "percpu_abort"),
    ("aarch64: what comes after the store is in the sequence", PERCPU, "1f, 2f - 1f, 4f", "1f, 2f - 1f + 4, 4f", "percpu_abort"),
    ("aarch64: no signature", PERCPU, ".inst %c[signature]", "nop", "percpu_abort"),
    ("aarch64: any processor will do", PERCPU, "b.ne 6f", "nop", "percpu_abort"),
    ("aarch64: closed or not", PERCPU, "cbnz %[scratch], 7f", "nop", "percpu_abort"),
    ("aarch64: the lower of word and floor", PERCPU, "%[floor], hi", "%[floor], lo", "percpu_abort"),
    ("aarch64: the first is tested, not the last", PERCPU, '"cmp %[scratch], %[count]', '"cmp %[scratch], #0', "percpu_abort"),
    ("aarch64: the area keeps its pointer", PERCPU, "str xzr, %[cs]", "nop", "percpu_abort"),
]


def copy(where):
    for folder in ("include", "src", "tests"):
        shutil.copytree(os.path.join(SOURCE, folder), os.path.join(where, folder))


def build_and_run(where, check):
    """True if the check passes."""
    if check == "model":
        build = ["g++", "-std=c++11", "-O2", "-w", "-Iinclude", "-Itests/model"] + LEAST + ["tests/model/word_model.cpp"]
    elif check == "percpu_abort":
        build = ["aarch64-linux-gnu-gcc", "-std=c11", "-static"] + FLAGS + ["tests/cross/percpu_abort.c"]
    else:
        sources = glob.glob(os.path.join(where, "src/*.c")) + glob.glob(os.path.join(where, "src/*/*.c"))
        folder = {"power_cut": "fault", "shards_stress": "stress"}.get(check, "unit")
        build = ["gcc", "-std=c11"] + FLAGS + ["tests/%s/%s.c" % (folder, check)] + sources
        if folder == "unit":
            build += ["-lcriterion"]
        if folder == "stress":
            build += ["tests/lib/id_check.c"]
    binary = os.path.join(where, "check")
    made = subprocess.run(build + ["-o", binary, "-lpthread"], cwd=where, capture_output=True, text=True)
    if made.returncode != 0:
        raise RuntimeError("%s does not build:\n%s" % (check, made.stderr[:2000]))
    # A session of its own: a check that hangs may have children, which hang as well.
    arguments = {"shards_stress": ["4", "2"]}.get(check, [])
    emulator = ["qemu-aarch64"] if check == "percpu_abort" else []
    run = subprocess.Popen(emulator + [binary] + arguments, cwd=where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           start_new_session=True)
    try:
        return run.wait(timeout=60) == 0
    except subprocess.TimeoutExpired:
        return False  # hanging is failing
    finally:
        try:
            os.killpg(run.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        run.wait()


def try_mutant(mutant):
    name, path, old, new, check = mutant
    started = time.time()
    with tempfile.TemporaryDirectory() as where:
        copy(where)
        with open(os.path.join(where, path)) as text:
            content = text.read()
        if content.count(old) != 1:
            return name, check, "the text to break stands %d times" % content.count(old), 0
        with open(os.path.join(where, path), "w") as text:
            text.write(content.replace(old, new))
        fault = "survived" if build_and_run(where, check) else None
        return name, check, fault, time.time() - started


def main():
    bad = 0
    missing = [command for command in ("aarch64-linux-gnu-gcc", "qemu-aarch64") if shutil.which(command) is None]
    mutants = MUTANTS + ([] if missing else CROSS)
    if missing:
        print("skipped: mutants of the aarch64 sequence (%s is not installed)" % missing[0])
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for check in sorted({m[4] for m in mutants} - {"model"}):  # the model on its own is a test beside this one
            with tempfile.TemporaryDirectory() as where:
                copy(where)
                if not build_and_run(where, check):
                    print("the check %s fails on the sources as they are" % check)
                    bad += 1
        for name, check, fault, seconds in pool.map(try_mutant, mutants):
            print("%-55s %5.1f s  %s" % (name, seconds, "caught by " + check if fault is None else "NOT CAUGHT by %s: %s" % (check, fault)),
                  flush=True)
            bad += fault is not None
    print("%d mutants, %d not caught" % (len(mutants), bad))
    return 1 if bad else 0


sys.exit(main())
