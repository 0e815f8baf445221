# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""This test checks which file of the library may include which, and where MPI and Kokkos may appear.

`check_layers.py ROOT` prints the problems of the project at ROOT, one a line, and fails if there is any.
`check_layers.py --table ROOT` prints the size of each folder as a Markdown table.
"""
import collections
import fnmatch
import pathlib
import re
import sys

# The use of MPI or Kokkos that the files of a folder may make.
NEVER = "never"  # No chain of includes leads to a header of MPI or Kokkos.
INDIRECTLY = "indirectly"  # The files include headers that use it, but do not name it themselves.
BY_NAME = "by name"  # The files include its headers and name what these declare.

# A file includes its own folder, the folders to its left in the same layer, and those of lower layers.
ROWS = [  # layer; folders from left to right, over all rows of the layer; use of MPI; use of Kokkos
    (0, ["config", "error", "extents"], NEVER, NEVER),
    (1, ["mpi"], BY_NAME, NEVER),
    (1, ["device"], NEVER, NEVER),
    (2, ["agreement"], BY_NAME, NEVER),
    (3, ["comm"], BY_NAME, NEVER),
    (4, ["node", "file"], BY_NAME, NEVER),
    (5, ["placement"], NEVER, NEVER),
    (5, ["mesh"], BY_NAME, NEVER),
    (5, ["sharding"], NEVER, NEVER),
    (6, ["plan"], NEVER, NEVER),
    (7, ["tensor"], INDIRECTLY, BY_NAME),
    (8, ["kernels"], INDIRECTLY, BY_NAME),
    (9, ["engine"], INDIRECTLY, BY_NAME),
    (10, ["redistribute"], INDIRECTLY, BY_NAME),
    (11, ["fetch", "movement", "local_map"], INDIRECTLY, BY_NAME),
    (12, ["io", "ops", "field"], INDIRECTLY, BY_NAME),
    (13, ["grad", "nn"], INDIRECTLY, BY_NAME),
    (14, ["debug", "picture"], INDIRECTLY, BY_NAME),
]

# All exceptions, each with its reason. The names are patterns of paths from the project's root.
MPI_EXCEPTIONS = {  # files of the library that may make another use of MPI than their folder
    "*/mesh/mesh_layout.*": (NEVER, "A plan is made from layouts of meshes, and without MPI."),
    "*/mesh/mesh_dim.*": (NEVER, "Placements and plans name mesh dims, and are made without MPI."),
    "include/tessera/tensor/scope_guard.hpp": (BY_NAME, "ScopeGuard names the thread levels of MPI."),
}
MAY_INCLUDE_INTERNALS = {  # files outside the library that may include headers which are not for users
    "unit_tests/*": "Unit tests test the parts of the library.",
    "perf/*": "Benchmarks measure the parts of the library.",
    "tools/explain.cpp": "It prints the transfer cost of each rank, which no public function returns.",
    "tools/timeline_svg.cpp": "It draws with the SVG writer that the library's pictures are drawn with.",
}

LAYER = {folder: layer for layer, folders, _, _ in ROWS for folder in folders}
POSITION = {folder: (layer, column) for column, (folder, layer) in enumerate(LAYER.items())}
USE = {folder: {"MPI": mpi, "Kokkos": kokkos} for _, folders, mpi, kokkos in ROWS for folder in folders}
HEADERS = {"MPI": re.compile(r"mpi[\w-]*\.h"), "Kokkos": re.compile(r"Kokkos_.*")}
NAMES = {"MPI": re.compile(r"\bMPIX?_\w+"), "Kokkos": re.compile(r"\bKokkos::\w+|\bKOKKOS_\w+")}
KINDS = {"public header": re.compile(r"include/tessera/(tessera|\w+/[^/]+)\.hpp"),
         "detail header": re.compile(r"include/tessera/\w+/detail/[^/]+\.hpp"),
         "private header": re.compile(r"src/\w+/[^/]+\.hpp"),
         "source": re.compile(r"src/\w+/[^/]+\.(cpp|cpp\.in|cu)")}
# How a private header begins that higher folders include.
OFFER = re.compile(r"(// SPDX-.*\n|#pragma once\n|[ \t]*\n)*///? For ")
TOKENS = re.compile(r"""^[ \t]*\#[ \t]*include[ \t]*(?P<include><[^>\n]+>|"[^"\n]+")  # an include,
                        | //[^\n]* | /\*.*?\*/                                         # or a comment,
                        | \bR"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"                       # or a literal
                        | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])'""", re.X | re.S | re.M)


