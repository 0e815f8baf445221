// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <tessera/tensor/execution.hpp>

namespace tessera {

void Execution::fence(const char* reason) const {
  if (!is_given_) return Kokkos::fence(reason);
  instance<MemorySpace::device>().fence(reason);
  if constexpr (detail::has_device)
    if (host_) host_->fence(reason);
}

namespace detail {

std::string label_of(std::string_view function) {
  constexpr std::string_view prefix = "tessera::";
  return (function.starts_with(prefix) ? "" : std::string(prefix)) + std::string(function);
}

void finish(const Execution& execution, const char* label) {
  if (!execution.is_given())
    Kokkos::fence(label_of(label));
  else if (!execution.has_device_instance())
    execution.instance<MemorySpace::device>().fence(label_of(label));
}

}  // namespace detail
}  // namespace tessera
