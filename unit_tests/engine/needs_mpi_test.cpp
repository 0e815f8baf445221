// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans to needs over MPI: halos in padded arrays, of which own elements stay where they are.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/agreement/detail/operation.hpp>

#include "../support/meshes.hpp"
#include "../support/tensors.hpp"
#include "engine/run.hpp"
#include "engine/short_exchange.hpp"
#include "plan/needs.hpp"

namespace tessera::test {
namespace {

constexpr std::int64_t width = 2;

using detail::Need;
using detail::Needs;

/// Returns what a rank needs of a tensor that is sharded by rows: its own rows, those on both sides
/// around them, and the first element of the tensor behind all rows.
Needs needs_of(const DTensorSpec& spec, int rank) {
  const auto rows = spec.local_shape(rank)[0];
  const auto columns = spec.shape()[1];
  const auto begin = spec.global_offset(rank)[0];
  return {{{{begin, 0}, {rows, columns}}, {width, 0}},
          {{{begin - width, 0}, {width, columns}}, {0, 0}},
          {{{begin + rows, 0}, {width, columns}}, {width + rows, 0}},
          {{{0, 0}, {1, 1}}, {rows + 2 * width, 0}}};
}

double value_at(std::int64_t row, std::int64_t column, int round) {
  return static_cast<double>(1000 * row + column + 1 + 7 * round);
}

/// The array of this rank, with room for what it needs; own elements are set.
HostMatrix padded(const DTensorSpec& spec, int rank, int round) {
  const auto rows = spec.local_shape(rank)[0];
  const auto begin = spec.global_offset(rank)[0];
  HostMatrix result("padded", rows + 2 * width + 1, spec.shape()[1]);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < spec.shape()[1]; ++j)
      result(i + width, j) = value_at(begin + i, j, round);
  return result;
}

void expect_halo(const HostMatrix& array, const DTensorSpec& spec, int rank, int round) {
  const auto rows = spec.shape()[0];
  const auto begin = spec.global_offset(rank)[0];
  const auto local = spec.local_shape(rank)[0];
  for (std::int64_t i = 0; i < local + 2 * width; ++i) {
    const auto row = ((begin + i - width) % rows + rows) % rows;
    for (std::int64_t j = 0; j < spec.shape()[1]; ++j)
      ASSERT_EQ(array(i, j), value_at(row, j, round)) << i << ", " << j;
  }
  EXPECT_EQ(array(local + 2 * width, 0), value_at(0, 0, round));
}

class NeedsOverMpi : public testing::Test {
 protected:
  /// Runs the plan for rows of this length several times: the short way where it serves, else by a
  /// Run, which two ranks may choose differently.
  static void run(std::int64_t columns) {
    const auto mesh = mesh_of({world_size()});
    const DTensorSpec spec(mesh.layout(), {Balanced(0)}, {3 * world_size() + 1, columns});
    std::vector<Needs> needs;
    for (int rank = 0; rank < mesh.size(); ++rank) needs.push_back(needs_of(spec, rank));
    const auto plan = detail::plan_to_needs(spec, needs, mesh.rank(), element_type<double>(), {});
    const std::vector<Step> steps{plan.step};
    const auto group = mesh.group();
    const bool is_short = detail::ShortExchange::may_serve(plan.movement, steps, group);
    detail::Scratch scratch;
    for (int round = 0; round < 3; ++round) {
      const auto array = padded(spec, mesh.rank(), round);
      const auto whole = array_ref(array);
      const auto own = whole.part({width, 0}, spec.local_shape(mesh.rank()));
      const detail::BoundPlan bound{plan.movement, steps, own, whole, nullptr};
      collectively(detail::MeshAccess::calls(mesh), "halo", [&](Operation& call) {
        call.agree(static_cast<std::uint64_t>(columns), [] { return std::string("halo"); });
        const Execution execution;
        if (!is_short ||
            !detail::ShortExchange(bound, group).run(execution, bound, scratch, "halo"))
          detail::Run(execution, {&bound, 1}, group, scratch, "halo").wait();
      });
      expect_halo(array, spec, mesh.rank(), round);
    }
  }
};

TEST_F(NeedsOverMpi, halos_wrap_around) {
  run(5);
}

TEST_F(NeedsOverMpi, halos_of_many_chunks_wrap_around) {
  run(300'000);
}

}  // namespace
}  // namespace tessera::test
