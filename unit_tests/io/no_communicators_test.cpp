// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls for which MPI has no communicator left.
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "npy_files.hpp"

namespace {

using namespace tessera;
using Matrix = Kokkos::View<double**>;

constexpr int most_communicators = 10000;

/// All communicators that MPI still gives; none if it gives too many.
class AllCommunicators {
 public:
  AllCommunicators() {
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm next = MPI_COMM_NULL;
    while (static_cast<int>(held_.size()) < most_communicators &&
           MPI_Comm_dup(MPI_COMM_WORLD, &next) == MPI_SUCCESS)
      held_.push_back(next);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before_);
  }
  ~AllCommunicators() {
    while (!held_.empty()) free_one();
    MPI_Errhandler_free(&before_);
  }
  AllCommunicators(const AllCommunicators&) = delete;
  AllCommunicators& operator=(const AllCommunicators&) = delete;

  bool are_limited() const { return static_cast<int>(held_.size()) < most_communicators; }
  MPI_Comm first() const { return held_.front(); }
  void free_one() {
    MPI_Comm_free(&held_.back());
    held_.pop_back();
  }

 private:
  std::vector<MPI_Comm> held_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

/// Whether the call works; otherwise it throws MpiError and nothing else.
template <class Call>
bool works(const Call& call) {
  try {
    call();
    return true;
  } catch (const MpiError&) {
    return false;
  }
}

TEST(NoCommunicators, is_an_mpi_error_of_files_and_of_the_first_mesh) {
  if (test::world_size() > 2) GTEST_SKIP() << "MPI's own waits take too long without cores";
  const test::SharedPath shared;
  const auto other = (shared.folder() / "other.npy").string();
  const auto mesh = DeviceMesh::from_comm(MPI_COMM_WORLD);
  const auto x = full<Matrix>(mesh, {Shard(0)}, {8, 6}, 1.5);
  const auto read = [&] { read_npy<Matrix>(shared.path(), mesh, {Shard(0)}); };
  const auto write = [&] { write_npy(other, x); };
  write_npy(shared.path(), x);
  std::optional<AllCommunicators> all(std::in_place);
  if (!all->are_limited()) GTEST_SKIP() << "MPI gives " << most_communicators << " communicators";

  EXPECT_FALSE(works(read));
  EXPECT_FALSE(works(write));
  const auto make = [&] { DeviceMesh::from_comm(all->first()); };
  EXPECT_FALSE(works(make));
  for (int free = 1; free <= 4; ++free) {
    all->free_one();
    works(read);
    works(write);
  }
  EXPECT_TRUE(works(read));
  EXPECT_TRUE(works(write));
  EXPECT_TRUE(works(make));
}

}  // namespace
