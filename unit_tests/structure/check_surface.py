# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Counts the function declarations of each public name and compares them with the ceilings below.

Arguments: the project's root, and --table for the count of every name. A declaration is one signature at namespace scope
in include/tessera/<folder>/*.hpp; declarations in detail folders and namespaces do not count.
"""
import collections
import pathlib
import re
import sys

# Names with an optional execution space instance and an optional mesh: four forms.
FACTORIES = "empty zeros ones full rand randn from_function arange linspace eye".split()
CEILINGS = {
    **dict.fromkeys(FACTORIES + "redistribute redistribute_async distribute_tensor read_npy".split(), 4),
    # from_local infers the shape, or takes it as a list or as another range; each with and without a mesh.
    "from_local": 6,
    # local_map has no output placement, one, or a tuple of them; each with and without a mesh.
    "local_map": 6,
    # The functional collectives, and those on bytes among a group of ranks (comm/collectives.hpp).
    **dict.fromkeys("all_reduce all_gather reduce_scatter all_to_all broadcast".split(), 3),
    # concatenate takes the placements of the first tensor, or a target; the latter also with an instance.
    "concatenate": 3,
}
CEILING = 2
# One overload for each type that can be printed or compared.
BY_TYPE = re.compile(r"to_string$|operator")


def without_noise(text):
    """The text without comments, preprocessor lines, string contents and detail namespaces."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"^#.*?(?<!\\)$", "", text, flags=re.M | re.S)
    text = re.sub(r'"(\\.|[^"\\])*"', '""', text)
    return without_blocks(text, r"namespace (?:detail|tessera::detail|Kokkos)\s*\{")


def end_of_block(text, begin):
    depth = 0
    for i in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    raise ValueError("unbalanced braces")


def without_blocks(text, opening):
    while match := re.search(opening, text):
        text = text[: match.start()] + text[end_of_block(text, match.end() - 1) :]
    return text


def declarations(text):
    """Yields the text of each declaration at namespace scope, without its body."""
    text = without_noise(text)
    text = re.sub(r"namespace tessera\s*\{", "", text)
    begin = parentheses = 0
    i = 0
    while i < len(text):
        symbol = text[i]
        parentheses += {"(": 1, ")": -1}.get(symbol, 0)
        if symbol == ";" and parentheses == 0:
            yield text[begin:i]
            begin = i + 1
        elif symbol == "{" and parentheses == 0:
            yield text[begin:i]
            i = end_of_block(text, i) - 1
            begin = i + 1
        elif symbol == "}" and parentheses == 0:  # the end of namespace tessera
            begin = i + 1
        i += 1


def function_name(declaration):
    """The name that a declaration of a function declares; None for all else, also for members defined outside."""
    declaration = " ".join(declaration.split())
    while declaration.startswith("template"):
        depth, i = 0, len("template")
        while True:
            depth += {"<": 1, ">": -1}.get(declaration[i], 0)
            i += 1
            if depth == 0 and declaration[i - 1] == ">":
                break
        declaration = declaration[i:].strip()
    # A requires clause in parentheses stands before the return type.
    if match := re.match(r"requires\s*\(", declaration):
        depth = 0
        for i in range(match.end() - 1, len(declaration)):
            depth += {"(": 1, ")": -1}.get(declaration[i], 0)
            if depth == 0:
                declaration = declaration[i + 1 :].strip()
                break
    if re.match(r"(using|enum|class|struct|concept|namespace|extern|friend)\b", declaration):
        return None
    match = re.search(r"([\w:~]*operator\s*[^\s(]+|[\w:~]+)\s*\(", declaration)
    if match is None or "=" in declaration[: match.start()] or "::" in match.group(1):
        return None
    return match.group(1).replace(" ", "")


def counted(root):
    """The number of declarations of each name."""
    counts = collections.Counter()
    for header in sorted((root / "include/tessera").rglob("*.hpp")):
        if "detail" not in header.parts:
            counts.update(filter(None, map(function_name, declarations(header.read_text()))))
    return counts


def problems(counts):
    for name, count in sorted(counts.items()):
        ceiling = CEILINGS.get(name, CEILING)
        if count > ceiling and not BY_TYPE.match(name):
            yield f"{name} has {count} declarations, at most {ceiling} are allowed (unit_tests/structure/check_surface.py)"


if __name__ == "__main__":
    found = counted(pathlib.Path(sys.argv[1]))
    if "--table" in sys.argv:
        for name, count in sorted(found.items()):
            print(f"{count:3} {name}")
        print(f"{sum(found.values())} declarations of {len(found)} names")
    sys.exit("\n".join(problems(found)) or 0)
