// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// SVG documents: well-formed, complete, and made at once for many ranks.
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <tessera/picture/plan_svg.hpp>

#include "../support/errors.hpp"
#include "../support/xml.hpp"
#include "debug/traffic.hpp"
#include "picture/svg.hpp"

namespace tessera::test {
namespace {

using ::testing::StartsWith;

DTensorSpec spec(const std::vector<int>& mesh, const Extents& shape, const char* placements,
                 const Boundaries& boundaries = {}) {
  return DTensorSpec(MeshLayout(mesh), parse_placements(placements), shape, boundaries);
}

RedistributePlan plan(const std::vector<int>& mesh, const Extents& shape, const char* from,
                      const char* to, const PlanOptions& options = {}) {
  return make_plan(spec(mesh, shape, from), spec(mesh, shape, to), element_type<double>(), options);
}

/// Without printing the document where it is missing.
bool has(const std::string& svg, const std::string& text) {
  return svg.find(text) != svg.npos;
}

/// Pieces have tooltips.
int pieces_drawn(const std::string& svg) {
  return occurrences(svg, "<title>rank ");
}

TEST(XmlProblem, finds_what_is_not_well_formed) {
  EXPECT_EQ(xml_problem("<a x=\"1\" y=\"&lt;\"><b/>text &amp; more<!-- <c> --></a>\n"), "");
  for (const char* text : {"", "<a>", "<a></b>", "</a>", "<a x=1/>", "<a x=\"1/>",
                           "<a x=\"1\" x=\"2\"/>", "<a>&x;</a>", "<a x=\"<\"/>", "<a/><b/>",
                           "<a/>text", "<a>\x01</a>", "<a x=\"1\"y=\"2\"/>", "<1a/>", "<a"})
    EXPECT_NE(xml_problem(text), "") << text;
}

TEST(Svg, texts_are_escaped) {
  detail::Svg svg;
  svg.text(0, 0, "a<b & \"c\" 'd' > \x1b");
  svg.rect({0, 0, 1, 1}, "#ffffff", "none", "1 < 2");

  const auto document = svg.document(10, 10, "a & b");

  EXPECT_EQ(xml_problem(document), "");
  EXPECT_TRUE(has(document, ">a&lt;b &amp; &quot;c&quot; &#39;d&#39; &gt;  </text>"));
  EXPECT_TRUE(has(document, "<title>1 &lt; 2</title>"));
}

TEST(Svg, the_first_32_colours_differ) {
  std::set<std::string> colours;
  for (int i = 0; i < 32; ++i) colours.insert(detail::colour_of(i));

  EXPECT_EQ(colours.size(), 32u);
}

TEST(ShardingSvg, has_a_piece_for_each_cell) {
  const auto svg = sharding_svg(spec({2, 3}, {10, 14}, "S(0), S(1)"));

  EXPECT_EQ(xml_problem(svg), "");
  EXPECT_THAT(svg, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 "));
  EXPECT_EQ(pieces_drawn(svg), 6);
  for (const char* text : {">(10, 14) on (2, 3) as S(0), S(1)<", ">10-13<", ">dim 0 (10)<",
                           ">dim 1 (14)<", "<title>rank 5: (5, 4)</title>", ">(5, 4)</text>"})
    EXPECT_TRUE(has(svg, text)) << text;
  EXPECT_FALSE(has(svg, "url("));
  EXPECT_FALSE(has(svg, "<script"));
}

TEST(ShardingSvg, parts_are_to_scale) {
  const auto svg = sharding_svg(spec({3}, {10}, "S(0)"), {.width = 540});

  EXPECT_TRUE(has(svg, "x=\"20\" y=\"83.6\" width=\"200\""));
  EXPECT_TRUE(has(svg, "x=\"220\" y=\"83.6\" width=\"200\""));
  EXPECT_TRUE(has(svg, "x=\"420\" y=\"83.6\" width=\"100\""));
}

TEST(ShardingSvg, replicas_and_contributions_are_hatched_and_explained) {
  const auto replicas = sharding_svg(spec({2, 2}, {8}, "S(0), R"));
  const auto contributions = sharding_svg(spec({2, 2}, {8}, "S(0), P(avg)"));
  const auto both = sharding_svg(spec({2, 2}, {}, "R, P(sum)"));

  EXPECT_EQ(occurrences(replicas, "url(#tessera-replicas)"), 3);
  EXPECT_EQ(occurrences(replicas, "url(#tessera-contributions)"), 0);
  EXPECT_TRUE(has(replicas, ">0=1</text>"));
  EXPECT_EQ(occurrences(contributions, "url(#tessera-contributions)"), 3);
  EXPECT_TRUE(has(contributions, ">2+3 P(avg)</text>"));
  EXPECT_EQ(occurrences(both, "url(#tessera-contributions)"), 2);
  EXPECT_EQ(occurrences(both, "url(#tessera-replicas)"), 2);
  for (const auto& svg : {replicas, contributions, both}) EXPECT_EQ(xml_problem(svg), "");
}

TEST(ShardingSvg, slices_empty_parts_and_no_elements) {
  const auto slices = sharding_svg(spec({4, 2}, {7, 20, 30}, "S(0), S(2)"));
  const auto one = sharding_svg(spec({4, 2}, {7, 20, 30}, "S(0), S(2)"), {.slice = {6}});
  const auto many = sharding_svg(spec({9}, {9, 2, 2}, "S(0)"));
  const auto empty = sharding_svg(spec({8}, {6}, "S(0)"));
  const auto nothing = sharding_svg(spec({4}, {0, 5}, "S(1)"));

  EXPECT_EQ(pieces_drawn(slices), 8);
  EXPECT_TRUE(has(slices, ">[4-5, :, :]<"));
  EXPECT_EQ(pieces_drawn(one), 2);
  EXPECT_TRUE(has(many, ">and 3 more slices<"));
  EXPECT_TRUE(has(empty, ">ranks 6-7 hold nothing<"));
  EXPECT_TRUE(has(nothing, ">no elements<"));
  for (const auto& svg : {slices, one, many, empty, nothing}) EXPECT_EQ(xml_problem(svg), "");
  EXPECT_THAT(message_of<InvalidArgument>([] {
                sharding_svg(spec({4}, {0, 5}, "S(1)"), {.slice = {1}});
              }),
              StartsWith("sharding_svg: expected a slice of 0 indices"));
}

TEST(ShardingSvg, many_ranks_are_drawn_as_far_as_they_can_be_seen) {
  const auto grid = sharding_svg(spec({32, 32}, {1000, 1000}, "S(0), S(1)"));
  const auto line = sharding_svg(spec({1000}, {5000}, "S(0)"));
  const auto huge = sharding_svg(spec({1000, 100}, {100000, 100000}, "S(0), S(1)"));

  EXPECT_EQ(pieces_drawn(grid), 1024);
  EXPECT_EQ(pieces_drawn(line), 1000);
  EXPECT_EQ(pieces_drawn(huge), 63 * 63);
  EXPECT_TRUE(has(huge, ">not shown: 937 of 1000 parts of dim 0<"));
  for (const auto& svg : {grid, line, huge}) EXPECT_EQ(xml_problem(svg), "");
}

TEST(ShortNumber, has_at_most_four_characters) {
  const std::vector<std::pair<std::int64_t, const char*>> cases{{0, "0"},
                                                                {999, "999"},
                                                                {1000, "1.0k"},
                                                                {9949, "9.9k"},
                                                                {9951, "10k"},
                                                                {999499, "999k"},
                                                                {999500, "1.0M"},
                                                                {23456789, "23M"},
                                                                {52500000000, "52G"},
                                                                {1000000000000, "1.0T"}};
  for (const auto& entry : cases) EXPECT_EQ(detail::short_number(entry.first), entry.second);
}

TEST(RankBlocks, cover_all_ranks_in_order) {
  for (const int ranks : {1, 64, 65, 100, 1000, 8193, 100000}) {
    const auto blocks = detail::rank_blocks(ranks);

    for (int block = 0; block < blocks.count; ++block) {
      EXPECT_EQ(blocks.block_of(blocks.first(block)), block) << ranks;
      EXPECT_EQ(blocks.block_of(blocks.first(block + 1) - 1), block) << ranks;
    }
    EXPECT_EQ(blocks.first(blocks.count), ranks);
    EXPECT_EQ(blocks.are_single(), ranks <= 64);
  }
}

TEST(PlanSvg, has_layouts_and_the_bytes_from_rank_to_rank) {
  const auto svg = plan_svg(plan({4}, {8, 8}, "S(0)", "S(1)"));

  EXPECT_EQ(xml_problem(svg), "");
  EXPECT_EQ(pieces_drawn(svg), 8);
  EXPECT_EQ(occurrences(svg, ": 32 bytes</title>"), 16);
  EXPECT_EQ(occurrences(svg, ">96</text>"), 8);
  EXPECT_EQ(occurrences(svg, ">384</text>"), 1);
  for (const char* text : {">(8, 8) on (4) as S(0) -&gt; S(1): 1 exchange<", "float64 on 4 ranks",
                           ">step 1 (exchange), phase 1<",
                           ">384 bytes in 12 messages; a rank receives at most 96 bytes<"})
    EXPECT_TRUE(has(svg, text)) << text;
}

TEST(PlanSvg, reductions_have_a_matrix_for_each_phase) {
  const auto svg = plan_svg(plan({4}, {4096, 64}, "P(sum)", "R"));

  EXPECT_EQ(xml_problem(svg), "");
  EXPECT_TRUE(has(svg, ">step 1 (reduce), phase 1: 4 contributions are reduced by sum<"));
  EXPECT_TRUE(has(svg, ">step 1 (reduce), phase 2<"));
}

TEST(PlanSvg, without_communication_says_so) {
  const auto svg = plan_svg(plan({4}, {12, 64}, "R", "P(max)"));

  EXPECT_EQ(xml_problem(svg), "");
  EXPECT_TRUE(has(svg, ">local: each rank takes what it needs from its own piece<"));
  EXPECT_TRUE(has(svg, "is filled with the identity of max<"));
  EXPECT_FALSE(has(svg, "from rank"));
}

TEST(PlanSvg, across_meshes_names_ranks_of_the_communicator) {
  const DTensorSpec from(MeshLayout::from_ranks({0, 1, 2}, {3}), {Shard(0)}, {10, 10});
  const DTensorSpec to(MeshLayout::from_ranks({2, 5, 6, 7}, {2, 2}), {Shard(0), Shard(1)},
                       {10, 10});

  const auto svg = plan_svg(make_plan_across(from, to, element_type<double>()), {.width = 1600});

  EXPECT_EQ(xml_problem(svg), "");
  EXPECT_TRUE(has(svg, "<title>rank 7: (5, 5)</title>"));
  EXPECT_TRUE(has(svg, "<title>1 to 7: 120 bytes</title>"));
  EXPECT_TRUE(has(svg, "ranks are those of the communicator"));
}

TEST(PlanSvg, empty_tensors_and_two_step_plans) {
  for (const auto& of : {plan({4}, {0, 8}, "S(0)", "S(1)"), plan({2, 2}, {}, "P(sum), R", "R, R"),
                         plan({3}, {7, 5, 4, 3}, "S(0)", "S(3)"),
                         plan({32, 32}, {1024, 1024}, "S(0), S(0)", "S(1), S(1)")})
    EXPECT_EQ(xml_problem(plan_svg(of)), "") << to_string(of);
}

TEST(PlanSvg, more_ranks_than_64_stand_in_blocks_that_add_up) {
  const auto of = plan({16, 16}, {256, 256}, "S(0), S(1)", "S(1), S(0)");
  const auto blocks = detail::rank_blocks(256);

  const auto traffic = detail::traffic_of(of, blocks);
  const auto svg = plan_svg(of);

  std::int64_t sum = 0;
  for (const auto bytes : traffic.phases.front().bytes) sum += bytes;
  EXPECT_EQ(traffic.ranks_asked, 256);
  EXPECT_EQ(sum, (256 * 256 - 16 * 16 * 16) * 8);
  EXPECT_EQ(xml_problem(svg), "");
  EXPECT_TRUE(has(svg, ">0-7<"));
  EXPECT_FALSE(has(svg, "estimated"));
}

TEST(PlanSvg, of_100000_ranks_some_are_asked) {
  const auto start = std::chrono::steady_clock::now();
  const auto all_gather = plan_svg(plan({100000}, {1000000, 64}, "S(0)", "R"), {.width = 1600});
  const auto swap = plan_svg(plan({1000, 100}, {1000000, 6400}, "S(0), S(1)", "S(1), S(0)"));
  const auto seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  EXPECT_EQ(xml_problem(all_gather), "");
  EXPECT_EQ(xml_problem(swap), "");
  EXPECT_TRUE(has(all_gather, "estimated from the steps of 10 of the 100000"));
  EXPECT_LT(all_gather.size() + swap.size(), 3u << 20);
  EXPECT_LT(seconds, 20);
}

}  // namespace
}  // namespace tessera::test
