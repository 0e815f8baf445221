// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <tessera/file/file.hpp>

#include "../support/errors.hpp"
#include "../support/groups.hpp"
#include "comm/agree_on_error.hpp"
#include "comm/limit_scope.hpp"

namespace {

using namespace tessera;
using test::message_of;
using test::world;
using testing::HasSubstr;

/// A path that all ranks of a run agree on, removed at the end.
class SharedPath {
 public:
  SharedPath() : communicator_(world()) {
    const auto id =
        all_gather_value(all_ranks(communicator_), getpid(), TraceKind::metadata, "test")[0];
    path_ = std::filesystem::temp_directory_path() / ("tessera_test_" + std::to_string(id));
  }
  ~SharedPath() {
    barrier(all_ranks(communicator_), TraceKind::agreement, "test");
    if (communicator_.rank() == 0) std::filesystem::remove(path_);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  Communicator communicator_;
  std::filesystem::path path_;
};

/// This rank's box of `shape`, split along `dim` by the chunk rule over the ranks.
Box my_box(const Extents& shape, std::size_t dim) {
  const std::int64_t n = world().size(), rank = world().rank();
  const auto chunk = (shape[dim] + n - 1) / n;
  Box box{Extents::filled(shape.size(), 0), shape};
  box.offset[dim] = std::min(rank * chunk, shape[dim]);
  box.shape[dim] = std::min((rank + 1) * chunk, shape[dim]) - box.offset[dim];
  return box;
}

/// The elements of a box, each its place in the file, in the order of the file.
std::vector<std::int64_t> elements(const FileArray& array, const Box& box) {
  const bool row_major = array.order == StorageOrder::row_major;
  const auto strides =
      row_major ? row_major_strides(array.shape) : column_major_strides(array.shape);
  const auto places = row_major ? row_major_strides(box.shape) : column_major_strides(box.shape);
  std::vector<std::int64_t> result(static_cast<std::size_t>(box.size()));
  for (std::int64_t i = 0; i < box.size(); ++i) {
    std::int64_t value = 0;
    for (std::size_t d = 0; d < box.shape.size(); ++d)
      value += (box.offset[d] + i / places[d] % box.shape[d]) * strides[d];
    result[static_cast<std::size_t>(i)] = value;
  }
  return result;
}

std::vector<std::int64_t> read_with_ifstream(const std::filesystem::path& path,
                                             std::int64_t offset) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  std::vector<std::int64_t> result;
  for (std::int64_t value = 0; file.read(reinterpret_cast<char*>(&value), sizeof value);)
    result.push_back(value);
  return result;
}

std::byte* data(std::vector<std::int64_t>& values) {
  return std::as_writable_bytes(std::span(values)).data();
}

void write_numbers(const std::filesystem::path& path, int count) {
  if (world().rank() == 0) {
    std::ofstream file(path, std::ios::binary);
    for (std::int64_t i = 0; i < count; ++i)
      file.write(reinterpret_cast<const char*>(&i), sizeof i);
  }
  barrier(all_ranks(world()), TraceKind::agreement, "test");
}

/// A box of this rank in an array of the file.
struct Piece {
  FileArray array;
  Box box;
};

struct Case {
  Extents shape;
  std::size_t write_dim;
  std::size_t read_dim;
};

const std::vector<Case> cases{{{12}, 0, 0},         {{13}, 0, 0},      {{1}, 0, 0},
                              {{12, 7}, 0, 1},      {{5, 13}, 1, 0},   {{3, 4, 5}, 2, 1},
                              {{2, 9, 3, 2}, 1, 2}, {{16, 1, 1}, 0, 1}};

/// The arrays of all cases, one behind the other, each element 8 bytes.
std::vector<FileArray> arrays_of(const std::vector<Case>& some, StorageOrder order) {
  std::vector<FileArray> result;
  std::int64_t offset = 24;
  for (const auto& [shape, write_dim, read_dim] : some) {
    result.push_back({offset, 8, shape, order});
    offset += 8 * product(shape);
  }
  return result;
}

void write_all(const std::filesystem::path& path, const std::vector<Piece>& pieces) {
  auto file = File::open(all_ranks(world()), path, FileAccess::create);
  for (const auto& [array, box] : pieces) {
    auto values = elements(array, box);
    file.write_box(array, box, data(values));
  }
  file.close();
}

std::vector<std::vector<std::int64_t>> read_all(const std::filesystem::path& path,
                                                const std::vector<Piece>& pieces) {
  std::vector<std::vector<std::int64_t>> result;
  auto file = File::open(all_ranks(world()), path, FileAccess::read);
  for (const auto& [array, box] : pieces) {
    auto& values = result.emplace_back(static_cast<std::size_t>(box.size()), -1);
    file.read_box(array, box, data(values));
  }
  file.close();
  return result;
}

void round_trip(const std::vector<Case>& some, StorageOrder order) {
  const SharedPath shared;
  const auto arrays = arrays_of(some, order);
  std::vector<Piece> written, read;
  std::vector<std::int64_t> expected_file;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const auto& [shape, write_dim, read_dim] = some[i];
    written.push_back({arrays[i], my_box(shape, write_dim)});
    read.push_back({arrays[i], my_box(shape, read_dim)});
    for (std::int64_t k = 0; k < product(shape); ++k) expected_file.push_back(k);
  }

