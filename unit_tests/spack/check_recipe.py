# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that the Spack recipe and the CMake files say the same. Arguments: the project's root, names of cases."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import stubs  # noqa: E402

ROOT = pathlib.Path(sys.argv[1]).resolve()
REPO = ROOT / "spack" / "spack_repo" / "tessera"
MODULE, DECLARED = stubs.load(REPO / "packages" / "tessera" / "package.py")

# The package of Spack behind a name of find_package.
PACKAGES = {
    "CLI11": "cli11",
    "GTest": "googletest",
    "Kokkos": "kokkos",
    "MPI": "mpi",
    "Python3": "python",
    "benchmark": "benchmark",
    "fmt": "fmt",
    "nlohmann_json": "nlohmann-json",
}
# The variant that asks for what a folder builds.
FOLDERS = {"cmake": "", "src": "", "tools": "+tools", "unit_tests": "+tests", "examples": "+tests", "perf": "+tests"}
BACKENDS = {"serial": True, "openmp": True, "cuda": False, "rocm": False}
# Options for who works on Tessera, and the MPI of several side by side: MPI_HOME says it.
NOT_FOR_PACKAGES = {
    "TESSERA_INSTALL", "TESSERA_MPI", "TESSERA_PERF_WITH_PEERS", "TESSERA_PRECOMPILED_HEADERS", "TESSERA_SANITIZE",
    "TESSERA_TEST_SPACE", "TESSERA_WARNINGS_AS_ERRORS",
}
# Variables of CMake itself; MPI_HOME is read in cmake/TesseraMpi.cmake.
CMAKE_VARIABLES = {"BUILD_SHARED_LIBS", "CMAKE_CXX_COMPILER", "MPI_HOME"}


def cmake_text(path="CMakeLists.txt"):
    return re.sub(r"(?m)#.*", "", (ROOT / path).read_text())


def cmake_files():
    for path in [ROOT / "CMakeLists.txt", *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))]:
        if path.name == "CMakeLists.txt" or ".cmake" in path.suffixes:
            yield path.relative_to(ROOT)


def found_packages(text):
    """Name and least version ("" where none is given) of each package that `text` requires."""
    for command, name, version, rest in re.findall(r"find_(package|dependency)\((\w+)\s*([\d.]*)([^)]*)\)", text):
        if name != "tessera" and (command == "dependency" or "REQUIRED" in rest):
            yield name, version


def own_variants():
    """Default of each variant that is on or off, the backends of CudaPackage and ROCmPackage included."""
    given = {arguments[0]: keywords["default"] for arguments, keywords in DECLARED.variant}
    return BACKENDS | {name: default for name, default in given.items() if isinstance(default, bool)}


def arguments_of(**changes):
    """What the recipe gives to CMake, as a dictionary; variants are at their defaults but for `changes`."""
    given = MODULE.Tessera(own_variants() | changes).cmake_args()
    matches = [re.fullmatch(r"-D(\w+)=(.*)", argument) for argument in given]
    return {match[1]: match[2] for match in matches}


def dependencies(when=""):
    return [arguments[0] for arguments, keywords in DECLARED.depends_on if keywords["when"] == when]


