// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include <tessera/io/npy.hpp>
#include <tessera/tensor/from_local.hpp>

#include "../support/errors.hpp"
#include "../support/tensors.hpp"
#include "npy_files.hpp"

namespace {

using namespace tessera;
using Kokkos::LayoutLeft, Kokkos::LayoutRight;
using test::LeftMatrix;
using test::Matrix;
using test::TestSpace;
using testing::HasSubstr;

/// What NumPy writes: the text is filled with spaces to 118 bytes, so that the data begins at 128.
std::string numpy_file(const std::string& descr, const std::string& shape,
                       const std::string& data) {
  const auto text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  return "\x93NUMPY" + std::string("\x01\0\x76\0", 4) + text + std::string(117 - text.size(), ' ') +
         "\n" + data;
}

template <class T>
std::string iota_bytes(std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(i));
  return test::bytes_of(values);
}

struct Distribution {
  std::vector<int> mesh_shape;
  Placements placements;
};

const std::vector<Distribution> distributions{
    {{1}, {Replicate()}},
    {{1}, {Shard(1)}},
    {{2}, {Shard(0)}},
    {{2}, {Replicate()}},
    {{3}, {Shard(1)}},
    {{4}, {Shard(0)}},
    {{2, 2}, {Shard(0), Shard(1)}},
    {{2, 2}, {Replicate(), Shard(0)}},
    {{2, 2}, Placements({Shard(0), Shard(0)}, {1, 0})},
    {{2, 2, 2}, {Shard(1), Replicate(), Shard(0)}},
};

template <class V>
void write_iota(const test::SharedPath& shared, const Distribution& distribution,
                const Extents& shape) {
  const auto mesh = test::mesh_of(distribution.mesh_shape);
  if (mesh.is_null()) return;

  write_npy(shared.path(), test::iota<V>(mesh, distribution.placements, shape));
  test::barrier();

  EXPECT_EQ(shared.read(), numpy_file("<f8", to_string(shape), iota_bytes<double>(product(shape))))
      << to_string(shape) << " as " << to_string(distribution.placements);
}

TEST(WriteNpy, writes_the_bytes_that_numpy_writes_for_all_placements_and_layouts) {
  const test::SharedPath shared;
  for (const auto& distribution : distributions) {
    write_iota<Matrix>(shared, distribution, {13, 7});
    write_iota<LeftMatrix>(shared, distribution, {13, 7});
  }
}

TEST(WriteNpy, writes_shapes_that_leave_ranks_without_elements) {
  const test::SharedPath shared;
  const Distribution rows{{test::world_size()}, {Shard(0)}};
  for (const auto& shape : {Extents{1, 1}, Extents{5, 2}, Extents{3, 0}, Extents{0, 4}})
    write_iota<Matrix>(shared, rows, shape);
}

TEST(WriteNpy, writes_all_types) {
  const test::SharedPath shared;
  const auto mesh = test::mesh_of({std::min(2, test::world_size())});
  const auto check = [&]<class T>(T, const std::string& descr) {
    using View = Kokkos::View<T*, TestSpace>;
    write_npy(shared.path(), test::iota<View>(mesh, {Shard(0)}, {9}));
    test::barrier();
    EXPECT_EQ(shared.read(), numpy_file(descr, "(9,)", iota_bytes<T>(9)));
    test::barrier();
  };

  check(std::int8_t(), "|i1");
  check(std::int16_t(), "<i2");
  check(std::int32_t(), "<i4");
  check(std::int64_t(), "<i8");
  check(std::uint8_t(), "|u1");
  check(std::uint16_t(), "<u2");
  check(std::uint32_t(), "<u4");
  check(std::uint64_t(), "<u8");
  check(float(), "<f4");
  check(double(), "<f8");
  check(Kokkos::complex<float>(), "<c8");
  check(Kokkos::complex<double>(), "<c16");
}

TEST(WriteNpy, writes_bool_0_d_and_8_d) {
  const test::SharedPath shared;
  const auto mesh = test::world_mesh();

  write_npy(shared.path(), full<Kokkos::View<bool*, TestSpace>>(mesh, {Shard(0)}, {5}, true));
  test::barrier();
  EXPECT_EQ(shared.read(), numpy_file("|b1", "(5,)", "\1\1\1\1\1"));
  test::barrier();

  write_npy(shared.path(), full<Kokkos::View<std::int8_t, TestSpace>>(mesh, {Replicate()}, {}, 7));
  test::barrier();
  EXPECT_EQ(shared.read(), numpy_file("|i1", "()", "\7"));
  test::barrier();

  using Cube = Kokkos::View<double********, LayoutLeft, TestSpace>;
  write_npy(shared.path(), test::iota<Cube>(mesh, {Shard(3)}, {2, 1, 3, 7, 1, 1, 2, 1}));
  test::barrier();
  EXPECT_EQ(shared.read(), numpy_file("<f8", "(2, 1, 3, 7, 1, 1, 2, 1)", iota_bytes<double>(84)));
}

