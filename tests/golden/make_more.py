#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""Writes more.json: vectors from the rules' own arithmetic, written here a second time and in another language."""
import json
import random

M = (1 << 64) - 1


class Model:
    """docs/spec.md, S-10 to S-30, in whole numbers."""

    def __init__(self, layout, node, lead, wait, start=None, fence=None, spread=0):
        self.l, self.lead, self.wait, self.spread = layout, lead, wait, spread
        self.bits = dict((n, b) for n, b in layout["fields"])
        self.seq = self.bits["sequence"]
        self.node = node
        self.word = -1 if start is None else ((self.tick(start) + 1) << self.seq) - 1
        self.fence = fence

    def tick(self, ms):
        return (ms - self.l["epoch_ms"]) // self.l["tick_ms"]

    def compose(self, word):
        values = dict(self.node, time=word >> self.seq, sequence=word & ((1 << self.seq) - 1))
        packed = 0
        for name, bits in self.l["fields"]:
            packed = packed << bits | values[name]
        return packed

    def take(self, count, clock):
        waited = 0
        while True:
            now = clock[min(waited, len(clock) - 1)]
            if now < self.l["epoch_ms"]:
                return "before_epoch"
            tick = self.tick(now)
            offset = (tick * 0x9E3779B97F4A7C15 & M) >> (64 - self.spread) if self.spread else 0
            first = max(self.word + 1, (tick << self.seq) + offset)
            last = first + count - 1
            top = last >> self.seq
            if top >> self.bits["time"] or tick >> self.bits["time"]:
                return "time_over"
            if self.fence is not None and top > self.tick(self.fence):
                return "fenced"
            lead = (top - tick) * self.l["tick_ms"]
            if lead <= self.lead:
                self.word = last
                return [self.compose(w) for w in range(first, last + 1)]
            if lead - self.lead > self.wait - waited:
                own = (self.word >> self.seq) - tick
                return "clock_back" if self.word >= 0 and own * self.l["tick_ms"] > self.lead else "exhausted"
            waited += 1


def layout(fields, epoch=1767225600000, tick=1):
    return {"epoch_ms": epoch, "tick_ms": tick, "fields": fields}


LAYOUTS = [
    layout([["time", 41], ["node", 10], ["sequence", 12]]),
    layout([["time", 41], ["region", 3], ["worker", 7], ["sequence", 12]]),
    layout([["time", 39], ["sequence", 8], ["machine", 16]], 1409529600000, 10),
    layout([["time", 28], ["worker", 22], ["sequence", 13]], 1700000000000, 1000),
    layout([["time", 20], ["a", 3], ["sequence", 4], ["b", 3]], 1700000000000, 1),
    layout([["time", 47], ["sequence", 16]], 0),
    layout([["time", 16], ["node", 2], ["sequence", 0]], 1700000000000, 7),
    layout([["time", 6], ["node", 1], ["sequence", 2]], -5000, 1),
]


