// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures of specs on paper, as literal text.
#include <chrono>
#include <string>

#include <gmock/gmock.h>

#include <tessera/picture/visualize_sharding.hpp>

#include "../support/errors.hpp"
#include "../support/variable.hpp"
#include "picture/text_picture.hpp"

namespace tessera::test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

DTensorSpec spec(const std::vector<int>& mesh, const Extents& shape, const char* placements,
                 const Boundaries& boundaries = {}) {
  return DTensorSpec(MeshLayout(mesh), parse_placements(placements), shape, boundaries);
}

std::string picture(const std::vector<int>& mesh, const Extents& shape, const char* placements,
                    const Boundaries& boundaries = {}) {
  return "\n" + visualize_sharding(spec(mesh, shape, placements, boundaries));
}

double seconds_of(const DTensorSpec& of) {
  const auto start = std::chrono::steady_clock::now();
  visualize_sharding(of);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Most characters of a line, and number of lines.
std::pair<int, int> size_of(const std::string& text) {
  std::pair<int, int> size{0, 0};
  int width = 0;
  for (const char c : text) {
    if (c == '\n') ++size.second;
    width = c == '\n' ? 0 : width + ((static_cast<unsigned char>(c) & 0xc0) != 0x80);
    size.first = std::max(size.first, width);
  }
  return size;
}

TEST(VisualizeSharding, short_last_part_is_to_scale) {
  EXPECT_EQ(picture({4}, {10}, "S(0)"), R"(
(10) on (4) as S(0)
       0-2             3-5             6-8         9
┌───────────────┬───────────────┬───────────────┬─────┐
│       0       │       1       │       2       │  3  │
└───────────────┴───────────────┴───────────────┴─────┘
)");
}

TEST(VisualizeSharding, rows_and_columns_on_a_grid) {
  EXPECT_EQ(picture({2, 2}, {10, 14}, "S(0), S(1)"), R"(
(10, 14) on (2, 2) as S(0), S(1)
      0-6    7-13
    ┌──────┬──────┐
0-4 │  0   │  1   │
    ├──────┼──────┤
5-9 │  2   │  3   │
    └──────┴──────┘
)");
}

TEST(VisualizeSharding, replicas_share_a_cell) {
  EXPECT_EQ(picture({2, 2}, {10, 4}, "S(0), R"), R"(
(10, 4) on (2, 2) as S(0), R
      0-3
    ┌─────┐
0-4 │ 0=1 │
    ├─────┤
5-9 │ 2=3 │
    └─────┘
a=b: replicas
)");
}

TEST(VisualizeSharding, contributions_of_a_partial_name_their_op) {
  EXPECT_EQ(picture({2, 2}, {10, 4}, "S(0), P(max)"), R"(
(10, 4) on (2, 2) as S(0), P(max)
         0-3
    ┌────────────┐
0-4 │ 0+1 P(max) │
    ├────────────┤
5-9 │ 2+3 P(max) │
    └────────────┘
a+b: contributions, not yet reduced
)");
}

TEST(VisualizeSharding, contributions_may_have_replicas) {
  EXPECT_EQ(picture({2, 2, 2}, {10, 4}, "R, S(1), P(sum)"), R"(
(10, 4) on (2, 2, 2) as R, S(1), P(sum)
            0-1               2-3
    ┌─────────────────┬─────────────────┐
0-9 │ 0=4 +1=5 P(sum) │ 2=6 +3=7 P(sum) │
    └─────────────────┴─────────────────┘
a=b: replicas; a+b: contributions, not yet reduced
)");
}

TEST(VisualizeSharding, many_holders_are_listed_in_few_numbers) {
  EXPECT_EQ(picture({16}, {4, 3}, "R"), R"(
(4, 3) on (16) as R
        0-2
    ┌──────────┐
0-3 │ 0=1=…=15 │
    └──────────┘
a=b: replicas
)");
}

TEST(VisualizeSharding, empty_parts_are_listed_below) {
  EXPECT_EQ(picture({8}, {6}, "S(0)"), R"(
(6) on (8) as S(0)
  0   1   2   3   4   5
┌───┬───┬───┬───┬───┬───┐
│ 0 │ 1 │ 2 │ 3 │ 4 │ 5 │
└───┴───┴───┴───┴───┴───┘
ranks 6-7 hold nothing
)");
  EXPECT_THAT(picture({4}, {3}, "S(0)"), EndsWith("rank 3 holds nothing\n"));
  EXPECT_THAT(picture({4, 2}, {3, 5}, "S(0), S(1)"), EndsWith("ranks 6-7 hold nothing\n"));
  EXPECT_THAT(picture({40, 2}, {5, 1}, "S(0), S(1)"),
              EndsWith("ranks 1, 3, 5, 7, 9-79 hold nothing\n"));
  EXPECT_THAT(picture({40, 2}, {40, 1}, "S(0), S(1)"),
              EndsWith("ranks 1, 3, 5, 7, …, 75, 77, 79 (40 in all) hold nothing\n"));
}

TEST(VisualizeSharding, nested_splits_follow_the_split_order) {
  EXPECT_EQ(picture({2, 2}, {10}, "S(0)[1], S(0)[0]"), R"(
(10) on (2, 2) as S(0)[1], S(0)[0]
   0-2    3-4    5-7    8-9
┌───────┬─────┬───────┬─────┐
│   0   │  2  │   1   │  3  │
└───────┴─────┴───────┴─────┘
)");
}

TEST(VisualizeSharding, explicit_boundaries_and_an_empty_part_between) {
  EXPECT_EQ(picture({4}, {9, 2}, "S(0)", {{0, 1, 1, 4, 9}, {}}), R"(
(9, 2) on (4) as S(0), dim 0 cut at [0, 1, 1, 4, 9]
      0-1
    ┌─────┐
  0 │  0  │
    ├─────┤
    │     │
1-3 │  2  │
    │     │
    ├─────┤
    │     │
    │     │
4-8 │  3  │
    │     │
    │     │
    └─────┘
rank 1 holds nothing
)");
}

TEST(VisualizeSharding, small_parts_stay_visible) {
  EXPECT_EQ(picture({4}, {1000}, "S(0)", {{0, 1, 2, 600, 1000}}), R"(
(1000) on (4) as S(0), dim 0 cut at [0, 1, 2, 600, 1000]
     0         1                         2-599                                 600-999
┌─────────┬─────────┬──────────────────────────────────────────────┬──────────────────────────────┐
│    0    │    1    │                      2                       │              3               │
└─────────┴─────────┴──────────────────────────────────────────────┴──────────────────────────────┘
)");
}

TEST(VisualizeSharding, three_dims_are_slices) {
  EXPECT_EQ(picture({2, 2}, {3, 5, 6}, "S(0), S(2)"), R"(
(3, 5, 6) on (2, 2) as S(0), S(2)
[0-1, :, :]
      0-2   3-5
    ┌─────┬─────┐
0-4 │  0  │  1  │
    └─────┴─────┘
[2, :, :]
      0-2   3-5
    ┌─────┬─────┐
0-4 │  2  │  3  │
    └─────┴─────┘
)");
}

TEST(VisualizeSharding, one_slice_may_be_chosen) {
  const auto of = spec({3, 2}, {3, 4, 6, 2}, "S(0), S(1)");

  const auto text = visualize_sharding(of, {.slice = {2, 3}});
  const auto too_short =
      message_of<InvalidArgument>([&] { visualize_sharding(of, {.slice = {2}}); });
  const auto outside = message_of<InvalidArgument>([&] {
    visualize_sharding(of, {.slice = {2, 4}});
  });

  EXPECT_THAT(text, HasSubstr("[2, 2-3, :, :]\n"));
  EXPECT_THAT(text, HasSubstr("│  5  │"));
  EXPECT_THAT(text, Not(HasSubstr("│  4  │")));
  EXPECT_THAT(too_short, StartsWith("visualize_sharding: expected a slice of 2 indices"));
  EXPECT_THAT(outside, EndsWith("shape (3, 4, 6, 2), got (2, 4)"));
}

TEST(VisualizeSharding, of_many_slices_the_first_are_shown) {
  EXPECT_THAT(picture({10}, {10, 2, 2}, "S(0)"), HasSubstr("and 6 more slices\n"));
}

TEST(VisualizeSharding, zero_dims_are_one_cell) {
  EXPECT_EQ(picture({2, 2}, {}, "R, P(sum)"), R"(
() on (2, 2) as R, P(sum)
┌─────────────────┐
│ 0=2 +1=3 P(sum) │
└─────────────────┘
a=b: replicas; a+b: contributions, not yet reduced
)");
}

TEST(VisualizeSharding, without_elements_there_is_no_cell) {
  EXPECT_EQ(picture({2, 2}, {0, 3}, "S(0), R"), R"(
(0, 3) on (2, 2) as S(0), R
no elements
ranks 0-3 hold nothing
)");
  EXPECT_EQ(picture({2}, {4, 0, 3}, "R"), R"(
(4, 0, 3) on (2) as R
no elements
ranks 0-1 hold nothing
)");
}

TEST(VisualizeSharding, narrow_cells_break_their_labels) {
  EXPECT_EQ("\n" + visualize_sharding(spec({2, 3, 2}, {4, 6}, "R, S(1), P(sum)"), {.width = 40}),
            R"(
(4, 6) on (2, 3, 2) as R, S(1), P(sum)
       0-1      2-3      4-5
    ┌────────┬────────┬────────┐
    │  0=6   │  2=8   │  4=10  │
0-3 │  +1=7  │  +3=9  │ +5=11  │
    │ P(sum) │ P(sum) │ P(sum) │
    └────────┴────────┴────────┘
a=b: replicas; a+b: contributions, not yet reduced
)");
}

TEST(VisualizeSharding, of_many_parts_the_first_and_the_last_are_shown) {
  EXPECT_EQ(picture({100}, {3, 1000}, "S(1)"), R"(
(3, 1000) on (100) as S(1)
        0-9      10-19     20-29     30-39        960-969   970-979   980-989   990-999
    ┌─────────┬─────────┬─────────┬─────────┬───┬─────────┬─────────┬─────────┬─────────┐
0-2 │    0    │    1    │    2    │    3    │ … │   96    │   97    │   98    │   99    │
    └─────────┴─────────┴─────────┴─────────┴───┴─────────┴─────────┴─────────┴─────────┘
not shown: 92 of 100 parts of dim 1
)");
}

TEST(VisualizeSharding, a_picture_of_100000_ranks_is_small_and_made_at_once) {
  const Extents rows{1000000, 1000000};
  Boundaries cuts(2);
  for (std::int64_t i = 0; i <= 100000; ++i) cuts[0].push_back(i * i / 10000);
  for (const auto& of :
       {spec({100000}, rows, "S(0)"), spec({100000}, rows, "R"), spec({100000}, rows, "P(sum)"),
        spec({1000, 100}, rows, "S(0), S(1)"), spec({100000}, {50000, 3}, "S(0)"),
        spec({100, 100, 10}, {100, 200, 300, 400}, "S(0), S(1), S(2)"),
        spec({100000}, rows, "S(0)", cuts)}) {
    const auto size = size_of(visualize_sharding(of));

    EXPECT_LE(size.first, 100) << of.placements();
    EXPECT_LE(size.second, 120) << of.placements();
    EXPECT_LT(seconds_of(of), 1) << of.placements();
  }
}

TEST(VisualizeSharding, fits_the_width) {
  for (const int width : {40, 60, 200})
    for (const char* placements : {"S(0), S(1)", "S(1), P(sum)", "R, S(1)", "S(0), S(0)"})
      EXPECT_LE(
          size_of(visualize_sharding(spec({5, 24}, {3000, 700}, placements), {.width = width}))
              .first,
          width)
          << placements;
}

TEST(VisualizeSharding, colours_only_when_asked) {
  const auto of = spec({2}, {4}, "S(0)");

  const auto plain = visualize_sharding(of);
  const auto coloured = visualize_sharding(of, {.colour = true});

  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_THAT(coloured, HasSubstr("│\x1b[30;48;5;117m  0  \x1b[0m│\x1b[30;48;5;214m  1  \x1b[0m│"));
}

TEST(VisualizeSharding, wrong_pieces_are_marked_and_reported) {
  const detail::PieceGrid grid(spec({2, 2}, {10, 4}, "S(0), R"), {{1, {5, 4}, {4, 4}}});

  EXPECT_EQ("\n" + detail::picture_of(grid, {}), R"(
(10, 4) on (2, 2) as S(0), R
      0-3
    ┌──────┐
0-4 │ 0=1! │
    ├──────┤
5-9 │ 2=3  │
    └──────┘
a=b: replicas
! rank 1 holds a View of shape (4, 4), its piece has shape (5, 4)
)");
}

TEST(VisualizeSharding, wrong_pieces_of_ranks_that_are_not_named_are_marked_too) {
  std::vector<detail::WrongPiece> wrong;
  for (int rank = 5; rank < 15; ++rank) wrong.push_back({rank, {4}, {3}});
  const detail::PieceGrid grid(spec({16}, {4}, "R"), wrong);

  const auto text = detail::picture_of(grid, {});

  EXPECT_THAT(text, HasSubstr("│ 0=1=…!=15 │"));
  EXPECT_THAT(text, HasSubstr("! … 10 ranks in all\n"));
}

TEST(TerminalHasColour, not_where_the_environment_says_so) {
  const Variable refused("NO_COLOR", "1");

  EXPECT_FALSE(terminal_has_colour());
}

}  // namespace
}  // namespace tessera::test
