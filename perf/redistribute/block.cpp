// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <tessera/error/error.hpp>

#include "block.hpp"

namespace tessera::perf {

namespace {

void copy_elements(const double* from, double* to, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(double));
}

}  // namespace

Block block(double* data, const Box& array, const Box& part) {
  if (part.is_empty()) return {};
  Block result{data, 1, part.size(), part.size()};
  bool is_restricted = false;
  std::int64_t inner = 1;
  for (auto d = part.shape.size(); d-- > 0; inner *= array.shape[d]) {
    if (part.shape[d] == array.shape[d]) continue;
    require(!is_restricted, "block: expected a box that is restricted along one dim");
    is_restricted = true;
    result.length = part.shape[d] * inner;
    result.rows = part.size() / result.length;
    result.stride = array.shape[d] * inner;
    result.data += (part.offset[d] - array.offset[d]) * inner;
  }
  return result;
}

void pack(const Block& from, Interval range, double* to) {
  for_each_run(from, range, [&](const double* run, std::int64_t position, std::int64_t length) {
    copy_elements(run, to + position - range.begin, length);
  });
}

void pack(const Block& from, double* to) {
  for (std::int64_t row = 0; row < from.rows; ++row)
    copy_elements(from.data + row * from.stride, to + row * from.length, from.length);
}

void unpack(const double* from, const Block& to) {
  for (std::int64_t row = 0; row < to.rows; ++row)
    copy_elements(from + row * to.length, to.data + row * to.stride, to.length);
}

// The length of one block's runs is a multiple of the other's, because the runs of both end where a
// tensor dim ends.
void copy(const Block& from, const Block& to) {
  if (from.size() == 0 || from.data == to.data) return;
  const auto run = std::min(from.length, to.length);
  const auto runs_from = from.length / run;
  const auto runs_to = to.length / run;
  for (std::int64_t row = 0; row < std::min(from.rows, to.rows); ++row)
    for (std::int64_t i = 0; i < std::max(runs_from, runs_to); ++i) {
      const auto* source = runs_to == 1 ? from.data + row * from.stride + i * run
                                        : from.data + (row * runs_to + i) * from.stride;
      auto* target = runs_to == 1 ? to.data + (row * runs_from + i) * to.stride
                                  : to.data + row * to.stride + i * run;
      copy_elements(source, target, run);
    }
}

}  // namespace tessera::perf
