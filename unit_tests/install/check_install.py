# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Installs Tessera, moves it, and builds a project on top of it. Arguments: see ARGUMENTS below, then names of cases."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ARGUMENTS = ("cmake", "source", "build")
given = {}


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def cached(name):
    """A variable of the build folder, "" where it has none."""
    text = (pathlib.Path(given["build"]) / "CMakeCache.txt").read_text()
    found = re.search(rf"(?m)^{name}:\w+=(.*)$", text)
    return found[1] if found else ""


def has_openmp(compiler):
    """Kokkos asks for it; clang++ may lack its library."""
    program = "#include <omp.h>\nint main() { return omp_get_num_threads() - 1; }\n"
    with tempfile.TemporaryDirectory() as folder:
        return run(compiler, "-fopenmp", "-x", "c++", "-", "-o", f"{folder}/program", input=program).returncode == 0


def has_mpi(wrapper):
    """Whether the wrapper finds mpi.h: a package may bring it without the headers."""
    return run(wrapper, "-fsyntax-only", "-x", "c++", "-", input="#include <mpi.h>\n").returncode == 0


def consumer_source():
    return f"{given['source']}/unit_tests/install/consumer"


def dependencies():
    """Where they were found; not the MPI of several side by side, which the project has to find by itself."""
    names = ["Kokkos_DIR", "fmt_DIR", "CMAKE_PREFIX_PATH"] + ([] if cached("TESSERA_MPI") else ["MPI_CXX_COMPILER"])
    return [f"-D{name}={cached(name)}" for name in names if cached(name)]


