#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""Builds every variant of the project and runs its tests; ends with a line 'N passed, N failed'.

usage: check.py [--build-dir DIR] [--quick]   (--quick: the first variant only)
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# name, compiler, meson options, suites (None: all), fuzz targets too
VARIANTS = [
    ("gcc", "gcc", ["-Dwerror=true", "-Dtests=enabled", "-Dtool=enabled"], None),
    ("ck", "gcc", ["-Datomics=ck", "-Dmodel=disabled", "-Dbench=disabled"], ["unit", "golden", "stress", "fault"]),
    ("asan-ubsan", "gcc", ["-Db_sanitize=address,undefined", "-Dmodel=disabled", "-Dbench=disabled"],
     ["unit", "golden", "cli", "stress", "fault"]),
    ("tsan", "gcc", ["-Db_sanitize=thread", "-Dmodel=disabled", "-Dbench=disabled"], ["golden", "stress"]),
    ("clang-fuzz", "clang", ["-Dwerror=true", "-Dfuzz=enabled", "-Dmodel=disabled", "-Dbench=disabled",
                             "-Dtests=disabled", "-Db_lundef=false"], ["fuzz"]),
    # After gcc: its command is the judge of the golden vectors.
    ("aarch64", "gcc", ["--cross-file", "tests/cross/aarch64.ini", "-Dwerror=true", "-Dtool=disabled",
                        "-Dmodel=disabled", "-Dbench=disabled"], ["unit", "golden", "stress", "fault", "cross"]),
]
CROSS_COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64"


def run(command, log, env=None):
    with open(log, "ab") as out:
        return subprocess.call(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT, env=env)


def tail(log, lines=60):
    with open(log, errors="replace") as text:
        sys.stdout.write("".join(text.readlines()[-lines:]))


def results(build):
    """(passed, failed, skipped names, failed names) of the last meson test run in build."""
    passed, failed, skipped = 0, [], []
    path = os.path.join(build, "meson-logs", "testlog.json")
    if not os.path.exists(path):
        return 0, ["no test ran"], []
    with open(path) as lines:
        for line in lines:
            test = json.loads(line)
            if test["result"] in ("OK", "EXPECTEDFAIL"):
                passed += 1
                # Parts of it that say by name that they were left out.
                skipped += [test["name"] + ": " + line.split(":", 1)[1].strip()
                            for line in test.get("stdout", "").splitlines() if line.startswith("skipped:")]
            elif test["result"] == "SKIP":
                skipped.append(test["name"])
            else:
                failed.append(test["name"])
                print("---- %s (%s)" % (test["name"], test["result"]))
                print("\n".join((test.get("stdout", "") + test.get("stderr", "")).splitlines()[-40:]))
    return passed, failed, skipped


def cross_environment(env, where):
    """Where the emulator finds the target's libraries, and the tests our own command; or what is missing."""
    for command in (CROSS_COMPILER, EMULATOR):
        if shutil.which(command) is None:
            return command + " is not installed"
    libc = subprocess.run([CROSS_COMPILER, "-print-file-name=libc.so.6"], capture_output=True, text=True).stdout.strip()
    if not os.path.isabs(libc):
        return "no C library for %s is installed" % CROSS_COMPILER
    env["QEMU_LD_PREFIX"] = os.path.dirname(os.path.dirname(os.path.realpath(libc)))
    env["PATH"] = os.path.join(where, VARIANTS[0][0], "tools", "firn") + os.pathsep + env["PATH"]
    return None


def check(variant, where):
    name, compiler, options, suites = variant
    build = os.path.join(where, name)
    log = os.path.join(where, name + ".log")
    started = time.time()
    shutil.rmtree(build, ignore_errors=True)
    env = dict(os.environ, CC=compiler, CXX="g++" if compiler == "gcc" else "clang++")
    if "--cross-file" in options:
        missing = cross_environment(env, where)
        if missing:
            print("== %s: skipped: %s" % (name, missing), flush=True)
            return 0, [], ["%s: all of it (%s)" % (name, missing)]
    print("== %s: building" % name, flush=True)
    if run(["meson", "setup", build, ROOT] + options, log, env) or run(["ninja", "-C", build], log):
        tail(log)
        return 0, [name + ": the build"], []
    print("== %s: testing" % name, flush=True)
    command = ["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "--num-processes", "2"]
    for suite in suites or []:
        command += ["--suite", suite]
    # AddressSanitizer's alternate signal stack reports a wild pointer when a thread is cancelled.
    env["ASAN_OPTIONS"] = "use_sigaltstack=0"
    # The exit code is not needed: every test's result is read one by one.
    run(command, log, env)
    passed, failed, skipped = results(build)
    print("== %s: %d passed, %d failed, %d skipped%s, %.0f s" % (
        name, passed, len(failed), len(skipped), "".join(" [skipped: %s]" % s for s in skipped),
        time.time() - started), flush=True)
    return passed, [name + ": " + f for f in failed], [name + ": " + s for s in skipped]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build-dir", default=os.path.join(ROOT, "build-check"))
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    os.makedirs(arguments.build_dir, exist_ok=True)
    passed, failed, skipped = 0, [], []
    for variant in VARIANTS[:1] if arguments.quick else VARIANTS:
        p, f, s = check(variant, arguments.build_dir)
        passed, failed, skipped = passed + p, failed + f, skipped + s
    for name in failed:
        print("FAILED: " + name)
    for name in skipped:
        print("SKIPPED: " + name)
    print("%d passed, %d failed" % (passed, len(failed)))
    return 1 if failed or passed == 0 else 0


sys.exit(main())
