# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the pages in docs/ and the examples of docstrings: what they show is part of programs that are built and run, links lead
somewhere, variables exist, what the headers declare has a docstring, and tests that tables name exist.

Arguments: the project's root, and the program tessera, if it is to be run: then what pages show as its output, and the pictures
that they say are made by it, must be what it gives.
"""
import importlib.util
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*$", re.M | re.S)
SNIPPET = re.compile(r"(?:^<!-- file: (\S+) -->\n+)?^```cpp\n(.*?)^```\s*$", re.M | re.S)
LINK = re.compile(r"\]\(([^()\s]+)\)")
VARIABLE = re.compile(r"\bTESSERA_[A-Z0-9_]+\b")
DECLARATION = re.compile(r"template|class|struct|enum|inline|using(?! namespace)|constexpr|[a-z]\w*(::\w+)*(<.*>)?[&*]* \w+\(")
OF_SCRIPTS = {"TESSERA_DEPS", "TESSERA_KOKKOS_SOURCES", "TESSERA_TEST_SEED", "TESSERA_TEST_CASES", "TESSERA_TEST_MESSAGE_LIMIT"}  # and of tests
RUN_COMMANDS = ("show", "explain", "simulate")
GOOGLE_TEST = re.compile(r"^ *(?:TYPED_)?TEST(?:_[FP])?\((\w+),\s*(\w+)\)", re.M)
CTEST = re.compile(r"(?:add_test\(NAME|tessera_mpi_test\()\s*([\w.]+)\s")
MISTAKE = re.compile(r"^#ifdef MISTAKE_(\w+)", re.M)


def has_snippet(program, snippet):
    """Whether the lines of the snippet follow one another in the program, all indented alike."""
    lines = snippet.rstrip("\n").split("\n")
    given = program.split("\n")
    for first in range(len(given) - len(lines) + 1):
        indent = given[first][: len(given[first]) - len(given[first].lstrip())]
        if all((indent + line if line else "") == given[first + i] for i, line in enumerate(lines)):
            return True
    return False


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


def anchors_of(text):
    """Of the headings, as GitHub makes them."""
    names = set()
    for heading in re.findall(r"^#+ +(.*)$", FENCE.sub("", text), re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        number = 1
        while name in names:
            name = f"{name.removesuffix(f'-{number - 1}')}-{number}"
            number += 1
        names.add(name)
    return names


def snippet_problems(page, text):
    for other, snippet in SNIPPET.findall(text):
        program = page.parent / other if other else page.with_suffix(".cpp")
        if not program.is_file():
            yield f"has a snippet, but there is no program {program.name}"
        elif not has_snippet(program.read_text(), snippet):
            yield f"shows what is not in {program.name}: {snippet.strip().splitlines()[0]} …"


def bare(code):
    """Without comments and spaces."""
    return re.sub(r"//.*|\s+", "", code)


def example_problems(root):
    """Of the docstrings' examples that are code."""
    loader = importlib.util.spec_from_file_location("doxygen", root / "docs/doxygen.py")
    doxygen = importlib.util.module_from_spec(loader)
    loader.loader.exec_module(doxygen)
    programs = [bare(file.read_text()) for file in (root / "docs").rglob("*.cpp")]
    for header in sorted((root / "include/tessera").rglob("*.hpp")):
        for example in re.findall(r"@code\{\.cpp\}(.*?)@endcode", doxygen.header_text(header), re.S):
            code = re.sub(r"^ *///", "", example, flags=re.M)
            if not any(bare(code) in program for program in programs):
                yield f"{header.relative_to(root)}: has an example that no program in docs has: {code.strip().splitlines()[0]}"


def undocumented(text):
    """Lines of a public header that begin a declaration without a docstring."""
    lines = re.sub(r"^namespace detail \{$.*?^\}  // namespace detail$", "", text, flags=re.M | re.S).split("\n")
    for before, line in zip(lines, lines[1:]):
        is_declared_only = re.match(r"(class|struct|enum)[^{]*;$", line)
        is_within = before.startswith(("///", "template", "requires")) or re.match(r" +class .*>$", before)
        if DECLARATION.match(line) and not is_declared_only and not is_within:
            yield line


def docstring_problems(root):
    for header in sorted((root / "include/tessera").rglob("*.hpp")):
        if "detail" not in header.parts:
            for line in undocumented(header.read_text()):
                yield f"{header.relative_to(root)}: has no docstring for: {line}"


