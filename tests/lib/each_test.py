# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a file: every function whose name begins with test_. A failure is told, the rest go on."""


def run(names):
    """names: the file's globals(). The exit code: 0 if none failed, and there was one to run."""
    tests = [(name, test) for name, test in names.items() if name.startswith("test_")]
    failed = 0
    for name, test in tests:
        try:
            test()
        except Exception as error:
            failed += 1
            print("FAILED %s: %r" % (name, error))
    print("%d tests, %d failed" % (len(tests), failed))
    return 1 if failed or not tests else 0
