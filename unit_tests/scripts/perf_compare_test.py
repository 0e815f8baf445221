# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Runs scripts/perf-compare on files made here. Argument: the script."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()


def row(name, time, unit="ms", **others):
    """As Google Benchmark writes one repetition."""
    run_name = name + "/iterations:1/repeats:3/manual_time"
    return {"name": run_name, "run_name": run_name, "run_type": "iteration", "iterations": 1, "real_time": time,
            "cpu_time": time, "time_unit": unit, **others}


def aggregate(name, kind, time, **others):
    run_name = name + "/iterations:1/repeats:3/manual_time"
    return {"name": f"{run_name}_{kind}", "run_name": run_name, "run_type": "aggregate", "aggregate_name": kind,
            "real_time": time, "cpu_time": time, "time_unit": "ms", **others}


def case(ours, **counts):
    """A case with a bound, a row of ours, and two hand-written ones, of which the faster takes 10 ms."""
    return [row("S0->S1/8x8/bound_memcpy", 1), row("S0->S1/8x8/ours_into", ours, **counts),
            row("S0->S1/8x8/alltoallw", 20), row("S0->S1/8x8/isend_irecv", 10), row("S0->S1/8x8/costa", 5)]


class PerfCompare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)

    def compare(self, old, new, old_ranks="2", new_ranks="2"):
        files = [self.write(f"{name}.json", json.dumps({"context": {"ranks": ranks}, "benchmarks": rows}))
                 for name, rows, ranks in (("old", old, old_ranks), ("new", new, new_ranks))]
        return self.run_script(*files)

    def line(self, result, name):
        found = [line.split() for line in result.stdout.splitlines() if line.startswith(name)]
        self.assertEqual(len(found), 1, result.stdout + result.stderr)
        return found[0][1:]

    def expect_bad(self, result, text):
        self.assertEqual(result.returncode, 2)
        self.assertIn(text, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_shows_ratios_to_the_best_hand_written_variant(self):
        result = self.compare(case(6), case(9))
        self.assertEqual(self.line(result, "S0->S1/8x8/ours_into"), ["0.60", "0.90", "+50", "%"])
        self.assertEqual(len(result.stdout.splitlines()), 2)
        self.assertEqual(result.stderr, "")

    def test_does_not_fail_for_time(self):
        self.assertEqual(self.compare(case(1), case(100)).returncode, 0)

    def test_takes_medians_of_repetitions(self):
        old = [row("a/ours", time) for time in (1, 2, 90)] + [row("a/by_hand", 4)]
        result = self.compare(old, [row("a/ours", 3), row("a/by_hand", 4)])
        self.assertEqual(self.line(result, "a/ours")[:2], ["0.50", "0.75"])

    def test_takes_the_median_of_a_file_without_repetitions(self):
        rows = [aggregate("a/ours", "mean", 7), aggregate("a/ours", "median", 5, messages=2), aggregate("a/ours", "cv", 0.1),
                aggregate("a/by_hand", "median", 10)]
        result = self.compare(rows, [row("a/ours", 10, messages=3), row("a/by_hand", 10)])
        self.assertEqual(self.line(result, "a/ours  ")[:2], ["0.50", "1.00"])
        self.assertEqual(result.returncode, 1)

    def test_reads_units(self):
        rows = [row("a/ours", 500, "ns"), row("a/by_hand", 1, "us")]
        self.assertEqual(self.line(self.compare(rows, rows), "a/ours")[:2], ["0.50", "0.50"])

    def test_shows_times_where_nothing_was_written_by_hand(self):
        result = self.compare([row("plan_lookup", 0.25, "us")], [row("plan_lookup", 0.3, "us")])
        self.assertEqual(self.line(result, "plan_lookup"), ["250", "ns", "300", "ns", "+20", "%"])

    def test_fails_where_any_count_is_larger(self):
        for count in ("messages", "bytes", "fences", "allocations"):
            result = self.compare(case(6, **{count: 4.0}), case(6, **{count: 5.0}))
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"S0->S1/8x8/ours_into: MORE {count}: 4 -> 5", result.stdout)

    def test_fails_for_a_count_that_was_zero(self):
        self.assertEqual(self.compare(case(6, allocations=0), case(6, allocations=1)).returncode, 1)

    def test_counts_the_worst_repetition(self):
        new = case(6, messages=2) + case(6, messages=3)
        self.assertEqual(self.compare(case(6, messages=2), new).returncode, 1)

    def test_does_not_fail_for_equal_and_smaller_counts_and_says_the_smaller(self):
        result = self.compare(case(6, messages=4, bytes=1e9), case(6, messages=3, bytes=1e9))
        self.assertEqual(result.returncode, 0)
        self.assertIn("S0->S1/8x8/ours_into: fewer messages: 4 -> 3", result.stdout)
        self.assertNotIn("bytes", result.stdout)

    def test_does_not_gate_other_counters(self):
        self.assertEqual(self.compare(case(6, cpu_ms=1), case(6, cpu_ms=2)).returncode, 0)

    def test_says_what_is_in_one_file_only(self):
        result = self.compare(case(6) + [row("gone/ours", 1)], case(6, messages=1) + [row("come/ours", 1)])
        self.assertEqual(result.returncode, 0)
        for text in ("gone/ours: in OLD only", "come/ours: in NEW only", "ours_into: messages in NEW only"):
            self.assertIn(text, result.stdout)

    def test_says_what_was_not_measured(self):
        failed = row("P->R/big/ours_into", 0, error_occurred=True, error_message="more memory than the node has")
        result = self.compare([row("P->R/big/ours_into", 1, bytes=7)], [failed])
        self.assertEqual(result.returncode, 0)
        self.assertIn("P->R/big/ours_into: not measured: more memory than the node has", result.stdout)

    def test_fails_where_a_count_is_lost(self):
        failed = row("S0->S1/8x8/ours_into", 0, error_occurred=True, error_message="failed")
        for new in ([], [failed], case(6), case(6, bytes=1)):
            result = self.compare(case(6, fences=1), new)
            self.assertEqual(result.returncode, 1)
            self.assertIn("S0->S1/8x8/ours_into: LOST fences: 1 in OLD", result.stdout)

    def test_other_ranks_are_no_comparison(self):
        self.expect_bad(self.compare(case(6), case(6), "2", "4"), "measured on 4 ranks")

    def test_bad_files(self):
        good = self.write("good.json", '{"benchmarks": []}')
        self.assertEqual(self.run_script(good, good).returncode, 0)
        self.expect_bad(self.run_script(good, self.folder / "missing.json"), "No such file")
        for text in ("", "{", "[]", "{}", '{"benchmarks": 3}', '{"benchmarks": ["x"]}', '{"benchmarks": [{"name": "a"}]}',
                     '{"benchmarks": [{"name": "a", "real_time": "b", "time_unit": "ms"}]}',
                     '{"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "years"}]}',
                     '{"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "ms", "bytes": "many"}]}'):
            self.expect_bad(self.run_script(self.write("bad.json", text), good), "bad.json: not a file of Google Benchmark")
        self.write("binary.json", "")
        (self.folder / "binary.json").write_bytes(b"\xff\xfe\x00")
        self.expect_bad(self.run_script(good, self.folder / "binary.json"), "binary.json")

    def test_usage(self):
        self.expect_bad(self.run_script("one.json"), "usage: perf-compare OLD.json NEW.json")


unittest.main()
