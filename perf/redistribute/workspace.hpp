// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <variant>

#include "case.hpp"

namespace tessera::perf {

/// A Buffer is memory in huge pages that grows on demand and is kept.
class Buffer {
 public:
  /// Returns memory for at least `count` elements, not initialised. If the buffer has to grow, what
  /// it held is lost.
  double* at_least(std::int64_t count);

 private:
  struct Free {
    void operator()(double* data) const { std::free(data); }
  };

  std::unique_ptr<double, Free> data_;
  std::int64_t size_ = 0;
};

template <class View>
struct Tensors {
  DTensor<View> source;
  DTensor<View> target;
};

using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Cube = Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// Holds the memory of a case on this rank. All variants read one source, most write one target,
/// and the hand-written variants share their buffers. All memory is in huge pages, because
/// otherwise chance decides which memory has small pages, and the kernel copies from small pages at
/// a third of the speed.
struct Workspace {
  Buffer source_memory;
  Buffer target_memory;
  std::variant<Tensors<Matrix>, Tensors<Cube>> tensors;
  double* source = nullptr;
  double* target = nullptr;
  Buffer outgoing = {};
  Buffer incoming = {};
};

Workspace make_workspace(const Case& test_case, const DeviceMesh& mesh);

}  // namespace tessera::perf
