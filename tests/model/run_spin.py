#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the Spin model as it is (sound) and with each mutant (violated). usage: run_spin.py MODEL"""
import os
import re
import subprocess
import sys
import tempfile

MODEL = os.path.abspath(sys.argv[1])
LEAST = int(os.environ.get("LEAST_STATES", "14000000"))
VARIANTS = [("as it is", None, False), ("published before it is durable", "PUBLISH_EARLY", True),
            ("not synced again", "NO_RESYNC", True), ("clean mark without a seal", "CLEAN_UNSEALED", True),
            ("LIFE not asked", "NO_LIFE", True)]


def explore(define):
    with tempfile.TemporaryDirectory() as where:
        made = subprocess.run(["spin"] + (["-D" + define] if define else []) + ["-a", MODEL], cwd=where,
                              capture_output=True, text=True)
        if made.returncode != 0 or not os.path.exists(where + "/pan.c"):
            raise SystemExit("spin: " + made.stdout + made.stderr)
        subprocess.run(["gcc", "-O2", "-w", "-DSAFETY", "-DVECTORSZ=2048", "-DCOLLAPSE", "pan.c", "-o", "pan"], cwd=where,
                       check=True)
        out = subprocess.run(["./pan", "-m200000", "-w24", "-E"], cwd=where, capture_output=True, text=True).stdout
    states = float(re.search(r"([\d.e+]+) states, stored", out).group(1))
    errors = int(re.search(r"errors: (\d+)", out).group(1))
    if "max search depth too small" in out or "out of memory" in out:
        raise SystemExit("the search was cut off:\n" + out)
    return int(states), errors


def main():
    bad = 0
    for name, define, violated in VARIANTS:
        states, errors = explore(define)
        good = (errors > 0) == violated and (violated or states >= LEAST)
        print("%-32s %9d states, %s%s" % (name, states, "violated" if errors else "sound", "" if good else "   UNEXPECTED"),
              flush=True)
        bad += not good
    return 1 if bad else 0


sys.exit(main())
