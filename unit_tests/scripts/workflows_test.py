# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that the workflows call what the scripts have. Argument: the project's root."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


class Workflows(unittest.TestCase):
    def test_each_check_of_the_night_is_a_job(self):
        checks = re.search(r"^checks=\((.*)\)$", (ROOT / "scripts/nightly").read_text(), re.M)[1].split()

        jobs = re.search(r"check: \[(.*)\]", (ROOT / ".github/workflows/nightly.yml").read_text())[1].split(", ")

        self.assertEqual(jobs, checks)

    def test_scripts_that_they_call_are_there(self):
        names = {name for path in WORKFLOWS for name in re.findall(r"\bscripts/([\w-]+)", path.read_text())}

        self.assertLessEqual({"install-deps", "nightly", "docs", "perf-run", "perf-compare"}, names)
        for name in names:
            with self.subTest(script=name):
                self.assertTrue((ROOT / "scripts" / name).exists())


if __name__ == "__main__":
    unittest.main()
