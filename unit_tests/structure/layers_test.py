# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""This test runs check_layers.py on small trees that break one rule each. Argument: the project's root."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_layers

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
LICENCE = "// SPDX-FileCopyrightText: 2026 Tessera authors\n// SPDX-License-Identifier: Apache-2.0\n"


def including(*headers):
    """Returns the text of a header that includes `headers`, each written with its brackets or quotes."""
    return LICENCE + "#pragma once\n\n" + "".join(f"#include {header}\n" for header in headers)


class Layers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def write(self, files):
        """Writes `files`, a dictionary from the path in the tree to the text."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def expect(self, files, *problems):
        """Expects that a tree of `files` has exactly these problems, in any order."""
        self.write(files)

        self.assertEqual(sorted(check_layers.problems_of(self.root)), sorted(problems))


class RightTrees(Layers):
    def test_a_tree_that_keeps_all_rules_has_no_problem(self):
        self.expect({
            "include/tessera/tessera.hpp": including("<tessera/redistribute/redistribute.hpp>"),
            "include/tessera/error/error.hpp": including("<string>"),
            "include/tessera/extents/box.hpp": including("<tessera/error/error.hpp>"),
            "include/tessera/comm/communicator.hpp": including("<mpi.h>"),
            "include/tessera/mesh/mesh_dim.hpp": including("<tessera/extents/box.hpp>"),
            "include/tessera/mesh/device_mesh.hpp": including("<mpi.h>", "<tessera/comm/communicator.hpp>"),
            "include/tessera/sharding/spec.hpp": including("<tessera/mesh/mesh_dim.hpp>"),
            "include/tessera/tensor/dtensor.hpp": including("<Kokkos_Core.hpp>", "<tessera/mesh/device_mesh.hpp>",
                                                            "<tessera/tensor/detail/view_traits.hpp>"),
            "include/tessera/tensor/detail/view_traits.hpp": including("<Kokkos_Core.hpp>"),
            "include/tessera/tensor/scope_guard.hpp": including("<mpi.h>") + "int level = MPI_THREAD_FUNNELED;\n",
            "include/tessera/redistribute/redistribute.hpp": including("<tessera/tensor/dtensor.hpp>"),
            "src/CMakeLists.txt": "add_library(tessera)\n",
            "src/config/version.cpp.in": including("<string>"),
            "src/plan/transfer.hpp": LICENCE + "#pragma once\n\n// For higher folders: Transfer.\n#include <tessera/sharding/spec.hpp>\n",
            "src/plan/order.hpp": including('"plan/transfer.hpp"'),
            "src/plan/order.cpp": including('"plan/order.hpp"'),
            "src/engine/run.cpp": including('"plan/transfer.hpp"', "<tessera/tensor/dtensor.hpp>"),
            "examples/pca/pca.cpp": including('"local_steps.hpp"', "<tessera/tessera.hpp>"),
            "examples/pca/local_steps.hpp": including("<cmath>"),
            "unit_tests/plan/transfer_test.cpp": including('"plan/order.hpp"', "<tessera/tensor/detail/view_traits.hpp>"),
        })

    def test_comments_and_literals_neither_include_nor_name(self):
        self.expect({"src/plan/plan.cpp": '// Kokkos::View and MPI_Comm.\n/* as in\n#include <mpi.h>\n*/\n'
                                          'const char* text = "MPI_Comm // "; const char* more = R"(\n#include <mpi.h>\n)";\n'})

    def test_an_offer_may_stand_before_pragma_once(self):
        self.expect({"src/plan/transfer.hpp": LICENCE + "/// For higher folders: Transfer.\n#pragma once\n",
                     "src/engine/run.cpp": including('"plan/transfer.hpp"')})


class Order(Layers):
    def test_an_include_of_a_higher_layer(self):
        self.expect({"src/extents/box.cpp": including("<tessera/mesh/mesh_dim.hpp>"),
                     "include/tessera/mesh/mesh_dim.hpp": including()},
                    "src/extents/box.cpp: includes <tessera/mesh/mesh_dim.hpp>, but mesh (layer 5) is above extents (layer 0)")

    def test_an_include_from_the_right_in_the_same_layer(self):
        self.expect({"src/node/window.cpp": including("<tessera/file/file.hpp>"), "include/tessera/file/file.hpp": including(),
                     "src/file/file.cpp": including("<tessera/node/window.hpp>"), "include/tessera/node/window.hpp": including()},
                    "src/node/window.cpp: includes <tessera/file/file.hpp>, but file (layer 4) is to the right of node (layer 4)")

    def test_an_include_from_the_right_where_the_layer_has_several_rows(self):
        self.expect({"src/placement/shard.cpp": including("<tessera/sharding/spec.hpp>"),
                     "include/tessera/sharding/spec.hpp": including()},
                    "src/placement/shard.cpp: includes <tessera/sharding/spec.hpp>, but sharding (layer 5) is to the right of "
                    "placement (layer 5)")

    def test_the_umbrella_header_in_the_library(self):
        self.expect({"src/debug/show.cpp": including("<tessera/tessera.hpp>"), "include/tessera/tessera.hpp": including()},
                    "src/debug/show.cpp: includes <tessera/tessera.hpp>, which is for users only")

    def test_a_cycle_of_files(self):
        self.expect({"include/tessera/plan/a.hpp": including("<tessera/plan/b.hpp>"),
                     "include/tessera/plan/b.hpp": including("<tessera/plan/c.hpp>"),
                     "include/tessera/plan/c.hpp": including("<tessera/plan/a.hpp>")},
                    "include/tessera/plan/c.hpp: cycle of includes: include/tessera/plan/a.hpp → include/tessera/plan/b.hpp → "
                    "include/tessera/plan/c.hpp → include/tessera/plan/a.hpp")


class Places(Layers):
    def test_a_folder_that_the_table_lacks(self):
        self.expect({"src/misc/parts.cpp": including()}, "src/misc/parts.cpp: folder misc is not in the table of layers")

    def test_files_that_are_in_no_folder_or_too_deep(self):
        kinds = "is none of include/tessera/<folder>/[detail/]*.hpp and src/<folder>/*.{hpp,cpp,cpp.in,cu}"
        names = ["include/tessera/all.hpp", "src/all.cpp", "include/tessera/plan/impl/a.hpp",
                 "include/tessera/plan/detail/more/a.hpp", "src/plan/detail/a.hpp", "src/plan/a.h", "include/tessera/plan/a.cpp"]

        self.expect({name: including() for name in names}, *(f"{name}: {kinds}" for name in names))

    def test_a_detail_header_that_no_public_header_reaches(self):
        self.expect({"include/tessera/tensor/view.hpp": including("<tessera/tensor/detail/traits.hpp>"),
                     "include/tessera/tensor/detail/traits.hpp": including("<tessera/tensor/detail/launch.hpp>"),
                     "include/tessera/tensor/detail/launch.hpp": including(),
                     "include/tessera/tensor/detail/alone.hpp": including(),
                     "src/tensor/view.cpp": including("<tessera/tensor/detail/alone.hpp>")},
                    "include/tessera/tensor/detail/alone.hpp: no public header reaches this detail header: it belongs to "
                    "src/tensor/")

    def test_files_that_are_not_there(self):
        self.expect({"src/plan/plan.cpp": including("<tessera/plan/plan.hpp>", '"plan/transfer.hpp"', '"transfer.hpp"'),
                     "perf/plan.cpp": including("<tessera/plan/plan.hpp>")},
                    "src/plan/plan.cpp: includes <tessera/plan/plan.hpp>, but include/tessera/plan/plan.hpp does not exist",
                    'src/plan/plan.cpp: includes "plan/transfer.hpp", but src/plan/transfer.hpp does not exist',
                    'src/plan/plan.cpp: includes "transfer.hpp", but src/transfer.hpp does not exist',
                    "perf/plan.cpp: includes <tessera/plan/plan.hpp>, but include/tessera/plan/plan.hpp does not exist")

    def test_a_root_without_a_library(self):
        self.expect({"README.md": ""}, f"{self.root}: there is no library in include/tessera and src")


class PrivateHeaders(Layers):
    def test_an_installed_header_that_includes_one(self):
        self.expect({"include/tessera/plan/plan.hpp": including('"plan/transfer.hpp"'),
                     "include/tessera/plan/path.hpp": including("<plan/transfer.hpp>"),
                     "src/plan/transfer.hpp": including()},
                    "include/tessera/plan/plan.hpp: an installed header includes the private header src/plan/transfer.hpp",
                    "include/tessera/plan/path.hpp: an installed header includes the private header src/plan/transfer.hpp")

    def test_a_higher_folder_that_includes_one_that_offers_nothing(self):
        self.expect({"src/plan/transfer.hpp": including("<string>") + "// For higher folders: too late.\n",
                     "src/plan/transfer.cpp": including('"plan/transfer.hpp"'),
                     "src/engine/run.cpp": including('"plan/transfer.hpp"')},
                    "src/engine/run.cpp: includes the private header src/plan/transfer.hpp, whose first line does not begin with "
                    "`// For `")

    def test_a_lower_folder_that_includes_one(self):
        self.expect({"src/plan/transfer.hpp": LICENCE + "#pragma once\n// For higher folders: Transfer.\n",
                     "src/mesh/device_mesh.cpp": including('"plan/transfer.hpp"')},
                    'src/mesh/device_mesh.cpp: includes "plan/transfer.hpp", but plan (layer 6) is above mesh (layer 5)')


class MpiAndKokkos(Layers):
    def test_mpi_through_a_header_in_between(self):
        self.expect({"include/tessera/plan/plan.hpp": including("<tessera/mesh/device_mesh.hpp>"),
                     "src/plan/plan.cpp": including("<tessera/plan/plan.hpp>"),
                     "include/tessera/mesh/device_mesh.hpp": including("<tessera/comm/communicator.hpp>"),
                     "include/tessera/comm/communicator.hpp": including("<mpi.h>")},
                    "include/tessera/plan/plan.hpp: must not reach MPI: include/tessera/plan/plan.hpp → "
                    "include/tessera/mesh/device_mesh.hpp → include/tessera/comm/communicator.hpp → mpi.h")

    def test_mpi_in_the_files_of_mesh_that_are_free_of_it(self):
        self.expect({"src/mesh/mesh_layout.cpp": including("<tessera/mesh/device_mesh.hpp>"),
                     "include/tessera/mesh/mesh_dim.hpp": "int rank(MPI_Comm);\n",
                     "include/tessera/mesh/device_mesh.hpp": including("<mpi.h>")},
                    "src/mesh/mesh_layout.cpp: must not reach MPI: src/mesh/mesh_layout.cpp → include/tessera/mesh/device_mesh.hpp "
                    "→ mpi.h",
                    "include/tessera/mesh/mesh_dim.hpp: may not use MPI by name, but names MPI_Comm")

    def test_mpi_by_name_in_a_folder_that_may_only_reach_it(self):
        self.expect({"src/engine/run.cpp": including("<mpi.h>") + "MPI_Request request; MPI_Comm comm;\n",
                     "src/tensor/scope_guard.cpp": "int level = MPI_THREAD_MULTIPLE;\n",
                     "src/device/runtime.cpp": including('"mpi/tags.hpp"'),
                     "src/mpi/tags.hpp": "// For higher folders: tags.\n#include <mpi.h>\n"},
                    "src/engine/run.cpp: may not use MPI by name, but names <mpi.h>, MPI_Comm, MPI_Request",
                    "src/tensor/scope_guard.cpp: may not use MPI by name, but names MPI_THREAD_MULTIPLE",
                    "src/device/runtime.cpp: must not reach MPI: src/device/runtime.cpp → src/mpi/tags.hpp → mpi.h")

    def test_kokkos_through_a_header_in_between(self):
        self.expect({"src/plan/plan.cpp": including("<tessera/tensor/view.hpp>"),
                     "include/tessera/tensor/view.hpp": including("<tessera/tensor/detail/traits.hpp>"),
                     "include/tessera/tensor/detail/traits.hpp": including("<Kokkos_Core.hpp>")},
                    "src/plan/plan.cpp: includes <tessera/tensor/view.hpp>, but tensor (layer 7) is above plan (layer 6)",
                    "src/plan/plan.cpp: must not reach Kokkos: src/plan/plan.cpp → include/tessera/tensor/view.hpp → "
                    "include/tessera/tensor/detail/traits.hpp → Kokkos_Core.hpp")

    def test_kokkos_below_a_plan_is_shown_where_it_comes_in(self):
        self.expect({"src/plan/plan.cpp": including("<tessera/sharding/spec.hpp>"),
                     "include/tessera/sharding/spec.hpp": including("<Kokkos_Core.hpp>"),
                     "src/comm/exchange.cpp": "void pack(Kokkos::View<int*>);\n"},
                    "include/tessera/sharding/spec.hpp: may not use Kokkos by name, but names <Kokkos_Core.hpp>",
                    "src/comm/exchange.cpp: may not use Kokkos by name, but names Kokkos::View")


class Users(Layers):
    def test_examples_pages_and_tools_that_include_what_is_not_for_users(self):
        self.expect({"include/tessera/plan/plan.hpp": including("<tessera/plan/detail/data.hpp>"),
                     "include/tessera/plan/detail/data.hpp": including(),
                     "src/plan/transfer.hpp": LICENCE + "#pragma once\n// For higher folders: Transfer.\n",
                     "examples/pca/pca.cpp": including("<tessera/plan/plan.hpp>", "<tessera/plan/detail/data.hpp>"),
                     "docs/concepts/plans.cpp": including('"../../src/plan/transfer.hpp"'),
                     "tools/show.cpp": including('"plan/transfer.hpp"'),
                     "tools/explain.cpp": including('"plan/transfer.hpp"'),
                     "perf/plan.cpp": including('"plan/transfer.hpp"', "<tessera/plan/detail/data.hpp>")},
                    "examples/pca/pca.cpp: includes <tessera/plan/detail/data.hpp>, which is not a public header",
                    'docs/concepts/plans.cpp: includes "../../src/plan/transfer.hpp", which is not a public header',
                    'tools/show.cpp: includes "plan/transfer.hpp", which is not a public header')


class Program(Layers):
    def run_script(self, *arguments):
        return subprocess.run([sys.executable, check_layers.__file__, *arguments], capture_output=True, text=True, check=False)

    def test_it_prints_the_problems_and_fails(self):
        self.write({"src/misc/parts.cpp": including()})

        result = self.run_script(self.root)

        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (1, "src/misc/parts.cpp: folder misc is not in the table of layers\n", ""))

    def test_it_prints_nothing_of_a_right_tree(self):
        self.write({"src/plan/plan.cpp": including()})

        result = self.run_script(self.root)

        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_its_table_counts_files_and_lines(self):
        self.write({"src/plan/plan.cpp": "\n" * 5, "include/tessera/plan/plan.hpp": "\n", "src/error/log.cpp": "\n\n"})

        result = self.run_script("--table", self.root)

        self.assertEqual(result.stdout.splitlines()[2:],
                         ["| 0 | `error` | 1 | 0 | 2 | 2 | 25.0 % |", "| 6 | `plan` | 2 | 1 | 5 | 6 | 75.0 % |"])


class RealTree(Layers):
    def test_one_planted_upward_include_is_the_one_new_problem(self):
        for base in ("include", "src"):
            shutil.copytree(ROOT / base, self.root / base)
        before = check_layers.problems_of(self.root)
        path = min(self.root.glob("src/extents/*.cpp"))
        path.write_text("#include <tessera/mesh/mesh_dim.hpp>\n" + path.read_text())

        after = check_layers.problems_of(self.root)

        self.assertEqual([problem for problem in after if problem not in before],
                         [f"src/extents/{path.name}: includes <tessera/mesh/mesh_dim.hpp>, but mesh (layer 5) is above extents "
                          "(layer 0)"])


if __name__ == "__main__":
    unittest.main()
