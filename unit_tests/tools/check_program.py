# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the program tessera. Arguments: the program, and names of classes or cases below (default: all)."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

PROGRAM = ""
SMALL = ["--mesh", "4x2:dp,tp", "--shape", "16,24", "--from", "S(0),R", "--to", "R,S(1)"]
LARGE = ["--mesh", "40", "--shape", "80,7", "--from", "S(0)", "--to", "S(1)"]
FEW = ["--mesh", "4", "--shape", "16", "--from", "S(0)", "--to", "R"]


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60)


class Case(unittest.TestCase):
    def text_of(self, *arguments):
        result = run(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def json_of(self, *arguments):
        return json.loads(self.text_of(*arguments, "--json"))

    def expect_svg(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "picture.svg"
            self.text_of(*arguments, "--svg", str(file))
            self.assertTrue(ElementTree.parse(file).getroot().tag.endswith("svg"))


def rows_of(text):
    """The lines of a table that begin with a number, in words."""
    return [re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if re.match(r"\s+\d+\s{2,}", line)]


class Explain(Case):
    def test_says_what_is_done_and_what_every_rank_does(self):
        text = self.text_of("explain", *SMALL)
        self.assertIn("(16, 24) on (dp=4, tp=2) as S(0), R -> R, S(1): 1 exchange\n", text)
        self.assertIn("busiest rank receives 1152 bytes, at least 1152 are needed", text)
        self.assertEqual(rows_of(text)[3], ["3", "[4:8, 0:24]", "[0:16, 12:24]", "1152", "1152", "3", "2304"])
        self.assertEqual(len(rows_of(text)), 8)
        self.assertRegex(text, r"Estimated time: \S+ s\.\n")

    def test_json_has_the_numbers_of_the_text(self):
        ranks = self.json_of("explain", *SMALL)["by_rank"]
        for rank, row in zip(ranks, rows_of(self.text_of("explain", *SMALL)), strict=True):
            values = [rank[key] for key in ("rank", "bytes_received", "bytes_needed", "messages", "memory")]
            self.assertEqual(values, [int(row[i]) for i in (0, 3, 4, 5, 6)])
        self.assertEqual(ranks[3]["before"], {"offset": [4, 0], "shape": [4, 24]})

    def test_many_ranks_are_summarised(self):
        text = self.text_of("explain", *LARGE)
        summary = self.json_of("explain", *LARGE)["summary"]
        self.assertRegex(text, r"\n40 ranks\n +over ranks +minimum +rank +median +maximum +rank\n")
        for name, found in summary.items():
            row = re.search(rf" {name.replace('_', ' ')}((?: +\d+){{5}})\n", text).group(1).split()
            self.assertEqual([int(word) for word in row],
                             [found[key] for key in ("min", "min_rank", "median", "max", "max_rank")])
        self.assertEqual(summary["elements_after"],
                         {"min": 0, "min_rank": 7, "median": 0, "max": 80, "max_rank": 0})

    def test_options_change_the_plan(self):
        transposed = ["--mesh", "64", "--shape", "64,64", "--from", "S(0)", "--to", "S(1)"]
        seconds = self.json_of("explain", *SMALL)["seconds"]
        self.assertEqual(self.json_of("explain", *transposed, "--ranks-per-node", "8")["exchanges"], 3)
        self.assertEqual(self.json_of("explain", *transposed)["exchanges"], 1)
        self.assertLessEqual(self.json_of("explain", *SMALL, "--extra-memory", "100")["message_memory"], 100)
        self.assertGreater(self.json_of("explain", *SMALL, "--dtype", "c128")["seconds"], seconds)
        self.assertEqual(self.json_of("explain", *SMALL, "--dtype", "bool")["by_rank"][0]["bytes_received"], 144)

    def test_knows_every_element_type(self):
        sizes = {"f32": 4, "f64": 8, "c64": 8, "c128": 16, "bool": 1}
        sizes.update({f"{sign}{8 * size}": size for sign in "iu" for size in (1, 2, 4, 8)})
        for name, size in sizes.items():
            ranks = self.json_of("explain", *FEW, "--dtype", name)["by_rank"]
            self.assertEqual(ranks[0]["bytes_received"], 12 * size, name)

    def test_goes_to_another_mesh(self):
        text = self.text_of("explain", "--mesh", "2", "--shape", "8", "--from", "S(0)", "--to-mesh", "2x2:a,b",
                            "--to", "S(0),R")
        self.assertIn("(8) on (2) as S(0) -> (8) on (a=2, b=2) as S(0), R: 1 exchange\n", text)
        self.assertEqual([row[3] for row in rows_of(text)], ["0", "32", "32", "32"])

    def test_writes_a_picture(self):
        self.expect_svg("explain", *SMALL)
        self.expect_svg("explain", *LARGE)


class Show(Case):
    def test_says_what_every_rank_holds(self):
        text = self.text_of("show", "--mesh", "3", "--shape", "10,4", "--placements", "S(0)")
        self.assertEqual(text.count("(10, 4) on (3) as S(0)\n"), 1)
        self.assertEqual(rows_of(text)[2], ["2", "(2)", "(8, 0)", "(2, 4)", "8"])

    def test_many_ranks_are_summarised(self):
        text = self.text_of("show", "--mesh", "40", "--shape", "75,4", "--placements", "S(0)")
        self.assertIn("40 ranks, 2 of them without elements\n", text)
        self.assertRegex(text, r" elements +0 +38 +8 +8 +0\n")
        self.assertRegex(text, r" dim 0 +0 +38 +2 +2 +0\n")

    def test_writes_a_picture(self):
        for mesh in ("4x2", "400x250"):
            self.expect_svg("show", "--mesh", mesh, "--shape", "1000,1000", "--placements", "S(0),S(1)")


class Simulate(Case):
    def test_says_that_the_result_is_right(self):
        text = self.text_of("simulate", *SMALL)
        self.assertIn("24 messages of 9216 bytes in all\n", text)
        self.assertIn("the largest rank holds 2304 bytes", text)
        self.assertIn("right: 1536 elements checked\n", text)

    def test_counts_what_explain_counts(self):
        transitions = [("S(0)[1],S(0)[0]", "S(1),S(0)"), ("P,R", "R,R"), ("P(avg),P", "S(0),P"), ("R,S(1)", "P(max),R")]
        for before, after in transitions:
            for more in ([], ["--ranks-per-node", "2"], ["--extra-memory", "64"]):
                options = ["--mesh", "4x6", "--shape", "29,31", "--from", before, "--to", after, *more]
                plan = self.json_of("explain", *options)
                found = self.json_of("simulate", *options)
                self.assertTrue(found["right"])
                self.assertEqual(found["mistake"], "")
                self.assertEqual(found["bytes_received"], [rank["bytes_received"] for rank in plan["by_rank"]])
                self.assertEqual(found["messages"], sum(rank["messages"] for rank in plan["by_rank"]))
                self.assertEqual(found["peak_bytes"], max(rank["memory"] for rank in plan["by_rank"]))
                self.assertEqual(found["exchanges"], plan["exchanges"])


class Postmortem(Case):
    def record(self, folder, process, functions):
        calls = [
            {"sequence": (i + 1) << 32 | 1 << 31, "function": name, "call": f"{name} of double", "fingerprint": name,
             "state": "done", "time": 10.0 * (i + 1), "bytes_sent": 0, "bytes_received": 0, "caller": "solve()+0x10"}
            for i, name in enumerate(functions)
        ]
        mesh = {"mesh": "(3)", "key": "0", "processes": [0, 1, 2], "position": process, "forgotten": 0, "calls": calls}
        text = json.dumps({"tessera": "flight record", "process": process, "meshes": [mesh]})
        (pathlib.Path(folder) / f"tessera-flight-{process}.json").write_text(text)

    def of(self, *functions_by_rank, options=()):
        with tempfile.TemporaryDirectory() as folder:
            for process, functions in enumerate(functions_by_rank):
                self.record(folder, process, functions)
            return run("postmortem", folder, *options)

    def test_names_the_rank_and_the_call_and_has_exit_status_1(self):
        found = self.of(["redistribute", "full_tensor"], ["redistribute", "all_reduce"], ["redistribute", "full_tensor"])
        self.assertEqual((found.returncode, found.stderr), (1, ""))
        first = found.stdout.splitlines()[0]
        self.assertEqual(first, "rank 1 made all_reduce of double where the others made full_tensor of double")

    def test_same_calls_have_exit_status_0(self):
        self.assertEqual(self.of(["clone"], ["clone"], ["clone"]).returncode, 0)

    def test_earlier_calls_can_be_left_out(self):
        found = self.of(["clone", "item"], ["item", "item"], ["clone", "item"], options=("--since", "15"))
        self.assertEqual(found.returncode, 0)

    def test_folder_without_records_is_one_line_and_exit_status_2(self):
        with tempfile.TemporaryDirectory() as folder:
            for where in (folder, folder + "/none"):
                found = run("postmortem", where)
                self.assertEqual((found.returncode, found.stdout), (2, ""))
                self.assertRegex(found.stderr, r"^tessera postmortem: expected [^\n]*\n$")


class Timeline(Case):
    EVENTS = [
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": 0, "args": {"name": "rank 0"}},
        {"name": "solve <1>", "cat": "region", "ph": "X", "pid": 0, "tid": 0, "ts": 100, "dur": 500, "args": {}},
        {"name": "redistribute", "cat": "redistribute", "ph": "X", "pid": 0, "tid": 0, "ts": 100, "dur": 400,
         "args": {"bytes_received": 4096}},
        {"name": "all_reduce", "cat": "collective", "ph": "X", "pid": 0, "tid": 1, "ts": 300, "dur": 250,
         "args": {"bytes_received": 8}},
    ]

    def of(self, text, *options):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            return run("timeline", file.name, *options)

    def test_sums_by_rank(self):
        found = self.of(json.dumps({"traceEvents": self.EVENTS}))
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        self.assertEqual(rows_of(found.stdout), [["0", "1", "4096", "0.400"], ["1", "1", "8", "0.250"]])

    def test_operators_are_no_communications_and_lie_behind_them(self):
        operator = {"name": "add", "cat": "operator", "ph": "X", "pid": 0, "tid": 0, "ts": 50, "dur": 500, "args": {"bytes_received": 0}}
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "picture.svg"
            found = self.of(json.dumps({"traceEvents": [*self.EVENTS, operator]}), "--svg", str(file))
            text = file.read_text()
        self.assertEqual(rows_of(found.stdout), [["0", "1", "4096", "0.400"], ["1", "1", "8", "0.250"]])
        self.assertLess(text.index("add: 0.500 ms"), text.index("redistribute: 0.400 ms"))

    def test_writes_a_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "picture.svg"
            self.of(json.dumps({"traceEvents": self.EVENTS}), "--svg", str(file))
            self.assertTrue(ElementTree.parse(file).getroot().tag.endswith("svg"))
            text = file.read_text()
            self.assertIn("solve &lt;1&gt;", text)
            self.assertIn("redistribute: 0.400 ms, 4096 bytes received", text)

    def test_other_files_are_one_line_and_exit_status_2(self):
        negative = json.dumps({"traceEvents": [{**self.EVENTS[2], "dur": -1}]})
        for text in (negative, "", "{", "[]", "{}", '{"traceEvents":[]}', '{"traceEvents":[{"ph":"X"}]}', '{"traceEvents":[1]}'):
            with self.subTest(text=text):
                found = self.of(text)
                self.assertEqual((found.returncode, found.stdout), (2, ""))
                self.assertRegex(found.stderr, r"^tessera timeline: '[^\n]*': expected a trace[^\n]*\n$")


class Info(Case):
    def test_says_what_was_built_and_found(self):
        text = self.text_of("info")
        self.assertRegex(text, r"^Tessera \d+\.\d+\.\d+ on mesh \(1\)")
        for line in (r"Kokkos \d+\.\d+\.\d+: host by \w+", r"MPI: \S+", r"messages: .*memory.*", r"build: \w+ \S+, \w*"):
            self.assertRegex(text, rf"\n  {line}")

    def test_version_and_help_are_given(self):
        self.assertRegex(self.text_of("--version"), r"^tessera \d+\.\d+\.\d+\n$")
        for command in ("explain", "info", "postmortem", "show", "simulate", "timeline"):
            self.assertIn(f"\n  {command} ", self.text_of("--help"))
            # CLI11 2.3 writes it after "Usage: ", 2.6 on a line of its own.
            self.assertRegex(self.text_of(command, "--help"), rf"(Usage: |\n)tessera {command} \[OPTIONS\]")


def changed(option, value):
    arguments = list(FEW)
    arguments[arguments.index(option) + 1] = value
    return ["explain", *arguments]


MESH_FORM = "expected sizes such as 4x2 or 4x2:dp,tp, got"
SHAPE_FORM = "expected up to 8 extents such as 16,24, got"
PLACEMENT_FORM = "expected a list of R, S(dim), B(dim), C(dim,block), H(dim)"
# In the words of CLI11 2.3 and 2.6.
RANGE_FORMS = ("in range 1 to", "in range [1 - ")
WRONG = [
    ([], "tessera: expected one of explain, info, "),
    (["draw"], "tessera: The following argument was not expected: draw"),
    (["explain"], "tessera explain: --mesh is required"),
    (["explain", *FEW, "--colour"], "tessera explain: The following argument was not expected: --colour"),
    (["info", "more"], "tessera info: The following argument was not expected: more"),
    (changed("--mesh", "4y2"), f'tessera explain: --mesh: {MESH_FORM} "4y2"'),
    (changed("--mesh", "0"), f'tessera explain: --mesh: {MESH_FORM} "0"'),
    (changed("--mesh", ""), f'tessera explain: --mesh: {MESH_FORM} ""'),
    (changed("--mesh", "4:"), f'tessera explain: --mesh: {MESH_FORM} "4:"'),
    (changed("--mesh", "4:a,b"), "tessera explain: --mesh: expected 1 dim names for shape (4), got 2"),
    (changed("--mesh", "2x2:a,a"), "tessera explain: --mesh: expected different dim names, got (a, a)"),
    (changed("--mesh", "99999x99999"), 'tessera explain: --mesh: expected at most 1048576 ranks, got "99999x99999"'),
    (changed("--shape", "16,"), f'tessera explain: --shape: {SHAPE_FORM} "16,"'),
    (changed("--shape", "-1"), f'tessera explain: --shape: {SHAPE_FORM} "-1"'),
    (changed("--shape", "1,1,1,1,1,1,1,1,1"), f"tessera explain: --shape: {SHAPE_FORM}"),
    (changed("--shape", "9999999999,9999999"), "tessera explain: --shape: expected at most 2^50 elements"),
    (changed("--shape", "9999999999,9999999999"), "tessera explain: --shape: expected a shape of fewer than 2^63"),
    (changed("--from", "Q"), f"tessera explain: --from: {PLACEMENT_FORM}"),
    (changed("--from", "S(1)"), "tessera explain: --from: expected Shard dims of a 1-d tensor, got S(1)"),
    (changed("--from", "P(band)"), "tessera explain: --dtype: expected an element type that reduces by band"),
    (changed("--to", "R,R"), "tessera explain: --to: expected 1 placement for mesh (4), got 2 (R, R)"),
    (changed("--to", "P(none)"), f"tessera explain: --to: {PLACEMENT_FORM}"),
    (["explain", *FEW, "--dtype", "f16"], "tessera explain: --dtype: expected f32, f64, c64,"),
    (["explain", *FEW, "--to-mesh", "2,2"], f'tessera explain: --to-mesh: {MESH_FORM} "2,2"'),
    (["explain", *FEW, "--to-mesh", "2x2"], "tessera explain: --to: expected 2 placements for mesh (2, 2), got 1 (R)"),
    (["explain", *FEW, "--to-mesh", "4", "--ranks-per-node", "2"], "tessera explain: --to-mesh excludes"),
    (["explain", *FEW, "--ranks-per-node", "0"], tuple(f"tessera explain: --ranks-per-node: Value 0 not {form}" for form in RANGE_FORMS)),
    (["explain", *FEW, "--extra-memory", "1k"], tuple(f"tessera explain: --extra-memory: Value 1k not {form}" for form in RANGE_FORMS)),
    (["explain", *FEW, "--svg", "/no/such/folder/a.svg"], "tessera explain: --svg: expected a file that can be written"),
    (["show", "--mesh", "2", "--shape", "4"], "tessera show: --placements is required"),
    (["show", "--mesh", "2", "--shape", "4", "--placements", "S"], f"tessera show: --placements: {PLACEMENT_FORM}"),
    (["show", "--mesh", "2", "--shape", "4", "--placements", "R", "--svg", "/"], "tessera show: --svg: expected a file"),
    (["simulate", *changed("--shape", "100000000")[1:]], "tessera simulate: --shape: expected at most 67108864 elements"),
]


class WrongInput(Case):
    def test_is_one_line_and_exit_status_2(self):
        for arguments, message in WRONG:
            with self.subTest(arguments=arguments):
                result = run(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertEqual(result.stderr.count("\n"), 1)
                self.assertTrue(result.stderr.startswith(message), result.stderr)


class ManyRanks(Case):
    def test_100000_ranks_take_seconds(self):
        matrix = ["--shape", "100000,100000"]
        cases = [
            ["--mesh", "100000", *matrix, "--from", "S(0)", "--to", "S(1)"],
            ["--mesh", "100000", *matrix, "--from", "S(0)", "--to", "R"],
            ["--mesh", "100000", *matrix, "--from", "P", "--to", "R"],
            ["--mesh", "400x250", *matrix, "--from", "S(0),R", "--to", "R,S(1)", "--ranks-per-node", "50"],
            ["--mesh", "100x40x25", "--shape", "1024,1024,1024", "--from", "S(0),S(1),S(2)", "--to", "S(1),S(2),S(0)"],
        ]
        for arguments in cases:
            with self.subTest(arguments=arguments):
                start = time.monotonic()
                found = self.json_of("explain", *arguments)
                self.assertLess(time.monotonic() - start, 5)
                self.assertEqual(found["ranks"], 100000)
                self.assertGreater(found["summary"]["bytes_received"]["max"], 0)

    def test_show_takes_seconds(self):
        start = time.monotonic()
        text = self.text_of("show", "--mesh", "100000", "--shape", "12345678,3", "--placements", "S(0)")
        self.assertLess(time.monotonic() - start, 5)
        self.assertIn("100000 ranks, 438 of them without elements\n", text)

    def test_pictures_are_made_all_the_same(self):
        self.expect_svg("show", "--mesh", "100000", "--shape", "100000", "--placements", "S(0)")
        self.expect_svg("explain", "--mesh", "400x250", "--shape", "1000,1000", "--from", "S(0),R", "--to", "R,S(1)")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
