#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""firn layout plan and tune: the textbook's figures, the simulation against closed forms and against a model that
takes one ID at a time. Nothing is timed. usage: tune_test.py FIRN"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import each_test  # noqa: E402

FIRN = os.path.abspath(sys.argv[1])
WORK = tempfile.TemporaryDirectory()


def firn(*args, code=0):
    done = subprocess.run([FIRN, "layout"] + list(args), capture_output=True, text=True, timeout=60)
    if done.returncode != code:
        raise AssertionError("%s: exit %d, not %d: %s" % (args, done.returncode, code, done.stderr))
    return done


def plan(**load):
    arguments = [x for name, value in load.items() for x in ("--" + name, str(value))]
    return json.loads(firn("plan", *arguments, "--json").stdout)


def tune(*args):
    return json.loads(firn("tune", "--measure", "0", "--json", *args).stdout)


def widths(layout):
    return {name: bits for name, bits in layout["layout"]["fields"]}


def trace(counts):
    path = os.path.join(WORK.name, "trace")
    with open(path, "w") as out:
        out.write("# IDs of one node, a line for each millisecond\n" + "".join("%d\n" % n for n in counts))
    return path


def one_by_one(counts, per_tick, tick_ms, lead_ms):
    """The rule as it stands in the specification, one ID at a time: callers that wait, then callers that are refused."""
    waiting, leading, delays, leads, refused = 0, 0, [], [0], 0
    for ms, count in enumerate(counts):
        now = ms // tick_ms
        for _ in range(count):
            waiting = max(waiting, now * per_tick)
            delays.append(waiting // per_tick - now)
            waiting += 1
            first = max(leading, now * per_tick)
            if (first // per_tick - now) * tick_ms > lead_ms:
                refused += 1
            else:
                leads.append(first // per_tick - now)
                leading = first + 1
    return {"ids": len(delays), "stall_probability": sum(delay > 0 for delay in delays) / len(delays),
            "delay_p99_ms": sorted(delays)[math.ceil(0.99 * len(delays)) - 1] * tick_ms,
            "delay_most_ms": max(delays) * tick_ms, "lead_most_ms": max(leads) * tick_ms, "refused": refused / len(delays)}


def test_400_pods_share_a_burst_of_100000():
    best = plan(nodes=400, rate=30000, burst=100000)[0]
    assert widths(best) == {"time": 41, "node": 10, "sequence": 12} and best["burst_nodes"] == 25
    assert 69 < best["life_years"] < 70 and best["doubled_nodes_fit"]


def test_a_burst_on_one_node_leads_by_24_ms():
    for layout in tune("--nodes", "1", "--rate", "1", "--burst", "100000", "--arrival", "constant")["layouts"]:
        per_tick = 2 ** widths(layout)["sequence"]
        # Deterministic: ceil(B / c) ticks, of which the first is the clock's own.
        for most in (layout["predicted"]["delay_most_ms"], layout["predicted"]["lead_most_ms"]):
            assert most in (math.ceil(100001 / per_tick) - 1, math.ceil(100000 / per_tick) - 1), layout
    counts = [0] * 10 + [100000] + [0] * 100
    assert one_by_one([0, 100000], 4096, 1, 1000)["lead_most_ms"] == 24
    assert tune("--nodes", "400", "--trace", trace(counts))["most_per_ms_of_a_node"] == 100000


def test_40_billion_a_day_need_no_more_than_a_node():
    rate = 40e9 / 86400 * 4
    assert round(rate) == 1851852
    best = plan(nodes=1024, rate=rate)[0]
    assert widths(best) == {"time": 41, "node": 11, "sequence": 11} and best["ceiling_per_node_per_second"] > rate


def test_regions_are_a_field_with_workers_of_their_own():
    best = plan(nodes=1024, rate=40e9 / 86400 * 4, regions=8)[0]
    assert widths(best) == {"time": 41, "region": 3, "worker": 8, "sequence": 11}, best
    assert best["node_headroom"] == 2 and best["doubled_nodes_fit"] and best["ceiling_per_node_per_second"] > 40e9 / 86400 * 4
    # 15 nodes are 4 bits in one place; in three regions they are 5 a region, which takes 2 and 3 at least.
    for said in (plan(nodes=15, rate=1000, regions=3), tune("--nodes", "15", "--rate", "1000", "--regions", "3")["layouts"]):
        for layout in said:
            bits = widths(layout)
            assert bits["region"] == 2 and bits["worker"] >= 3 and sum(bits.values()) == 63, layout
            assert layout["node_headroom"] == 2 ** bits["worker"] / 5, layout
            # None of the three may clash within, of five that draw.
            free = math.prod(1 - i / 2 ** bits["worker"] for i in range(5)) ** 3
            assert abs(layout["clash_chance_random_nodes"] - (1 - free)) < 1e-9, layout
    assert widths(plan(nodes=15, rate=1000)[0]).keys() == {"time", "node", "sequence"}


def test_numbers_that_are_never_doubled_take_a_bit_less():
    call = ("--nodes", "600", "--rate", "100000")
    for deploy, bits, fits in (("none", 10, False), ("rolling", 11, True), ("blue-green", 11, True)):
        best = tune(*call, "--deploy", deploy)["layouts"][0]
        assert widths(best)["node"] == bits and best["doubled_nodes_fit"] == fits, (deploy, best)


def test_a_burst_may_say_its_millisecond():
    assert plan(nodes=400, rate=30000, burst="100000/ms") == plan(nodes=400, rate=30000, burst=100000)
    for burst in ("/ms", "5/s", "ms", "-1/ms"):
        assert "--burst" in firn("plan", "--nodes", "4", "--rate", "5", "--burst", burst, code=2).stderr, burst


def test_512_pods_fit_10_bits_twice_and_513_do_not():
    assert widths(plan(nodes=512, rate=100000)[0])["node"] == 10
    assert widths(plan(nodes=513, rate=100000)[0])["node"] == 11
    ten = [p for p in plan(nodes=513, rate=100000) if widths(p)["node"] == 10]
    assert all(not p["doubled_nodes_fit"] for p in ten)


def test_4096_nodes_and_174_years():
    shown = firn("show", "time:41 node:12 sequence:10 epoch=2026-01-01T00:00:00Z").stdout
    assert "1024000" in shown.replace(",", "") and "4096" in shown.replace(",", "")
    assert "174" in firn("show", "sonyflake").stdout


def test_the_simulation_is_the_rule_taken_one_id_at_a_time():
    draw = random.Random(7)
    for case in range(12):
        counts = [draw.choice([0, 0, draw.randrange(40), draw.randrange(3000)]) for _ in range(200)]
        lead = draw.choice([0, 2, 50])
        for layout in tune("--nodes", "400", "--rate", "1", "--lead", str(lead), "--trace", trace(counts))["layouts"]:
            per_tick = 2 ** widths(layout)["sequence"]
            model = one_by_one(counts, per_tick, layout["layout"]["tick_ms"], lead)
            for key, value in model.items():
                assert abs(layout["predicted"][key] - value) < 1e-9, (case, key, layout, model)


def test_what_is_refused_takes_nothing_from_what_follows():
    # One ID a tick more than there is, on and on: after the lead is used up only the excess is refused.
    counts = [600] * 2000
    said = tune("--nodes", "400", "--rate", "1", "--years", "8000", "--lead", "20", "--trace", trace(counts))
    worst = max(said["candidates"], key=lambda c: c["refused"])
    per_tick = 2 ** worst["sequence_bits"]
    asked = 600 * worst["tick_ms"]
    assert asked > per_tick, worst
    assert abs(worst["refused"] - (1 - per_tick / asked)) < 0.05, worst


def test_blocks_and_shards_are_taken_off_and_burst_takes_its_unit():
    plain = tune("--nodes", "16", "--rate", "3e6", "--burst", "1e6")
    assert plain == tune("--nodes", "16", "--rate", "3e6", "--burst", "1e6/ms")
    sharded = tune("--nodes", "16", "--rate", "3e6", "--burst", "1e6", "--shards", "4")
    by_bits = {(c["time_bits"], c["node_bits"], c["tick_ms"]): c for c in sharded["candidates"]}
    longer = [c for c in plain["candidates"]
              if by_bits.get((c["time_bits"], c["node_bits"], c["tick_ms"]), c)["lead_most_ms"] > c["lead_most_ms"]]
    assert longer, "a quarter of the sequence never leads further"


def test_arrivals_have_the_rate_and_the_shape_asked_for():
    poisson = tune("--nodes", "10", "--rate", "200000")
    # 60,000 milliseconds of mean 20: a standard error of 0.018; 60 or more in one has a chance below 10^-11.
    assert abs(poisson["mean_per_ms_of_a_node"] - 20) < 0.15 and 35 <= poisson["most_per_ms_of_a_node"] < 60, poisson
    large = tune("--nodes", "1", "--rate", "2e6")
    assert abs(large["mean_per_ms_of_a_node"] - 2000) < 2 and large["most_per_ms_of_a_node"] < 2000 + 7 * math.sqrt(2000)
    even = tune("--nodes", "10", "--rate", "205000", "--arrival", "constant")
    assert abs(even["mean_per_ms_of_a_node"] - 20.5) < 1e-3 and even["most_per_ms_of_a_node"] == 21
    bursts = tune("--nodes", "10", "--rate", "200000", "--arrival", "bursts:2/8")
    assert abs(bursts["mean_per_ms_of_a_node"] - 20) < 1e-3 and bursts["most_per_ms_of_a_node"] == 100


def test_equal_seeds_give_equal_answers_and_bad_calls_say_what_would_be_right():
    call = ("--nodes", "10", "--rate", "5e6", "--arrival", "bursts:2/8")
    assert tune(*call, "--seed", "3") == tune(*call, "--seed", "3")
    for args in (("--nodes", "10"), ("--rate", "5"), ("--nodes", "0", "--rate", "5"), ("--nodes", "1", "--rate", "x"),
                 ("--nodes", "1", "--rate", "5", "--arrival", "bursts:0/5"), ("--nodes", "1", "--rate", "1e13"),
                 ("--nodes", "1", "--rate", "5", "--deploy", "sometimes"), ("--nodes", "1", "--trace", "/nonexistent"),
                 ("--nodes", "1", "--trace", trace([])),
                 ("--nodes", "1", "--rate", "5", "--shards", "3"), ("--nodes", "1", "--rate", "5", "--burst", "5/s"),
                 ("--nodes", "1", "--rate", "5", "extra")):
        assert firn("tune", *args, code=2).stderr != "", args
    assert firn("tune", "--nodes", "1e12", "--rate", "1", "--years", "1e6", code=1).stderr != ""


def test_what_was_measured_stands_beside_what_was_predicted():
    for more in ((), ("--shards", "2"), ("--threads", "3", "--blocks", "16")):
        answer = json.loads(firn("tune", "--nodes", "4", "--rate", "20000", "--measure", "0.2", "--json", *more).stdout)
        for layout in answer["layouts"]:
            assert layout["measured"]["ids"] == layout["predicted_of_the_played"]["ids"] > 0
            assert 0 <= layout["measured"]["stall_probability"] <= 1 and 0 <= layout["late_ms_share"] <= 1
            assert layout["node_headroom"] == layout["node_numbers"] / 4


def test_the_table_says_what_the_object_says():
    call = ("--nodes", "100000", "--rate", "1", "--years", "60", "--lead", "100", "--measure", "0", "--trace",
            trace([0, 90000, 3] + [10] * 5000))
    rows = [l.split() for l in firn("tune", *call).stdout.splitlines() if l.startswith("  predicted ")]
    said = [l["predicted"] for l in tune(*call)["layouts"]]
    assert len(rows) == len(said) == 3
    # Figures that could be mistaken for each other differ somewhere.
    for one, other in (("delay_p99_ms", "delay_most_ms"), ("delay_most_ms", "lead_most_ms"), ("stall_probability", "refused")):
        assert any(p[one] != p[other] for p in said), (one, other, said)
    for row, predicted in zip(rows, said):
        assert [row[1], row[3], row[5], row[7], row[9]] == [
            "%.4f" % (predicted["stall_probability"] * 100), "%.0f" % predicted["delay_p99_ms"],
            "%.0f" % predicted["delay_most_ms"], "%.0f" % predicted["lead_most_ms"], "%.4f" % (predicted["refused"] * 100)]


sys.exit(each_test.run(globals()))
