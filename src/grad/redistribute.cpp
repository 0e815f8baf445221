// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tessera/extents/hash.hpp>
#include <tessera/grad/redistribute.hpp>

namespace tessera::detail {

DTensorSpec gradient_spec_on(const DeviceMesh& source, const DeviceMesh& target,
                             const DTensorSpec& mine) {
  if (source == target) return mine;
  const Meshes meshes(source, target);
  auto* const calls = calls_of(meshes);
  if (calls == nullptr) return mine;
  return collectively(calls, "backward", [&](Operation& operation) {
    const auto arguments = hash_combine(source.layout().hash(), target.layout().hash());
    operation.agree(arguments, [&] {
      return fmt::format("backward of redistribute from mesh {} to {}", to_string(source),
                         to_string(target));
    });
    return source_spec(meshes, mine);
  });
}

}  // namespace tessera::detail
