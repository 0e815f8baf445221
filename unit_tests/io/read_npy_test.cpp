// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <complex>

#include <gtest/gtest.h>

#include <tessera/io/npy.hpp>

#include "../support/errors.hpp"
#include "../support/tensors.hpp"
#include "npy_files.hpp"

namespace {

using namespace tessera;
using Kokkos::LayoutLeft, Kokkos::LayoutRight;
using test::dictionary;
using test::LeftMatrix;
using test::Matrix;
using test::npy_header;
using test::TestSpace;

std::string shape_text(const Extents& shape) {
  return shape.size() == 1 ? "(" + std::to_string(shape[0]) + ",)" : to_string(shape);
}

/// A file of 0, 1, 2, … in row-major order of the shape.
template <class T>
std::string iota_file(const std::string& descr, const Extents& shape,
                      bool is_fortran_order = false) {
  std::vector<T> values(static_cast<std::size_t>(product(shape)));
  const auto strides = is_fortran_order ? column_major_strides(shape) : row_major_strides(shape);
  test::for_each_index_in({Extents::filled(shape.size(), 0), shape}, [&](const Extents& index) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < index.size(); ++d) place += index[d] * strides[d];
    values[static_cast<std::size_t>(place)] = static_cast<T>(test::GlobalIndex(shape)(index));
  });
  return npy_header(dictionary(descr, is_fortran_order, shape_text(shape))) +
         test::bytes_of(values);
}

/// "" where each element is its global index, as V's type has it.
template <class V>
std::string wrong_read(const std::string& path, const DeviceMesh& mesh,
                       const Placements& placements) {
  const auto tensor = read_npy<V>(path, mesh, placements);
  return test::wrong_piece(tensor, test::GlobalIndex(tensor.shape()));
}

/// No device has long doubles.
template <class T>
using MatrixOf =
    Kokkos::View<T**, LayoutRight,
                 std::conditional_t<std::is_same_v<T, long double>, Kokkos::HostSpace, TestSpace>>;

struct Distribution {
  std::vector<int> mesh_shape;
  Placements placements;
};

const std::vector<Distribution> distributions{
    {{1}, {Replicate()}},
    {{1}, {Shard(1)}},
    {{2}, {Shard(0)}},
    {{2}, {Shard(1)}},
    {{3}, {Shard(-1)}},
    {{3}, {Replicate()}},
    {{4}, {Shard(0)}},
    {{2, 2}, {Shard(0), Shard(1)}},
    {{2, 2}, {Shard(1), Shard(1)}},
    {{2, 2}, {Replicate(), Shard(0)}},
    {{2, 2}, Placements({Shard(0), Shard(0)}, {1, 0})},
    {{4, 2}, {Shard(1), Shard(0)}},
    {{2, 2, 2}, {Shard(0), Replicate(), Shard(1)}},
};

/// Opening a file takes long where ranks share cores: what does not depend on the number of ranks
/// runs on at most two.
DeviceMesh small_mesh() {
  return test::mesh_of({std::min(2, test::world_size())});
}

TEST(ReadNpy, gives_each_rank_its_piece_for_all_placements_orders_and_layouts) {
  const Extents shape{13, 7};
  const test::SharedPath shared;
  for (const bool is_fortran_order : {false, true}) {
    shared.write(iota_file<double>("<f8", shape, is_fortran_order));
    for (const auto& [mesh_shape, placements] : distributions) {
      const auto mesh = test::mesh_of(mesh_shape);
      if (mesh.is_null()) continue;
      EXPECT_EQ(wrong_read<Matrix>(shared.path(), mesh, placements), "") << to_string(placements);
      EXPECT_EQ(wrong_read<LeftMatrix>(shared.path(), mesh, placements), "")
          << to_string(placements);
    }
  }
}

TEST(ReadNpy, reads_shapes_that_leave_ranks_without_elements) {
  const test::SharedPath shared;
  for (const auto& shape : {Extents{1, 1}, Extents{5, 2}, Extents{3, 0}, Extents{0, 4}}) {
    shared.write(iota_file<double>("<f8", shape));
    EXPECT_EQ(wrong_read<Matrix>(shared.path(), test::world_mesh(), {Shard(0)}), "")
        << to_string(shape);
  }
}

TEST(ReadNpy, reads_all_types_in_both_byte_orders) {
  const test::SharedPath shared;
  const auto mesh = small_mesh();
  const Extents shape{5, 4};
  const auto check = [&]<class T>(T, const std::string& name) {
    const auto native = iota_file<T>("<" + name, shape);
    const auto header = npy_header(dictionary(">" + name, false, "(5, 4)"));
    const auto data = native.substr(native.size() - 20 * sizeof(T));
    shared.write(native);
    EXPECT_EQ(wrong_read<MatrixOf<T>>(shared.path(), mesh, {Shard(0)}), "") << name;
    shared.write(header + test::reversed(data, name[0] == 'c' ? sizeof(T) / 2 : sizeof(T)));
    EXPECT_EQ(wrong_read<MatrixOf<T>>(shared.path(), mesh, {Shard(1)}), "") << name;
  };

  check(std::int8_t(), "i1");
  check(std::int16_t(), "i2");
  check(std::int32_t(), "i4");
  check(std::int64_t(), "i8");
  check(std::uint8_t(), "u1");
  check(std::uint16_t(), "u2");
  check(std::uint32_t(), "u4");
  check(std::uint64_t(), "u8");
  check(float(), "f4");
  check(double(), "f8");
  check(Kokkos::complex<float>(), "c8");
  check(Kokkos::complex<double>(), "c16");
  if constexpr (sizeof(long double) == 16) check(static_cast<long double>(0), "f16");
}

