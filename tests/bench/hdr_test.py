#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""Latency histograms as files, read by the npm package hdr-histogram-js. Exit 77, which Meson counts as skipped, where
the package cannot be had. usage: hdr_test.py FIRN"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

FIRN = os.path.abspath(sys.argv[1])
SCRIPT = """const hdr = require("hdr-histogram-js"), fs = require("fs");
const lines = fs.readFileSync(process.argv[1], "utf8").split("\\n").filter(l => l.startsWith("Tag="));
console.log(JSON.stringify(lines.map(l => { const h = hdr.decodeFromCompressedBase64(l.split(",")[4]);
  return [l.split(",")[0], h.totalCount, h.getValueAtPercentile(50), h.maxValue]; })));"""


def skip(why):
    print("skipped: hdr-histogram-js (%s)" % why)
    sys.exit(77)


with tempfile.TemporaryDirectory() as work:
    hdr = os.path.join(work, "l.hdr")
    done = subprocess.run([FIRN, "bench", "latency", "--rate", "20000", "--seconds", "0.2", "--clock", "ticker", "--json",
                           "--hdr", hdr], capture_output=True, text=True, timeout=60)
    if "without zlib" in done.stderr:
        skip("this firn was built without zlib")
    assert done.returncode == 0, done.stderr
    if shutil.which("node") is None or shutil.which("npm") is None:
        skip("node and npm are not installed")
    if subprocess.run(["npm", "install", "--no-audit", "--no-fund", "hdr-histogram-js"], cwd=work, capture_output=True,
                      timeout=100).returncode != 0:
        skip("npm cannot fetch it")
    read = json.loads(subprocess.run(["node", "-e", SCRIPT, hdr], cwd=work, capture_output=True, text=True,
                                     check=True).stdout)
    assert [r[0] for r in read] == ["Tag=firn", "Tag=empty"], read
    report = json.loads(done.stdout)
    for row, ours in zip(read, (report["firn"], report["empty"])):
        half = ours["percentiles_ns"][0][1]
        assert row[1] == ours["calls"] == 4000, (row, ours)
        assert abs(row[2] - half) <= half / 500 + 1, (row, ours)