def blocks_of(page, language):
    """What the page shows in that language."""
    text = (pathlib.Path(given["source"]) / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def succeed(self, *command, **options):
        result = run(*command, **options)
        self.assertEqual(result.returncode, 0, f"{' '.join(command)}\n{result.stdout[-4000:]}")
        return result.stdout

    def run_on(self, ranks, program):
        launcher = [cached("MPIEXEC_EXECUTABLE"), *filter(None, cached("MPIEXEC_PREFLAGS").split(";"))]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"}
        return self.succeed(*launcher, "-n", str(ranks), str(program), env=environment)

    def configure(self, source, *options, compiler=None):
        build = self.folder / "consumer"
        compiler = compiler or cached("CMAKE_CXX_COMPILER")
        return run(given["cmake"], "-S", source, "-B", str(build), f"-DCMAKE_CXX_COMPILER={compiler}", *dependencies(), *options)

    def build_and_run(self, *options, compiler=None):
        result = self.configure(consumer_source(), "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
                                "-DCONSUMER_FLAGS=-Werror", *options, compiler=compiler)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.succeed(given["cmake"], "--build", str(self.folder / "consumer"), "--parallel", str(os.cpu_count()))
        text = self.run_on(2, self.folder / "consumer/consumer")
        self.assertIn(f"Tessera {cached('CMAKE_PROJECT_VERSION')}: right\n", text)
        return result.stdout

    def installed(self, build):
        """Moved after it was installed: nothing in it may know where it was."""
        self.succeed(given["cmake"], "--install", str(build), "--prefix", str(self.folder / "first"))
        return shutil.move(self.folder / "first", self.folder / "moved")

    def check_installed(self, prefix):
        text = self.build_and_run(f"-Dtessera_ROOT={prefix}")
        self.assertRegex(text, r"Found tessera \d+\.\d+\.\d+: Kokkos devices [\w;]+, built by \w+ \S+")
        for file in prefix.rglob("*.cmake"):
            # Kokkos may lie within the sources, in build/kokkos.
            text = file.read_text().replace(cached("Kokkos_DIR"), "")
            for path in (given["source"], str(self.folder)):
                self.assertNotRegex(text, re.escape(path) + r"(?![\w.-])", file)
        self.assertRegex(self.succeed(str(prefix / "bin/tessera"), "--version"), r"^tessera \d+\.\d+\.\d+\n$")


class Installed(Case):
    def setUp(self):
        super().setUp()
        self.prefix = self.installed(given["build"])

    def test_is_found_and_runs(self):
        self.check_installed(self.prefix)

    def test_another_compiler_builds_on_top_of_it_without_warnings(self):
        own = os.path.realpath(shutil.which(cached("CMAKE_CXX_COMPILER")))
        others = [path for path in map(shutil.which, ("g++", "clang++")) if path and os.path.realpath(path) != own]
        others = [path for path in others if has_openmp(path)]
        if len(others) == 0:
            self.skipTest(f"no other compiler than {own} here that knows OpenMP")
        self.build_and_run(f"-Dtessera_ROOT={self.prefix}", compiler=others[-1])

    def version_asked_for(self, version):
        """What configure says to a project that asks for this version."""
        (self.folder / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.23)\nproject(asks LANGUAGES CXX)\nfind_package(tessera {version} REQUIRED)\n"
        )
        shutil.rmtree(self.folder / "consumer", ignore_errors=True)
        return self.configure(str(self.folder), f"-Dtessera_ROOT={self.prefix}")

    def test_other_minor_versions_are_not_taken(self):
        for version in ("0.0", "0.2", "1.0"):
            with self.subTest(version=version):
                result = self.version_asked_for(version)
                self.assertNotEqual(result.returncode, 0)
                text = " ".join(result.stdout.split())
                self.assertIn(f'requested version "{version}"', text)
                self.assertIn("find_package accepts 0.1 and its patches", text)

    def test_its_own_minor_version_is_taken(self):
        for version in ("0.1.0", ""):
            with self.subTest(version=version):
                result = self.version_asked_for(version)
                self.assertEqual(result.returncode, 0, result.stdout)

    def test_kokkos_with_other_devices_is_named(self):
        kokkos = self.folder / "kokkos"
        kokkos.mkdir()
        (kokkos / "KokkosConfig.cmake").write_text("set(Kokkos_FOUND TRUE)\nset(Kokkos_DEVICES HPX)\n")
        (kokkos / "KokkosConfigVersion.cmake").write_text("set(PACKAGE_VERSION 5.9)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
        result = self.configure(consumer_source(), f"-Dtessera_ROOT={self.prefix}", f"-DKokkos_DIR={kokkos}")
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(" ".join(result.stdout.split()), r"tessera was built for a Kokkos with [\w;]+, .* has HPX")

    def test_other_mpi_is_named(self):
        wrappers = [path for path in map(shutil.which, ("mpicxx.mpich", "mpicxx.openmpi")) if path and has_mpi(path)]
        if len(wrappers) != 2:
            self.skipTest("one MPI only")
        said = []
        for wrapper in wrappers:
            result = self.configure(consumer_source(), f"-Dtessera_ROOT={self.prefix}",
                                    f"-DMPI_CXX_COMPILER={wrapper}")
            said.append(" ".join(result.stdout.split()))
            shutil.rmtree(self.folder / "consumer")
        refused = r"tessera was built with the MPI (\w+), the one found \(\S+\) is (?!\1)\w+; set MPI_CXX_COMPILER in a fresh"
        self.assertEqual(len([text for text in said if re.search(refused, text)]), 1, said)


class Pages(Case):
    """What pages tell a user to write and to type."""

    def project_of(self, page, program):
        """A project made of the page's lines for CMake."""
        [lines] = blocks_of(page, "cmake")
        (self.folder / "app").mkdir()
        (self.folder / "app/app.cpp").write_text(program)
        added = "" if "add_executable" in lines else "add_executable(app app.cpp)\n"
        (self.folder / "app/CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.24)\nproject(app LANGUAGES CXX)\n{added}{lines}"
            "if(tessera_KOKKOS_LANGUAGE)\n"
            "  set_source_files_properties(app.cpp PROPERTIES LANGUAGE ${tessera_KOKKOS_LANGUAGE})\n"
            "endif()\n"
        )

    def options(self):
        return [f"-DCMAKE_CXX_COMPILER={cached('CMAKE_CXX_COMPILER')}", *dependencies()]

    def test_readme(self):
        prefix = self.installed(given["build"])
        [program] = blocks_of("README.md", "cpp")
        self.project_of("docs/install.md", program)
        [command] = [block for block in blocks_of("docs/install.md", "sh") if block.startswith("cmake -S app")]
        words = command.replace("<where>", str(prefix)).split()
        self.succeed(given["cmake"], *words[1:], *self.options(), cwd=self.folder)
        self.succeed(given["cmake"], "--build", "app/build", cwd=self.folder)
        text = self.run_on(3, self.folder / "app/build/app")
        self.assertIn("temperature in the middle: 0.740199\n", text)

    def test_first_tutorial(self):
        self.project_of("docs/tutorials/1-mesh-shards-local_map.md", "int main() {}\n")
        (self.folder / "app/tessera").symlink_to(given["source"])
        self.succeed(given["cmake"], "-S", "app", "-B", "app/build", *self.options(), cwd=self.folder)


class FromSource(Case):
    def test_is_configured_by_fetch_content_as_it_comes(self):
        result = self.configure(consumer_source(), "-DCONSUMES=FetchContent", f"-DTESSERA_SOURCE_DIR={given['source']}")
        self.assertEqual(result.returncode, 0, result.stdout)


class Subproject(Case):
    # Compiled by folder, which takes half of the time; scripts/nightly alone compiles each source by itself.
    def test_by_add_subdirectory_and_installed_as_shared_library(self):
        self.build_and_run("-DCONSUMES=add_subdirectory", f"-DTESSERA_SOURCE_DIR={given['source']}", "-DTESSERA_INSTALL=ON",
                           "-DTESSERA_BUILD_TOOLS=ON", "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_UNITY_BUILD=ON")
        prefix = self.installed(self.folder / "consumer")
        shutil.rmtree(self.folder / "consumer")
        self.check_installed(prefix)


class OtherCompiler(Case):
    compiler = shutil.which("c++") or shutil.which("g++")  # no wrapper that compiles kernels

    def refused(self, devices, identity, compiler):
        """What configure says where Kokkos was built by another compiler."""
        (self.folder / "KokkosConfig.cmake").write_text(
            f"set(Kokkos_FOUND TRUE)\nset(Kokkos_DEVICES {devices})\nset(Kokkos_CXX_COMPILER_ID {identity})\n"
            "set(Kokkos_CXX_COMPILER_VERSION 99.1)\nset(Kokkos_CXX_COMPILER /opt/other/c++)\n"
            "set(Kokkos_COMPILE_LANGUAGE CXX)\n"
        )
        version = "set(PACKAGE_VERSION 5.9)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n"
        (self.folder / "KokkosConfigVersion.cmake").write_text(version)
        result = self.configure(given["source"], f"-DKokkos_DIR={self.folder}", compiler=compiler)
        self.assertNotEqual(result.returncode, 0)
        return " ".join(result.stdout.split())

    def test_stops_configure_and_both_are_named(self):
        for devices, identity in (("OPENMP", "NVHPC"), ("CUDA", "NVIDIA"), ("HIP", "HIPCC")):
            with self.subTest(devices=devices, identity=identity):
                text = self.refused(devices, identity, self.compiler)
                self.assertIn(f"Kokkos for {devices} was built by {identity} 99.1 (/opt/other/c++)", text)
                self.assertRegex(text, rf"Tessera is being built by \w+ \S+ \({re.escape(self.compiler)}\)")

    def test_is_the_one_for_other_devices(self):
        for devices, identity, name in (("CUDA", "NVIDIA", "hipcc"), ("HIP", "HIPCC", "nvcc_wrapper")):
            with self.subTest(devices=devices, compiler=name):
                compiler = self.folder / name
                compiler.symlink_to(self.compiler)
                text = self.refused(devices, identity, str(compiler))
                self.assertIn(f"Kokkos for {devices} was built by {identity} 99.1", text)
                shutil.rmtree(self.folder / "consumer")


if __name__ == "__main__":
    for name in ARGUMENTS:
        given[name] = sys.argv.pop(1)
    unittest.main()
