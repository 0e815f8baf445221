// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/comm/communicator.hpp>
#include <tessera/error/error.hpp>
#include <tessera/error/log.hpp>
#include <tessera/mpi/detail/runtime.hpp>
#include <tessera/mpi/detail/tags.hpp>

#include "comm/duplicate.hpp"
#include "comm/environment.hpp"
#include "comm/registry.hpp"
#include "comm/tuning.hpp"
#include "mpi/check.hpp"
#include "mpi/message_limit.hpp"
#include "mpi/world_rank.hpp"

namespace tessera {
namespace {

using detail::check_mpi;

struct ProcessGroup {
  MPI_Group handle = MPI_GROUP_NULL;
  ProcessGroup() = default;
  explicit ProcessGroup(MPI_Comm comm) {
    check_mpi(MPI_Comm_group(comm, &handle), "MPI_Comm_group");
  }
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  ~ProcessGroup() {
    if (handle != MPI_GROUP_NULL) MPI_Group_free(&handle);
  }
};

/// Returns the rank in MPI_COMM_WORLD of each rank; a process that is not in it gets a number of
/// its own below 0.
std::vector<int> processes_of(const Communicator::State& state) {
  static int strangers = 0;
  const ProcessGroup all(state.handle), world(MPI_COMM_WORLD);
  std::vector<int> result(state.all_ranks.size());
  check_mpi(MPI_Group_translate_ranks(all.handle, state.size, state.all_ranks.data(), world.handle,
                                      result.data()),
            "MPI_Group_translate_ranks");
  for (auto& process : result)
    if (process == MPI_UNDEFINED) process = -1 - ++strangers;
  return result;
}

void check_user_communicator(MPI_Comm user) {
  require<MpiError>(comm::is_usable(), "expected MPI to be initialised and not finalised");
  require(user != MPI_COMM_NULL, "expected an intra-communicator, got MPI_COMM_NULL");
  int is_inter = 0;
  check_mpi(MPI_Comm_test_inter(user, &is_inter), "MPI_Comm_test_inter");
  require(!is_inter, "expected an intra-communicator, got an inter-communicator");
}

void fill_in(MPI_Comm user, Communicator::State& state) {
  check_mpi(MPI_Comm_set_errhandler(state.handle, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_get_errhandler(user, &state.user_errhandler), "MPI_Comm_get_errhandler");
  check_mpi(MPI_Comm_rank(state.handle, &state.rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(state.handle, &state.size), "MPI_Comm_size");
  state.all_ranks.resize(static_cast<std::size_t>(state.size));
  std::iota(state.all_ranks.begin(), state.all_ranks.end(), 0);
  state.control = std::make_unique<detail::Control>(state.handle, state.rank, processes_of(state));
  state.control->options.timeout = detail::own_time_limit();
  state.message_limit = detail::default_message_limit();
  state.io_limit = detail::default_io_limit;
}

MPI_Comm make_group(const Communicator::State& state, const std::vector<int>& ranks) {
  const ProcessGroup all(state.handle);
  ProcessGroup part;
  check_mpi(MPI_Group_incl(all.handle, static_cast<int>(ranks.size()), ranks.data(), &part.handle),
            "MPI_Group_incl");
  MPI_Comm result = MPI_COMM_NULL;
  check_mpi(MPI_Comm_create_group(state.handle, part.handle, detail::group_tag, &result),
            "MPI_Comm_create_group");
  check_mpi(MPI_Comm_set_errhandler(result, state.user_errhandler), "MPI_Comm_set_errhandler");
  return result;
}

}  // namespace

Communicator Communicator::duplicate_of(MPI_Comm user) {
  check_user_communicator(user);
  if (auto state = detail::find_duplicate(user)) return Communicator(std::move(state));
  detail::set_log_rank(detail::world_rank());
  const auto state = std::make_shared<State>();
  state->handle = detail::duplicate_within(user, detail::own_time_limit());
  try {
    fill_in(user, *state);
    detail::read_agreement_options(Communicator(state));
    detail::detect_staging(Communicator(state));
    detail::attach(user, state);
  } catch (...) {
    detail::release(*state);
    throw;
  }
  return Communicator(state);
}

Communicator::State& Communicator::state() const {
  require(!is_null(), "Communicator: expected one made by duplicate_of, got a null one");
  require<MpiError>(!is_freed(),
                    "Communicator: the library's duplicate was freed, with the communicator that "
                    "it was made from or at MPI_Finalize");
  return *state_;
}

bool Communicator::is_freed() const {
  return state_ != nullptr && state_->handle == MPI_COMM_NULL;
}

int Communicator::rank() const {
  return state().rank;
}

int Communicator::size() const {
  return state().size;
}

bool Communicator::is_oversubscribed() const {
  return state().control->is_oversubscribed;
}

MPI_Comm Communicator::handle() const {
  return state().handle;
}

bool Communicator::has_group(std::span<const int> ranks) const {
  return state().groups.contains({ranks.begin(), ranks.end()});
}

MPI_Comm Communicator::group(std::span<const int> ranks) const {
  auto& groups = state().groups;
  const std::vector<int> key(ranks.begin(), ranks.end());
  if (const auto found = groups.find(key); found != groups.end()) return found->second;
  require(std::ranges::find(key, rank()) != key.end(), [&] {
    return fmt::format("Communicator::group: expected a list with the calling rank {}, got {}",
                       rank(), key);
  });
  return groups.emplace(key, make_group(state(), key)).first->second;
}

}  // namespace tessera
