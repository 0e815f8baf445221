# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that a file includes its own module or a lower one, and where MPI and Kokkos may appear. Argument: the project's root."""
import pathlib
import re
import sys

LAYERS = [
    ["error", "config", "extents"],
    ["comm"],
    ["mesh"],
    ["placement"],
    ["sharding"],
    ["tensor"],
    ["redistribute"],
    ["local_map"],
    ["ops"],
    ["debug", "io"],
]
LAYER_OF = {module: layer for layer, modules in enumerate(LAYERS) for module in modules}
OWN = re.compile(r"#include <tessera/(\w+)/")
PLANNING = re.compile(r"redistribute/(detail/)?(hop|plan|plan_data|options)\.")
# ScopeGuard names thread levels.
MPI_OUTSIDE_COMM = {"mesh/device_mesh.hpp", "mesh/device_mesh.cpp", "tensor/scope_guard.hpp"}


def problems_of(name, text):
    module = name.split("/")[0]
    if module not in LAYER_OF:
        yield f"module {module} has no layer"
        return
    for included in OWN.findall(text):
        if LAYER_OF.get(included, 99) > LAYER_OF[module] or (
            included != module and LAYER_OF.get(included) == LAYER_OF[module] and module != "extents"
        ):
            yield f"includes {included}, which is not below {module}"
    if "<mpi.h>" in text and module != "comm" and name not in MPI_OUTSIDE_COMM:
        yield "includes mpi.h"
    if re.search(r"<Kokkos_|Kokkos::", re.sub(r"//.*", "", text)):
        if LAYER_OF[module] < LAYER_OF["tensor"] or PLANNING.search(name):
            yield "uses Kokkos"


def main(root):
    count = 0
    for base in (root / "include" / "tessera", root / "src"):
        for path in sorted(base.rglob("*.[hc]pp")):
            name = path.relative_to(base).as_posix()
            if "/" not in name:
                continue
            for problem in problems_of(name, path.read_text()):
                print(f"{path.relative_to(root)}: {problem}")
                count += 1
    return 1 if count else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
