// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/local_map/detail/inputs.hpp>
#include <tessera/tensor/from_local.hpp>

namespace tessera::detail {

namespace {

bool is_inferred(const Output& output) {
  return output.placement->rule() == OutPlacement::Rule::placements &&
         std::ranges::any_of(output.placement->placements(),
                             [](const Placement& placement) { return placement.is_shard(); });
}

/// Throws where pieces of equal extents are not what the shardings give: under Cyclic it depends on
/// the extent, under HeadTail each piece consists of two equal chunks.
void require_even(const DTensorSpec& local) {
  for (std::size_t d = 0; d < local.shape().size(); ++d) {
    const auto& split = local.split(d);
    const auto rule = split.rule(0);
    require(rule != ShardingRule::cyclic, [&] {
      return fmt::format("expected even() of Shard, Balanced or HeadTail, got {}; use shaped()",
                         to_string(local.placements()));
    });
    require(rule != ShardingRule::head_tail || split.parts() == 1 || split.extent % 2 == 0, [&] {
      return fmt::format("expected an even extent of tensor dim {} for even({}), got {}", d,
                         to_string(local.placements()), split.extent);
    });
  }
}

DTensorSpec even_spec(const DeviceMesh& mesh, const Output& output) {
  const auto local = make_spec(mesh.layout(), output.placement->placements(), output.local_shape);
  require_even(local);
  Extents shape;
  for (std::size_t d = 0; d < output.local_shape.size(); ++d)
    shape.push_back(output.local_shape[d] * local.split(d).parts());
  return make_spec(mesh.layout(), output.placement->placements(), shape);
}

const DTensorSpec& input_spec(const std::vector<Leaf>& leaves, int input) {
  const auto i = static_cast<std::size_t>(input);
  require(0 <= input && i < leaves.size() && leaves[i].kind == LeafKind::dtensor, [&] {
    return fmt::format(
        "expected like_input of a flattened argument that is a DTensor, got argument {} "
        "of {}",
        input, leaves.size());
  });
  return leaves[i].spec;
}

DTensorSpec local_spec(const DeviceMesh& mesh, const Output& output,
                       const std::vector<Leaf>& leaves) {
  const auto& placement = *output.placement;
  switch (placement.rule()) {
    case OutPlacement::Rule::even:
      return even_spec(mesh, output);
    case OutPlacement::Rule::like_input:
      return input_spec(leaves, placement.input());
    case OutPlacement::Rule::shaped:
      return make_spec(mesh.layout(), placement.placements(), placement.shape());
    case OutPlacement::Rule::placements:
      break;
  }
  return make_spec(mesh.layout(), placement.placements(), output.local_shape);
}

/// Returns the specs of the outputs whose sizes the ranks must tell one another, in their order.
std::vector<DTensorSpec> inferred_specs(const DeviceMesh& mesh,
                                        const std::vector<Output>& outputs) {
  std::vector<Placements> placements;
  std::vector<Extents> shapes;
  for (const auto& output : outputs) {
    if (!is_inferred(output)) continue;
    const auto checked =
        make_spec(mesh.layout(), output.placement->placements(), output.local_shape);
    placements.push_back(checked.placements());
    shapes.push_back(output.local_shape);
  }
  if (placements.empty()) return {};
  return infer_specs(mesh, placements, shapes);
}

/// Returns whether the global shape follows from this rank's View alone.
bool takes_own_shape(const Output& output) {
  const auto rule = output.placement->rule();
  return rule == OutPlacement::Rule::even ||
         (rule == OutPlacement::Rule::placements && !is_inferred(output));
}

/// Describes the Views that func has returned, as far as their shapes are those of all ranks.
struct OwnShapes {
  const std::vector<Output>& outputs;

  std::string operator()() const {
    std::vector<std::string> shapes;
    for (const auto& output : outputs)
      if (takes_own_shape(output))
        shapes.push_back(fmt::format("{} as {}", tessera::to_string(output.local_shape),
                                     to_string(*output.placement)));
    return fmt::format("a func that returns a local View of shape {}", fmt::join(shapes, ", "));
  }

  std::uint64_t hash() const {
    std::uint64_t hash = 0;
    for (const auto& output : outputs)
      hash = takes_own_shape(output)
                 ? hash_range(hash_combine(hash, hash_of(*output.placement)), output.local_shape)
                 : hash_combine(hash, 0);
    return hash;
  }
};

/// Compares shapes that must be equal on all ranks. The ranks tell one another only shapes that are
/// new to them, see Operation::agree().
void agree_on_shapes(const DeviceMesh& mesh, const std::vector<Output>& outputs) {
  if (std::ranges::none_of(outputs, takes_own_shape)) return;
  collectively(mesh, "local_map", [&](Operation& operation) {
    const OwnShapes shapes{outputs};
    operation.agree(shapes.hash(), shapes);
  });
}

}  // namespace

std::string to_string(const OutPlacement& placement) {
  switch (placement.rule()) {
    case OutPlacement::Rule::even:
      return fmt::format("even({})", tessera::to_string(placement.placements()));
    case OutPlacement::Rule::like_input:
      return fmt::format("like_input({})", placement.input());
    case OutPlacement::Rule::shaped:
      return fmt::format("shaped({}, {})", tessera::to_string(placement.placements()),
                         tessera::to_string(placement.shape()));
    case OutPlacement::Rule::placements:
      break;
  }
  return tessera::to_string(placement.placements());
}

std::uint64_t hash_of(const OutPlacement& placement) {
  auto hash =
      hash_combine(placement.placements().hash(), static_cast<std::uint64_t>(placement.rule()) + 1);
  hash = hash_combine(hash, static_cast<std::uint64_t>(placement.input()));
  return hash_range(hash, placement.shape());
}

DTensorSpec absent_spec(const DeviceMesh& mesh, const Output& output,
                        const std::vector<Leaf>& leaves) {
  const auto rule = output.placement->rule();
  const bool is_known =
      rule == OutPlacement::Rule::like_input || rule == OutPlacement::Rule::shaped;
  auto spec = is_known
                  ? local_spec(mesh, output, leaves)
                  : make_spec(mesh.layout(), output.placement->placements(), output.static_extents);
  require_representable(spec, output.static_extents, output.type);
  return spec;
}

std::vector<DTensorSpec> output_specs(const DeviceMesh& mesh, const std::vector<Output>& outputs,
                                      const std::vector<Leaf>& leaves) {
  const auto inferred = inferred_specs(mesh, outputs);
  auto next_inferred = inferred.begin();
  std::vector<DTensorSpec> specs;
  for (const auto& output : outputs) {
    specs.push_back(is_inferred(output) ? *next_inferred++ : local_spec(mesh, output, leaves));
    require_representable(specs.back(), output.static_extents, output.type);
    require_local_shape(mesh, specs.back(), output.local_shape);
  }
  agree_on_shapes(mesh, outputs);
  return specs;
}

}  // namespace tessera::detail
