# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""This test checks that each tuned constant says how it was measured and what shows it. Argument: the project's root.

A constant in `src/<folder>/tuning.hpp` needs a docstring that contains "Shown by:" and either "measured" or "judgement".
"""
import pathlib
import re
import sys

CONSTANT = re.compile(r"^\s*[^/\n]*\bconstexpr\b[^=\n]*?\b(\w+)\s*[={]")


def problems_of(name, text):
    """Yields a problem for each constant in the header `name` whose docstring lacks something."""
    docstring = ""
    for line in text.splitlines():
        constant = CONSTANT.match(line)
        if constant and "Shown by:" not in docstring:
            yield f"{name}: the docstring of {constant[1]} does not contain `Shown by:`"
        if constant and not re.search("[Mm]easured|judgement", docstring):
            yield f"{name}: the docstring of {constant[1]} contains neither `measured` nor `judgement`"
        is_docstring = line.lstrip().startswith("///")
        docstring = f"{docstring} {line.lstrip().removeprefix('///').strip()}" if is_docstring else ""


root = pathlib.Path(sys.argv[1])
headers = sorted(root.glob("src/*/tuning.hpp"))
found = [problem for header in headers for problem in problems_of(header.relative_to(root), header.read_text())]
if not headers:
    found = [f"{root}: there is no src/*/tuning.hpp"]
print(*found, sep="\n", end="\n" if found else "")
sys.exit(1 if found else 0)
