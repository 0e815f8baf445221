# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles each program of mistakes.cpp alone and compares what the compiler says with what the program expects.

A mistake must give the expected sentence and, with g++, at most 12 lines. Arguments: mistakes.cpp, the CMake name of the
compiler (GNU), a file of flags, one a line, and the compiler.
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
    """Returns the expected sentences by the names of the programs."""
    text = source.read_text()
    cases = dict(CASE.findall(text))
    if len(cases) != len(re.findall(r"(?m)^#if", text)):
        sys.exit(f"{source}: expected a line `// expect:` after each #ifdef, and no name twice")
    return cases


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


def main(source, compiler_id, flags, compiler):
    source = pathlib.Path(source)
    command = [compiler, *filter(None, pathlib.Path(flags).read_text().splitlines())]
    expected = {"none": "compiles", **cases_of(source)}
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        if compiler_id == "GNU" or "Clang" in compiler_id:
            command = precompiled(command, pathlib.Path(folder))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = pool.map(lambda name: compile_with(command, "-fsyntax-only", f"-DMISTAKE_{name}", str(source)), expected)
            for (name, sentence), (compiles, text) in zip(expected.items(), results):
                problem = problem_of(sentence, compiles, text, compiler_id == "GNU")
                lines = text.count("\n")
                print(f"{lines:4}  {name:46}{problem}", flush=True)
                if problem:
                    failures.append(f"\n{name}: {problem}\nexpected: {sentence}\n{text[:4000]}")
    print("".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
