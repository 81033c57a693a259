#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""firn bench: shapes, verdicts, errors. Figures are never judged: machines are shared. usage: bench_test.py FIRN"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import each_test  # noqa: E402

FIRN = os.path.abspath(sys.argv[1])
WORK = tempfile.TemporaryDirectory()


def firn(*args, code=0):
    done = subprocess.run([FIRN, "bench"] + list(args), capture_output=True, text=True, timeout=120)
    if done.returncode != code:
        raise AssertionError("%s: exit %d, not %d: %s%s" % (args, done.returncode, code, done.stdout, done.stderr))
    return done


def path(name):
    return os.path.join(WORK.name, name)


def quick(*args, code=0):
    return firn("--repetitions", "3", "--seconds", "0.01", *args, code=code)


def test_every_case_runs_and_has_its_ratio():
    report = json.loads(quick("--threads", "1,2", "--clock", "manual,ticker", "--json").stdout)
    names = {c["case"] for c in report["cases"]}
    for name in ("bare CAS", "next, manual", "inline, ticker", "shards, manual", "blocks, manual", "batch 100, ticker",
                 "mutex", "gettimeofday CAS"):
        assert name in names, name
    assert {c["threads"] for c in report["cases"]} == {1, 2}
    for case in report["cases"]:
        assert len(case["ns"]) == 3 and case["median_ns"] > 0 and case["ratio_to_bare_cas"] > 0, case
    assert report["ceiling_ns"] < 1 and report["machine"]["processors"] >= 1


def test_a_ceiling_that_poses_as_code_cost_is_refused():
    # 4096 IDs a millisecond and hardly a lead: every lane soon meets the ceiling.
    done = quick("--layout", "default", "--lead", "10", "--clock", "ticker", "--case", "next*", "--threads", "1", "--json",
                 code=1)
    cases = {c["case"]: c for c in json.loads(done.stdout)["cases"]}
    assert "ceiling" in cases["next, ticker"]["invalid"] and "ratio_to_bare_cas" not in cases["next, ticker"]
    assert "invalid" not in cases["bare CAS"]
    table = quick("--layout", "default", "--lead", "10", "--clock", "ticker", "--case", "next*", "--threads", "1", code=1)
    assert "ceiling" in [l for l in table.stdout.splitlines() if "next, ticker" in l][0]


def test_the_page_opens_without_a_network():
    quick("--case", "next*", "--threads", "1", "--clock", "manual", "--html", path("r.html"))
    with open(path("r.html")) as page:
        text = page.read()
    assert "<svg" in text and "next, manual" in text and "http" not in text and text.rstrip().endswith("</html>")


def test_two_equal_runs_do_not_differ_and_a_slower_one_does():
    def run(name, factor):
        cases = [{"case": "next", "threads": 1, "ns": [factor * (10 + i / 100) for i in range(9)]},
                 {"case": "other", "threads": 2, "ns": [20 + i / 100 for i in range(9)]},
                 {"case": "broken", "threads": 1, "ns": [1.0], "invalid": "refused"}]
        with open(path(name), "w") as out:
            json.dump({"machine": {}, "cases": cases}, out)
        return path(name)

    same, slow, fast, little = run("a", 1), run("b", 1.3), run("c", 0.8), run("d", 1.012)
    assert "slower" not in firn("compare", same, same).stdout
    verdicts = json.loads(firn("compare", same, slow, "--json", code=1).stdout)["cases"]
    assert [v["verdict"] for v in verdicts] == ["slower", "same", "no figure"] and verdicts[0]["p"] < 0.001
    assert "faster" in firn("compare", same, fast).stdout
    assert "slower" not in firn("compare", same, little).stdout
    assert "slower" in firn("compare", same, little, "--least", "0.5", code=1).stdout
    firn("compare", same, code=2)
    firn("compare", same, path("missing"), code=2)
    firn("compare", same, slow, "--alpha", "2", code=2)


def test_ceiling_and_latency_have_their_shapes():
    report = json.loads(firn("ceiling", "--threads", "1,2", "--seconds", "0.1", "--json").stdout)
    assert report["ceiling_rate"] == 4096000 and len(report["rows"]) == 2
    assert all(0 < r["share_of_ceiling"] < 1.5 for r in report["rows"])
    report = json.loads(firn("latency", "--rate", "10000", "--threads", "2", "--seconds", "0.2", "--clock", "ticker",
                             "--json").stdout)
    assert report["firn"]["calls"] == report["empty"]["calls"] == 2000 and report["firn"]["refused"] == 0
    values = [p[1] for p in report["firn"]["percentiles_ns"]]
    assert values == sorted(values)


def test_bad_calls_say_what_would_be_right():
    for args in (("--threads", "0"), ("--threads", "1,x"), ("--clock", "sundial"), ("--repetitions", "100"),
                 ("--seconds", "-1"), ("nonsense",), ("--layout", "time:99"), ("latency", "--rate", "0"),
                 ("latency", "--arrival", "never"), ("ceiling", "--batch", "5000"), ("compare",)):
        assert firn(*args, code=2).stderr != "", args


sys.exit(each_test.run(globals()))
