#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""JSON on one side, port.c's words on the other: so a program without a JSON library is a port. usage: port.py COMMAND...

It only changes the form. In a cross build meson names the emulator that runs the program.
"""
import json
import os
import re
import shlex
import subprocess
import sys

INVALID = {"error": "invalid"}


def layout(given):
    fields = given["fields"]
    if any(not re.fullmatch(r"\S+", name) for name, _ in fields):
        return None
    return " ".join([str(len(fields))] + ["%s %d" % (name, bits) for name, bits in fields])


def nodes(request):
    """The node's values in the layout's order; None where the names are not the layout's."""
    names = [name for name, _ in request["layout"]["fields"][1:] if name != "sequence"]
    node = request["node"]
    if sorted(names) != sorted(node):
        return None
    return " ".join(["%d" % len(names)] + ["%d" % node[name] for name in names])


def words(request):
    """The request as a line of words; None: it is invalid already as it stands."""
    op = request["op"]
    if op == "open":
        fields, node = layout(request["layout"]), nodes(request)
        if fields is None or node is None:
            return None
        numbers = [request["layout"]["epoch_ms"], request["layout"]["tick_ms"], request["lead_ms_max"],
                   request["wait_ms_max"], request.get("spread_bits", 0), request.get("start_after_ms", "-"),
                   request.get("fence_ms", "-")]
        return "open %s %s %s" % (" ".join(str(n) for n in numbers), fields, node)
    if op == "take":
        return "take %d %s" % (request["count"], " ".join(str(ms) for ms in request["clock"]))
    if op == "raise_fence":
        return "raise %d" % request["ms"]
    if op == "decode":
        fields = layout(request["layout"])
        return fields and "decode %d %d %s %s" % (request["layout"]["epoch_ms"], request["layout"]["tick_ms"], fields,
                                                  request["id"])
    if op == "format":
        return "format %s %s" % (request["form"], request["id"])
    if op == "parse":
        return "parse %s x%s" % (request["form"], request["text"].encode().hex())
    return op


def answer(line):
    word, *rest = line.split()
    if word == "ok":
        return {"ok": True}
    if word == "unsupported":
        return {"unsupported": True}
    if word == "error":
        return {"error": rest[0]}
    if word == "ids":
        return {"ids": rest}
    if word == "parts":
        return {"time_ms": int(rest[0]), "fields": dict(zip(rest[1::2], map(int, rest[2::2])))}
    return {word: rest[0] if rest else ""}


def main():
    wrapper = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
    port = subprocess.Popen(wrapper + sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    opened_wrongly = False
    for line in sys.stdin:
        request = json.loads(line)
        line = words(request)
        if request["op"] in ("open", "close"):
            opened_wrongly = line is None
        if line is None or (opened_wrongly and request["op"] in ("take", "raise_fence")):
            print(json.dumps(INVALID), flush=True)
            continue
        port.stdin.write(line + "\n")
        port.stdin.flush()
        said = port.stdout.readline()
        if not said:
            sys.exit("the port ended: %s" % line)
        print(json.dumps(answer(said)), flush=True)
    port.stdin.close()
    return port.wait()


sys.exit(main())
