#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""The pages of firn bench and firn layout tune: well-formed, complete, fetching nothing, and in agreement with the
object that --json writes in the same run. No figure is judged. usage: page_test.py FIRN"""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import each_test  # noqa: E402

FIRN = os.path.abspath(sys.argv[1])
WORK = tempfile.TemporaryDirectory()
PAGE = os.path.join(WORK.name, "page.html")


def run(*args):
    """(what --json says, the page's tree) of one run."""
    done = subprocess.run([FIRN, *args, "--json", "--html", PAGE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (args, done.stderr)
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    # Nothing that a browser would fetch, and nothing that it would run.
    assert not re.search(r"https?:|//|url\(|@import|\bsrc\s*=|\bhref\s*=|<script|<link", text), args
    assert "prefers-color-scheme:dark" in text
    return json.loads(done.stdout), xml.etree.ElementTree.fromstring(text)


def words(element):
    return "".join(element.itertext()).strip()


def figure(page, name):
    found = [f for f in page.iter("figure") if f.get("id") == name]
    assert len(found) == 1, (name, [f.get("id") for f in page.iter("figure")])
    # A title, a picture that is named by it, both axes with their labels.
    assert words(found[0].find("figcaption")) and found[0].find("svg").get("aria-labelledby") == name + "-title"
    labels = [words(t) for t in found[0].find("svg").iter("text")]
    return found[0], labels


def rows(table):
    return [[words(cell) for cell in row] for row in table.find("tbody")]


def columns(figure_):
    """The table below a chart: {series: [(x, y), ...]}."""
    table = next(figure_.iter("table"))
    names = [words(cell) for cell in table.find("thead")[0]]
    found = {name: [] for name in names[1:]}
    for row in rows(table):
        for name, cell in zip(names[1:], row[1:]):
            if cell:
                found[name].append((row[0], float(cell)))
    return found


def lines(figure_):
    """The points of every drawn line."""
    return [line.get("points").split() for line in figure_.iter("polyline")]


def close(a, b):
    return len(a) == len(b) and all(abs(float(x) - y) <= 1e-5 * abs(y) + 1e-9 for x, y in zip(a, b))


def test_the_bench_page_has_its_charts_with_the_figures_of_the_object():
    report, page = run("bench", "--case", "next*", "--clock", "ticker,realtime", "--threads", "1,2", "--repetitions", "3",
                       "--seconds", "0.01", "--watch", "0.3", "--rate", "20000")
    for clock in ("ticker", "realtime"):
        chart, labels = figure(page, "throughput-" + clock)
        assert "threads" in labels and "IDs a second" in labels
        for name, points in columns(chart).items():
            case = name if name.startswith("bare") else "%s, %s" % (name, clock)
            said = {str(c["threads"]): 1e9 / c["median_ns"] for c in report["cases"] if c["case"] == case}
            assert [x for x, _ in points] == ["1", "2"] and close([y for _, y in points], [said[x] for x, _ in points])
        # A mark for each point, and each tells its figures.
        assert len([t for t in chart.iter("title")]) == 2 * len(columns(chart))
    for threads in (1, 2):
        figure(page, "cost-%d" % threads)
        table = [t for t in page.iter("table") if t.get("id") == "cases-%d" % threads][0]
        said = [[c["case"], "%.2f" % c["median_ns"], "%.2f" % c["spread_ns"], "%.2f" % c["ratio_to_bare_cas"], c["parts"]]
                for c in report["cases"] if c["threads"] == threads]
        assert rows(table) == said and said, threads
    percentiles(page, report["latency"])
    timeline = report["ticks"]["timeline"]
    chart, labels = figure(page, "lead")
    assert "time, ms" in labels and "lead of the last ID, ms" in labels
    assert columns(chart)["lead"] == [("%d" % ms, lead) for ms, lead in timeline["lead_ms"]] and len(lines(chart)[0]) == 300
    chart, labels = figure(page, "ids-per-tick")
    assert "beginning of the tick, ms" in labels and "IDs of the tick" in labels
    assert columns(chart)["IDs"] == [("%d" % tick, ids) for tick, ids in timeline["ids_per_tick"]]
    assert sum(ids for _, ids in timeline["ids_per_tick"]) <= report["ticks"]["ids"] == 300 * 20
    assert max(ids for _, ids in timeline["ids_per_tick"]) <= report["ticks"]["ceiling_per_tick"] == 4096


def percentiles(page, latency):
    chart, labels = figure(page, "latency")
    assert "part of the calls, by number of nines" in labels and "latency from the intended moment, ns" in labels
    for nines in ("90 %", "99 %", "99.9 %"):
        assert nines in labels, labels
    for name, key in (("firn_gen_next", "firn"), ("an empty call", "empty")):
        points = columns(chart)[name]
        assert close([y for _, y in points], [ns for _, ns in latency[key]["curve_ns"]]), name
        parts = [part for part, _ in latency[key]["curve_ns"]]
        values = [ns for _, ns in latency[key]["curve_ns"]]
        assert parts == sorted(parts) and values == sorted(values) and parts[0] == 0 and parts[-1] < 1
        assert all(abs(float(x[:-2]) / 100 - part) < 0.01 * (1 - part) for (x, _), part in zip(points, parts)), points
    # By number of nines: half of what is left is always the same distance on.
    at = [float(p.split(",")[0]) for p in lines(chart)[0]]
    steps = [at[i + 5] - at[i] for i in range(0, len(at) - 5, 5)]
    assert max(steps) - min(steps) < 0.3 and min(steps) > 5, steps


def test_a_latency_run_has_a_page_of_its_own():
    report, page = run("bench", "latency", "--rate", "20000", "--threads", "1", "--seconds", "0.2", "--clock", "ticker")
    assert report["firn"]["calls"] == 4000
    percentiles(page, report)


def test_a_page_without_the_other_runs_has_only_code_cost():
    report, page = run("bench", "--case", "next*", "--clock", "ticker", "--threads", "1", "--repetitions", "3", "--seconds",
                       "0.01", "--watch", "0")
    assert "latency" not in report and "ticks" not in report
    assert {f.get("id") for f in page.iter("figure")} == {"throughput-ticker", "cost-1"}


def test_the_tuners_page_has_every_candidate_and_predicted_beside_measured():
    trace = os.path.join(WORK.name, "trace")
    with open(trace, "w") as out:
        out.write("".join("%d\n" % (9000 if ms == 50 else 90) for ms in range(400)))
    answer, page = run("layout", "tune", "--nodes", "900", "--trace", trace, "--measure", "0.2")
    chart, labels = figure(page, "trade-off")
    assert "life, years" in labels and "largest lead, ms" in labels and {"1", "2", "3"} <= set(labels)
    # The ranks of rings that touch can still be told apart.
    at = [(float(t.get("x")), float(t.get("y"))) for t in chart.find("svg").iter("text") if words(t) in ("1", "2", "3") and
          t.get("text-anchor") == "middle"]
    ranks = [p for p in at if any(abs(float(c.get("cx")) - p[0]) < 0.1 for c in chart.find("svg").iter("circle")
                                  if c.get("class") == "ring")]
    assert len(ranks) == 3, at
    assert all(abs(a[0] - b[0]) > 12 or abs(a[1] - b[1]) > 12 for i, a in enumerate(ranks) for b in ranks[:i]), ranks
    table = [t for t in page.iter("table") if t.get("id") == "candidates"][0]
    said = [[c["time_bits"], c["node_bits"], c["sequence_bits"], c["tick_ms"], c["life_years"], c["node_headroom"],
             c["stall_probability"] * 100, c["delay_most_ms"], c["lead_most_ms"], c["refused"] * 100]
            for c in answer["candidates"]]
    assert len(said) > 3 and all(close(row, one) for row, one in zip(rows(table), said)) and len(rows(table)) == len(said)
    # A mark for every candidate.
    assert len([t for t in chart.find("svg").iter("title")]) == len(said)
    table = [t for t in page.iter("table") if t.get("id") == "outcomes"][0]
    keys = ("stall_probability", "delay_p99_ms", "delay_most_ms", "lead_most_ms", "refused")
    said = [[layout[kind][key] * (100 if key in ("stall_probability", "refused") else 1) for key in keys]
            for layout in answer["layouts"] for kind in ("predicted", "predicted_of_the_played", "measured")]
    assert len(said) == 9 and all(close(row[2:], one) for row, one in zip(rows(table), said))
    chart, _ = figure(page, "beside")
    for name, kind, key in (("p99 delay, predicted", "predicted_of_the_played", "delay_p99_ms"),
                            ("max lead, measured", "measured", "lead_most_ms")):
        assert close([y for _, y in columns(chart)[name]], [layout[kind][key] for layout in answer["layouts"]])
    chart, labels = figure(page, "lead")
    assert "time, ms" in labels and "lead, ms" in labels
    for rank, layout in enumerate(answer["layouts"]):
        for name in ("simulated", "measured"):
            points = layout[name + "_timeline"]["lead_ms"]
            assert len(points) == 200 and close([y for _, y in columns(chart)["layout %d, %s" % (rank + 1, name)]],
                                                [lead for _, lead in points]), (rank, name)
        # The timeline's peak is the outcome's.
        assert max(lead for _, lead in layout["simulated_timeline"]["lead_ms"]) == \
            layout["predicted_of_the_played"]["lead_most_ms"]


def test_a_page_that_cannot_be_written_is_an_error():
    done = subprocess.run([FIRN, "layout", "tune", "--nodes", "4", "--rate", "10", "--measure", "0", "--html",
                           os.path.join(WORK.name, "no", "page")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 4 and "cannot be written" in done.stderr and done.stdout == ""


sys.exit(each_test.run(globals()))
