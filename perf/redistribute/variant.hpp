// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workspace.hpp"

namespace tessera::perf {

enum class Kind {
  bound,            ///< moves as many bytes inside of each rank; its result is not the tensor
  ours_into,        ///< into an existing tensor
  ours_allocating,  ///< makes a new tensor and frees the last one
  collective,       ///< hand-written around one of MPI's plain collectives
  direct,           ///< hand-written from point-to-point messages, or around yielding waits
  peer,             ///< another library
};

/// A variant that is ready to run on a workspace, again and again.
struct Prepared {
  std::function<void()> run;
  /// Where the last run left this rank's piece; null before an allocating one ran.
  std::function<double*()> result;
};

/// One way to redistribute. Which there are depends on the geometry alone, so that benchmarks have
/// names before there is memory.
struct Variant {
  std::string name;
  Kind kind;
  std::function<Prepared(Workspace&)> prepare;
};

/// `make(workspace)` gives a function that writes the workspace's target.
template <class Make>
Variant variant(std::string name, Kind kind, Make make) {
  return {std::move(name), kind, [make](Workspace& workspace) {
            return Prepared{make(workspace), [&workspace] { return workspace.target; }};
          }};
}

std::vector<Variant> bounds(const Geometry& geometry);
std::vector<Variant> ours(const Case& test_case);
/// Shard to Shard.
std::vector<Variant> exchanges(const Geometry& geometry);
/// Shard to Replicate.
std::vector<Variant> gathers(const Geometry& geometry);
/// Replicate to Shard.
std::vector<Variant> slices(const Geometry& geometry);
/// Partial to Shard.
std::vector<Variant> reduce_scatters(const Geometry& geometry);
/// Partial to Replicate.
std::vector<Variant> all_reduces(const Geometry& geometry);
/// Other libraries, where they were found: see TESSERA_PERF_WITH_PEERS.
std::vector<Variant> costa_variants(const Case& test_case, const Geometry& geometry);
std::vector<Variant> heffte_variants(const Case& test_case, const Geometry& geometry);

/// All that applies to the case.
std::vector<Variant> variants(const Case& test_case, const Geometry& geometry);

}  // namespace tessera::perf
