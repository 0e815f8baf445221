# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Packs a device kit of a build folder and runs it. Arguments: the script, the build folder."""
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

BUILD = pathlib.Path(sys.argv.pop()).resolve()
SCRIPT = pathlib.Path(sys.argv.pop()).resolve()


def kit(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, check=False)


class DeviceKit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.file = cls.folder / "kit.tar.xz"
        cls.packed = kit("pack", "--build", BUILD, "--tests", r"^(readme|picture\.plain|golden\.np4|plan\.scale|structure)", cls.file)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_kit(self, *arguments, out="out"):
        """A run's end, and results by test."""
        end = kit("run", *arguments, self.file, 300, self.folder / out)
        results = self.folder / out / "results.json"
        return end, json.loads(results.read_text()) if results.exists() else {}

    def test_packs_tests_that_run_a_program_on_few_ranks(self):
        self.assertEqual(self.packed.returncode, 0, self.packed.stderr)
        end, results = self.run_kit("--tests", "none")
        self.assertEqual((end.returncode, results), (0, {}))
        self.assertRegex(self.packed.stdout, r"^kit\.tar\.xz: 5 tests, 5 files, \d+ libraries, [\d.]+ MiB\n$")

    def test_runs_them_and_writes_a_table(self):
        end, results = self.run_kit("--tests", "readme|golden")
        self.assertEqual(end.returncode, 0, end.stdout)
        self.assertEqual(set(results), {"readme.np1", "readme.np3", "golden.np4"})
        self.assertEqual({each["result"] for each in results.values()}, {"passed"})
        self.assertIn("| golden.np4 | 4 | default | passed |", (self.folder / "out/table.md").read_text())
        self.assertIn("temperature in the middle", (self.folder / "out/logs/readme.np3.log").read_text())
        self.assertIn("Tessera", (self.folder / "out/machine.txt").read_text())

    def test_goes_on_where_it_stopped(self):
        first, _ = self.run_kit("--tests", "readme.np1", out="again")
        second, results = self.run_kit("--tests", "readme", out="again")
        self.assertIn("readme.np1", first.stdout)
        self.assertNotIn("readme.np1", second.stdout)
        self.assertEqual(set(results), {"readme.np1", "readme.np3"})

    def test_holds_the_libraries_and_the_launcher(self):
        with tarfile.open(self.file) as archive:
            names = archive.getnames()
        for wanted in (r"kit/lib/libmpich?[.]so", r"kit/bin/mpiexec[.]hydra$", r"kit/bin/hydra_pmi_proxy$",
                       r"kit/source/unit_tests/data/redistribute[.]jsonl$"):
            self.assertTrue(any(re.match(wanted, name) for name in names), f"{wanted} in {names}")

    def test_says_what_failed(self):
        for tool in ("false", "no-such-program"):
            end, results = self.run_kit("--tests", "readme.np1", "--under", tool, out=f"failing-{tool}")
            self.assertEqual(end.returncode, 1, end.stdout)
            self.assertEqual(results["readme.np1"]["result"], "failed")
            self.assertIn("1 failed\n", end.stdout)

    def test_stops_when_its_time_is_over(self):
        end = kit("run", "--tests", "plan.scale", self.file, 0, self.folder / "late")
        self.assertEqual(end.returncode, 3, end.stdout + end.stderr)
        self.assertIn("1 without time", end.stdout)

    def sleeper(self, name):
        """A tool that notes the process in which it never ends."""
        note = self.folder / f"{name}.pid"
        tool = self.folder / name
        tool.write_text(f"#!/bin/sh\necho $$ >> {note}\nexec sleep 1000\n")
        tool.chmod(0o755)
        return tool, note

    def expect_ended(self, note):
        for process in note.read_text().split():
            for _ in range(100):
                if not pathlib.Path(f"/proc/{process}").exists():
                    break
                time.sleep(0.05)
            self.assertFalse(pathlib.Path(f"/proc/{process}").exists(), "a process is left")

    def test_stops_tests_that_have_no_time_left(self):
        tool, note = self.sleeper("endless")
        started = time.monotonic()
        end = kit("run", "--tests", "readme.np3", "--under", tool, self.file, 5, self.folder / "endless-out")
        self.assertEqual(end.returncode, 3, end.stdout + end.stderr)
        self.assertIn("1 without time", end.stdout)
        self.assertLess(time.monotonic() - started, 30)
        self.expect_ended(note)

    def test_stops_its_tests_when_it_is_stopped(self):
        tool, note = self.sleeper("stopped")
        process = subprocess.Popen([sys.executable, SCRIPT, "run", "--tests", "readme.np3", "--under", tool, self.file, "300",
                                    self.folder / "stopped-out"], stderr=subprocess.PIPE, text=True)
        while not (note.exists() and len(note.read_text().split()) == 3):
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.communicate(timeout=30)[1], "device-kit: stopped\n")
        self.assertEqual(process.returncode, 1)
        self.expect_ended(note)

    def test_runs_a_test_of_another_kit_again(self):
        end, _ = self.run_kit("--tests", "readme.np1", out="other")
        file = self.folder / "other/results.json"
        results = json.loads(file.read_text())
        results["readme.np1"]["kit"] = "another"
        file.write_text(json.dumps(results))
        end, _ = self.run_kit("--tests", "readme.np1", out="other")
        self.assertIn("readme.np1", end.stdout)
        file.write_text('{"readme.np1": ')
        end = kit("run", self.file, 10, self.folder / "other")
        self.assertRegex(end.stderr, "^device-kit: .*results.json' is damaged: remove it\n$")

    def test_decides_as_ctest_does(self):
        loader = importlib.machinery.SourceFileLoader("device_kit", str(SCRIPT))
        kits = importlib.util.module_from_spec(importlib.util.spec_from_loader("device_kit", loader))
        loader.exec_module(kits)
        test = {"says": ["one.*two"], "never_says": ["bad.*bad"], "fails": False}
        for text, status, right in (("one\ntwo", 1, True), ("two", 0, False), ("one two bad\nbad", 0, False), ("one two", -11, False)):
            self.assertEqual(kits.Runner.is_right(test, status, text), right, text)
        self.assertTrue(kits.Runner.is_right({**test, "says": [], "fails": True}, 2, ""))

    def test_refuses_what_is_no_kit(self):
        (self.folder / "text").write_text("no archive")
        (self.folder / "cut").write_bytes(self.file.read_bytes()[:100000])
        with tarfile.open(self.folder / "other.tar", "w") as archive:
            archive.add(self.folder / "text", "text")
        for file in ("text", "missing", "cut", "other.tar"):
            end = kit("run", self.folder / file, 10, self.folder / "none")
            self.assertEqual(end.returncode, 1)
            self.assertIn(f"{file}' cannot be unpacked", end.stderr)
            self.assertNotIn("Traceback", end.stderr)

    def test_refuses_wrong_arguments(self):
        for arguments in (["pack", "--build", self.folder, self.file], ["pack", self.folder, self.file], ["pack", self.file],
                          ["pack", "--build", BUILD, self.folder / "absent/file"], ["run", self.file, "out"],
                          ["run", self.file, "10", "out", "more"], ["run", "--jobs", "0", self.file], ["run", "--tests", "(", self.file]):
            end = kit(*arguments)
            self.assertEqual(end.returncode, 1, arguments)
            self.assertRegex(end.stderr, "^device-kit: ")
            self.assertNotIn("Traceback", end.stderr)


unittest.main(verbosity=2)
