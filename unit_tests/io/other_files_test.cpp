// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// A relative path that leads to another file on each rank.
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <tessera/io/npy.hpp>

#include "../support/errors.hpp"
#include "../support/tensors.hpp"
#include "npy_files.hpp"

namespace {

using namespace tessera;
using test::Matrix;
using testing::HasSubstr;

std::string zeros(int rows, const std::string& behind = "") {
  const auto shape = "(" + std::to_string(rows) + ", 2)";
  const auto bytes = static_cast<std::size_t>(rows) * 2 * sizeof(double);
  return test::npy_header(test::dictionary("<f8", false, shape)) + std::string(bytes, '\0') +
         behind;
}

/// Each rank is in a folder of its own, with a file "array.npy" that holds `mine`.
class OwnFolder {
 public:
  OwnFolder(const test::SharedPath& shared, const std::string& mine)
      : before_(std::filesystem::current_path()) {
    const auto folder = shared.folder() / std::to_string(test::world_mesh().rank());
    std::filesystem::create_directory(folder);
    std::filesystem::current_path(folder);
    if (!mine.empty()) std::ofstream("array.npy", std::ios::binary) << mine;
    test::barrier();
  }
  ~OwnFolder() { std::filesystem::current_path(before_); }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

 private:
  std::filesystem::path before_;
};

std::string error_where_the_last_rank_has(const std::string& other) {
  const test::SharedPath shared;
  const auto mesh = test::world_mesh();
  const OwnFolder folder(shared, mesh.rank() == mesh.size() - 1 ? other : zeros(4));
  const auto message =
      test::message_of<IoError>([&] { read_npy<Matrix>("array.npy", mesh, {Shard(0)}); });
  EXPECT_TRUE(test::is_same_everywhere(message)) << message;
  return message;
}

TEST(OtherFiles, are_noticed_where_shapes_differ) {
  if (test::world_size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto message = error_where_the_last_rank_has(zeros(6));
  EXPECT_THAT(message,
              HasSubstr("expected the file that mesh rank 0 has (float64 (4, 2), C order, "));
  EXPECT_THAT(message, HasSubstr("got another one (float64 (6, 2), C order, "));
  EXPECT_THAT(message, HasSubstr("(on rank " + std::to_string(test::world_size() - 1) + ")"));
}

TEST(OtherFiles, are_noticed_where_sizes_differ) {
  if (test::world_size() == 1) GTEST_SKIP() << "needs two ranks";
  EXPECT_THAT(error_where_the_last_rank_has(zeros(4, "more")), HasSubstr("got another one"));
}

TEST(OtherFiles, are_noticed_where_one_is_missing) {
  if (test::world_size() == 1) GTEST_SKIP() << "needs two ranks";
  EXPECT_THAT(error_where_the_last_rank_has(""), HasSubstr("No such file"));
}

}  // namespace