def kind_of(name):
    """Returns which of KINDS the file `name` is, or None if the house has no place for it."""
    return next((kind for kind, pattern in KINDS.items() if pattern.fullmatch(name)), None)


def includes_of(root, text):
    """Returns for each include in `text`, as it is written, a path from `root` or the header of another library."""
    includes = {}
    for written in (match["include"] for match in TOKENS.finditer(text) if match["include"]):
        inner = written[1:-1]
        is_private = written.startswith('"') or (root / "src" / inner).is_file()
        includes[written] = f"include/{inner}" if inner.startswith("tessera/") else f"src/{inner}" if is_private else inner
    return includes


class File:
    """A file of the library, its text, and what it includes."""

    def __init__(self, root, name):
        """Reads the file `name` below `root`."""
        parts = name.removeprefix("include/tessera/").removeprefix("src/").split("/")
        self.folder = parts[0] if len(parts) > 1 else ""
        self.text = (root / name).read_text(errors="replace")
        self.code = TOKENS.sub(" ", self.text)  # without includes, comments and literals
        self.includes = includes_of(root, self.text)


def read_tree(root):
    """Returns the files of the library below `root` by their paths from `root`."""
    paths = [path for base in ("include/tessera", "src") for path in sorted((root / base).rglob("*"))]
    names = [path.relative_to(root).as_posix() for path in paths if path.is_file() and path.name != "CMakeLists.txt"]
    return {name: File(root, name) for name in names}


def chains_from(files, start, may_pass=lambda name: True):
    """Returns for each header that `start` reaches the shortest chain of includes that leads there.

    A chain goes on behind a file of the library only if `may_pass` is true for that file.
    """
    chains = {start: [start]}
    queue = collections.deque([start])
    while queue:
        name = queue.popleft()
        for target in files[name].includes.values():
            if target not in chains:
                chains[target] = chains[name] + [target]
                if target in files and may_pass(target):
                    queue.append(target)
    return chains


def place_problems(files):
    """Yields a problem for each file that the house has no place for and for each detail header that no user needs."""
    reached = {target for name in files if kind_of(name) == "public header" for target in chains_from(files, name)}
    for name, file in files.items():
        kind = kind_of(name)
        if kind is None:
            yield f"{name}: is none of include/tessera/<folder>/[detail/]*.hpp and src/<folder>/*.{{hpp,cpp,cpp.in,cu}}"
        if file.folder and file.folder not in LAYER:
            yield f"{name}: folder {file.folder} is not in the table of layers"
        if kind == "detail header" and name not in reached:
            yield f"{name}: no public header reaches this detail header: it belongs to src/{file.folder}/"


def include_problems(files):
    """Yields a problem for each include of a file that is not there or that the including file may not include."""
    for name, file in files.items():
        for written, target in file.includes.items():
            above, below = file.folder, files[target].folder if target in files else None
            if target.startswith(("include/tessera/", "src/")) and target not in files:
                yield f"{name}: includes {written}, but {target} does not exist"
            elif below == "" and above:
                yield f"{name}: includes {written}, which is for users only"
            elif name.startswith("include/") and target.startswith("src/"):
                yield f"{name}: an installed header includes the private header {target}"
            elif above in LAYER and below in LAYER and POSITION[below] > POSITION[above]:
                where = "to the right of" if LAYER[below] == LAYER[above] else "above"
                yield f"{name}: includes {written}, but {below} (layer {LAYER[below]}) is {where} {above} (layer {LAYER[above]})"
            elif target.startswith("src/") and above != below and not OFFER.match(files[target].text):
                yield f"{name}: includes the private header {target}, whose first line does not begin with `// For `"


def use_of(library, name, folder):
    """Returns the use of `library` that the file `name` in `folder` may make. Folders outside the table may make any use."""
    exceptions = MPI_EXCEPTIONS.items() if library == "MPI" else ()
    folder_use = USE[folder][library] if folder in USE else BY_NAME
    return next((use for pattern, (use, _) in exceptions if fnmatch.fnmatch(name, pattern)), folder_use)