/// As numpy.dtype(name).str has them.
TEST(ReadNpy, knows_numpy_s_other_names_of_types) {
  const test::SharedPath shared;
  const std::vector<std::pair<std::string, ElementType>> names{
      {"|?", element_type<bool>()},
      {"bool", element_type<bool>()},
      {"|b", element_type<std::int8_t>()},
      {"|B", element_type<std::uint8_t>()},
      {">h", element_type<std::int16_t>()},
      {"<I", element_type<std::uint32_t>()},
      {"<l", element_type<std::int64_t>()},
      {"<Q", element_type<std::uint64_t>()},
      {"uint16", element_type<std::uint16_t>()},
      {"int64", element_type<std::int64_t>()},
      {"<e", {ElementKind::float16, 2}},
      {">f", element_type<float>()},
      {"float32", element_type<float>()},
      {"<d", element_type<double>()},
      {"<F", element_type<std::complex<float>>()},
      {"complex128", element_type<std::complex<double>>()}};
  for (const auto& [name, type] : names) {
    shared.write(npy_header(dictionary(name, false, "(1,)")) + std::string(32, '\0'));
    const auto header = read_npy_header(shared.path(), test::world_mesh());
    EXPECT_EQ(header.type, type) << name;
    const bool is_big = name[0] == '>';
    EXPECT_EQ(header.byte_order == std::endian::big, is_big) << name;
  }
}

TEST(ReadNpy, takes_no_path_with_a_nul) {
  const auto mesh = test::world_mesh();
  const std::string path("x.npy\0y", 7);
  EXPECT_EQ(test::message_of<InvalidArgument>([&] { read_npy<Matrix>(path, mesh, {Shard(0)}); }),
            "read_npy: expected a path without NUL characters");
  EXPECT_EQ(test::message_of<InvalidArgument>([&] { read_npy_header(path, mesh); }),
            "read_npy_header: expected a path without NUL characters");
}

TEST(ReadNpy, takes_any_byte_but_0_for_true) {
  const test::SharedPath shared;
  shared.write(npy_header(dictionary("|b1", false, "(4,)")) + std::string("\0\1\2\xff", 4));

  const auto tensor =
      read_npy<Kokkos::View<bool*, TestSpace>>(shared.path(), small_mesh(), {Replicate()});

  EXPECT_EQ(test::wrong_piece(tensor, [](const Extents& i) { return i[0] != 0; }), "");
}

TEST(ReadNpy, reads_16_bit_floats) {
  const test::SharedPath shared;
  const std::vector<std::uint16_t> bits{0x0000, 0x3c00, 0xc000, 0x7bff, 0x0001, 0x3555};
  const std::vector<float> values{0, 1, -2, 65504, 5.9604644775390625e-8F, 0.333251953125F};
  shared.write(npy_header(dictionary("<f2", false, "(6,)")) + test::bytes_of(bits));

  const auto tensor =
      read_npy<Kokkos::View<float*, TestSpace>>(shared.path(), small_mesh(), {Shard(0)});

  const auto expected = [&](const Extents& i) { return values[static_cast<std::size_t>(i[0])]; };
  EXPECT_EQ(test::wrong_piece(tensor, expected), "");
}

TEST(ReadNpy, converts_on_the_way) {
  const test::SharedPath shared;
  const auto mesh = small_mesh();
  shared.write(iota_file<std::int16_t>("<i2", {7, 3}));

  EXPECT_EQ(wrong_read<MatrixOf<std::int64_t>>(shared.path(), mesh, {Shard(0)}), "");
  EXPECT_EQ(wrong_read<MatrixOf<float>>(shared.path(), mesh, {Shard(0)}), "");
  EXPECT_EQ(wrong_read<MatrixOf<Kokkos::complex<double>>>(shared.path(), mesh, {Shard(1)}), "");
  if (!test::is_on(mesh)) return;
  EXPECT_EQ(test::message_of<IoError>(
                [&] { read_npy<MatrixOf<std::int8_t>>(shared.path(), mesh, {Shard(0)}); }),
            "read_npy: '" + shared.path() +
                "': expected elements that fit int8, those of the View, got int16");
}