  write_all(shared.path(), written);
  const auto values = read_all(shared.path(), read);

  for (std::size_t i = 0; i < some.size(); ++i)
    EXPECT_EQ(values[i], elements(read[i].array, read[i].box)) << to_string(some[i].shape);
  EXPECT_EQ(read_with_ifstream(shared.path(), 24), expected_file);
}

TEST(File, round_trips_boxes_of_a_row_major_array) {
  round_trip(cases, StorageOrder::row_major);
}

TEST(File, round_trips_boxes_of_a_column_major_array) {
  round_trip(cases, StorageOrder::column_major);
}

TEST(File, round_trips_boxes_in_several_rounds_of_different_number) {
  const detail::LimitScope scope(world(), 60);

  round_trip({{{5, 13}, 1, 0}, {{13}, 0, 0}}, StorageOrder::row_major);
}

TEST(File, round_trips_boxes_in_rounds_of_several_runs) {
  const detail::LimitScope scope(world(), 2048);

  round_trip({{{9, 4, 3}, 0, 1}}, StorageOrder::column_major);
}

TEST(File, round_trips_an_array_of_no_dims) {
  const FileArray array{.offset = 8, .element_size = 8, .shape = {}};
  const SharedPath shared;
  std::vector<std::int64_t> value{42}, read{-1};

  auto file = File::open(all_ranks(world()), shared.path(), FileAccess::create);
  const bool writes = world().rank() == 0;
  file.write_box({8, 8, {1}}, {{0}, {writes ? 1 : 0}}, data(value));
  barrier(all_ranks(world()), TraceKind::agreement, "test");
  file.read_box(array, {}, data(read));
  file.close();

  EXPECT_EQ(read, value);
}

TEST(File, takes_part_with_empty_boxes_on_all_ranks) {
  const FileArray array{.element_size = 8, .shape = {0, 3}};
  const SharedPath shared;

  auto file = File::open(all_ranks(world()), shared.path(), FileAccess::create);
  file.write_box(array, {{0, 0}, {0, 3}}, nullptr);
  file.read_box(array, {{0, 0}, {0, 3}}, nullptr);
  const auto size = file.size();
  file.close();

  EXPECT_EQ(size, 0);
}

TEST(File, is_opened_by_a_part_of_the_ranks_in_any_order) {
  const auto communicator = world();
  const SharedPath shared;
  write_numbers(shared.path(), 20);
  std::vector<int> ranks;
  for (int rank = communicator.size() - 1; rank >= 0; rank -= 2) ranks.push_back(rank);

  if (const auto group = test::group_of(communicator, ranks)) {
    std::vector<std::int64_t> read(2);
    auto file = File::open(*group, shared.path(), FileAccess::read);
    file.read_box({.element_size = 8, .shape = {20}}, {{2 * group->position}, {2}}, data(read));
    file.close();
    const std::int64_t first = 2 * group->position;
    EXPECT_EQ(read, (std::vector{first, first + 1}));
  }
}

TEST(File, reads_and_writes_bytes_on_one_rank) {
  const SharedPath shared;
  std::string text = "header", read(4, ' ');

  auto file = File::open(all_ranks(world()), shared.path(), FileAccess::create);
  if (world().rank() == 0) {
    file.write_at(3, std::as_bytes(std::span(text)));
    file.read_at(5, std::as_writable_bytes(std::span(read)));
  }
  file.close();

  if (world().rank() == 0) {
    EXPECT_EQ(read, "ader");
    EXPECT_EQ(std::filesystem::file_size(shared.path()), 9U);
  }
}

TEST(File, reads_bytes_by_absolute_offset_after_a_box) {
  const SharedPath shared;
  write_numbers(shared.path(), 10);
  std::vector<std::int64_t> read(10), one(1);

  auto file = File::open(all_ranks(world()), shared.path(), FileAccess::read);
  file.read_box({.element_size = 8, .shape = {5, 2}}, {{0, 1}, {5, 1}}, data(read));
  file.read_at(8, std::as_writable_bytes(std::span(one)));
  const auto size = file.size();
  file.close();

  EXPECT_EQ(one[0], 1);
  EXPECT_EQ(size, 80);
}

