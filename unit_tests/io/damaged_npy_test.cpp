// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <tessera/io/npy.hpp>

#include "../support/errors.hpp"
#include "../support/tensors.hpp"
#include "npy_files.hpp"

namespace {

using namespace tessera;
using test::dictionary;
using test::Matrix;
using test::npy_header;
using testing::HasSubstr;

struct Damage {
  const char* name;
  std::string bytes;
  const char* text;
};

const std::string data(6 * 8, '\0');

std::string with_text(const std::string& text) {
  return npy_header(text) + data;
}
std::string with_descr(const std::string& descr) {
  return with_text(dictionary(descr, false, "(2, 3)"));
}
std::string with_shape(const std::string& shape) {
  return with_text(dictionary("<f8", false, shape));
}

const std::string good = with_shape("(2, 3)");
const std::string good_text = dictionary("<f8", false, "(2, 3)");

const std::vector<Damage> damages{
    {"empty", "", "expected 8 bytes of magic and version, got the end of the file after 0"},
    {"other_magic", "\x89HDF" + good, "expected an .npy file, which begins with \\x93NUMPY"},
    {"archive", "PK\x03\x04" + good, "expected an .npy file, got an .npz archive"},
    {"empty_archive", "PK\x05\x06" + std::string(18, '\0'), "got an .npz archive"},
    {"short_magic", "\x93NUM", "expected 8 bytes of magic and version"},
    {"no_version", "\x93NUMPY", "expected 8 bytes of magic and version"},
    {"version_0", npy_header(good_text, 0) + data,
     "expected version 1.0, 2.0 or 3.0 of the .npy "
     "format, got 0.0"},
    {"version_4", npy_header(good_text, 4) + data, "got 4.0"},
    {"no_length", "\x93NUMPY" + std::string("\x01\0\x10", 3), "expected 2 bytes of header length"},
    {"length_beyond_the_file", "\x93NUMPY" + std::string("\x01\0\xff\xff{", 5),
     "expected 65535 bytes of header, got the end of the file after 1"},
    {"huge_length", "\x93NUMPY" + std::string("\x02\0\xff\xff\xff\xff", 6) + good,
     "expected a header of at most 1048576 bytes, got 4294967295"},
    {"empty_header", npy_header(""), "expected '{' at position 0 of the header, got its end"},
    {"binary_header", npy_header(std::string("\0\x1f", 2)), "got byte 0x00"},
    {"no_dictionary", with_text("(1, 2)"), "expected '{' at position 0 of the header, got '('"},
    {"call", with_text("{'descr': f(), 'fortran_order': False, 'shape': (2, 3)}"),
     "expected the name of a plain element type at position 10"},
    {"open_string", with_text("{'descr': '<f8, "), "expected a quote that closes the string"},
    {"escape", with_text("{'descr': '<f\\x38', 'fortran_order': False, 'shape': (2, 3)}"),
     "expected a quote that closes the string"},
    {"open_dictionary", with_text("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), "),
     "expected a key in quotes"},
    {"text_after_the_end",
     with_text("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} + "),
     "expected the end at position"},
    {"two_commas", with_text("{'descr': '<f8',, 'fortran_order': False, 'shape': (2, 3)}"),
     "expected a key in quotes"},
    {"no_comma", with_text("{'descr': '<f8' 'fortran_order': False, 'shape': (2, 3)}"),
     "expected '}' at position 16"},
    {"no_descr", with_text("{'fortran_order': False, 'shape': (2, 3)}"), "expected key 'descr'"},
    {"no_order", with_text("{'descr': '<f8', 'shape': (2, 3)}"), "expected key 'fortran_order'"},
    {"no_shape", with_text("{'descr': '<f8', 'fortran_order': False}"), "expected key 'shape'"},
    {"two_shapes", with_text("{'descr': '<f8', 'shape': (2, 3), 'shape': (2, 3)}"),
     "expected key 'shape' once in the header, got two"},
    {"other_key", with_text("{'descr': '<f8', 'fortran_order': False, 'size': 3}"), "got 'size'"},
    {"order_is_a_number", with_text("{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 3)}"),
     "expected True or False at position 34"},
    {"shape_is_a_number", with_shape("6"), "expected '(' at position"},
    {"shape_is_a_list", with_shape("[2, 3]"), "expected '(' at position"},
    {"shape_without_comma", with_shape("(6)"), "expected ',' at position"},
    {"shape_of_a_comma", with_shape("(,)"), "expected an extent >= 0"},
    {"negative_extent", with_shape("(2, -3)"), "expected an extent >= 0"},
    {"fractional_extent", with_shape("(2, 3.0)"), "expected ')' at position"},
    {"octal_extent", with_shape("(2, 03)"), "expected an extent without leading zeros"},
    {"extent_of_65_bits", with_shape("(2, 18446744073709551616)"), "expected an extent below 2^63"},
    {"extent_of_64_bits", with_shape("(2, 9223372036854775808)"), "expected an extent below 2^63"},
    {"bytes_overflow", with_shape("(2, 4611686018427387904)"),
     "expected a shape of fewer than 2^63 bytes"},
    {"product_overflows", with_shape("(4294967296, 4294967296)"),
     "expected a shape of fewer than 2^63 bytes"},
    {"strides_overflow", with_shape("(0, 9223372036854775807)"),
     "expected a shape of fewer than 2^63 bytes"},
    {"nine_dims", with_shape("(1, 1, 1, 1, 1, 1, 1, 1, 1)"), "expected at most 8 dims, got 9"},
    {"objects", with_descr("|O"),
     "expected elements of b1, i1 to i8, u1 to u8, f2 to f16 or c8 to "
     "c32, got |O"},
    {"text", with_descr("<U4"), "got <U4"},
    {"bytes", with_descr("|S8"), "got |S8"},
    {"dates", with_descr("<M8[ns]"), "got <M8[ns]"},
    {"void", with_descr("|V8"), "got |V8"},
    {"no_size", with_descr("<u"), "got <u"},
    {"odd_size", with_descr("<f3"), "got <f3"},
    {"no_type", with_descr("<"), "got <"},
    {"two_signs", with_descr("<>f8"), "got <>f8"},
    {"structured", with_text("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2, 3)}"),
     "expected the name of a plain element type at position 10 of the header, got '['"},
    {"short_data", good.substr(0, good.size() - 1),
     "expected 48 bytes of data, as shape (2, 3) says, got 47"},
    {"no_data", npy_header(good_text), "expected 48 bytes of data, as shape (2, 3) says, got 0"},
    {"lying_shape", with_shape("(1000000, 1000000)"), "expected 8000000000000 bytes of data"},
    {"other_dims", with_shape("(6,)"), "expected 2 dims, those of the View, got shape (6)"},
    {"complex", with_descr("<c8"),
     "expected elements that fit float64, those of the View, got "
     "complex64"},
};

class DamagedNpy : public testing::TestWithParam<Damage> {};

TEST_P(DamagedNpy, is_the_same_io_error_on_every_rank_and_the_next_call_works) {
  const test::SharedPath shared;
  const auto mesh = test::world_mesh();
  shared.write(GetParam().bytes);

  const auto message =
      test::message_of<IoError>([&] { read_npy<Matrix>(shared.path(), mesh, {Shard(0)}); });
  const bool is_same = test::is_same_everywhere(message);
  shared.write(good);
  const auto next = read_npy_header(shared.path(), mesh);

  EXPECT_THAT(message, HasSubstr("read_npy: '" + shared.path() + "': "));
  EXPECT_THAT(message, HasSubstr(GetParam().text));
  EXPECT_TRUE(is_same) << message;
  EXPECT_EQ(next.shape, (Extents{2, 3}));
}

INSTANTIATE_TEST_SUITE_P(Npy, DamagedNpy, testing::ValuesIn(damages),
                         [](const auto& info) { return info.param.name; });

TEST(ReadNpy, works_after_any_error) {
  const test::SharedPath shared;
  const auto mesh = test::world_mesh();
  const auto read = [&] { return read_npy<Matrix>(shared.path(), mesh, {Shard(0)}); };

  EXPECT_THROW(read(), IoError);
  for (const auto& damage : damages) {
    shared.write(damage.bytes);
    EXPECT_THROW(read(), IoError) << damage.name;
  }
  shared.write(good);
  const auto tensor = read();

  EXPECT_EQ(test::wrong_piece(tensor, [](const Extents&) { return 0.0; }), "");
}

TEST(ReadNpy, of_a_missing_file_is_an_io_error) {
  const test::SharedPath shared;
  const auto message =
      test::message_of<IoError>([&] { read_npy<Matrix>(shared.path(), test::world_mesh()); });
  const bool is_same = test::is_same_everywhere(message);

  EXPECT_EQ(message, "read_npy: '" + shared.path() + "': No such file or directory");
  EXPECT_TRUE(is_same);
}

TEST(ReadNpy, of_a_folder_is_an_io_error) {
  const test::SharedPath shared;
  const auto message = test::message_of<IoError>(
      [&] { read_npy<Matrix>(shared.folder().string(), test::world_mesh()); });

  EXPECT_THAT(message, HasSubstr("expected a regular file"));
}

TEST(ReadNpy, of_other_arguments_on_one_rank_is_invalid_everywhere) {
  const auto mesh = test::world_mesh();
  if (mesh.size() == 1) GTEST_SKIP() << "needs two ranks";
  const bool is_last = mesh.rank() == mesh.size() - 1;

  const auto path_message = test::message_of<InvalidArgument>(
      [&] { read_npy<Matrix>(is_last ? "a.npy" : "b.npy", mesh, {Shard(0)}); });
  const auto placement_message = test::message_of<InvalidArgument>(
      [&] { read_npy<Matrix>("a.npy", mesh, {Shard(is_last ? 1 : 0)}); });

  EXPECT_THAT(path_message, HasSubstr("read_npy: expected the same call on every rank"));
  EXPECT_THAT(placement_message, HasSubstr("as S(1) (on rank " + std::to_string(mesh.size() - 1)));
}

TEST(ReadNpy, of_arguments_that_do_not_fit_is_invalid_everywhere) {
  const test::SharedPath shared;
  shared.write(good);
  const auto mesh = test::world_mesh();
  using Static = Kokkos::View<double* [4], Kokkos::LayoutRight, test::TestSpace>;

  EXPECT_THAT(test::message_of<InvalidArgument>(
                  [&] { read_npy<Matrix>(shared.path(), mesh, {Partial()}); }),
              HasSubstr("read_npy: expected Shard and Replicate placements, got P(sum)"));
  EXPECT_THAT(
      test::message_of<InvalidArgument>([&] { read_npy<Matrix>(shared.path(), mesh, {Shard(2)}); }),
      HasSubstr("read_npy: "));
  EXPECT_THAT(test::message_of<InvalidArgument>([&] {
                read_npy<Matrix>(shared.path(), mesh, {Shard(0), Shard(1)});
              }),
              HasSubstr("read_npy: "));
  EXPECT_THAT(
      test::message_of<InvalidArgument>([&] { read_npy<Static>(shared.path(), mesh, {Shard(0)}); }),
      HasSubstr("read_npy: expected extent 4 in tensor dim 1, the View's static extent"));
  EXPECT_THAT(test::message_of<InvalidArgument>([&] { read_npy<Matrix>(shared.path()); }),
              HasSubstr("read_npy: expected a mesh, or a DeviceMeshScope"));
}

}  // namespace
