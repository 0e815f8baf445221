# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles each program of the sources alone and compares what the compiler says with what the program expects.

A mistake must give the expected sentence and, with g++, at most 12 lines. Arguments: the CMake name of the compiler
(GNU), a file of flags, one a line, the compiler, and the sources.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MOST_LINES = 12
CASE = re.compile(r"^#ifdef MISTAKE_(\w+)\n// expect: (.*)\n", re.M)


def cases_of(source):
    """Returns (source, name, expected sentence) of each program, and of the case `none`, which defines no program."""
    text = source.read_text()
    cases = {"none": "compiles", **dict(CASE.findall(text))}
    if len(cases) != len(re.findall(r"(?m)^#if", text)) + 1:
        sys.exit(f"{source}: expected a line `// expect:` after each #ifdef, and no name twice")
    return [(source, name, expected) for name, expected in cases.items()]


def compile_with(command, *options):
    """Returns whether it compiles, and what the compiler says, in English and without typographic quotes."""
    result = subprocess.run([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env={**os.environ, "LC_ALL": "C"})
    return result.returncode == 0, result.stdout


def precompiled(command, folder):
    """Returns the command with the library's headers compiled beforehand."""
    header = folder / "tessera.hpp"
    header.write_text("#include <tessera/tessera.hpp>\n")
    compiles, text = compile_with(command, "-x", "c++-header", str(header), "-o", f"{header}.gch")
    if not compiles:
        sys.exit(text)
    return [*command, "-include", str(header)]


def problem_of(expected, compiles, text, limits_lines):
    """Returns what is wrong with the compiler's text, "" if nothing is."""
    if expected == "compiles":
        return "" if compiles else "does not compile"
    if compiles:
        return "compiles"
    if expected not in text:
        return "lacks the sentence"
    return "too many lines" if limits_lines and text.count("\n") > MOST_LINES else ""


def main(compiler_id, flags, compiler, *sources):
    command = [compiler, *filter(None, pathlib.Path(flags).read_text().splitlines())]
    cases = [case for source in sources for case in cases_of(pathlib.Path(source))]
    names = [name for _, name, _ in cases if name != "none"]
    if len(set(names)) != len(names):
        sys.exit("expected names that are different in all sources")
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        if compiler_id == "GNU" or "Clang" in compiler_id:
            command = precompiled(command, pathlib.Path(folder))

        def compile_case(case):
            return compile_with(command, "-fsyntax-only", f"-DMISTAKE_{case[1]}", str(case[0]))

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (source, name, expected), (compiles, text) in zip(cases, pool.map(compile_case, cases)):
                problem = problem_of(expected, compiles, text, compiler_id == "GNU")
                lines = text.count("\n")
                print(f"{lines:4}  {source.name:16}{name:46}{problem}", flush=True)
                if problem:
                    failures.append(f"\n{source.name}, {name}: {problem}\nexpected: {expected}\n{text[:4000]}")
    print("".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
