// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Random redistributions under MPI against the serial oracle: the cases of property_test.cpp, on
// real ranks.
#include <string>

#include <gtest/gtest.h>

#include <tessera/redistribute/redistributor.hpp>

#include "../support/gathered.hpp"
#include "../support/meshes.hpp"
#include "../support/oracle.hpp"
#include "../support/planned_traffic.hpp"
#include "../support/tensors.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

/// The memory of a StridedArray where tests have their Views: the same, or a copy on a device.
class InTestSpace {
 public:
  explicit InTestSpace(const StridedArray& piece)
      : array_(piece.array()),
        host_(array_.data, piece.bytes()),
        bytes_(Kokkos::create_mirror_view_and_copy(TestSpace(), host_)) {
    array_.data = bytes_.data();
    array_.space = memory_space<TestSpace>;
  }

  const ArrayRef& array() const { return array_; }
  void copy_back() const { Kokkos::deep_copy(host_, bytes_); }

 private:
  ArrayRef array_;
  Kokkos::View<std::byte*, Kokkos::LayoutRight, Kokkos::HostSpace> host_;
  Kokkos::View<std::byte*, Kokkos::LayoutRight, TestSpace> bytes_;
};

/// The values of all pieces of the target on every rank, by mesh rank, row-major.
std::vector<std::vector<double>> all_values(const RandomCase& random, const StridedArray& mine,
                                            int rank) {
  std::vector<double> values;
  if (rank >= 0) {
    for_each_element(piece_of(random.target, rank), [&](const Extents&, const Extents& local) {
      values.push_back(load(mine.element(local), random.type));
    });
  }
  return gathered(mesh_of({world_size()}).group(), values);
}

std::string first_difference(const RandomCase& random,
                             const std::vector<std::vector<double>>& values) {
  const auto value_at = [&](int rank, const Extents& index) {
    const auto piece = piece_of(random.target, rank);
    const auto flat = flat_index(piece.shape(), *local_index(piece, index));
    return values[static_cast<std::size_t>(rank)][static_cast<std::size_t>(flat)];
  };
  return test::first_difference(random, value_at);
}

TEST(RedistributeProperty, random_transitions_under_mpi_give_what_the_serial_oracle_gives) {
  Generator generator(20261121 + static_cast<unsigned>(world_size()));

  for (int number = 0, count = cases(5000); number < count; ++number) {
    const auto random = random_case(generator, world_size());
    const auto mesh = mesh_of(random.source.layout().shape());
    const int rank = mesh.rank();
    const int piece_of = std::max(rank, 0);
    const StridedArray source(generator, random.type, random.source.local_shape(piece_of));
    const StridedArray result(generator, random.type, random.target.local_shape(piece_of));
    if (rank >= 0) fill_source(random.source, rank, source);
    generator.seed(20261121 + static_cast<unsigned>(number));

    auto settings = random_settings(generator, mesh.layout());
    settings.on_device = memory_space<TestSpace> == MemorySpace::device;
    const auto redistributor =
        detail::plan_on_one_mesh(random.source, random.target, random.type, settings).bind(mesh);
    const InTestSpace from(source);
    const InTestSpace to(result);
    Traffic traffic;
    detail::RedistributorAccess::execute(redistributor, Execution(), from.array(), to.array(),
                                         "test");
    const auto traced = moved(traffic);
    to.copy_back();

    const auto description = "case " + std::to_string(number) + ": " + to_string(random.source) +
                             " -> " + to_string(random.target) + ", " + to_string(random.type);
    const auto values = all_values(random, result, rank);
    if (is_exact_for_integers(random)) {
      EXPECT_EQ(first_difference(random, values), "") << description;
    }
    EXPECT_EQ(traced, planned(redistributor.plan(), rank)) << description;
  }
}

}  // namespace
