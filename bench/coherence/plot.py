#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""Predicts machines of up to 256 cores and draws them. usage: plot.py PREDICT FIT.json OUT_DIR

Writes scaling.json (what coherence_predict said) and scaling-*.svg, drawn from it alone.
"""
import json
import math
import os
import subprocess
import sys

from coherence import load, options, parameters

THREADS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
COLOURS = ["#1b6ca8", "#c8553d", "#2a7f62", "#7a4fa3", "#8a6d1f", "#444444"]
FAR = 2.0  # of near; assumed, because one socket tells nothing of another


def machines(values):
    far = dict(values, far=FAR * values["near"])
    return {"one": dict(values, cores=256, sockets=1), "two": dict(far, cores=256, sockets=2),
            "two_near_first": dict(far, cores=256, sockets=2, overtakes=64)}


def predictions(command, values):
    found = {}
    for name, machine in machines(values).items():
        call = [command] + options(machine) + ["--threads", ",".join(map(str, THREADS)), "--ms", "2", "--block", "4096",
                                              "--block-own", "1.18", "--batch-own", "0.86", "--shard", "3.97", "--json"]
        found[name] = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
    return found


def series(found, lane, key, label=None):
    return (label or lane, [(c["threads"], c[key]) for c in found["cases"] if c["lane"] == lane])


def chart(title, unit, lines):
    """Both axes logarithmic; values of 0 are left out."""
    width, height, left, top, right, bottom = 760, 430, 70, 40, 190, 45
    values = [v for _, points in lines for _, v in points if v > 0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    across, down = width - left - right, height - top - bottom

    def x(threads):
        return left + across * math.log2(threads) / math.log2(THREADS[-1])

    def y(value):
        return top + down * (high - math.log10(value)) / (high - low)

    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">'
           % (width, height), '<rect width="100%" height="100%" fill="#ffffff"/>',
           '<text x="%d" y="22" font-size="15">%s</text>' % (left, title)]
    for power in range(low, high + 1):
        out.append('<path d="M%d %.1fH%d" stroke="#dddddd"/><text x="%d" y="%.1f" text-anchor="end">%g</text>' % (
            left, y(10.0 ** power), left + across, left - 6, y(10.0 ** power) + 4, 10.0 ** power))
    for threads in THREADS:
        out.append('<path d="M%.1f %dV%d" stroke="#eeeeee"/><text x="%.1f" y="%d" text-anchor="middle">%d</text>' % (
            x(threads), top, top + down, x(threads), top + down + 16, threads))
    out.append('<text x="%d" y="%d" text-anchor="middle">threads, one on each of 256 cores</text>' % (
        left + across // 2, height - 8))
    out.append('<text x="14" y="%d" transform="rotate(-90 14 %d)" text-anchor="middle">%s</text>' % (
        top + down // 2, top + down // 2, unit))
    # Labels of lines that end together are moved apart.
    last = sorted(((y(points[-1][1]), i) for i, (_, points) in enumerate(lines) if points[-1][1] > 0))
    place, at = {}, -math.inf
    for height_of, i in last:
        at = max(height_of, at + 14)
        place[i] = at
    for i, (label, points) in enumerate(lines):
        drawn = [(x(t), y(v)) for t, v in points if v > 0]
        if not drawn:
            continue
        out.append('<path d="M%s" fill="none" stroke="%s" stroke-width="2"/>' % (
            "L".join("%.1f %.1f" % p for p in drawn), COLOURS[i % len(COLOURS)]))
        out.append('<text x="%.1f" y="%.1f" fill="%s">%s</text>' % (
            left + across + 6, place.get(i, drawn[-1][1]) + 4, COLOURS[i % len(COLOURS)], label))
    return "\n".join(out + ["</svg>", ""])


def charts(found):
    one, two, near = found["one"], found["two"], found["two_near_first"]
    yield "throughput", chart("Predicted throughput, two sockets", "million IDs per second", [
        series(two, lane, "mids_per_s") for lane in ("shards", "blocks", "batches", "add", "cas")])
    yield "tail", chart("Predicted time of one call, two sockets", "ns", [
        series(two, "add", "p50_ns", "add, half"), series(two, "add", "p99_ns", "add, 99 %"),
        series(two, "add", "max_ns", "add, longest"), series(near, "add", "max_ns", "add, longest, near first"),
        series(two, "batches", "max_ns", "batch, longest")])
    yield "fairness", chart("Predicted fairness: least share of the largest", "least / most IDs of a thread", [
        series(one, "add", "least_share", "add, one socket"), series(two, "add", "least_share", "add, two sockets"),
        series(near, "add", "least_share", "add, near first"), series(near, "cas", "least_share", "cas, near first")])
    yield "retries", chart("Predicted lost swaps for each ID", "retries per ID", [
        series(one, "cas", "retries_per_id", "cas, one socket"), series(two, "cas", "retries_per_id", "cas, two sockets")])


def main():
    if len(sys.argv) != 4:
        sys.stderr.write("usage: plot.py PREDICT FIT.json OUT_DIR\n")
        return 2
    found = predictions(os.path.abspath(sys.argv[1]), parameters(os.path.abspath(sys.argv[1]), load(sys.argv[2])))
    with open(os.path.join(sys.argv[3], "scaling.json"), "w") as out:
        json.dump(found, out, indent=1)
        out.write("\n")
    for name, text in charts(found):
        with open(os.path.join(sys.argv[3], "scaling-%s.svg" % name), "w") as out:
            out.write(text)
    return 0


sys.exit(main())
