// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include <tessera/tensor/execution.hpp>
#include <tessera/tensor/label_scope.hpp>

namespace tessera {

namespace {
thread_local std::vector<std::string> labels;
}

LabelScope::LabelScope(std::string label) {
  labels.push_back(std::move(label));
}
LabelScope::~LabelScope() {
  labels.pop_back();
}

std::string detail::label_of_result(const char* function) {
  return labels.empty() ? label_of(function) : labels.back();
}

}  // namespace tessera
