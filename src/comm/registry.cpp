// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>

#include "agreement/live_controls.hpp"
#include "comm/registry.hpp"
#include "mpi/check.hpp"

namespace tessera::detail {
namespace {

using StatePointer = std::shared_ptr<CommunicatorState>;

struct Registry {
  std::mutex mutex;
  int keyval = MPI_KEYVAL_INVALID;
  std::vector<StatePointer> live;  // ordered by creation, which is the same on all ranks
};

// The registry is never destroyed, because a destructor of static storage may call MPI_Finalize.
Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

StatePointer take_newest() {
  auto& [mutex, keyval, live] = registry();
  const std::lock_guard lock(mutex);
  if (live.empty()) return nullptr;
  auto state = std::move(live.back());
  live.pop_back();
  remove_live(*state->control);
  return state;
}

void forget(const StatePointer& state) {
  auto& [mutex, keyval, live] = registry();
  const std::lock_guard lock(mutex);
  std::erase(live, state);
  remove_live(*state->control);
}

int user_communicator_freed(MPI_Comm, int, void* value, void*) {
  const std::unique_ptr<StatePointer> state(static_cast<StatePointer*>(value));
  forget(*state);
  release(**state);
  return MPI_SUCCESS;
}

int mpi_finalizing(MPI_Comm, int, void*, void*) {
  while (const auto state = take_newest()) release(*state);
  return MPI_Comm_free_keyval(&registry().keyval);
}

void call_at_finalize() {
  int keyval = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, mpi_finalizing, &keyval, nullptr),
            "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr), "MPI_Comm_set_attr");
  check_mpi(MPI_Comm_free_keyval(&keyval), "MPI_Comm_free_keyval");
}

int duplicate_keyval() {
  auto& [mutex, keyval, live] = registry();
  const std::lock_guard lock(mutex);
  if (keyval == MPI_KEYVAL_INVALID) {
    call_at_finalize();
    check_mpi(
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, user_communicator_freed, &keyval, nullptr),
        "MPI_Comm_create_keyval");
  }
  return keyval;
}

}  // namespace

StatePointer find_duplicate(MPI_Comm user) {
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(user, duplicate_keyval(), &value, &found), "MPI_Comm_get_attr");
  return found ? *static_cast<StatePointer*>(value) : nullptr;
}

void attach(MPI_Comm user, const StatePointer& state) {
  auto value = std::make_unique<StatePointer>(state);
  check_mpi(MPI_Comm_set_attr(user, duplicate_keyval(), value.get()), "MPI_Comm_set_attr");
  static_cast<void>(value.release());
  add_live(*state->control);
  const std::lock_guard lock(registry().mutex);
  registry().live.push_back(state);
}

void detach(MPI_Comm user) {
  check_mpi(MPI_Comm_delete_attr(user, duplicate_keyval()), "MPI_Comm_delete_attr");
}

void release(CommunicatorState& state) noexcept {
  // The state is emptied first: freeing a communicator may call user_communicator_freed for a
  // communicator made from it.
  if (state.control) state.control->close();
  state.node.reset();
  auto groups = std::exchange(state.groups, {});
  auto handle = std::exchange(state.handle, MPI_COMM_NULL);
  for (auto& [ranks, communicator] : groups) MPI_Comm_free(&communicator);
  if (handle != MPI_COMM_NULL) MPI_Comm_free(&handle);
  if (state.user_errhandler != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&state.user_errhandler);
}

}  // namespace tessera::detail
