#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""firn bench record: traces against counts made here, and read back by the tuner. usage: record_test.py FIRN"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import each_test  # noqa: E402

FIRN = os.path.abspath(sys.argv[1])
WORK = tempfile.TemporaryDirectory()
EPOCH = 1767225600000


def record(lines, *args, code=0):
    done = subprocess.run([FIRN, "bench", "record", *args], input="".join("%s\n" % l for l in lines), capture_output=True,
                          text=True, timeout=60)
    if done.returncode != code:
        raise AssertionError("%s: exit %d, not %d: %s" % (args, done.returncode, code, done.stderr))
    return done


def counts(done):
    return [int(l) for l in done.stdout.splitlines() if not l.startswith("#")]


def counted(moments):
    seen = collections.Counter(moments)
    return [seen[ms] for ms in range(min(seen), max(seen) + 1)]


def id_of(ms, node, sequence):
    return (ms - EPOCH) << 22 | node << 12 | sequence


def test_times_in_any_order():
    draw = random.Random(3)
    moments = [EPOCH + draw.randrange(20000) for _ in range(5000)]
    assert counts(record(moments, "--from", "times")) == counted(moments)
    moments.sort(reverse=True)
    assert counts(record(moments, "--from", "times")) == counted(moments)
    said = json.loads(record(moments + [""], "--from", "times", "--json").stdout)
    assert said["counts"] == counted(moments) and said["ids"] == 5000 and said["most"] == max(counted(moments))
    assert said["first_ms"] == min(moments)


def test_ids_of_one_node_and_of_several():
    draw = random.Random(4)
    made = [(EPOCH + 10 ** 9 + draw.randrange(300), draw.randrange(3), i) for i in range(3000)]
    ids = [id_of(*one) for one in made]
    done = record(ids)
    assert counts(done) == counted([ms for ms, _, _ in made]) and "several nodes" in done.stderr
    done = record(ids, "--node", "2")
    assert counts(done) == counted([ms for ms, node, _ in made if node == 2]) and done.stderr == ""
    assert "no ID of that node" in record(ids, "--node", "9", code=2).stderr


def test_a_tick_of_several_ms_is_spread_evenly_and_loses_nothing():
    layout = "time:39 node:16 sequence:8 epoch=2026-01-01T00:00:00Z tick=10ms"
    ids = [tick << 24 | 5 << 8 | i for tick, count in ((1000, 25), (1002, 3)) for i in range(count)]
    assert counts(record(ids, "--layout", layout)) == [3] * 5 + [2] * 5 + [0] * 10 + [1] * 3 + [0] * 7


def test_the_tuner_reads_what_was_recorded():
    moments = [EPOCH + ms for ms in range(1000) for _ in range(7 if ms == 500 else 2)]
    path = os.path.join(WORK.name, "trace")
    with open(path, "w") as out:
        out.write(record(moments, "--from", "times").stdout)
    for name, stdin in ((path, None), ("-", open(path))):
        said = json.loads(subprocess.run([FIRN, "layout", "tune", "--nodes", "10", "--trace", name, "--measure", "0", "--json"],
                                         stdin=stdin, capture_output=True, text=True, check=True, timeout=60).stdout)
        assert said["most_per_ms_of_a_node"] == 7 and abs(said["mean_per_ms_of_a_node"] - 2.005) < 1e-9
        assert said["simulated_ms"] == 1000 and said["layouts"][0]["predicted"]["ids"] == 2005


def test_ids_of_the_command_itself():
    state = os.path.join(WORK.name, "state")
    ids = subprocess.run([FIRN, "next", "-n", "9000", "--state", state, "--node", "3"], capture_output=True, text=True,
                         check=True, timeout=60).stdout.split()
    assert sum(counts(record(ids, "--node", "3"))) == 9000


def test_bad_input_says_which_line_and_what():
    assert "line 2" in record([EPOCH, "soon"], "--from", "times", code=2).stderr
    assert "line 3" in record([id_of(EPOCH, 0, 0), "", "x"], code=2).stderr
    assert "more than a day" in record([EPOCH, EPOCH + 86400000], "--from", "times", code=2).stderr
    assert counts(record([EPOCH, EPOCH + 599999], "--from", "times")) == [1] + [0] * 599998 + [1]
    assert "nothing to count" in record([], code=2).stderr
    for args in (("--from", "dates"), ("--from", "times", "--node", "1"), ("--node", "9999"), ("--form", "roman"), ("file",),
                 ("--layout", "time:99")):
        done = record([EPOCH], *args, code=2)
        assert done.stderr != "" and done.stdout == "", args


sys.exit(each_test.run(globals()))
