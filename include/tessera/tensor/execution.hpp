// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/tensor/memory_space.hpp>

namespace tessera {

/// An Execution says where kernels run and what fences wait for: the caller's execution space
/// instance, or everything. Functions that take one accept any execution space instance of Kokkos.
class Execution {
 public:
  /// Uses the default instances; fences are global.
  Execution() = default;

  /// Uses the caller's instance. Fences wait for it, and for a default instance if that does the
  /// work because the caller's instance cannot reach the memory. An instance of another space than
  /// the two defaults is fenced here, and a default instance does the work.
  template <class Space>
  requires Kokkos::is_execution_space_v<Space> Execution(const Space& instance) : is_given_(true) {
    if constexpr (std::is_same_v<Space, Kokkos::DefaultExecutionSpace>) device_ = instance;
    if constexpr (std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace>) host_ = instance;
    if constexpr (!std::is_same_v<Space, Kokkos::DefaultExecutionSpace> &&
                  !std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace>)
      instance.fence("tessera: before work on a default execution space");
  }

  /// Returns whether the caller gave an instance.
  bool is_given() const { return is_given_; }
  /// Returns whether the caller's instance is one of Kokkos::DefaultExecutionSpace.
  bool has_device_instance() const { return device_.has_value(); }

  /// Returns the instance that works on memory of `Space`.
  template <MemorySpace Space>
  auto instance() const {
    if constexpr (Space == MemorySpace::host)
      return host_ ? *host_ : Kokkos::DefaultHostExecutionSpace();
    else
      return device_ ? *device_ : Kokkos::DefaultExecutionSpace();
  }

  friend bool operator==(const Execution&, const Execution&) = default;

  /// Waits until the work given so far is done: on the instance, or globally. `reason` is the label
  /// of the fence for the tools of Kokkos.
  void fence(const char* reason) const;

 private:
  bool is_given_ = false;
  std::optional<Kokkos::DefaultHostExecutionSpace> host_;
  std::optional<Kokkos::DefaultExecutionSpace> device_;
};

namespace detail {
/// Returns the label for the tools of Kokkos: "tessera::clone" for "clone" and for
/// "tessera::clone".
std::string label_of(std::string_view function);

/// Ends a public call. Without an instance of the caller's it waits for all work. With one it
/// leaves the work ordered on that instance, and waits only for work on the default instance of
/// Kokkos::DefaultExecutionSpace if the caller's is of another space.
void finish(const Execution& execution, const char* label);

}  // namespace detail

}  // namespace tessera
