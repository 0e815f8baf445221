// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <system_error>

#include <sched.h>
#include <unistd.h>

#include "comm/environment.hpp"
#include "node/node_map.hpp"
#include "node/shared_memory.hpp"

namespace tessera::detail {
namespace {

/// An Identity is what a rank tells the other ranks about itself; it travels as bytes.
struct Identity {
  std::array<char, 64> boot_id{};
  std::array<char, 48> segment{};  ///< name of a shared-memory segment that holds the nonce; empty
                                   ///< if none could be made
  std::uint64_t nonce = 0;
  cpu_set_t cpus{};
};

std::uint64_t random_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

template <std::size_t n>
void copy_text(const std::string& text, std::array<char, n>& to) {
  text.copy(to.data(), n - 1);
}

std::string boot_id() {
  std::string text;
  if (std::ifstream file("/proc/sys/kernel/random/boot_id"); file >> text) return text;
  std::array<char, 64> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

/// Returns shared memory that holds `content`; without a name if it could not be made.
SharedMemory segment_with(std::uint64_t content) {
  auto segment = SharedMemory::make(sizeof content);
  if (segment.data() == nullptr || !segment.reserve(0, sizeof content)) return {};
  std::memcpy(segment.data(), &content, sizeof content);
  return segment;
}

bool shares_memory(const Identity& other) {
  if (other.segment[0] == '\0') return false;
  const auto segment = SharedMemory::open(other.segment.data(), sizeof other.nonce);
  return segment.data() != nullptr &&
         std::memcmp(segment.data(), &other.nonce, sizeof other.nonce) == 0;
}

/// Returns the CPUs of all threads of this process, because OpenMP may have pinned each thread to
/// one.
cpu_set_t usable_cpus() {
  cpu_set_t result{};
  cpu_set_t own{};
  if (sched_getaffinity(0, sizeof own, &own) == 0) result = own;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const auto name = thread.path().filename().string();
    pid_t id = 0;
    std::from_chars(name.data(), name.data() + name.size(), id);
    if (id > 0 && sched_getaffinity(id, sizeof own, &own) == 0) CPU_OR(&result, &result, &own);
  }
  return result;
}

Identity identify(std::uint64_t nonce, const SharedMemory& segment) {
  Identity result;
  copy_text(boot_id(), result.boot_id);
  copy_text(segment.name(), result.segment);
  result.nonce = nonce;
  result.cpus = usable_cpus();
  return result;
}

/// Returns the lowest rank that the caller shares memory with; its own if there is no lower one.
int node_leader(const std::vector<Identity>& all, int mine) {
  for (int rank = 0; rank < mine; ++rank) {
    const auto& other = all[static_cast<std::size_t>(rank)];
    if (other.boot_id == all[static_cast<std::size_t>(mine)].boot_id && shares_memory(other))
      return rank;
  }
  return mine;
}

struct RanksAndCores {
  int ranks = 0;
  int cores = 0;
};

/// Counts the ranks on the caller's machine, and the cores that at least one of them may use,
/// because a launcher may pin each rank to its own.
RanksAndCores count_ranks_and_cores(const std::vector<Identity>& all, const Identity& mine) {
  RanksAndCores result;
  cpu_set_t cpus{};
  for (const auto& other : all) {
    if (other.boot_id != mine.boot_id) continue;
    ++result.ranks;
    CPU_OR(&cpus, &cpus, &other.cpus);
  }
  result.cores =
      CPU_COUNT(&cpus) > 0 ? CPU_COUNT(&cpus) : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return result;
}

}  // namespace

SharedHardware probe_shared_hardware(const Group& group) {
  const auto nonce = random_number();
  const auto segment = segment_with(nonce);
  const auto mine = identify(nonce, segment);
  const auto all = all_gather_value(group, mine, TraceKind::metadata, setup_operation);
  const int leader = node_leader(all, group.position);
  // The segment may be freed once all ranks have looked for it: this all_gather is also the
  // barrier.
  const auto leaders = all_gather_value(group, leader, TraceKind::metadata, setup_operation);
  const auto [ranks, cores] = count_ranks_and_cores(all, mine);
  return {node_map_of(leaders), ranks, cores};
}

}  // namespace tessera::detail
