// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// For the programs beside the pages: what a page claims is checked.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include <tessera/tessera.hpp>

namespace docs {

inline int wrong_claims = 0;

/// Counts a claim of the page that does not hold.
inline void check(bool holds, const std::string& claim, int line = __builtin_LINE()) {
  if (holds) return;
  ++wrong_claims;
  std::fprintf(stderr, "line %d: does not hold: %s\n", line, claim.c_str());
}

/// Exit status of the program.
inline int status() {
  return wrong_claims == 0 ? 0 : 1;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// What an E thrown by `call` says; "" where it throws none.
template <class E, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

/// Goes to a folder of this program on so many ranks, for the files that it writes.
inline void enter_folder(const std::string& name) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto folder = std::filesystem::path("files") / (name + ".np" + std::to_string(ranks));
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
}

/// A View on the host.
template <class V>
auto on_host(const V& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

}  // namespace docs
