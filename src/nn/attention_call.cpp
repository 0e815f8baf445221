// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/error/error.hpp>

#include "nn/attention_call.hpp"

namespace tessera::detail {
namespace {

constexpr std::array<char, 3> attention_operand_names{'q', 'k', 'v'};

void require_mesh_of_attention(const AttentionOperands& operands) {
  for (const auto* mesh : operands.meshes) {
    require(!mesh->is_null(), "expected tensors, got an empty DTensor, which has no mesh");
    require<MeshMismatch>(*mesh == *operands.meshes[0], [&] {
      const auto [expected, got] = told_apart(*operands.meshes[0], *mesh);
      return fmt::format("expected q, k and v on one mesh, got {} and {}", expected, got);
    });
  }
}

void require_attention_shapes(const std::array<DTensorSpec, 3>& specs, bool causal) {
  const auto &q = specs[0].shape(), &k = specs[1].shape(), &v = specs[2].shape();
  const auto in_words = [&] {
    return fmt::format("{}, {} and {}", to_string(q), to_string(k), to_string(v));
  };
  const bool fits =
      q[0] == k[0] && q[0] == v[0] && q[1] == k[1] && q[1] == v[1] && k[2] == v[2] && q[3] == k[3];
  require(fits, [&] {
    return "expected q, k and v of shapes (B, H, S, D), (B, H, T, D) and (B, H, T, E), got " +
           in_words();
  });
  require(!causal || q[2] == k[2], [&] {
    return "expected as many queries as keys for causal attention, got shapes " + in_words();
  });
}

std::string placements_in_words(const std::array<DTensorSpec, 3>& specs) {
  return fmt::format("got q as {}, k as {}, v as {} on {}", to_string(specs[0].placements()),
                     to_string(specs[1].placements()), to_string(specs[2].placements()),
                     to_string(specs[0].layout()));
}

/// Throws for an operand that no placements of the others fit.
void require_possible_placements(const std::array<DTensorSpec, 3>& specs) {
  for (std::size_t i = 0; i < specs.size(); ++i)
    for (const auto& placement : specs[i].placements()) {
      require<PlacementMismatch>(!placement.is_partial(), [&] {
        return fmt::format("expected no Partial, {}; write reduce_partial({})",
                           placements_in_words(specs), attention_operand_names[i]);
      });
      require<PlacementMismatch>(!placement.is_shard(static_cast<int>(column_dim)), [&] {
        return fmt::format(
            "expected whole columns (dim 3), {}; redistribute {} so that batch (dim 0), heads (dim "
            "1) or sequence (dim 2) are split instead",
            placements_in_words(specs), attention_operand_names[i]);
      });
    }
}

/// Throws unless the operands have their dims split by the same mesh dims, but that those of the sequence of k and v
/// may be fewer, and unless they have the same parts.
void require_fitting_placements(const std::array<DTensorSpec, 3>& specs) {
  const auto &q = specs[0], &k = specs[1], &v = specs[2];
  const auto mismatch = [&](int mesh_dim, const char* expected) {
    return fmt::format(
        "expected {}, {}: they differ along mesh dim {}; redistribute k and v to the placements of "
        "q, or to Replicate where the sequence of q is split",
        expected, placements_in_words(specs), mesh_dim);
  };
  for (int m = 0; m < q.layout().ndim(); ++m) {
    const auto at = static_cast<std::size_t>(m);
    const int of_q = q.placements()[at].dim(), of_k = k.placements()[at].dim();
    require<PlacementMismatch>(of_k == v.placements()[at].dim(),
                               [&] { return mismatch(m, "k and v that are split alike"); });
    require<PlacementMismatch>(
        of_q == of_k || (of_q == static_cast<int>(sequence_dim) && of_k < 0), [&] {
          return mismatch(m,
                          "k and v that are split as q, or whole where the sequence of q is split");
        });
  }
  for (std::size_t d = 0; d < 3; ++d) {
    const bool fits =
        (d == sequence_dim || agree(q.split(d), k.split(d))) && agree(k.split(d), v.split(d));
    require<PlacementMismatch>(fits, [&] {
      return fmt::format(
          "expected {} whose dim {} is cut at the same places, got {}, {} and {}; redistribute {}",
          d == sequence_dim ? "k and v" : "q, k and v", d, to_string(q), to_string(k), to_string(v),
          d == sequence_dim ? "v to the placements of k" : "k and v to the placements of q");
    });
  }
}

/// Returns the spec with another placement along mesh dims for which `is_replaced` returns true.
template <class IsReplaced>
DTensorSpec with_replaced(const DTensorSpec& spec, Placement by, const IsReplaced& is_replaced) {
  std::vector<Placement> placements(spec.placements().begin(), spec.placements().end());
  for (std::size_t m = 0; m < placements.size(); ++m)
    if (is_replaced(m)) placements[m] = by;
  auto positions = spec.placements().split_positions();
  for (std::size_t m = 0; m < placements.size(); ++m)
    if (!placements[m].is_shard()) positions[m] = 0;
  return spec_with(spec, Placements(std::move(placements), std::move(positions)));
}

AttentionCall attention_call_of(const AttentionOperands& operands, const nn::Attention& options) {
  const auto &q = operands.specs[0], &k = operands.specs[1], &v = operands.specs[2];
  AttentionCall call{operands.specs, operands.type, operands.space, options, {}, {}, {}, {}, {}};
  auto shape = q.shape();
  shape[column_dim] = v.shape()[column_dim];
  call.result = make_spec(q.layout(), q.placements(), shape, q.boundaries());
  const auto splits_keys = [&](std::size_t m) {
    return k.placements()[m].is_shard(static_cast<int>(sequence_dim));
  };
  const auto splits_queries = [&](std::size_t m) {
    return q.placements()[m].is_shard(static_cast<int>(sequence_dim));
  };
  const auto splits_queries_only = [&](std::size_t m) {
    return splits_queries(m) && !splits_keys(m);
  };
  call.gradients = {q, with_replaced(k, Partial(), splits_queries_only),
                    with_replaced(v, Partial(), splits_queries_only)};
  call.has_blocks = k.split(sequence_dim).parts() > 1;
  const bool gathers = options.method == nn::AttentionMethod::all_gather;
  const auto is_gathered = [&](std::size_t m) { return gathers && splits_keys(m); };
  const auto is_contribution = [&](std::size_t m) {
    return splits_queries_only(m) || is_gathered(m);
  };
  call.seen = {with_replaced(k, Replicate(), is_gathered),
               with_replaced(v, Replicate(), is_gathered)};
  call.contributions = {with_replaced(k, Partial(), is_contribution),
                        with_replaced(v, Partial(), is_contribution)};
  return call;
}

}  // namespace

std::shared_ptr<const AttentionCall> prepare_attention(const AttentionOperands& operands,
                                                       const nn::Attention& options) {
  return named(attention_function.text, [&] {
    require_mesh_of_attention(operands);
    require_attention_shapes(operands.specs, options.causal);
    require_possible_placements(operands.specs);
    require_fitting_placements(operands.specs);
    return std::make_shared<const AttentionCall>(attention_call_of(operands, options));
  });
}

const DTensorSpec& result_of(const AttentionCall& call) {
  return call.result;
}
const std::array<DTensorSpec, 3>& gradients_of(const AttentionCall& call) {
  return call.gradients;
}

std::uint64_t AttentionCall::hash() const {
  auto result = hash_combine(
      static_cast<std::uint64_t>(type.kind),
      (options.causal ? 1U : 0U) + (is_ring() ? 2U : 0U) + (is_on_device(space) ? 4U : 0U));
  for (const auto& spec : operands) result = hash_combine(result, spec.hash());
  return result;
}

std::string AttentionCall::text() const {
  return fmt::format("{} of {} q {}, k {}, v {}{}{}{}", attention_function.text, to_string(type),
                     to_string(operands[0]), to_string(operands[1]), to_string(operands[2]),
                     options.causal ? ", causal" : "",
                     is_ring()       ? ", by a ring"
                     : is_gathered() ? ", by an all-gather"
                                     : "",
                     memory_space_note(is_on_device(space)));
}

AttentionSettings AttentionCall::settings(const std::function<void()>& between) const {
  const auto columns = operands[0].shape()[column_dim];
  const double scale = columns == 0 ? 1 : 1 / std::sqrt(static_cast<double>(columns));
  AttentionSettings result{attention_kernel_for(type, space), scale};
  result.between = between;
  if (between) result.parts = parts_of_key_block;
  return result;
}

VisibleKeys AttentionCall::visible(const DeviceMesh& mesh, const Sections& keys) const {
  const auto queries = operands[0].split(sequence_dim).sections(*mesh.coordinate());
  if (options.causal) return {queries, keys};
  return {queries.extent(), keys.extent()};
}

VisibleKeys AttentionCall::visible_of_all(const DeviceMesh& mesh) const {
  return visible(mesh, seen[0].split(sequence_dim).sections(*mesh.coordinate()));
}

}  // namespace tessera::detail