class Recipe(unittest.TestCase):
    def test_has_the_versions_that_were_released(self):
        changes = (ROOT / "CHANGELOG.md").read_text()
        released = re.findall(r"(?m)^## (\d+\.\d+\.\d+)(?!, unreleased)\b", changes)

        versions = {arguments[0]: keywords for arguments, keywords in DECLARED.version}

        self.assertEqual({name: versions[name].get("tag") for name in versions.keys() - {"develop"}},
                         {name: f"v{name}" for name in released})
        self.assertEqual(versions["develop"]["branch"], "main")

    def test_asks_for_the_cmake_of_the_project(self):
        minimum = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", cmake_text())[1]

        self.assertIn(f"cmake@{minimum}:", dependencies())

    def test_asks_for_what_the_cmake_files_find(self):
        found = set()
        for path in cmake_files():
            when = FOLDERS.get(path.parts[0], "")
            known = dependencies() + (dependencies(when) if when else [])
            for name, version in found_packages(cmake_text(path)):
                with self.subTest(file=str(path), package=name):
                    self.assertIn(name, PACKAGES, "say above which package of Spack this is")
                    found.add(PACKAGES[name])
                    if version:
                        self.assertIn(f"{PACKAGES[name]}@{version}:", known)
                    else:
                        self.assertIn(PACKAGES[name], [re.split("[@+~ ]", spec)[0] for spec in known])
        self.assertLessEqual({"kokkos", "mpi", "fmt", "googletest", "cli11"}, found)

    def test_sets_each_option_of_what_to_build(self):
        texts = [cmake_text(path) for path in cmake_files()]
        options = set(re.findall(r"(?:option\(|set\()(TESSERA_\w+)(?= \")", "\n".join(texts))) - NOT_FOR_PACKAGES

        given = {name for name in arguments_of() if name.startswith("TESSERA_")}

        self.assertEqual(given, options)

    def test_gives_cmake_nothing_that_it_does_not_know(self):
        known = set(re.findall(r"(?:option|set)\((\w+)", cmake_text())) | CMAKE_VARIABLES

        for variants in ({}, {"cuda": True}, {"rocm": True}):
            self.assertEqual(set(arguments_of(**variants)) - known, set())

    def test_one_variant_switches_an_option(self):
        for option in arguments_of():
            if not option.startswith(("TESSERA_", "BUILD_")):
                continue
            switches = [
                name
                for name in own_variants()
                if arguments_of(**{name: True})[option] != arguments_of(**{name: False})[option]
            ]
            with self.subTest(option=option):
                self.assertEqual(len(switches), 1, switches)
                self.assertEqual(arguments_of(**{switches[0]: True})[option], "ON")

    def test_each_variant_switches_something(self):
        for name in own_variants().keys() - BACKENDS.keys():
            with self.subTest(variant=name):
                self.assertNotEqual(arguments_of(**{name: True}), arguments_of(**{name: False}))

    def test_backends_are_those_of_kokkos(self):
        for name in BACKENDS:
            with self.subTest(backend=name):
                self.assertTrue(any(spec.startswith(f"kokkos+{name}") for spec in dependencies(f"+{name}")))
        for name, variant, values in (
            ("cuda", "cuda_arch", stubs.CudaPackage.cuda_arch_values),
            ("rocm", "amdgpu_target", stubs.ROCmPackage.amdgpu_targets),
        ):
            for value in values:
                self.assertIn(f"kokkos {variant}={value}", dependencies(f"+{name} {variant}={value}"))
        self.assertIn("kokkos+wrapper", dependencies("+cuda %gcc"))

    def test_compiles_with_the_compiler_of_kokkos(self):
        self.assertNotIn("CMAKE_CXX_COMPILER", arguments_of())
        self.assertEqual(arguments_of(cuda=True)["CMAKE_CXX_COMPILER"], "/kokkos/nvcc_wrapper")
        self.assertEqual(arguments_of(rocm=True)["CMAKE_CXX_COMPILER"], "/hip/hipcc")

    def test_conflicts_say_why(self):
        self.assertGreater(len(DECLARED.conflicts), 0)
        for arguments, keywords in DECLARED.conflicts + DECLARED.requires:
            self.assertTrue(keywords.get("msg"), arguments)

    def test_takes_the_site_from_where_it_is_made(self):
        text = (ROOT / "scripts" / "docs").read_text()

        self.assertIn("output=$root/build/site\n", text)
        self.assertIn('echo "$output/html/index.html"', text)

    def test_keeps_the_program_of_the_stand_alone_test(self):
        text = cmake_text(pathlib.Path(MODULE.Tessera.consumer) / "CMakeLists.txt")

        self.assertIn("find_package(tessera", text)
        self.assertIn("add_executable(consumer", text)


class Files(unittest.TestCase):
    def test_repo_has_the_name_of_its_folder(self):
        text = (REPO / "repo.yaml").read_text()

        self.assertIn(f"namespace: {REPO.name}\n", text)
        self.assertRegex(text, r"api: v2\.\d+\n")

    def test_readme_lists_the_variants_with_their_defaults(self):
        text = (ROOT / "spack" / "README.md").read_text()

        rows = dict(re.findall(r"(?m)^\| `(\w+)` \| (\w+) \|", text))

        expected = {name: "on" if default else "off" for name, default in own_variants().items()}
        self.assertEqual(rows, expected | {"cuda_arch": "none", "amdgpu_target": "none"})


class RealSpack(unittest.TestCase):
    """With a Spack of its own settings and this repository besides."""

    def setUp(self):
        if not shutil.which("spack"):
            self.skipTest("no spack on PATH: the recipe was read with stubs only")
        version = subprocess.run(["spack", "--version"], capture_output=True, text=True).stdout
        if version.startswith("0."):
            self.skipTest(f"spack {version.strip()} does not know API v2: the recipe was read with stubs only")
        if subprocess.run(["spack", "spec", "zlib"], capture_output=True).returncode != 0:
            self.skipTest("this spack cannot concretize: the recipe was read with stubs only")

    def spack(self, *arguments):
        with tempfile.TemporaryDirectory() as scope:
            (pathlib.Path(scope) / "repos.yaml").write_text(f"repos:\n  tessera: {REPO}\n")
            result = subprocess.run(["spack", "-C", scope, *arguments], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_reads_the_recipe(self):
        self.assertIn("CMakePackage:   tessera", self.spack("info", "tessera"))

    def test_audits_the_recipe(self):
        self.spack("audit", "packages", "tessera")

    def test_finds_packages_for_the_defaults(self):
        self.assertRegex(self.spack("spec", "tessera"), r"\^kokkos@[45]\S*\+openmp\S*\+serial")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
