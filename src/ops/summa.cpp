// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include <tessera/comm/detail/keep_for_messages.hpp>
#include <tessera/tensor/detail/launch.hpp>

#include "engine/run.hpp"
#include "ops/product.hpp"
#include "ops/summa.hpp"
#include "ops/tuning.hpp"
#include "plan/needs.hpp"
#include "redistribute/executor.hpp"

namespace tessera::detail {
namespace {

/// Returns whether nothing is split along a mesh dim.
bool is_whole(const DTensorSpec& spec, std::size_t mesh_dim) {
  return spec.layout().shape()[mesh_dim] == 1 || spec.placements()[mesh_dim].is_replicate();
}

/// Returns whether, along two mesh dims, a matrix has its rows split along p and its columns along q,
/// and nothing else is split.
bool is_grid(const DTensorSpec& spec, std::size_t p, std::size_t q) {
  const auto& placements = spec.placements();
  if (!placements[p].is_shard(0) || !placements[q].is_shard(1)) return false;
  for (std::size_t m = 0; m < placements.size(); ++m)
    if (m != p && m != q && !is_whole(spec, m)) return false;
  return true;
}

DTensorSpec result_spec(const OperatorCall& call, std::size_t p, std::size_t q) {
  const auto &a = *call.operands[0].spec, &b = *call.operands[1].spec;
  std::vector<Placement> placements(a.placements().size(), Replicate());
  placements[p] = a.placements()[p];
  placements[q] = b.placements()[q];
  Boundaries boundaries(2);
  if (!a.boundaries().empty()) boundaries[0] = a.boundaries()[0];
  if (!b.boundaries().empty()) boundaries[1] = b.boundaries()[1];
  if (boundaries[0].empty() && boundaries[1].empty()) boundaries.clear();
  return make_spec(a.layout(), Placements(placements), call.shape, boundaries);
}

/// Returns the bytes that the busiest rank receives.
std::int64_t bytes_received(const OperatorCall& call) {
  const auto &a = *call.operands[0].spec, &b = *call.operands[1].spec;
  std::int64_t most = 0;
  for (int rank = 0; rank < a.layout().size(); ++rank) {
    const auto mine_a = a.local_shape(rank), mine_b = b.local_shape(rank);
    most = std::max(
        most, mine_a[0] * (a.shape()[1] - mine_a[1]) + mine_b[1] * (b.shape()[0] - mine_b[0]));
  }
  return most * call.operands[0].type.size;
}

std::int64_t panels_of(std::int64_t extent) {
  return (extent + panel_width - 1) / panel_width;
}

/// Adds boxes that have `mine` along tensor dim `dim` and the interval `panel` along the other one.
Needs needs_of_panel(const Sections& mine, int dim, Interval panel) {
  Needs needs;
  std::int64_t position = 0;
  for (const auto& section : mine)
    for (std::int64_t i = 0; i < section.count; ++i) {
      const auto run = section.interval(i);
      Need need{{Extents::filled(2, panel.begin), Extents::filled(2, panel.size())},
                Extents::filled(2, 0)};
      const auto d = static_cast<std::size_t>(dim);
      need.box.offset[d] = run.begin;
      need.box.shape[d] = run.size();
      need.position[d] = position;
      position += run.size();
      needs.push_back(need);
    }
  return needs;
}

/// Returns how this rank gets its part of a panel: the panel's columns of its rows (dim 0), or the panel's
/// rows of its columns (dim 1).
std::unique_ptr<Executor> panel_executor(const DeviceMesh& mesh, const DTensorSpec& spec,
                                         ElementType type, const PlanSettings& settings, int dim,
                                         Interval panel) {
  std::vector<Needs> needs;
  for (int rank = 0; rank < spec.layout().size(); ++rank) {
    const auto piece = spec.sections(spec.layout().coordinate(rank));
    needs.push_back(needs_of_panel(piece.sections[static_cast<std::size_t>(dim)], dim, panel));
  }
  auto plan = plan_to_needs(spec, needs, mesh.rank(), type, settings);
  return std::make_unique<Executor>(plan.movement, std::vector{std::move(plan.step)}, mesh.group(),
                                    nullptr);
}

}  // namespace

std::optional<Choice> summa_choice(const OperatorCall& call) {
  const auto &a = *call.operands[0].spec, &b = *call.operands[1].spec;
  if (a.tensor_dims() != 2 || b.tensor_dims() != 2) return {};
  const auto mesh_dims = a.placements().size();
  for (std::size_t p = 0; p < mesh_dims; ++p)
    for (std::size_t q = 0; q < mesh_dims; ++q) {
      if (p == q || !is_grid(a, p, q) || !is_grid(b, p, q)) continue;
      Choice choice;
      choice.output = result_spec(call, p, q);
      choice.inputs = {a, b};
      choice.moves = {OperandMove::none, OperandMove::none};
      choice.own_bytes = bytes_received(call);
      // Where nothing travels, ranks have all that they multiply.
      if (choice.own_bytes > 0) choice.own_exchanges = static_cast<int>(panels_of(a.shape()[1]));
      return choice;
    }
  return {};
}

namespace {

/// Holds two panels in turn, and what messages read and write.
struct Memory {
  Scratch scratch;
  std::array<std::array<ScratchBuffer, 2>, 2> buffers;
};

/// Holds the memory of all products on a mesh, which take it one after another.
struct KeptMemory {
  std::shared_ptr<Memory> memory;
};
std::shared_ptr<Memory>& kept_memory(const DeviceMesh& mesh) {
  return MeshAccess::attachment<KeptMemory>(mesh).memory;
}
Memory& memory_of(const DeviceMesh& mesh) {
  auto& memory = kept_memory(mesh);
  if (!memory) memory = std::make_shared<Memory>();
  return *memory;
}

}  // namespace

/// Holds the plans of all panels for this rank.
class Summa::Panels {
 public:
  Panels(const DeviceMesh& mesh, const DTensorSpec& a, const DTensorSpec& b, ElementType type,
         const PlanSettings& settings)
      : type_(type), group_(mesh.group()) {
    const auto extent = a.shape()[1], count = panels_of(extent);
    for (std::int64_t i = 0; i < count; ++i) {
      const Interval panel{i * extent / count, (i + 1) * extent / count};
      panels_.push_back({panel.size(), panel_executor(mesh, a, type, settings, 0, panel),
                         panel_executor(mesh, b, type, settings, 1, panel)});
    }
  }