def use_problems(files, library):
    """Yields a problem for each file that makes more use of `library` than it may.

    A chain of includes is shown once, from the last file on it that must not reach the library: that file is to be changed.
    """
    uses = {name: use_of(library, name, file.folder) for name, file in files.items()}
    for name, file in files.items():
        if uses[name] == BY_NAME:
            continue
        headers = [target for target in file.includes.values() if HEADERS[library].fullmatch(target)]
        if headers or NAMES[library].search(file.code):
            named = [f"<{header}>" for header in headers] + sorted(set(NAMES[library].findall(file.code)))
            yield f"{name}: may not use {library} by name, but names {', '.join(named)}"
        if uses[name] == NEVER and not headers:
            chains = chains_from(files, name, lambda passed: uses[passed] != NEVER)
            chain = next((chain for header, chain in chains.items() if HEADERS[library].fullmatch(header)), None)
            if chain:
                yield f"{name}: must not reach {library}: {' → '.join(chain)}"


def cycle_problems(files):
    """Yields a problem for each include that closes a cycle of files."""
    done = set()

    def visit(path):
        for target in files[path[-1]].includes.values():
            if target in path:
                yield f"{path[-1]}: cycle of includes: {' → '.join(path[path.index(target):] + [target])}"
            elif target in files and target not in done:
                yield from visit(path + [target])
        done.add(path[-1])

    for name in files:
        if name not in done:
            yield from visit([name])


def user_problems(root, files):
    """Yields a problem for each file outside the library that includes a header which is not there or not for users."""
    for path in sorted(path for base in ("docs", "examples", "perf", "tools", "unit_tests") for path in (root / base).rglob("*")):
        if path.suffix not in (".cpp", ".hpp", ".cu") or not path.is_file():
            continue
        name = path.relative_to(root).as_posix()
        may_include_internals = any(fnmatch.fnmatch(name, pattern) for pattern in MAY_INCLUDE_INTERNALS)
        for written, target in includes_of(root, path.read_text(errors="replace")).items():
            beside = (path.parent / written[1:-1]).resolve()
            if written.startswith('"') and beside.is_file() and beside.is_relative_to(root):
                target = beside.relative_to(root).as_posix()
            if target.startswith("include/tessera/") and target not in files:
                yield f"{name}: includes {written}, but {target} does not exist"
            elif target in files and kind_of(target) != "public header" and not may_include_internals:
                yield f"{name}: includes {written}, which is not a public header"


def problems_of(root):
    """Returns the problems of the project at `root`, each as one line of text."""
    root = pathlib.Path(root).resolve()
    files = read_tree(root)
    if not files:
        return [f"{root}: there is no library in include/tessera and src"]
    return [*place_problems(files), *include_problems(files), *use_problems(files, "MPI"), *use_problems(files, "Kokkos"),
            *cycle_problems(files), *user_problems(root, files)]


def table_of(root):
    """Returns a Markdown table of the folders of the project at `root`, sorted by layer, with their files and lines."""
    sizes = {}
    for name, file in read_tree(pathlib.Path(root).resolve()).items():
        if file.folder:
            size = sizes.setdefault(file.folder, [0, 0, 0])  # files, lines of include, lines of src
            size[0] += 1
            size[1 if name.startswith("include/") else 2] += len(file.text.splitlines())
    whole = sum(include + src for _, include, src in sizes.values())
    rows = ["| layer | folder | files | lines of include | lines of src | total | share |", "| --- " * 7 + "|"]
    for folder in sorted(sizes, key=lambda folder: POSITION.get(folder, (len(ROWS), 0))):
        count, include, src = sizes[folder]
        rows.append(f"| {LAYER.get(folder, '?')} | `{folder}` | {count} | {include} | {src} | {include + src} "
                    f"| {100 * (include + src) / whole:.1f} % |")
    return "\n".join(rows)


if __name__ == "__main__":
    if sys.argv[1] == "--table":
        print(table_of(sys.argv[2]))
    else:
        found = problems_of(sys.argv[1])
        print(*found, sep="\n", end="\n" if found else "")
        sys.exit(1 if found else 0)
