// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tessera/redistribute/convert.hpp>
#include <tessera/redistribute/detail/redistribution.hpp>

#include "kernels/pack.hpp"

namespace tessera::detail {

bool changes_at_last(const DTensorSpec& source, const DTensorSpec& target, const Change& change) {
  return !change.is_none() &&
         (source.placements().has_partial() || target.placements().has_partial());
}

ElementType type_on_the_way(const DTensorSpec& source, const DTensorSpec& target,
                            const Change& change) {
  const bool is_first =
      changes_at_last(source, target, change) || change.source.size < change.destination.size;
  return is_first ? change.source : change.destination;
}

std::optional<OwnedArray> room_for_change(const DTensorSpec& source, const DTensorSpec& target,
                                          const Change& change, const ArrayRef& destination) {
  if (!changes_at_last(source, target, change)) return {};
  return allocate_array(change.source, destination.extents, destination.space,
                        "tessera::redistribute");
}

void change_arrived(const Execution& execution, const ArrayRef& arrived, const ArrayRef& to,
                    const Scaling& scaling, const char* label) {
  copy(execution, {arrived, to, Stores::cached, scaling});
  finish(execution, label);
}

void require_scalable(const DTensorSpec& target, ElementType type, const Scaling& scaling) {
  if (scaling.is_copy()) return;
  require(scaling.alpha.fits(type.kind) && scaling.beta.fits(type.kind), [&] {
    return fmt::format(
        "expected factors for elements of {}: integers for integers, real numbers for real ones; "
        "got {}",
        to_string(type), to_string(scaling));
  });
  for (const auto& placement : target.placements())
    require(!placement.is_partial() || placement.op() == ReduceOp::sum ||
                placement.op() == ReduceOp::avg,
            [&] {
              return fmt::format("expected no factors for a destination that is {}",
                                 to_string(target.placements()));
            });
}

void require_convertible(const DTensorSpec& spec, ElementType from, ElementType to) {
  if (from == to) return;
  const auto has_fractions = [](ElementKind kind) { return is_floating(kind) || is_complex(kind); };
  for (const auto& placement : spec.placements()) {
    if (!placement.is_partial()) continue;
    const auto op = placement.op();
    const bool is_order = op == ReduceOp::max || op == ReduceOp::min;
    const bool is_linear = op == ReduceOp::sum || op == ReduceOp::avg;
    const bool is_kept = is_order ? !is_complex(to.kind) && to.kind != ElementKind::boolean
                                  : is_linear && has_fractions(from.kind) && has_fractions(to.kind);
    require(is_kept, [&] {
      return fmt::format(
          "expected a tensor that is reduced before it is converted from {} to {}, got {}; call "
          "reduce_partial() first",
          to_string(from), to_string(to), to_string(spec));
    });
  }
}

}  // namespace tessera::detail
