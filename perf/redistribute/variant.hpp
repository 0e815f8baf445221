// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workspace.hpp"

namespace tessera::perf {

enum class Kind {
  bound,            ///< moves as many bytes, but within each rank; the result is not the tensor
  ours_into,        ///< redistributes into an existing tensor
  ours_allocating,  ///< frees the last result and makes a new tensor
  collective,       ///< hand-written around one of MPI's plain collectives
  direct,           ///< hand-written from point-to-point messages, or around yielding waits
  peer,             ///< another library
};

/// A Prepared is a variant that is ready to run on a workspace, any number of times.
struct Prepared {
  std::function<void()> run;
  /// Returns where the last run left this rank's piece; null before a variant that allocates has
  /// run.
  std::function<double*()> result;
};

/// A Variant is one way to redistribute. Which variants exist depends on the geometry alone, so
/// that benchmarks have names before memory is allocated.
struct Variant {
  std::string name;
  Kind kind;
  std::function<Prepared(Workspace&)> prepare;
};

/// Returns a variant that runs the function `make(workspace)`, which writes the workspace's target.
template <class Make>
Variant variant(std::string name, Kind kind, Make make) {
  return {std::move(name), kind, [make](Workspace& workspace) {
            return Prepared{make(workspace), [&workspace] { return workspace.target; }};
          }};
}

std::vector<Variant> bounds(const Geometry& geometry);
std::vector<Variant> ours(const Case& test_case);
/// Returns the hand-written variants from Shard to Shard.
std::vector<Variant> exchanges(const Geometry& geometry);
/// Returns the hand-written variants from Shard to Replicate.
std::vector<Variant> gathers(const Geometry& geometry);
/// Returns the hand-written variants from Replicate to Shard.
std::vector<Variant> slices(const Geometry& geometry);
/// Returns the hand-written variants from Partial to Shard.
std::vector<Variant> reduce_scatters(const Geometry& geometry);
/// Returns the hand-written variants from Partial to Replicate.
std::vector<Variant> all_reduces(const Geometry& geometry);
/// Returns the variants of another library; none if it was not found: see TESSERA_PERF_WITH_PEERS.
std::vector<Variant> costa_variants(const Case& test_case, const Geometry& geometry);
std::vector<Variant> scalapack_variants(const Case& test_case, const Geometry& geometry);
std::vector<Variant> heffte_variants(const Case& test_case, const Geometry& geometry);

/// Returns all variants that apply to the case.
std::vector<Variant> variants(const Case& test_case, const Geometry& geometry);

}  // namespace tessera::perf
