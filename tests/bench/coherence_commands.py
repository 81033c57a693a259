#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator's commands: shapes, errors, and the check that can fail. usage: coherence_commands.py PREDICT SOURCE"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import each_test  # noqa: E402

PREDICT, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
CHECK = os.path.join(SOURCE, "bench", "coherence", "coherence.py")
FIT = os.path.join(SOURCE, "bench", "coherence", "host_fit.json")
GEN = os.path.join(SOURCE, "bench", "coherence", "host_gen_bench.json")
WORK = tempfile.TemporaryDirectory()


def run(command, code=0):
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=env)
    assert done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
    return done


def check(*args, code=0):
    return run([sys.executable, CHECK] + list(args), code)


def test_prediction_has_its_shape_and_repeats():
    call = [PREDICT, "--cores", "16", "--sockets", "2", "--ms", "0.1", "--lanes", "add,cas,shards,blocks,batches,mutex",
            "--threads", "1,24", "--json"]
    first = run(call).stdout
    assert first == run(call).stdout
    cases = json.loads(first)["cases"]
    assert [c["lane"] for c in cases[::2]] == ["add", "cas", "shards", "blocks", "batches", "mutex"]
    for c in cases:
        assert c["ns_per_id"] > 0 and c["p50_ns"] <= c["p99_ns"] <= c["max_ns"] and 0 < c["jain"] <= 1, c
    table = run([PREDICT, "--ms", "0.1", "--threads", "1", "--lanes", "add"]).stdout
    assert "ns/ID" in table and len(table.splitlines()) == 2


def test_bad_machines_are_refused():
    for args in (["--cores", "0"], ["--cores", "2", "--sockets", "3"], ["--near", "x"], ["--near", "9", "--far", "8"],
                 ["--lanes", "ticket"], ["--threads", "1,"], ["--threads", "0"], ["--ms", "0"], ["--cores", "1.5"],
                 ["--block", "0", "--lanes", "blocks"], ["--what", "1"], ["--seed"], ["cores"]):
        done = run([PREDICT] + args, 2)
        assert "coherence_predict: " in done.stderr, args


def test_the_recorded_host_is_predicted_within_the_stated_bound():
    rows = json.loads(check("check", PREDICT, FIT, GEN, "--json").stdout)["rows"]
    predicted = [r for r in rows if not r["fitted"]]
    assert {r["threads"] for r in predicted} == {1, 2, 4} and len(predicted) > 40 and len(rows) > len(predicted)
    # What one thread costs is put in, so it must come out.
    for r in rows:
        assert r["threads"] > 1 or abs(r["error_percent"]) < 15, r


def test_the_check_can_fail():
    check("check", PREDICT, FIT, GEN, "--bound", "5", code=1)
    with open(FIT) as file:
        fit = json.load(file)
    # Cores that keep a line ten times as long. (A longer transfer would not do: its fitted share takes that up.)
    for c in fit["cases"]:
        if c["primitive"] == "fetch_add" and c["threads"] == 2 and c["work_ns"] == 0:
            c["run"]["median"] *= 10
    wrong = os.path.join(WORK.name, "wrong.json")
    with open(wrong, "w") as out:
        json.dump(fit, out)
    assert "0 of 14" not in check("check", PREDICT, wrong, code=1).stdout
    del fit["costs_ns"]["remote_fetch_add"]
    with open(wrong, "w") as out:
        json.dump(fit, out)
    assert "second core" in check("check", PREDICT, wrong, code=2).stderr
    check("check", PREDICT, os.path.join(WORK.name, "missing"), code=2)
    check(code=2)


sys.exit(each_test.run(globals()))
