// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <limits>

#include <tessera/comm/detail/cores.hpp>

namespace tessera::detail {
namespace {

std::atomic<int> least_cores{std::numeric_limits<int>::max()};

}  // namespace

int cores_per_rank() {
  return least_cores;
}

int note_cores_per_rank(int cores) {
  return least_cores.exchange(std::min(least_cores.load(), cores));
}

int set_cores_per_rank(int cores) {
  return least_cores.exchange(cores);
}

}  // namespace tessera::detail
