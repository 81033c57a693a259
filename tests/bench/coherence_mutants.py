#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""Breaks the simulator in one place at a time and expects its test to fail. usage: coherence_mutants.py SOURCE"""
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(sys.argv[1])
MODEL = os.path.join(SOURCE, "bench", "coherence")
TEST = os.path.join(SOURCE, "tests", "bench", "coherence_test.cpp")

# name, file, old (stands exactly once), new
MUTANTS = [
    ("a swap with an old value succeeds", "simulate.cpp", "if (t.seen == mine.value) {", "if (t.seen <= mine.value) {"),
    ("an access takes one value, not its block", "simulate.cpp", "mine.value += l.take;", "mine.value += 1;"),
    ("a value is handed out twice", "simulate.cpp", "mine.value += l.take;", "mine.value += now % 7 == 0 ? 0 : l.take;"),
    ("what ends late counts", "simulate.cpp", "if (now <= o.length) {", "if (now >= 0) {"),
    ("the seed does not matter", "simulate.cpp", "random(o.seed)", "random(o.seed * 0)"),
    ("the owner keeps the line", "line.h", "return waiting() && !fresh && now >= ready();", "return now < 0;"),
    ("far costs as near", "line.cpp", "all.socket(owner) ? all.far : all.near", "all.socket(owner) ? all.near : all.near"),
    ("near requests never overtake", "line.cpp", "all.overtakes == 0 ||", "true ||"),
    ("a request costs twice", "line.cpp", "+ whole - whole * all.request / 100", "+ whole"),
    ("a transfer is free", "simulate.cpp", "plan(now + spread(g.span),", "plan(now,"),
    ("all shards lie on one line", "simulate.cpp", "return l.sharded ? at : 0;", "return 0 * at;"),
    ("an operation's own work is forgotten", "simulate.cpp", "plan(now + cost + l.own * (l.together ? l.take : 1),",
     "plan(now + cost,"),
    ("nobody is preempted", "simulate.cpp", "if (now < c.slice_end || c.ready.empty())", "if (now >= 0)"),
]


def caught(mutant):
    """None if the test failed by itself, else what happened."""
    name, path, old, new = mutant
    with tempfile.TemporaryDirectory() as work:
        shutil.copytree(MODEL, work, dirs_exist_ok=True)
        with open(os.path.join(work, path)) as file:
            text = file.read()
        if old and text.count(old) != 1:
            return "%s: its text stands %d times in %s" % (name, text.count(old), path)
        with open(os.path.join(work, path), "w") as file:
            file.write(text.replace(old, new) if old else text)
        test = os.path.join(work, "mutant")
        build = [os.environ.get("CXX", "g++"), "-std=c++17", "-O1", "-w", "-I", work, os.path.join(work, "line.cpp"),
                 os.path.join(work, "simulate.cpp"), TEST, "-o", test]
        built = subprocess.run(build, capture_output=True, text=True)
        if built.returncode != 0:
            return "%s: does not build: %s" % (name, built.stderr[-400:])
        try:
            ran = subprocess.run([test], capture_output=True, text=True, timeout=100)
        except subprocess.TimeoutExpired:
            return None if old else "the test of the whole model does not end"
        if old == "":
            return None if ran.returncode == 0 else "the whole model fails: " + ran.stdout
        return None if ran.returncode == 1 else "%s: exit %d, not found" % (name, ran.returncode)


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    problems = [p for p in pool.map(caught, [("nothing", "line.h", "", "")] + MUTANTS) if p]
print("\n".join(problems))
print("%d of %d mutants are not found" % (len(problems), len(MUTANTS)))
sys.exit(1 if problems else 0)