TEST(ReadNpy, reads_versions_2_and_3_and_what_python_may_write) {
  const test::SharedPath shared;
  const auto mesh = small_mesh();
  const auto file = iota_file<double>("<f8", {2, 3});
  const auto data = file.substr(file.size() - 48);
  const std::string text = dictionary("<f8", false, "(2, 3)");
  const std::vector<std::string> headers{
      npy_header(text, 2),
      npy_header(text, 3),
      npy_header(text + std::string(70000, ' ') + "\n", 2),
      npy_header("{'shape':(2,3),'fortran_order':False,'descr':'<f8'}"),
      npy_header(
          "  { \"descr\" : \"=f8\" ,\t'fortran_order' :False,\n 'shape': ( 2 , 3 , ) , }  \n"),
      npy_header("{'descr': 'f8', 'fortran_order': False, 'shape': (2L, 3L)}"),
      npy_header("{'descr': '|f8', 'fortran_order': False, 'shape': (2, 3)}"),
      npy_header("{u'descr': u'<f8', u'fortran_order': False, u'shape': (2, 3)}"),
      npy_header("{'descr': '<d', 'fortran_order': False, 'shape': (2, 3)}"),
      npy_header("{'descr': 'float64', 'fortran_order': False, 'shape': (2, 3)}")};

  for (const auto& header : headers) {
    shared.write(header + data + "what follows the elements");
    EXPECT_EQ(wrong_read<Matrix>(shared.path(), mesh, {Shard(0)}), "") << header.substr(0, 80);
  }
}

TEST(ReadNpy, reads_0_1_and_8_dims) {
  const test::SharedPath shared;
  const auto mesh = small_mesh();

  shared.write(iota_file<double>("<f8", {}));
  const auto scalar = read_npy<Kokkos::View<double, TestSpace>>(shared.path(), mesh);
  shared.write(iota_file<float>("<f4", {13}));
  const auto vector = read_npy<test::Vector>(shared.path(), mesh, {Shard(0)});
  shared.write(iota_file<std::int32_t>("<i4", {2, 3, 1, 5, 1, 2, 3, 1}, true));
  const auto cube =
      read_npy<Kokkos::View<double********, TestSpace>>(shared.path(), mesh, {Shard(3)});

  if (test::is_on(mesh)) {
    EXPECT_EQ(test::on_host(scalar.to_local())(), 0.0);
  }
  EXPECT_EQ(test::wrong_iota(vector), "");
  EXPECT_EQ(test::wrong_iota(cube), "");
}

TEST(ReadNpy, reads_extents_of_0_next_to_large_ones) {
  const test::SharedPath shared;
  shared.write(npy_header(dictionary("<f8", false, "(1099511627776, 0)")));

  const auto tensor = read_npy<Matrix>(shared.path(), test::world_mesh(), {Shard(0)});

  EXPECT_EQ(tensor.shape(), (Extents{1099511627776, 0}));
}

TEST(ReadNpy, fills_views_with_static_extents) {
  const test::SharedPath shared;
  shared.write(iota_file<double>("<f8", {9, 3}));

  const auto tensor = read_npy<Kokkos::View<double* [3], LayoutLeft, TestSpace>>(
      shared.path(), small_mesh(), {Shard(0)});

  EXPECT_EQ(test::wrong_iota(tensor), "");
}

TEST(ReadNpy, takes_an_instance_and_the_default_mesh_and_replicates_by_default) {
  const test::SharedPath shared;
  shared.write(iota_file<double>("<f8", {9, 3}));
  const Kokkos::DefaultExecutionSpace exec;
  const DeviceMeshScope scope(test::world_mesh());

  const auto replicated = read_npy<Matrix>(shared.path());
  const auto sharded = read_npy<LeftMatrix>(exec, shared.path(), {Shard(0)});
  const auto header = read_npy_header(shared.path());

  EXPECT_TRUE(replicated.placements().is_all_replicate());
  EXPECT_EQ(test::wrong_iota(replicated), "");
  EXPECT_EQ(test::wrong_iota(sharded), "");
  EXPECT_EQ(header.shape, (Extents{9, 3}));
  EXPECT_EQ(to_string(header.type), "float64");
  EXPECT_EQ(header.order, StorageOrder::row_major);
  EXPECT_EQ(header.byte_order, std::endian::little);
}

TEST(ReadNpy, gives_an_empty_tensor_off_the_mesh) {
  const test::SharedPath shared;
  shared.write(iota_file<double>("<f8", {9, 3}));
  const auto mesh = test::mesh_of({1});

  const auto tensor = read_npy<Matrix>(shared.path(), mesh, {Shard(0)});

  EXPECT_EQ(tensor.to_local().size(), test::is_on(mesh) ? 27U : 0U);
}

TEST(ReadNpy, moves_no_tensor_data_between_ranks) {
  const test::SharedPath shared;
  shared.write(iota_file<double>("<f8", {9, 3}));
  const auto mesh = test::world_mesh();
  int exchanges = 0;
  int accesses = 0;

  {
    const TraceScope scope([&](const TraceEvent& event) {
      exchanges += event.kind == TraceKind::exchange;
      accesses += event.kind == TraceKind::io;
    });
    read_npy<Matrix>(shared.path(), mesh, {Shard(0)});
  }

  EXPECT_EQ(exchanges, 0);
  EXPECT_EQ(accesses, 1);
}

}  // namespace
