#!/usr/bin/env python3
# SPDX-FileCopyrightText: The firn authors
# SPDX-License-Identifier: Apache-2.0
"""Every subcommand of firn: what it prints, its --json, its errors and exit codes. usage: cli_test.py FIRN"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import each_test  # noqa: E402

FIRN = os.path.abspath(sys.argv[1])
HOME = tempfile.TemporaryDirectory()
ENV = dict(os.environ, XDG_STATE_HOME=HOME.name, NO_COLOR="1")


def firn(*args, stdin=None, env=None, code=0):
    done = subprocess.run([FIRN] + list(args), input=stdin, capture_output=True, text=True, env=env or ENV, timeout=60)
    if done.returncode != code:
        raise AssertionError("%s: exit %d, not %d: %s" % (args, done.returncode, code, done.stderr))
    return done


def loads(*args, **more):
    return json.loads(firn(*args, "--json", **more).stdout)


def test_help_and_version_go_to_standard_output():
    assert "firn next" in firn("--help").stdout and firn("--version").stdout.startswith("firn ")
    for command in ("next", "decode", "layout", "clock", "state", "conform"):
        assert "examples:" in firn(command, "--help").stdout, command


def test_bad_calls_are_usage_errors_that_name_the_fault():
    assert "no command 'nexd'" in firn("nexd", code=2).stderr
    assert "--bogus" in firn("next", "--bogus", code=2).stderr
    assert "needs a value" in firn("next", "-n", code=2).stderr
    for count in ("0", "-3", "1e3", "01", "x", ""):
        firn("next", "--count", count, code=2)
    assert "base58" in firn("next", "--format", "base64", code=2).stderr


def test_next_rises_over_runs_and_forms():
    last = 0
    for form in ("decimal", "hex", "base32", "base58", "base62"):
        for text in firn("next", "-n", "5", "--format", form).stdout.split():
            shown = loads("decode", text, "--form", form, "--layout", "default")
            assert int(shown["id"]) > last and shown["form"] == form
            last = int(shown["id"])
    ids = loads("next", "-n", "9000")["ids"]
    assert len(ids) == 9000 and all(isinstance(i, str) for i in ids) and ids == sorted(set(ids), key=int)
    assert int(ids[0]) > last


def test_processes_side_by_side_never_repeat():
    path = os.path.join(HOME.name, "side.state")
    runs = [subprocess.Popen([FIRN, "next", "-n", "50000", "--state", path], stdout=subprocess.PIPE, text=True)
            for _ in range(6)]
    ids = [i for run in runs for i in run.communicate()[0].split()]
    assert len(ids) == 300000 and len(set(ids)) == 300000


def test_the_state_file_gives_layout_and_node_and_refuses_others():
    path = os.path.join(HOME.name, "node.state")
    firn("next", "--state", path, "--layout", "regional", "--node", "region=1,worker=7")
    shown = loads("decode", firn("next", "--state", path).stdout.strip(), "--layout", "regional")
    assert shown["layouts"][0]["fields"]["region"] == "1" and shown["layouts"][0]["fields"]["worker"] == "7"
    assert loads("next", "--state", path, "--node", "5", code=3)["error"] == "state_node"
    assert loads("next", "--state", path, "--layout", "twitter", code=3)["error"] == "state_layout"
    os.chmod(path, 0o644)
    assert "chmod 600" in firn("next", "--state", path, code=3).stderr
    os.chmod(path, 0o600)
    info = loads("state", "show", path)
    assert info["node"] == "135" and info["clean"] and not info["in_use"] and info["slots_valid"] == 2
    assert "sound" in firn("state", "check", path).stdout
    with open(path, "r+b") as file:
        file.truncate(100)
    assert loads("state", "check", path, code=3)["error"] == "state_size"
    firn("next", "--state", os.path.join(HOME.name, "no/such/x"), code=3)
    firn("state", "adopt", code=2)


def test_R32_only_plain_numbers_are_nodes():
    path = os.path.join(HOME.name, "r32.state")
    for node in ("noetl-control-plane", "", " 7", "7x", "0x7", "1024", "-1", "+1", "01"):
        assert "node '%s'" % node in firn("next", "--state", path, "--node=" + node, code=2).stderr
    assert not os.path.exists(path)
    for node in ("region=1", "region=1,worker=128", "region=1,worker=7,x=1", "region=1,region=1"):
        firn("next", "--state", path, "--layout", "regional", "--node", node, code=2)


def test_decode_known_ids():
    twitter = loads("decode", "1541815603606036480", "--layout", "twitter")["layouts"][0]
    assert twitter["time"] == "2022-06-28T16:07:40.105Z"
    assert twitter["fields"] == {"datacenter": "11", "worker": "26", "sequence": "0"}
    assert "worker 1  process 0  sequence 7" in firn("decode", "175928847299117063", "--layout", "discord").stdout
    assert "twitter" in firn("decode", "1541815603606036480").stdout


def test_R70_R72_wrong_epochs_are_flagged_and_the_epoch_named():
    right = loads("decode", "1593572310593806338", "--layout", "twitter")["layouts"][0]
    assert right["time"] == "2022-11-18T11:50:20.644Z" and right["node"] == "378" and "doubt" not in right
    early = loads("decode", "20", "--layout", "twitter")["layouts"][0]
    assert early["time"] == "2010-11-04T01:42:54.657Z" and "epoch" in early["doubt"]
    text = "time:41 node:10 sequence:12 epoch=%d"
    late = loads("decode", "7202794905796608000", "--layout", text % 1288834974657)["layouts"][0]
    assert late["time"] == "2065-04-04T23:58:21.657Z" and "future" in late["doubt"]
    zero = loads("decode", "7202794905796608000", "--layout", text % 0)["layouts"][0]
    assert zero["time"] == "2024-06-01T22:15:27.000Z"
    assert "epoch 1970-01-01T00:00:00Z" in firn("decode", "7202794905796608000", "--layout", text % 0).stdout


def test_R76_epoch_zero_is_an_epoch():
    shown = loads("decode", "4194308096", "--layout", "time:41 node:10 sequence:12 epoch=0")["layouts"][0]
    assert shown["time"] == "1970-01-01T00:00:01.000Z" and shown["fields"] == {"node": "1", "sequence": "0"}


def test_R92_R94_what_is_no_id_is_refused_and_never_zero():
    for text in ("null", "", " ", "9223372036854775808", "18446744073709551616", "14755887168818983731200", "-1", "1.0"):
        done = firn("decode", stdin=text + "\n", code=1)
        assert done.stdout == "", text
        assert json.loads(firn("decode", "--json", stdin=text + "\n", code=1).stdout)["error"].startswith("text_")
    assert loads("decode", "9223372036854775807", "--layout", "default")["id"] == "9223372036854775807"
    mixed = firn("decode", "--layout", "default", stdin="1\nx\n4194304\n", code=1)
    assert mixed.stdout.count("ago") + mixed.stdout.count("ahead") == 2


def test_R97_case_is_never_folded():
    ids = set()
    for text in ("000004Zqt8a", "000004Zqt8A"):
        ids.add(loads("decode", text, "--form", "base62", "--layout", "time:41 node:10 sequence:12 epoch=0")["id"])
    assert ids == {"4194308096", "4194308070"}


def test_R99_ids_are_strings_in_json():
    raw = firn("decode", "653247040368672768", "--layout", "twitter", "--json").stdout
    assert '"id":"653247040368672768"' in raw


def test_R68_the_zone_of_the_host_does_not_matter():
    text = "time:41 node:10 sequence:12 epoch=2016-11-01T00:00:00Z"
    for zone in ("UTC", "Asia/Shanghai", "America/New_York"):
        env = dict(ENV, TZ=zone)
        assert loads("layout", "show", text, env=env)["layout"]["epoch_ms"] == 1477958400000
        assert "zone" in firn("layout", "show", text[:-1], env=env, code=2).stderr


def test_layout_verbs():
    assert len(loads("layout", "list")) == 8
    assert "256 IDs a tick of 10 ms" in firn("layout", "show", "sonyflake").stdout
    bad = firn("layout", "check", "time:41 bogus sequence:2", code=2).stderr.splitlines()
    assert bad[2].index("^") == bad[1].index("bogus")
    assert "warning" in firn("layout", "check", "time:41 node:10 sequence:12 epoch=1577203200", code=1).stdout
    end = loads("layout", "show", "time:41 node:10 sequence:12 epoch=1577203200")
    assert end["last"] == "2039-09-25T21:54:18.751Z"
    over = firn("layout", "check", "time:36 sequence:12 epoch=0", code=1).stdout
    assert "795.4 days" in over and "over" in over


def test_R30_R59_plan_tells_the_price():
    plans = loads("layout", "plan", "--nodes", "400", "--rate", "30000", "--burst", "100000", "--years", "50")
    assert plans[0]["burst_nodes"] == 25 and plans[0]["doubled_nodes_fit"] and plans[0]["life_years"] >= 50
    hundred = [p for p in loads("layout", "plan", "--nodes", "100", "--rate", "1") if p["layout"]["fields"][1][1] == 10]
    assert all(abs(p["clash_chance_random_nodes"] - 0.993) < 0.001 for p in hundred) and hundred
    firn("layout", "plan", "--nodes", "1e12", "--rate", "1e15", code=1)
    firn("layout", "plan", "--nodes", "0", "--rate", "1", code=2)
    firn("layout", "plan", code=2)


def test_clock():
    shown = loads("clock")
    kinds = [c["kind"] for c in shown["clocks"]]
    assert kinds[:3] == ["realtime", "coarse", "monotonic"] and kinds[-1] == "ticker", kinds
    assert "tsc" in kinds or "tsc clock cannot be had" in firn("clock").stderr
    assert all(abs(c["offset_ms"]) < 1000 and c["cost_ns"] > 0 for c in shown["clocks"])
    firn("clock", "--require", "x", code=2)
    bound = shown["health"]["error_max_us"] // 1000 + 60000
    firn("clock", "--require", str(min(bound, 1000000)))


CASE = '{"name":"%s","kind":"text","form":"hex","id":"%s","text":"000000000000000a"}'


def good_case():
    return '{"format":"firn-vectors/1","cases":[%s]}' % (CASE % ("ten", "10"))


def vectors(name, text):
    path = os.path.join(HOME.name, name)
    with open(path, "w") as out:
        out.write(text)
    return path


def test_conform_reports_differences_and_stale_lists():
    good = vectors("good.json", good_case())
    bad = vectors("bad.json", '{"format":"firn-vectors/1","cases":[%s]}' % (CASE % ("eleven", "11")))
    assert firn("conform", good).stdout == "1 passed, 0 failed, 0 skipped\n"
    assert "differs: eleven" in firn("conform", bad, code=1).stdout
    assert loads("conform", bad, code=1)["failed"] == 1
    listed = vectors("known", "# why\neleven\n")
    firn("conform", bad, "--expect-failures", listed)
    firn("conform", good, bad, "--expect-failures", vectors("stale", "ten\neleven\n"), code=1)
    for broken in ('{"format":"firn-vectors/2","cases":[]}', '{"cases":[]}', "[", '{"format":"firn-vectors/1","cases":[{}]}',
                   good_case()[:-1] + ',"x":1}',
                   '{"format":"firn-vectors/1","cases":[%s]}' % (CASE % ("n", "10")).replace('"form"', '"from"')):
        firn("conform", vectors("broken.json", broken), code=2)
    firn("conform", os.path.join(HOME.name, "missing.json"), code=2)
    firn("conform", good, "--", "false", code=2)
    firn("conform", good, "--", "/nonexistent/port", code=2)
    port = "import sys\nfor l in sys.stdin: print('{\"text\":\"000000000000000a\",\"id\":\"10\"}', flush=True)"
    firn("conform", good, "--", sys.executable, "-c", port, code=1)
    unsupported = "import sys\nfor l in sys.stdin: print('{\"unsupported\":true}', flush=True)"
    assert "1 skipped" in firn("conform", good, "--", sys.executable, "-c", unsupported).stdout


def test_bytes_that_are_no_text_are_refused_like_other_input():
    def decode(line, *args):
        done = subprocess.run([FIRN, "decode"] + list(args), input=line, capture_output=True, env=ENV, timeout=60)
        assert done.returncode == 1, (line, done)
        return done
    assert decode(b"123\0garbage\n").stdout == b""
    assert json.loads(decode(b"123\0garbage\n", "--json").stdout)["input"] == "123\0garbage"
    assert json.loads(decode(b"\xff\xfe1\n", "--json").stdout)["input"] == "\ufffd\ufffd1"
    assert b"\033" not in decode(b"\033[31m\n").stderr
    path = os.path.join(os.fsencode(HOME.name), b"\xff.state")
    assert subprocess.run([FIRN, "next", "--state", path], stdout=subprocess.DEVNULL, env=ENV).returncode == 0
    shown = subprocess.run([FIRN, "state", "show", "--json", path], capture_output=True, env=ENV)
    assert json.loads(shown.stdout)["path"].endswith("\ufffd.state")


def test_input_that_cannot_be_read_is_an_error():
    for args, code in ((["decode"], 1), (["conform", "--serve"], 2)):
        with open("/proc/self/mem", "rb") as nothing_at_zero:
            done = subprocess.run([FIRN] + args, stdin=nothing_at_zero, capture_output=True, text=True, env=ENV)
            assert done.returncode == code and "standard input" in done.stderr, done
    firn("conform", vectors("names.json", good_case()), "--expect-failures", HOME.name, code=2)


def test_json_tells_of_refusals_too():
    wide = loads("decode", "9223372036854775807", "--layout", "time:41 node:10 sequence:11 epoch=0", code=1)
    assert wide["error"] == "range" and wide["layouts"] == []
    slow = ("--layout", "time:20 sequence:0 epoch=2100-01-01T00:00:00Z tick=1s")
    early = loads("next", "--state", os.path.join(HOME.name, "early.state"), *slow, code=3)
    assert early["ids"] == [] and early["error"] == "before_epoch"
    assert loads("layout", "plan", "--nodes", "1", "--rate", "1e15", code=1) == []


def test_a_chunk_is_never_more_than_the_layout_can_ever_give():
    path = os.path.join(HOME.name, "slow.state")
    layout = "time:41 sequence:0 epoch=2026-01-01T00:00:00Z"
    # One ID a millisecond and no lead: asking for two at once would wait in vain, ten seconds each time.
    assert len(firn("next", "--state", path, "--layout", layout, "--lead", "0", "-n", "20").stdout.split()) == 20


def test_options_that_do_nothing_are_refused():
    path = os.path.join(HOME.name, "margin.state")
    firn("next", "--state", path)
    assert "adopt" in firn("state", "show", path, "--margin", "5", code=2).stderr
    assert "--at" in firn("layout", "list", "--at", "soon", code=2).stderr
    for number in ("0x10", " 1", "inf", "nan", ""):
        assert "--nodes takes" in firn("layout", "plan", "--nodes", number, "--rate", "1", code=2).stderr
    for name in ("", "/", "..", HOME.name + "/"):
        assert "file's name" in firn("next", "--state", name, code=2).stderr
        assert "file's name" in firn("state", "show", name, code=2).stderr


def test_looking_at_the_default_state_makes_no_directory():
    env = dict(ENV, XDG_STATE_HOME=os.path.join(HOME.name, "unmade"))
    firn("state", "show", env=env, code=3)
    assert not os.path.exists(env["XDG_STATE_HOME"])


def test_a_closed_output_is_an_error():
    calls = (["next", "-n", "10"], ["decode", "1"], ["decode", "1", "--json"], ["layout", "list"], ["--help"],
             ["layout", "show", "default", "--json"], ["state", "show"], ["clock"], ["layout", "plan", "--help"])
    for call in calls:
        with open("/dev/full", "w") as full:
            done = subprocess.run([FIRN] + call, stdout=full, stderr=subprocess.PIPE, text=True, env=ENV, timeout=60)
            assert done.returncode == 4 and "cannot write the output" in done.stderr, (call, done)


def test_decode_ends_with_its_output():
    endless = subprocess.Popen(["yes", "123"], stdout=subprocess.PIPE)
    with open("/dev/full", "w") as full:
        done = subprocess.run([FIRN, "decode"], stdin=endless.stdout, stdout=full, stderr=subprocess.PIPE, env=ENV, timeout=60)
    endless.kill()
    endless.communicate()
    assert done.returncode == 4


def test_a_port_that_does_not_listen_does_not_hang_its_judge():
    many = '{"format":"firn-vectors/1","cases":[%s]}' % ",".join([CASE % ("ten", "10")] * 2000)
    done = firn("conform", vectors("many.json", many), "--", "yes", '{"text":"000000000000000a","id":"10"}', code=2)
    assert "not asked" in done.stderr


def test_vectors_that_check_nothing_are_refused():
    layout = '{"epoch_ms":0,"tick_ms":1,"fields":[["time",41],["sequence",12]]}'
    step = '{"take":1,"clock":[5],"error":"range","repeat":0}'
    case = '{"name":"n","kind":"mint","layout":%s,"node":{},"lead_ms_max":0,"wait_ms_max":0,"steps":[%s]}' % (layout, step)
    assert "repeat" in firn("conform", vectors("vain.json", '{"format":"firn-vectors/1","cases":[%s]}' % case), code=2).stderr
    assert "empty" in firn("conform", vectors("none.json", '{"format":"firn-vectors/1","cases":[]}'), code=2).stderr


sys.exit(each_test.run(globals()))