TEST(WriteNpy, takes_const_unmanaged_and_strided_views) {
  const test::SharedPath shared;
  const auto mesh = test::world_mesh();
  const auto full = test::iota<LeftMatrix>(mesh, {Shard(0)}, {9, 4});
  const auto view = full.to_local();
  using Strided = Kokkos::View<const double**, Kokkos::LayoutStride, TestSpace,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const Strided columns = Kokkos::subview(view, Kokkos::ALL, Kokkos::pair(1, 3));
  std::vector<double> expected;
  for (int row = 0; row < 9; ++row)
    for (int column = 1; column < 3; ++column) expected.push_back(4 * row + column);

  write_npy(shared.path(), from_local(columns, mesh, {Shard(0)}));
  test::barrier();

  EXPECT_EQ(shared.read(), numpy_file("<f8", "(9, 2)", test::bytes_of(expected)));
}

TEST(WriteNpy, writes_uneven_pieces_that_read_back) {
  const test::SharedPath shared;
  const auto mesh = test::world_mesh();
  const std::int64_t rows = mesh.rank() + (mesh.rank() == 0 ? 2 : 0);
  Matrix local("local", static_cast<std::size_t>(rows), 3);
  Kokkos::deep_copy(local, mesh.rank());
  const auto tensor = from_local(local, mesh, {Shard(0)});

  write_npy(Kokkos::DefaultExecutionSpace(), shared.path(), tensor);
  const auto again = read_npy<LeftMatrix>(shared.path(), mesh, {Replicate()});

  const auto full = test::on_host(full_tensor(tensor));
  EXPECT_EQ(test::wrong_piece(again, [&](const Extents& i) { return full(i[0], i[1]); }), "");
}

