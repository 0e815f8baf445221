// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include <unistd.h>

#include <tessera/comm/progress.hpp>

#include "comm/tuning.hpp"
#include "mpi/clock.hpp"
#include "mpi/world_rank.hpp"

namespace tessera {
namespace {

thread_local ProgressScope* innermost_progress = nullptr;

void draw_bar(const Progress& progress) {
  constexpr int width = 40;
  const int filled = static_cast<int>(progress.fraction * width);
  std::fprintf(stderr, "\r%s [%s%s] %3d %%%s", progress.operation, std::string(filled, '#').c_str(),
               std::string(width - filled, ' ').c_str(), static_cast<int>(progress.fraction * 100),
               progress.fraction < 1 ? "" : "\n");
  std::fflush(stderr);
}

/// Prints a line when another tenth is reached. The observer keeps `tenths`, the last one printed.
void print_line(const Progress& progress, int& tenths) {
  const int now = static_cast<int>(std::floor(progress.fraction * 10));
  if (now != tenths) std::fprintf(stderr, "%s: %d %%\n", progress.operation, 10 * now);
  tenths = progress.fraction < 1 ? now : 0;
}

}  // namespace

ProgressScope::ProgressScope(ProgressObserver observer, std::int64_t least_bytes)
    : listener_(std::make_shared<Listener>(Listener{std::move(observer), least_bytes})),
      outer_(std::exchange(innermost_progress, this)) {}

ProgressScope::~ProgressScope() {
  innermost_progress = outer_;
}

ProgressMeter::ProgressMeter(const char* operation, std::int64_t bytes)
    : progress_{operation, bytes, 0} {
  const auto* const scope = innermost_progress;
  if (scope != nullptr && bytes >= scope->listener_->least_bytes) listener_ = scope->listener_;
}

bool ProgressMeter::is_wanted() {
  return innermost_progress != nullptr;
}

void ProgressMeter::reach(std::int64_t bytes) {
  const auto listener = listener_.lock();
  const double now = detail::seconds();
  if (listener == nullptr || now < next_) return;
  next_ = now + detail::progress_interval_seconds;
  const auto fraction =
      static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(1, progress_.bytes));
  progress_.fraction = std::clamp(fraction, progress_.fraction, 1.0);
  listener->observer(progress_);
}

void ProgressMeter::finish() {
  const auto listener = std::exchange(listener_, {}).lock();
  if (listener == nullptr) return;
  progress_.fraction = 1;
  listener->observer(progress_);
}

ProgressObserver progress_bar() {
  if (detail::world_rank() != 0) return [](const Progress&) {};
  if (isatty(STDERR_FILENO) != 0) return draw_bar;
  return [tenths = 0](const Progress& progress) mutable { print_line(progress, tenths); };
}

}  // namespace tessera
