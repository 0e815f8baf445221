# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Tests scripts/install-deps on systems that are played: commands of the system, such as apt-get, are replaced by ones that answer
from a table and write down what they were asked. CMake finds a Kokkos where a file says so; it downloads and checks as it is.

Arguments: the project's root, the command cmake.
"""
import hashlib
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

root = pathlib.Path(sys.argv[1])
cmake = sys.argv[2]

# Each of these is a link to one program, which knows by its name what it plays.
PLAYED = ("apt-get", "apt-cache", "dpkg-query", "dpkg-deb", "cmake", "id", "sudo")
PLAYER = r'''#!/usr/bin/env python3
import json, os, pathlib, subprocess, sys
name, arguments = os.path.basename(sys.argv[0]), sys.argv[1:]
system = json.loads(pathlib.Path(os.environ["PLAYED_SYSTEM"]).read_text())
log = lambda text: print(text, file=open(os.environ["PLAYED_LOG"], "a"))
plain = []
for argument in arguments:
    if plain and plain[-1] == "-o":
        plain.pop()
    elif argument not in ("-qq", "-y", "--no-install-recommends", "-c") and not argument.endswith("/apt/conf"):
        plain.append(argument)
text = " ".join(plain)

def kokkos_at(folder):
    config = pathlib.Path(folder) / "lib/x86_64-linux-gnu/cmake/Kokkos"
    config.mkdir(parents=True)
    (config / "KokkosTargets-none.cmake").write_text('"${_IMPORT_PREFIX}/lib/x86_64-linux-gnu/libkokkossimd.a"')
    (config / "KokkosTargets.cmake").write_text('"/usr/include/kokkos"')

if name == "id":
    print(1000)
elif name == "sudo":
    log("sudo " + " ".join(a for a in plain if a != "env" and "=" not in a))
    if "install" in plain and any(p.startswith("libc6") for p in plain):
        system["installed"]["libc6"] = system["later"]["libc6"]
    if "libkokkos-dev" in plain:
        system["cmake_finds"] = True
    pathlib.Path(os.environ["PLAYED_SYSTEM"]).write_text(json.dumps(system))
elif name == "apt-get":
    if "indextargets" in plain:
        print(system["codename"] if "CODENAME" in text else system["label"] + "|http://mirror/" + system["label"].lower())
    elif "--simulate" in plain:
        for package in plain[plain.index("install") + 1:]:
            package = package.split("/")[0]
            if package in ("-t", "sid"):
                continue
            old = system["installed"].get(package)
            print(f"Inst {package} [{old}] (9)" if old else f"Inst {package} (9)")
        for package in system.get("replaces", []):
            print(f"Inst {package} [1] (9)")
    elif "download" in plain:
        log(name + " " + text)
        pathlib.Path("libkokkos.deb").touch()
elif name == "apt-cache":
    package = plain[-1].split("/")[0]
    if "madison" in plain and package in system["own"]:
        print(f" {package} | {system['own'][package]} | http://mirror {system['codename']}/main amd64 Packages")
    if "madison" in plain and package in system["later"]:
        print(f" {package} | {system['later'][package]} | http://mirror {system['later_name']}/main amd64 Packages")
    if "show" in plain and package == "libkokkos-dev":
        print(f"Package: libkokkos-dev\nVersion: {system['later']['libkokkos-dev']}\nDepends: libkokkos5.2 (= 5.2.2-2)")
    if "show" in plain and package == "libkokkos5.2":
        print("Package: libkokkos5.2\nDepends: libc6 (>= 2.38), libgomp1 (>= 4.9)")
elif name == "dpkg-query":
    version = system["installed"].get(plain[-1])
    print(f"installed {version}" if version else "")
elif name == "dpkg-deb":
    kokkos_at(plain[-1] + "/usr")
    if system.get("is_complete"):
        (pathlib.Path(plain[-1]) / "usr/lib/x86_64-linux-gnu/libkokkossimd.a").touch()
elif name == "cmake":
    if "-P" in plain:
        sys.exit(subprocess.run([os.environ["REAL_CMAKE"], *arguments]).returncode)
    if plain[0] == "-S" and "empty" in text:
        sys.exit(system.get("cmake_fails", 0))
    if plain[0] == "--build" and system.get("build_fails"):
        sys.exit(1)
    if plain[0] == "-S" and "probe" in text:
        print("Kokkos 5.2.2, folder")
        sys.exit(0 if system["cmake_finds"] or os.path.exists("build/kokkos") else 1)
    if plain[0] == "--install":
        kokkos_at("build/kokkos")
    log(f"cmake {plain[0]}")
'''
PACKAGES = ("cmake make g++ python3 libmpich-dev mpich libgtest-dev libgmock-dev libbenchmark-dev nlohmann-json3-dev libcli11-dev "
            "libfmt-dev libopenblas-dev ca-certificates libgomp1").split()


@unittest.skipUnless(shutil.which("dpkg"), "compares versions by dpkg")
class InstallDeps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("bin", "project/scripts", "project/cmake"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "player").write_text(PLAYER)
        (self.folder / "player").chmod(0o755)
        for name in PLAYED:
            (self.folder / "bin" / name).symlink_to(self.folder / "player")
        self.project = self.folder / "project"
        shutil.copy(root / "cmake/Fetch.cmake", self.project / "cmake")
        self.archive = self.folder / "kokkos.tar.gz"
        (self.folder / "kokkos-4.7").mkdir()
        (self.folder / "kokkos-4.7/CMakeLists.txt").touch()
        subprocess.run(["tar", "-czf", self.archive, "-C", self.folder, "kokkos-4.7"], check=True)
        self.serve(self.archive, hashlib.sha256(self.archive.read_bytes()).hexdigest())

    def serve(self, path, checksum):
        """The released sources are this file."""
        shutil.copy(root / "scripts/install-deps", self.project / "scripts")
        text = (root / "scripts/build-kokkos").read_text()
        text = re.sub(r'-DURL="[^"]*"', f'-DURL="file://{path}"', text)
        text = re.sub(r"checksum=\w{64}", f"checksum={checksum}", text)
        (self.project / "scripts/build-kokkos").write_text(text)
        (self.project / "scripts/build-kokkos").chmod(0o755)

    def debian(self, codename, libc6, **changes):
        """A Debian system where everything but Kokkos is installed."""
        installed = {name: "1" for name in PACKAGES} | {"libgomp1": "12", "libc6": libc6}
        return {"label": "Debian", "codename": codename, "later_name": "sid", "installed": installed, "cmake_finds": False,
                "own": {"libc6": libc6}, "later": {"libc6": "2.43-7", "libkokkos-dev": "5.2.2-2"}} | changes

    def environment(self, system, **variables):
        (self.folder / "system.json").write_text(json.dumps(system))
        (self.folder / "log").write_text("")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("Kokkos_", "TESSERA_", "CXX"))}
        return kept | {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "PLAYED_SYSTEM": str(self.folder / "system.json"),
                       "PLAYED_LOG": str(self.folder / "log"), "REAL_CMAKE": cmake} | variables

    def install(self, system, *arguments, status=0, **variables):
        """What the script said, and what it did, a line each."""
        result = subprocess.run(["bash", self.project / "scripts/install-deps", *arguments], env=self.environment(system, **variables),
                                stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertLessEqual({path.name for path in self.project.glob("build/*")}, {"kokkos"})
        return result.stderr, (self.folder / "log").read_text().splitlines()

    def test_does_nothing_where_all_is_there(self):
        said, done = self.install(self.debian("bookworm", "2.36-9", cmake_finds=True))
        self.assertEqual((said, done), ("", []))

    def test_installs_what_is_missing_and_what_is_named(self):
        system = self.debian("bookworm", "2.36-9", cmake_finds=True)
        del system["installed"]["make"]
        said, done = self.install(system, "clang")
        self.assertEqual(done, ["sudo apt-get update", "sudo apt-get install make clang"])
        self.assertIn("make clang: by apt, 2 new, 0 replaced, 0 removed", said)

    def test_takes_the_package_of_the_system(self):
        system = self.debian("duke", "2.43-7", is_complete=True)
        system["own"]["libkokkos-dev"] = "5.3.0-1"
        said, done = self.install(system)
        self.assertEqual(done, ["apt-get download libkokkos-dev", "sudo apt-get install libkokkos-dev"])

    def test_unpacks_a_package_that_cmake_would_not_accept_and_completes_it(self):
        system = self.debian("sid", "2.43-7")
        system["own"]["libkokkos-dev"] = "5.2.2-2"
        said, done = self.install(system)
        self.assertEqual(done, ["apt-get download libkokkos-dev", "apt-get download libkokkos-dev/sid libkokkos5.2/sid"])
        self.assertTrue((self.project / "build/kokkos/lib/x86_64-linux-gnu/libkokkossimd.a").exists())
        targets = self.project / "build/kokkos/lib/x86_64-linux-gnu/cmake/Kokkos/KokkosTargets.cmake"
        self.assertEqual(targets.read_text(), '"${_IMPORT_PREFIX}/include/kokkos"')

    def test_unpacks_the_package_of_a_later_release_where_it_runs(self):
        said, done = self.install(self.debian("trixie", "2.41-12"))
        self.assertEqual(done, ["apt-get download libkokkos-dev/sid libkokkos5.2/sid"])
        self.assertIn("unpacked into build/kokkos; nothing of the system is replaced", said)

    def test_builds_released_sources_where_the_package_does_not_run(self):
        said, done = self.install(self.debian("bookworm", "2.36-9"))
        self.assertEqual(done, ["cmake -S", "cmake --build", "cmake --install"])
        self.assertIn("does not run here, it needs libc6 >= 2.38 (here 2.36-9)", said)

    def test_what_does_not_build_is_no_reason_to_replace_packages(self):
        said, done = self.install(self.debian("bookworm", "2.36-9", build_fails=1), status=1)
        self.assertEqual(done, ["cmake -S"])
        self.assertIn("its sources could not be built", said)

    def test_a_compiler_that_does_not_work_is_said_first(self):
        said, done = self.install(self.debian("bookworm", "2.36-9", cmake_fails=1), status=1)
        self.assertEqual(done, [])
        self.assertIn("a C++ compiler are needed", said)

    def test_a_package_that_would_replace_others_is_not_installed(self):
        system = self.debian("bookworm", "2.36-9")
        system["own"]["libkokkos-dev"] = "5.3.0-1"
        system |= {"replaces": ["libc6"], "is_complete": True}
        said, done = self.install(system)
        self.assertEqual(done, ["apt-get download libkokkos-dev", "cmake -S", "cmake --build", "cmake --install"])
        self.assertIn("it would replace packages", said)

    def test_says_what_the_upgrade_replaces_and_goes_on_without_a_terminal(self):
        self.serve(self.archive, "0" * 64)
        said, done = self.install(self.debian("bookworm", "2.36-9"))
        self.assertEqual(done, ["sudo apt-get install -t sid libc6", "apt-get download libkokkos-dev/sid libkokkos5.2/sid"])
        self.assertIn("expected SHA-256 " + "0" * 64, said)
        self.assertIn("THIS REPLACES PACKAGES OF THE SYSTEM", said)
        self.assertIn("0 new, 1 replaced, 0 removed\n  replaced: libc6", said)
        self.assertIn("no terminal to ask at: going on", said)

    def test_asks_at_a_terminal(self):
        self.serve(self.folder / "nowhere", "0" * 64)
        for answer, status, done in (("n", 1, []), ("\n", 1, []), ("y", 0, ["sudo apt-get install -t sid libc6"])):
            with self.subTest(answer=answer):
                ours, theirs = pty.openpty()
                os.write(ours, (answer + "\n").encode())
                result = subprocess.run(["bash", self.project / "scripts/install-deps"], stdin=theirs, stdout=theirs, stderr=theirs,
                                        env=self.environment(self.debian("bookworm", "2.36-9")))
                said = os.read(ours, 1 << 16).decode()
                os.close(theirs)
                os.close(ours)
                self.assertEqual(result.returncode, status, said)
                self.assertIn("Replace them? [y/N]", said)
                self.assertEqual((self.folder / "log").read_text().splitlines()[:1], done)

    def test_dry_run_changes_nothing(self):
        system = self.debian("bookworm", "2.36-9")
        del system["installed"]["make"]
        said, done = self.install(system, "--dry-run")
        self.assertEqual(done, [])
        self.assertFalse((self.project / "build/kokkos").exists())
        for expected in ("make: by apt, 1 new", "the sources of 4.", "if its archive cannot be had", "replaced: libc6"):
            self.assertIn(expected, said)

    def test_takes_sources_that_are_named(self):
        said, done = self.install(self.debian("trixie", "2.41-12"), TESSERA_KOKKOS_SOURCES=str(self.archive))
        self.assertEqual(done, ["cmake -S", "cmake --build", "cmake --install"])
        shutil.rmtree(self.project / "build/kokkos")
        said, done = self.install(self.debian("trixie", "2.41-12"), status=1, TESSERA_KOKKOS_SOURCES="nowhere.tar.gz")
        self.assertIn("nowhere.tar.gz", said)
        self.assertIn("its sources could not be built", said)

    def test_takes_a_kokkos_that_is_named_as_it_is(self):
        said, done = self.install(self.debian("bookworm", "2.36-9"), Kokkos_ROOT="/opt/kokkos")
        self.assertEqual((said, done), ("", []))

    def test_oldest_kokkos_is_that_of_cmake(self):
        text = (root / "scripts/install-deps").read_text() + (root / "cmake/TesseraKokkos.cmake").read_text()
        self.assertRegex(text, r"(?s)oldest_kokkos=(\S+) .*find_package\(Kokkos \1 ")

    def test_refuses_options_that_it_has_not(self):
        said, done = self.install(self.debian("bookworm", "2.36-9"), "--dryrun", status=2)
        self.assertIn("there is no option --dryrun", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