  void run(const Execution& execution, const DeviceMesh& mesh, const ArrayRef& a, const ArrayRef& b,
           const ArrayRef& result) {
    keeping(
        group_.communicator, [&] { add_panels(execution, mesh, memory_of(mesh), a, b, result); },
        [&] { return std::exchange(kept_memory(mesh), {}); });
  }

 private:
  struct Panel {
    std::int64_t width;
    std::unique_ptr<Executor> a, b;
  };
  /// Holds a panel that is under way, or has arrived.
  struct UnderWayPanel {
    ArrayRef a, b;
    std::vector<BoundPlan> plans;
    Run run;

    UnderWayPanel(const Execution& execution, const ArrayRef& to_a, const ArrayRef& to_b,
                  std::vector<BoundPlan> both, const Group& group, Scratch& scratch)
        : a(to_a),
          b(to_b),
          plans(std::move(both)),
          run(execution, plans, group, scratch, "tessera::matmul") {}
  };

  void add_panels(const Execution& execution, const DeviceMesh& mesh, Memory& memory,
                  const ArrayRef& a, const ArrayRef& b, const ArrayRef& result) {
    auto next = start(execution, memory, 0, a, b, result);
    next->run.wait();
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const auto panel = std::exchange(next, nullptr);
      // Two panels have memory of their own in turn.
      if (i + 1 < panels_.size()) next = start(execution, memory, i + 1, a, b, result);
      multiply_panel(execution, mesh, *panel, i > 0, result, next.get());
      if (next) next->run.wait();
    }
  }

  std::unique_ptr<UnderWayPanel> start(const Execution& execution, Memory& memory, std::size_t i,
                                       const ArrayRef& a, const ArrayRef& b,
                                       const ArrayRef& result) {
    const auto& panel = panels_[i];
    auto& buffers = memory.buffers[i % 2];
    const auto array = [&](ScratchBuffer& buffer, const Extents& shape) {
      return row_major(buffer.reserve(product(shape) * type_.size, result.space), type_, shape,
                       result.space);
    };
    const auto to_a = array(buffers[0], {result.extents[0], panel.width});
    const auto to_b = array(buffers[1], {panel.width, result.extents[1]});
    return std::make_unique<UnderWayPanel>(
        execution, to_a, to_b, std::vector{panel.a->bound(a, to_a), panel.b->bound(b, to_b)},
        group_, memory.scratch);
  }

  /// Adds the product of a panel, part by part: between them the next panel goes on.
  void multiply_panel(const Execution& execution, const DeviceMesh& mesh,
                      const UnderWayPanel& panel, bool adds, const ArrayRef& result,
                      UnderWayPanel* next) {
    const auto rows = result.extents[0], parts = next == nullptr ? 1 : parts_of_panel;
    for (std::int64_t part = 0; part < parts; ++part) {
      const auto begin = part * rows / parts, count = (part + 1) * rows / parts - begin;
      multiply(execution, &mesh, panel.a.part({begin, 0}, {count, panel.a.extents[1]}), panel.b,
               adds, result.part({begin, 0}, {count, result.extents[1]}));
      if (next != nullptr) next->run.test();
    }
  }

  ElementType type_;
  Group group_;
  std::vector<Panel> panels_;
};

Summa::Summa(DTensorSpec a, DTensorSpec b, ElementType type)
    : a_(std::move(a)), b_(std::move(b)), type_(type) {}
Summa::~Summa() = default;

Summa::Panels& Summa::panels(const DeviceMesh& mesh, MemorySpace space) {
  auto& panels = panels_[is_on_device(space) ? 1 : 0];
  if (!panels) {
    PlanSettings settings;
    settings.on_device = is_on_device(space);
    panels = std::make_unique<Panels>(mesh, a_, b_, type_, settings);
  }
  return *panels;
}

void Summa::run(const Execution& execution, const DeviceMesh& mesh, const ArrayRef& a,
                const ArrayRef& b, const ArrayRef& result) {
  panels(mesh, result.space).run(execution, mesh, a, b, result);
}

}  // namespace tessera::detail
