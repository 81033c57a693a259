#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""Holds the simulator's predictions against measurements.

usage: coherence.py parameters PREDICT FIT.json             the machine as options of coherence_predict
       coherence.py check PREDICT FIT.json [GEN_BENCH.json] [--bound PERCENT] [--json]

FIT.json comes from coherence_fit, GEN_BENCH.json from gen_bench --benchmark_format=json; PREDICT is the
coherence_predict command. Costs are measured one by one, how long a core keeps the line follows from the length
of a run of fetch-adds, and the request's part of a transfer is the one that brings 2 threads of fetch-adds, with and
without work between them, closest in the mean (marked "fitted"). All other cases with 2 and more threads are
predicted. Exit code 1: one of them is further off than the bound.
"""
import json
import math
import subprocess
import sys


def fail(text):
    sys.stderr.write("coherence.py: %s\n" % text)
    sys.exit(2)


def load(path):
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        fail("%s: %s" % (path, error))


def case(fit, primitive, threads, work=False):
    for c in fit["cases"]:
        if c["primitive"] == primitive and c["threads"] == threads and (c["work_ns"] > 0) == work:
            return c
    fail("no case %s with %d threads in the fit: run coherence_fit on 2 processors or more" % (primitive, threads))


def ns(c):
    return 1e3 / c["mids_per_s"]["median"]


def parameters(command, fit):
    cost = {name: row["median"] for name, row in fit["costs_ns"].items() if row is not None}
    if "remote_fetch_add" not in cost:
        fail("the fit has no second core: transfers cannot be fitted")
    add, cas = ns(case(fit, "fetch_add", 1)), ns(case(fit, "cas", 1))
    near = cost["remote_fetch_add"] - cost["fetch_add"]
    upgrade = max(0, cost["remote_load_then_add"] - cost["remote_fetch_add"]) / near
    # A run of n adds began before the time was over, its last one too; of the window's jitter half a step is owed.
    hold = max(0, case(fit, "fetch_add", 2)["run"]["median"] - 1) * add
    values = {"cores": fit["machine"]["cpus"], "add": add, "load": cost["load"], "cas": cas - cost["load"], "near": near,
              # One socket seen from inside tells nothing of another: far is the user's to say.
              "far": near, "hold": hold,
              # Below a tenth of a transfer is noise: there a load fetches the line owned.
              "upgrade": round(100 * upgrade) if upgrade > 0.1 else 0,
              "wake": cost["wake"], "slice": case(fit, "fetch_add", 4)["slice_ns"]["median"]}
    return dict(values, request=min(range(0, 100, 5), key=lambda part: misfit(command, fit, dict(values, request=part))))


def own_work(fit, values, c):
    """What the work costs in this loop, not beside it: the processor overlaps the two."""
    return max(0.0, ns(next(d for d in fit["cases"] if d["primitive"] == c["primitive"] and d["threads"] == 1
                            and d["work_ns"] == c["work_ns"])) - values["add"])


def misfit(command, fit, values):
    """Sum of the squared errors of the logarithms."""
    return sum(math.log(predict(command, values, "add", 2, {"own": own_work(fit, values, c)})["ns_per_id"] / ns(c)) ** 2
               for c in fit["cases"] if is_fitted(c))


def is_fitted(c):
    return c["primitive"] == "fetch_add" and c["threads"] == 2


def options(values):
    return [text for name, value in values.items()
            for text in ("--" + name, "%d" % value if isinstance(value, int) else "%.3f" % value)]


def predict(command, values, lane, threads, more):
    over = threads > values["cores"]
    call = [command] + options(dict(values, **more)) + ["--lanes", lane, "--threads", str(threads), "--json",
                                                       "--ms", "24" if over else "0.4"]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode != 0:
        fail("%s: %s" % (" ".join(call), done.stderr))
    return json.loads(done.stdout)["cases"][0]


def fit_cases(fit, values):
    """(name, threads, lane, more options, measured ns, measured retries, fitted)"""
    alone = {p: ns(case(fit, p, 1)) for p in ("take_first", "shards", "blocks", "batch")}
    more = {"fetch_add": ("add", {}), "cas": ("cas", {}),
            "take_first": ("add", {"own": max(0.0, alone["take_first"] - values["add"])}),
            "shards": ("shards", {"shard": alone["shards"]}),
            "blocks": ("blocks", {"block": fit["block"], "block-own": alone["blocks"] - values["add"] / fit["block"]}),
            "batch": ("batches", {"batch": fit["batch"],
                                  "batch-own": max(0.0, alone["batch"] - values["add"] / fit["batch"])})}
    for c in fit["cases"]:
        lane, extra = more[c["primitive"]]
        name = c["primitive"]
        if c["work_ns"] > 0:
            extra = {"own": own_work(fit, values, c)}
            name += ", %.0f ns of work" % c["work_ns"]
        yield name, c["threads"], lane, extra, ns(c), c["retries_per_id"]["median"], is_fitted(c)


GEN = {"bare/fetch_add": "add", "bare/cas": "cas", "inline/add/ticker": "add", "stable/add/ticker": "add",
       "inline/cas/ticker": "cas", "inline/shards/ticker": "shards", "inline/block/ticker": "blocks",
       "batch100/add/tsc": "batches"}


def gen_cases(gen, values):
    """The same for gen_bench: what a case costs alone tells its own work."""
    found = {}
    for b in gen["benchmarks"]:
        parts = b.get("run_name", b["name"]).split("/")
        threads = [int(p[8:]) for p in parts if p.startswith("threads:")]
        name = "/".join(p for p in parts if ":" not in p and p != "real_time")
        if name in GEN and threads and b.get("aggregate_name", "median") == "median":
            found[name, threads[0]] = 1e9 / b["items_per_second"]
    for (name, threads), measured in sorted(found.items()):
        lane = GEN[name]
        alone = found.get((name, 1))
        if alone is None:
            fail("%s: no figure for 1 thread" % name)
        own = max(0.0, alone - values["add"])
        extra = {"add": {"own": own}, "cas": {"own": own}, "shards": {"shard": alone},
                 "blocks": {"block": 4096, "block-own": alone - values["add"] / 4096},
                 "batches": {"batch": 100, "batch-own": alone - values["add"] / 100}}[lane]
        yield "gen_bench " + name, threads, lane, extra, measured, None, False


def check(arguments):
    bound, as_json, paths = 35.0, False, []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--json":
            as_json = True
        elif word == "--bound":
            try:
                bound = float(rest.pop(0))
            except (IndexError, ValueError):
                fail("--bound takes per cents")
        else:
            paths.append(word)
    if len(paths) not in (2, 3):
        fail("usage:" + __doc__.split("usage:")[1].split("\n\n")[0])
    fit = load(paths[1])
    values = parameters(paths[0], fit)
    cases = list(fit_cases(fit, values)) + (list(gen_cases(load(paths[2]), values)) if len(paths) == 3 else [])
    rows, bad = [], 0
    for name, threads, lane, extra, measured, retries, fitted in cases:
        seen = predict(paths[0], values, lane, threads, extra)
        error = 100 * (seen["ns_per_id"] / measured - 1)
        bad += not fitted and threads > 1 and abs(error) > bound
        rows.append({"case": name, "threads": threads, "measured_ns": round(measured, 3),
                     "predicted_ns": seen["ns_per_id"], "error_percent": round(error, 1), "measured_retries": retries,
                     "predicted_retries": seen["retries_per_id"], "fitted": fitted})
    if as_json:
        print(json.dumps({"parameters": values, "bound_percent": bound, "rows": rows, "outside": bad}, indent=1))
    else:
        print("%-34s %7s %9s %9s %8s %8s %8s" % ("case", "threads", "measured", "model", "error", "retries", "model"))
        for r in rows:
            print("%-34s %7d %9.2f %9.2f %+7.0f%% %8s %8.3f%s" % (
                r["case"], r["threads"], r["measured_ns"], r["predicted_ns"], r["error_percent"],
                "" if r["measured_retries"] is None else "%.3f" % r["measured_retries"], r["predicted_retries"],
                "  fitted" if r["fitted"] else ""))
        print("request: %d %% of a transfer" % values["request"])
        print("%d of %d predicted cases are more than %g %% off" % (
            bad, sum(r["threads"] > 1 and not r["fitted"] for r in rows), bound))
    return 1 if bad else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["parameters"] and len(sys.argv) == 4:
        print(" ".join(options(parameters(sys.argv[2], load(sys.argv[3])))))
    elif sys.argv[1:2] == ["check"]:
        sys.exit(check(sys.argv[2:]))
    else:
        fail("usage:" + __doc__.split("usage:")[1].split("\n\n")[0])