TEST(WriteNpy, replaces_what_was_there_and_leaves_nothing_else) {
  const test::SharedPath shared;
  shared.write(std::string(1000, 'x'));

  write_npy(shared.path(), test::iota<Matrix>(test::world_mesh(), {Shard(0)}, {2, 2}));
  test::barrier();

  EXPECT_EQ(shared.read(), numpy_file("<f8", "(2, 2)", iota_bytes<double>(4)));
  const std::filesystem::directory_iterator files(shared.folder());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(WriteNpy, into_a_missing_folder_is_an_io_error_on_every_rank) {
  const test::SharedPath shared;
  const auto tensor = test::iota<Matrix>(test::world_mesh(), {Shard(0)}, {2, 2});
  const auto path = (shared.folder() / "none" / "array.npy").string();

  const auto message = test::message_of<IoError>([&] { write_npy(path, tensor); });
  const bool is_same = test::is_same_everywhere(message);
  write_npy(shared.path(), tensor);

  EXPECT_EQ(message, "write_npy: '" + path + "': No such file or directory");
  EXPECT_TRUE(is_same) << message;
}

TEST(WriteNpy, onto_a_folder_is_an_io_error_on_every_rank_and_leaves_nothing) {
  const test::SharedPath shared;
  const auto tensor = test::iota<Matrix>(test::world_mesh(), {Shard(0)}, {2, 2});
  if (test::world_rank() == 0) std::filesystem::create_directories(shared.path() + "/full");
  test::barrier();

  const auto message = test::message_of<IoError>([&] { write_npy(shared.path(), tensor); });
  const bool is_same = test::is_same_everywhere(message);

  EXPECT_THAT(message, HasSubstr(shared.path()));
  EXPECT_TRUE(is_same) << message;
  const std::filesystem::directory_iterator files(shared.folder());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

/// Writes a tensor of 4 numbers to `name` in the folder, and returns what a reader finds there.
std::string written(const test::SharedPath& shared, const std::string& name) {
  const auto path = (shared.folder() / name).string();
  write_npy(path, test::iota<Matrix>(test::world_mesh(), {Shard(0)}, {2, 2}));
  test::barrier();
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string four_numbers = numpy_file("<f8", "(2, 2)", iota_bytes<double>(4));

TEST(WriteNpy, takes_names_with_colons_and_the_longest_names) {
  for (const std::string& name : {std::string("ufs:x.npy"), std::string("2023-03-10_15:00:00.npy"),
                                  std::string("C:x.npy"), std::string(251, 'x') + ".npy"}) {
    const test::SharedPath shared;

    EXPECT_EQ(written(shared, name), four_numbers) << name;
    const auto read = [&] {
      return read_npy<Matrix>((shared.folder() / name).string(), test::world_mesh(), {Replicate()});
    };
#if defined(OPEN_MPI)
    if (name.size() > 220) {
      EXPECT_THAT(test::message_of<IoError>(read), HasSubstr("at most 220 bytes, for Open MPI"));
      continue;
    }
#endif
    EXPECT_TRUE(test::is_iota(read())) << name;
  }
}

TEST(WriteNpy, follows_symbolic_links) {
  const test::SharedPath shared;
  const auto folder = shared.folder();
  if (test::world_rank() == 0) {
    std::filesystem::create_directory(folder / "real");
    std::ofstream(folder / "real/there.npy") << "old";
    std::filesystem::create_symlink("real/there.npy", folder / "link.npy");
    std::filesystem::create_symlink("link.npy", folder / "link_to_link.npy");
    std::filesystem::create_symlink("real/new.npy", folder / "dangling.npy");
  }
  test::barrier();

  for (const std::string name : {"link.npy", "link_to_link.npy", "dangling.npy"}) {
    EXPECT_EQ(written(shared, name), four_numbers) << name;
    EXPECT_TRUE(std::filesystem::is_symlink(folder / name)) << name;
  }
  EXPECT_TRUE(std::filesystem::is_regular_file(folder / "real/new.npy"));
}

TEST(WriteNpy, keeps_the_mode_and_the_hard_links_of_a_file) {
  namespace fs = std::filesystem;
  constexpr auto mode = fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read;
  const test::SharedPath shared;
  const auto one = shared.folder() / "one.npy";
  const auto other = shared.folder() / "other.npy";
  if (test::world_rank() == 0) {
    std::ofstream(one) << std::string(1000, 'x');
    fs::permissions(one, mode);
  }
  test::barrier();

  EXPECT_EQ(written(shared, "one.npy"), four_numbers);
  EXPECT_EQ(fs::status(one).permissions(), mode);
  test::barrier();
  if (test::world_rank() == 0) fs::create_hard_link(one, other);
  test::barrier();
  write_npy(one.string(), test::iota<Matrix>(test::world_mesh(), {Shard(0)}, {1, 1}));
  test::barrier();

  EXPECT_EQ(fs::hard_link_count(one), 2u);
  EXPECT_EQ(fs::file_size(other), 136u);
  EXPECT_EQ(std::distance(fs::directory_iterator(shared.folder()), {}), 2);
}

TEST(WriteNpy, refuses_what_is_no_regular_file_or_is_write_protected) {
  const test::SharedPath shared;
  const auto folder = shared.folder();
  const auto tensor = test::iota<Matrix>(test::world_mesh(), {Shard(0)}, {2, 2});
  if (test::world_rank() == 0) {
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    std::filesystem::create_symlink("/dev/null", folder / "null");
    std::filesystem::create_symlink("loop", folder / "loop");
    std::ofstream(folder / "protected") << "old";
    std::filesystem::permissions(folder / "protected", std::filesystem::perms::owner_read);
  }
  test::barrier();
  const auto message_for = [&](const std::string& name) {
    const auto message =
        test::message_of<IoError>([&] { write_npy((folder / name).string(), tensor); });
    EXPECT_TRUE(test::is_same_everywhere(message));
    EXPECT_THAT(message, HasSubstr("write_npy: '" + (folder / name).string() + "': "));
    return message;
  };

  EXPECT_THAT(message_for("pipe"), HasSubstr("expected a regular file or none"));
  EXPECT_THAT(message_for("null"), HasSubstr("expected a regular file or none"));
  EXPECT_THAT(message_for("protected"), HasSubstr("Permission denied"));
  EXPECT_THAT(message_for("loop"), HasSubstr("symbolic links"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(test::message_of<InvalidArgument>(
                [&] { write_npy(shared.path() + std::string(1, '\0') + "x", tensor); }),
            "write_npy: expected a path without NUL characters");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 4);
}

struct Pair {
  float first, second;
};

TEST(WriteNpy, of_what_has_no_such_file_is_invalid) {
  const test::SharedPath shared;
  const auto mesh = test::world_mesh();
  const auto partial = from_local(Matrix("partial", 2, 2), mesh, {Partial()});
  const auto pairs = empty<Kokkos::View<Pair*, TestSpace>>(mesh, {Shard(0)}, {4});

  EXPECT_EQ(test::message_of<InvalidArgument>([&] { write_npy(shared.path(), partial); }),
            "write_npy: expected Shard and Replicate placements (see reduce_partial), got P(sum)");
  EXPECT_EQ(test::message_of<InvalidArgument>([&] { write_npy(shared.path(), pairs); }),
            "write_npy: expected an element type of the .npy format, got opaque(8 bytes)");
  EXPECT_EQ(test::message_of<InvalidArgument>([&] { write_npy(shared.path(), DTensor<Matrix>()); }),
            "write_npy: expected a tensor on a mesh, got a null handle");
}

}  // namespace
