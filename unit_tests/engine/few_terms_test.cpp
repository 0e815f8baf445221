// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions with so little memory that their terms are received a few at a time.
#include <gtest/gtest.h>

#include <tessera/plan/plan.hpp>
#include <tessera/redistribute/redistributor.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

/// This rank's result of each of two executions, by a plan with these options.
std::vector<Matrix> reduced(const DeviceMesh& mesh, const Placement& op, const Placement& to,
                            const PlanOptions& options) {
  const Extents shape{13, 5};
  const DTensorSpec source(mesh.layout(), {op}, shape);
  const DTensorSpec target(mesh.layout(), {to}, shape);
  const auto redistributor = make_plan(source, target, element_type<double>(), options).bind(mesh);
  const auto terms = detail::allocate<Matrix>(shape, "terms");
  change_on_host(terms, [&](const auto& host) {
    for_each_index_in({{0, 0}, shape}, [&](const Extents& i) {
      host(i[0], i[1]) = 0.1 * (mesh.rank() + 1) + 1.0 / static_cast<double>(7 * i[0] + i[1] + 3);
    });
  });
  std::vector<Matrix> results;
  for (int execution = 0; execution < 2; ++execution) {
    results.push_back(detail::allocate<Matrix>(target.local_shape(mesh.rank()), "result"));
    redistributor.execute(terms, results.back());
  }
  return results;
}

TEST(FewTerms, at_once_give_the_bits_of_all_at_once) {
  const auto mesh = mesh_of({world_size()});
  for (const Placement op : {Partial(), Partial(ReduceOp::avg), Partial(ReduceOp::product)})
    for (const Placement to : {Placement(Shard(0)), Placement(Shard(1)), Placement(Replicate())}) {
      const auto expected = on_host(reduced(mesh, op, to, {}).front());
      for (const std::int64_t extra_memory : {1, 64, 128})
        for (const auto& result : reduced(mesh, op, to, {.extra_memory = extra_memory}))
          EXPECT_EQ(wrong_view(result, detail::extents_of(result),
                               [&](const Extents& i) { return expected(i[0], i[1]); }),
                    "")
              << to_string(op) << " -> " << to_string(to) << " with " << extra_memory << " bytes";
    }
}

}  // namespace
}  // namespace tessera::test
