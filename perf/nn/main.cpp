// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures modules: a training step beside the same written by hand, and attention.
#include <vector>

#include <tessera/tessera.hpp>

#include "../in_turns.hpp"
#include "attention.hpp"
#include "train.hpp"

int main(int argc, char** argv) {
  using namespace tessera;
  const ScopeGuard guard(argc, argv);
  std::vector<char*> arguments(argv, argv + argc);
  const bool is_brief = perf::take_brief(arguments);
  perf::add_train(is_brief);
  perf::add_attention(is_brief);
  return perf::run_benchmarks(static_cast<int>(arguments.size()), arguments.data(),
                              perf::world().rank());
}
