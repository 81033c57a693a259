#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the library as one pair of files, firn.h and firn.c, to be dropped into a program. usage: amalgamate.py DIR

Compile with: cc -std=c11 -O2 -c firn.c. Nothing but libc is needed. Both lanes are in firn.h; the
atomics are the compiler's. The same sources give the same bytes.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARTS = ["layout", "clock", "gen", "codec"]  # from below: see design of include edges in CONTRIBUTING.md
INCLUDE = re.compile(r'^#include (<firn[^>]*>|"[^"]+")\s*$', re.M)
HEAD = "/* SPDX-FileCopyrightText: The firn authors */\n/* SPDX-License-Identifier: Apache-2.0 */\n"


def read(path):
    with open(os.path.join(ROOT, path)) as text:
        return text.read()


def place(name):
    """The file that an include means: "gen/x.h" lies in src, <firn/x.h> in include."""
    return os.path.join("src" if name[0] == '"' else "include", name[1:-1])


def expand(path, done):
    """The file's text with each of our own headers in the place of its first include."""
    if path in done:
        return ""
    done.add(path)
    text = read(path)
    body = text[len(HEAD):] if text.startswith(HEAD) else text
    return "\n/* ---- %s ---- */\n" % path + INCLUDE.sub(lambda m: expand(place(m.group(1)), done), body)


def statics(text):
    """Names of file scope that only this file knows: functions, objects, tags."""
    functions = set(re.findall(r"^static [^;={]*?\n(\w+)\(", text, re.M))
    functions |= set(re.findall(r"^FIRNI_INLINE [^;={]*?\n(\w+)\(", text, re.M))
    objects = set(re.findall(r"^static [^(\n]*?(\w+)(?:\[[^\n]*\])*(?: =|;)", text, re.M))
    objects |= set(re.findall(r"^\} (\w+)(?: =|;)", text, re.M))
    tags = set(re.findall(r"^struct (\w+) \{", text, re.M))
    return functions, objects, tags


def source(path, clashing, done):
    """One source: names that another source has too are given this one's name while its text lasts."""
    text = read(path)
    stem = os.path.splitext(os.path.basename(path))[0]
    functions, objects, _ = statics(text)
    renamed = []
    for name in sorted((functions | objects) & clashing):
        arguments = ("(...)", "(__VA_ARGS__)") if name in functions else ("", "")
        renamed.append((name, "#define %s%s firni_%s_%s%s\n" % (name, arguments[0], stem, name, arguments[1])))
    macros = re.findall(r"^#define (\w+)", text, re.M)
    # Headers first: they must not see the new names.
    own = INCLUDE.findall(text)
    before = "".join(expand(place(name), done) for name in own)
    body = expand(path, done)
    end = "".join("#undef %s\n" % name for name in macros + [name for name, _ in renamed])
    return before + "".join(line for _, line in renamed) + body + end


def clashes(paths):
    seen, twice = {}, set()
    for path in paths:
        functions, objects, tags = statics(read(path))
        for name in functions | objects | tags:
            if name in seen:
                twice.add(name)
                if name in tags:
                    sys.exit("amalgamate: struct %s stands in %s and in %s: give one another name"
                             % (name, seen[name], path))
            seen[name] = path
    return twice


def unconditional_includes(text):
    """The system includes of sources and headers that no condition but an include guard governs."""
    includes, depth = set(), 0
    for line in text.splitlines():
        if line.startswith("#if") and not re.match(r"#ifndef FIRNI?_\w+_H$", line):
            depth += 1
        elif line.startswith("#endif"):
            depth = max(0, depth - 1)
        elif depth == 0 and re.match(r"#include <", line):
            includes.add(line)
    return includes


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    done = set()
    note = HEAD + "/* Made by tools/amalgamate.py from the sources of firn: %s. Change those, not this. */\n"
    header = note % "all public headers, both lanes"
    header += expand("include/firn.h", done) + expand("include/firn/inline.h", done)
    paths = ["src/error.c", "src/version.c"]
    for part in PARTS:
        names = sorted(os.listdir(os.path.join(ROOT, "src", part)))
        paths += ["src/%s/%s" % (part, name) for name in names if name.endswith(".c")]
    twice = clashes(paths)
    code = note % "the whole library" + "#define _GNU_SOURCE\n#define _FILE_OFFSET_BITS 64\n#include \"firn.h\"\n"
    body = "".join(source(path, twice, done) for path in paths)
    # The system's headers first: what they declare must not be hidden with our own.
    code += "".join(line + "\n" for line in sorted(unconditional_includes(body)))
    code += "#pragma GCC visibility push(hidden)\n" + body + "#pragma GCC visibility pop\n"
    for name, text in (("firn.h", header), ("firn.c", code)):
        with open(os.path.join(sys.argv[1], name), "w") as out:
            out.write(text)


main()
