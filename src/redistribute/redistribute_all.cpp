// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tessera/redistribute/redistribute_all.hpp>

namespace tessera::detail {

std::string RedistributeAllCall::operator()() const {
  auto text = fmt::format("redistribute_all of {} tensors", calls.size());
  for (const auto& call : calls) text += "; " + call();
  return text;
}

}  // namespace tessera::detail
