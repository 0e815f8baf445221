// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <tessera/picture/plan_svg.hpp>

#include "picture/matrix_picture.hpp"
#include "picture/sharding_picture.hpp"
#include "picture/text_table.hpp"
#include "plan/movement.hpp"

namespace tessera {

namespace {

using detail::Anchor;
using detail::PhaseTraffic;
using detail::RankBlocks;
using detail::TextStyle;

constexpr double margin = 20;
constexpr double space = 44;  // room for the arrow
constexpr const char* grey = "#555555";

std::string cost_text(const RedistributePlan& plan) {
  return fmt::format("{} on {} ranks; {} exchange{}; about {:.3g} s by the cost model",
                     to_string(plan.element_type()), plan.ranks().size(), plan.exchanges(),
                     plan.exchanges() == 1 ? "" : "s", plan.cost().seconds);
}

std::string phase_title(const RedistributePlan& plan, const PhaseTraffic& traffic) {
  auto text =
      fmt::format("step {} ({}), phase {}", traffic.step + 1,
                  traffic.kind == StepKind::reduce ? "reduce" : "exchange", traffic.phase + 1);
  if (traffic.contributions > 1)
    text += fmt::format(": {} contributions are reduced by {}", traffic.contributions,
                        to_string(detail::PlanAccess::movement(plan).op));
  return text;
}

std::string phase_text(const PhaseTraffic& traffic, const RankBlocks& blocks, int ranks_asked) {
  const auto all = std::accumulate(traffic.bytes.begin(), traffic.bytes.end(), std::int64_t{0});
  if (all == 0) return "local: each rank takes what it needs from its own piece";
  const bool is_exact = ranks_asked == blocks.ranks;
  auto text = fmt::format("{} bytes in {:.0f} messages; a rank receives at most {} bytes",
                          is_exact ? std::to_string(all) : "about " + detail::short_number(all),
                          traffic.messages, traffic.most_received);
  if (!is_exact)
    text +=
        fmt::format("; estimated from the steps of {} of the {} ranks", ranks_asked, blocks.ranks);
  return text;
}

class PlanPicture {
 public:
  PlanPicture(const RedistributePlan& plan, const SvgOptions& options)
      : plan_(plan),
        options_(options),
        width_(std::max(options.width, 300)),
        blocks_(detail::rank_blocks(static_cast<int>(plan.ranks().size()))),
        is_on_one_mesh_(plan.source().layout() == plan.target().layout()) {}

  std::string draw() {
    constexpr int longest_title = 600;
    const auto title = detail::shortened(to_string(plan_), longest_title);
    write(title, {16, Anchor::start, "#222222", true});
    write(cost_text(plan_), {12, Anchor::start, grey});
    y_ += 12;
    draw_layouts();
    const auto names = block_names();
    const auto traffic = detail::traffic_of(plan_, blocks_);
    for (const auto& phase : traffic.phases) draw_phase(phase, traffic.ranks_asked, names);
    if (plan_.partial_target())
      write("what a rank has not is filled with the identity of " +
                to_string(plan_.partial_target()->op),
            {13, Anchor::start, "#222222", true});
    draw_legend();
    return svg_.document(width_, y_ + margin, title);
  }

 private:
  double inner() const { return width_ - 2 * margin; }

  detail::RankNumbers numbers() const {
    return is_on_one_mesh_ ? detail::RankNumbers::mesh : detail::RankNumbers::communicator;
  }

  void write(const std::string& text, const TextStyle& style) {
    y_ += detail::draw_paragraph(svg_, text, margin, y_, inner(), style);
  }

  void draw_layouts() {
    const double half = (inner() - space) / 2;
    const double source = draw_layout(plan_.source(), margin, half);
    const double target = draw_layout(plan_.target(), margin + half + space, half);
    svg_.arrow(margin + half + 10, margin + half + space - 12, y_ + 75);
    y_ += std::max(source, target) + 10;
  }

  double draw_layout(const DTensorSpec& spec, double x, double width) {
    const detail::PieceGrid grid(spec, {}, numbers());
    const auto title =
        to_string(spec.placements()) + (is_on_one_mesh_ ? "" : " on " + to_string(spec.layout()));
    double height =
        detail::draw_paragraph(svg_, title, x, y_, width, {13, Anchor::start, "#222222", true});
    height += 4;
    return height + detail::draw_sharding(svg_, grid, {x, y_ + height, width, 0}, options_.slice);
  }

  /// Returns the names of the blocks: mesh ranks, or ranks of the communicator if there are two
  /// meshes.
  std::vector<std::string> block_names() const {
    std::vector<std::string> names;
    for (int block = 0; block < blocks_.count; ++block) {
      const int first = blocks_.first(block);
      const int last = blocks_.first(block + 1) - 1;
      const auto& ranks = plan_.ranks();
      const auto number = [&](int i) {
        return is_on_one_mesh_ ? i : ranks[static_cast<std::size_t>(i)];
      };
      names.push_back(first == last ? std::to_string(number(first))
                                    : fmt::format("{}-{}", number(first), number(last)));
    }
    return names;
  }

  void draw_phase(const PhaseTraffic& traffic, int ranks_asked,
                  const std::vector<std::string>& names) {
    write(phase_title(plan_, traffic), {13, Anchor::start, "#222222", true});
    write(phase_text(traffic, blocks_, ranks_asked), {12, Anchor::start, grey});
    const bool is_local = std::ranges::none_of(traffic.bytes, [](auto bytes) { return bytes > 0; });
    y_ += 8;
    if (is_local) return;
    const auto place = detail::draw_matrix(svg_, traffic, blocks_, names, {margin, y_, inner(), 0});
    y_ += place.height + 12;
  }

  void draw_legend() {
    y_ += 4;
    write(
        std::string("bytes from the rank of a row to that of a column (k: 1000)") +
            (blocks_.are_single() ? "; grey: what a rank keeps" : "") +
            (is_on_one_mesh_ ? "; ranks are mesh ranks" : "; ranks are those of the communicator"),
        {12, Anchor::start, grey});
    y_ += 4;
    const detail::PieceGrid source(plan_.source());
    const detail::PieceGrid target(plan_.target());
    y_ +=
        detail::draw_hatch_legend(svg_, margin, y_, source.has_replicas() || target.has_replicas(),
                                  source.has_contributions() || target.has_contributions());
  }

  const RedistributePlan& plan_;
  const SvgOptions& options_;
  double width_;
  RankBlocks blocks_;
  bool is_on_one_mesh_;
  detail::Svg svg_;
  double y_ = margin;
};

}  // namespace

std::string plan_svg(const RedistributePlan& plan, const SvgOptions& options) {
  return detail::named("plan_svg", [&] { return PlanPicture(plan, options).draw(); });
}

}  // namespace tessera