TEST(File, that_is_created_drops_what_was_there) {
  const SharedPath shared;
  write_numbers(shared.path(), 100);

  auto file = File::open(all_ranks(world()), shared.path(), FileAccess::create);
  const auto size = file.size();
  file.close();

  EXPECT_EQ(size, 0);
}

TEST(File, that_is_missing_is_an_io_error_on_every_rank) {
  const auto message = message_of<IoError>(
      [] { File::open(all_ranks(world()), "/no/such/file", FileAccess::read); });

  EXPECT_THAT(message, HasSubstr("File::open: '/no/such/file': "));
}

TEST(File, that_cannot_be_created_is_an_io_error_on_every_rank) {
  EXPECT_THROW(File::open(all_ranks(world()), "/no/such/file", FileAccess::create), IoError);
}

TEST(File, that_is_too_short_is_an_io_error_where_elements_are_missing) {
  const SharedPath shared;
  write_numbers(shared.path(), 11);
  const FileArray array{.element_size = 8, .shape = {12}};
  const auto box = my_box(array.shape, 0);
  std::vector<std::int64_t> read(static_cast<std::size_t>(box.size()));
  const bool misses = !box.is_empty() && box.interval(0).end == 12;

  auto file = File::open(all_ranks(world()), shared.path(), FileAccess::read);
  const auto message = message_of<IoError>([&] { file.read_box(array, box, data(read)); });
  file.close();

  EXPECT_THAT(message,
              HasSubstr(misses ? "expected at least 96 bytes, got a file of 88" : "no error"));
  if (!misses) {
    EXPECT_EQ(read, elements(array, box));
  }
}

TEST(File, that_ends_within_read_at_is_an_io_error) {
  const SharedPath shared;
  write_numbers(shared.path(), 2);
  std::vector<std::int64_t> read(3);

  auto file = File::open(all_ranks(world()), shared.path(), FileAccess::read);
  const auto message =
      message_of<IoError>([&] { file.read_at(0, std::as_writable_bytes(std::span(read))); });
  file.close();

  EXPECT_THAT(message, HasSubstr("File::read_at: "));
  EXPECT_THAT(message, HasSubstr("expected 24 bytes at offset 0, got 16"));
}

TEST(File, emits_one_event_of_kind_io) {
  const SharedPath shared;
  write_numbers(shared.path(), 24);
  const auto box = my_box({24}, 0);
  std::vector<std::int64_t> read(static_cast<std::size_t>(box.size()));
  std::vector<TraceEvent> events;

  auto file = File::open(all_ranks(world()), shared.path(), FileAccess::read);
  {
    const TraceScope scope([&](const TraceEvent& event) {
      if (event.kind == TraceKind::io) events.push_back(event);
    });
    file.read_box({.element_size = 8, .shape = {24}}, box, data(read));
  }
  file.close();

  ASSERT_EQ(events.size(), 1U);
  EXPECT_STREQ(events[0].operation, "tessera::File::read_box");
  EXPECT_EQ(events[0].bytes_received, 8 * box.size());
}

TEST(File, closes_itself_and_moves) {
  const SharedPath shared;
  {
    auto file = File::open(all_ranks(world()), shared.path(), FileAccess::create);
    auto moved = std::move(file);
    file = File::open(all_ranks(world()), shared.path(), FileAccess::read);
    moved = std::move(file);
  }

  EXPECT_TRUE(std::filesystem::exists(shared.path()));
}

TEST(File, name_may_have_colons) {
  for (const std::string name : {"ufs:x", "2023-03-10_15:00:00", ":"}) {
    const SharedPath shared;
    const auto folder = shared.path();
    if (world().rank() == 0) std::filesystem::create_directory(folder);
    barrier(all_ranks(world()), TraceKind::agreement, "test");
    const std::vector<std::byte> bytes(7, std::byte{3});

    auto file = File::open(all_ranks(world()), folder / name, FileAccess::create);
    if (world().rank() == 0) file.write_at(0, bytes);
    file.close();
    barrier(all_ranks(world()), TraceKind::agreement, "test");
    EXPECT_EQ(std::filesystem::file_size(folder / name), 7u) << name;
    EXPECT_EQ(File::open(all_ranks(world()), folder / name, FileAccess::read).size(), 7) << name;

    barrier(all_ranks(world()), TraceKind::agreement, "test");
    if (world().rank() == 0) std::filesystem::remove(folder / name);
  }
}

}  // namespace