def random_case(seed):
    r = random.Random(seed)
    l = LAYOUTS[seed % len(LAYOUTS)]
    span = (1 << dict((n, b) for n, b in l["fields"])["time"]) * l["tick_ms"]
    node = {n: r.choice([0, (1 << b) - 1, r.randrange(1 << b)]) for n, b in l["fields"][1:] if n != "sequence"}
    seq = dict((n, b) for n, b in l["fields"])["sequence"]
    lead = r.choice([0, 1, 3, 10, 1000]) * (l["tick_ms"] if r.random() < .7 else 1)
    wait = r.choice([0, 0, 1, 5, 20])
    base = l["epoch_ms"] + min(span - 1, r.choice([0, 3 * l["tick_ms"], span // 2, span - 6 * l["tick_ms"]]))
    case = {"name": "random %d" % seed, "kind": "mint", "layout": l, "node": node, "lead_ms_max": lead,
            "wait_ms_max": wait}
    start = fence = None
    if r.random() < .3 and base > l["epoch_ms"]:
        start = case["start_after_ms"] = base
    if r.random() < .3:
        fence = case["fence_ms"] = base + r.randrange(1, 30) * l["tick_ms"]
    spread = 0
    if r.random() < .4:
        spread = case["spread_bits"] = r.randrange(seq + 1)
    model = Model(l, node, lead, wait, start, fence, spread)
    steps = []
    now = base
    for _ in range(40):
        if fence is not None and r.random() < .1:
            fence = model.fence = max(fence, base) + 10 * l["tick_ms"]
            steps.append({"raise_fence_ms": fence})
            continue
        clock = []
        for _ in range(r.choice([1, 1, 1, 3, 6])):
            now += r.choice([0, 0, 0, 1, 1, 2, -1, -3, 5, -20]) * (l["tick_ms"] if r.random() < .6 else 1)
            clock.append(now)
        count = r.choice([1, 1, 1, 2, (1 << seq) - 1 or 1, 1 << seq, 5])
        count = min(count, 300)
        got = model.take(count, clock)
        step = {"take": count, "clock": clock}
        if isinstance(got, str):
            step["error"] = got
        elif len(got) > 6:
            step["ids"] = {"first": str(got[0]), "last": str(got[-1]), "count": len(got)}
        else:
            step["ids"] = [str(i) for i in got]
        steps.append(step)
    case["steps"] = steps
    return case


def invalid(name, l, node):
    return {"name": name, "kind": "mint", "layout": l, "node": node, "lead_ms_max": 0, "wait_ms_max": 0,
            "steps": [{"take": 1, "clock": [1767225600001], "error": "invalid"}]}


ALPHABET = {"hex": "0123456789abcdef", "base32": "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
            "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
            "base62": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"}
WIDTH = {"hex": 16, "base32": 13, "base58": 11, "base62": 11}


def write(form, value):
    if form == "decimal":
        return str(value)
    text = ""
    for _ in range(WIDTH[form]):
        text = ALPHABET[form][value % len(ALPHABET[form])] + text
        value //= len(ALPHABET[form])
    return text


def main():
    cases = [random_case(seed) for seed in range(160)]
    d = LAYOUTS[0]
    cases += [
        invalid("R61: node 1024 of 10 bits", d, {"node": 1024}),
        invalid("a node field is missing", LAYOUTS[1], {"region": 1}),
        invalid("a node field too many", d, {"node": 1, "rack": 2}),
        invalid("64 bits", layout([["time", 42], ["node", 10], ["sequence", 12]]), {"node": 1}),
        invalid("no sequence", layout([["time", 42], ["node", 10]]), {"node": 1}),
        invalid("time is not on top", layout([["node", 10], ["time", 41], ["sequence", 12]]), {"node": 1}),
        {"name": "take 0", "kind": "mint", "layout": d, "node": {"node": 1}, "lead_ms_max": 0, "wait_ms_max": 0,
         "steps": [{"take": 0, "clock": [1767225600001], "error": "invalid"}]},
        {"name": "bits above the layout", "kind": "decode", "layout": LAYOUTS[4], "id": str(1 << 30),
         "error": "range"},
        {"name": "R76: epoch 0 is an epoch", "kind": "decode", "layout": layout(d["fields"], 0),
         "id": "4194308096", "time_ms": 1000, "fields": {"node": 1, "sequence": 0}},
    ]
    r = random.Random(1)
    for i in range(60):
        value = r.choice([r.randrange(1 << r.randrange(1, 63)), (1 << r.randrange(63)) - 1])
        for form in ["decimal"] + sorted(ALPHABET):
            cases.append({"name": "%s of random %d" % (form, i), "kind": "text", "form": form, "id": str(value),
                          "text": write(form, value)})
    for form, text in (("base58", "NQm6nKp8qFD"), ("base58", "jpXCZedGfVS"), ("base62", "zzzzzzzzzzz"),
                       ("decimal", "18446744073709551616"), ("decimal", "14755887168818983731200"),
                       ("hex", "01F5DF9B51425000"), ("base58", "17Pdvfq"), ("base62", "4Zqt8a"),
                       ("base62", "-000000000a"), ("base32", "03XEZKD8M4M0"), ("decimal", "-1"), ("decimal", "")):
        cases.append({"name": "%s refuses '%s' (more)" % (form, text), "kind": "text", "form": form, "text": text,
                      "error": "invalid"})
    for form in ["decimal"] + sorted(ALPHABET):
        cases.append({"name": "%s does not write 2^63" % form, "kind": "text", "form": form, "id": str(1 << 63),
                      "error": "invalid"})
    with open(__file__.rsplit("/", 1)[0] + "/more.json", "w") as out:
        out.write('{"format": "firn-vectors/1", "cases": [\n')
        out.write(",\n".join(json.dumps(c) for c in cases))
        out.write("\n]}\n")


main()
