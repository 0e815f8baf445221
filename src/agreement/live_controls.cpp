// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include "agreement/control.hpp"
#include "agreement/live_controls.hpp"

namespace tessera::detail {
namespace {

struct Live {
  std::mutex mutex;
  std::vector<Control*> controls;
};

// Never destroyed: MPI_Finalize may be called by a destructor of static storage.
Live& live() {
  static auto& instance = *new Live;
  return instance;
}

}  // namespace

void add_live(Control& control) {
  auto& [mutex, controls] = live();
  const std::lock_guard lock(mutex);
  controls.push_back(&control);
}

void remove_live(const Control& control) {
  auto& [mutex, controls] = live();
  const std::lock_guard lock(mutex);
  std::erase(controls, &control);
}

std::vector<Control*> live_controls() {
  auto& [mutex, controls] = live();
  const std::lock_guard lock(mutex);
  return controls;
}

void advance_all() {
  for (auto* control : live_controls()) control->advance_detached();
}

}  // namespace tessera::detail