def link_problems(page, text):
    for target in LINK.findall(without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists():
            yield f"links to {target}, which is not there"
        elif anchor and anchor not in anchors_of(file.read_text()):
            yield f"links to {target}: no such heading"


def pages_linked_from(page):
    for target in LINK.findall(without_code(page.read_text())):
        file = (page.parent / target.partition("#")[0]).resolve()
        if file.suffix == ".md" and file.is_file():
            yield file


def reachable_from(page):
    found, new = {page}, [page]
    while new:
        for file in pages_linked_from(new.pop()):
            if file not in found:
                found.add(file)
                new.append(file)
    return found


def test_names(root):
    """Those of GoogleTest are suite.name, those of programs that must not compile compile_errors.name; and those of ctest."""
    for file in (root / "unit_tests").rglob("*.cpp"):
        text = file.read_text()
        yield from (".".join(names) for names in GOOGLE_TEST.findall(text))
        yield from (f"compile_errors.{name}" for name in MISTAKE.findall(text))
    for file in (root / "unit_tests").rglob("CMakeLists.txt"):
        yield from CTEST.findall(file.read_text())


def rows_of(text, heading):
    """The cells of each row of the tables below a heading."""
    _, _, section = text.partition(f"\n## {heading}\n")
    lines = re.split(r"^## ", FENCE.sub("", section), maxsplit=1, flags=re.M)[0].splitlines()
    for line, after in zip(lines, [*lines[1:], ""]):
        if line.startswith("|") and not re.match(r"\|[ :|-]+\|$", line) and not re.match(r"\|[ :|-]+\|$", after):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def row_problems(text, tests):
    """Of the tables that name the tests: what is the same must have one, and all that are named must exist."""
    for cells in rows_of(text, "Every name"):
        if len(cells) != 4:
            yield f"has a row of {len(cells)} cells, not 4: {cells[0]}"
            continue
        there, _, how, shown_by = cells
        named = re.findall(r"`([^`]+)`", shown_by)
        if how.startswith("the same") and not named:
            yield f"says the same without a test: {there}"
        for name in named:
            if name not in tests:
                yield f"names {name}, which is no test"


def variables_read(root):
    sources = "\n".join(file.read_text() for file in (root / "src").rglob("*.cpp"))
    return set(re.findall(r'"(TESSERA_[A-Z0-9_]+)"', sources))


def other_names(root):
    """Options of the build, macros of the headers."""
    files = [*root.glob("CMakeLists.txt"), *root.glob("*/CMakeLists.txt"), *root.glob("cmake/*.cmake")]
    text = "\n".join(file.read_text() for file in [*files, *(root / "include").rglob("*.hpp")])
    return set(re.findall(r"(?:option\(|set\(|#define )(TESSERA_[A-Z0-9_]+)", text))


def commands_of(text):
    """The commands that pages show, with the output that follows them."""
    for _, block in FENCE.findall(text):
        command = None
        output = []
        for line in [*block.splitlines(), "$ "]:
            if line.startswith(("$ ", "tessera ")):
                if command and command[1] in RUN_COMMANDS:
                    yield command, "\n".join(output).rstrip()
                words = shlex.split(line.removeprefix("$ "))
                command = words if words[:1] == ["tessera"] and len(words) > 1 else None
                output = []
            else:
                output.append(line)


def run(program, arguments):
    result = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=100, check=False)
    return (result.stdout + result.stderr).rstrip()


def command_problems(root, program, text):
    for command, output in commands_of(text):
        arguments = command[1:]
        if "--svg" not in arguments:
            if output and run(program, arguments) != output:
                yield f"shows another output than that of: {shlex.join(command)}"
            continue
        place = arguments.index("--svg") + 1
        picture = root / arguments[place]
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "picture.svg"
            run(program, [*arguments[:place], str(made), *arguments[place + 1 :]])
            if not picture.is_file() or not made.is_file() or picture.read_bytes() != made.read_bytes():
                yield f"has another picture than that of: {shlex.join(command)}"


def problems_of(root, program):
    docs = root / "docs"
    pages = sorted(docs.rglob("*.md"))
    reachable = reachable_from(docs / "index.md")
    read, others, tests = variables_read(root), other_names(root), set(test_names(root))
    for page in [*pages, *sorted(root.glob("*.md")), *sorted(root.glob("*/README.md"))]:
        text = page.read_text()
        found = list(link_problems(page, text))
        unknown = set(VARIABLE.findall(text)) - read - others - OF_SCRIPTS
        found += [f"names {name}, which nothing reads" for name in sorted(unknown)]
        if page in pages:
            found += snippet_problems(page, text)
            found += row_problems(text, tests)
            if page not in reachable:
                found.append("cannot be reached from docs/index.md")
            if program:
                found += command_problems(root, program, text)
        for problem in found:
            yield f"{page.relative_to(root)}: {problem}"
    built = (docs / "CMakeLists.txt").read_text()
    for file in sorted(docs.rglob("*.cpp")):
        if not re.search(rf"\s{re.escape(str(file.relative_to(docs).with_suffix('')))}[\s)]", built):
            yield f"{file.relative_to(root)}: is not built by docs/CMakeLists.txt"
    yield from example_problems(root)
    yield from docstring_problems(root)
    for name in sorted(read - set(VARIABLE.findall((docs / "guide.md").read_text()))):
        yield f"docs/guide.md: does not name {name}, which is read"


def main(root, program=""):
    problems = list(problems_of(root.resolve(), program))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), *sys.argv[2:]))
