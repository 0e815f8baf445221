// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include <tessera/debug/detail/regions.hpp>
#include <tessera/mpi/trace.hpp>
#include <tessera/sharding/spec.hpp>

namespace tessera {

class DeviceMesh;

/// A CommRecord is one communication, or one call of an operator, that CommDebugMode has seen, as
/// this rank took part in it. An operator moves no bytes itself: its communications are records of
/// their own.
struct CommRecord {
  TraceKind kind;
  std::string operation;            ///< "redistribute", "all_reduce", "add", …
  std::string call;                 ///< describes its call, or the operator itself; "" if none
  std::string mesh;                 ///< mesh of that call: "(dp=2, tp=4)"
  std::vector<std::string> region;  ///< Kokkos regions and named local_maps, outermost first
  int group_size = 0;               ///< ranks that take part
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::int64_t bytes_packed = 0;  ///< sent bytes that were copied to a buffer or window first
  std::int64_t messages_sent = 0;
  std::int64_t messages_received = 0;
  double start = 0;       ///< seconds since the mode began
  double seconds = 0;     ///< duration from start to completion
  std::string transport;  ///< "window", "messages", "window and messages", "none"

  bool is_implicit = false;  ///< whether an operator moved an operand that its caller did not move
  bool is_trivial = false;   ///< whether an operator moved no operand and communicated nothing
};

/// Counts what this thread communicates while the mode lives, by region, and lists the operators
/// that it calls. It is PyTorch's CommDebugMode, with bytes and times. Modes nest: each sees all
/// that happens while it lives. What modules of tessera::nn communicate is in regions of their names,
/// within "forward", and within "backward" for the backward pass.
///
/// Example:
///   CommDebugMode mode;
///   auto columns = redistribute(x, {Shard(1)});
///   mode.get_total_counts();                 // 1
///   std::cout << mode.table(1);              // what moved, in which region
/// All members are local, except write_chrome_trace.
class CommDebugMode {
 public:
  /// Begins to record the communication of this thread.
  CommDebugMode();
  CommDebugMode(const CommDebugMode&) = delete;
  CommDebugMode& operator=(const CommDebugMode&) = delete;

  /// Returns the number of communications that moved tensor data: steps of plans and functional
  /// collectives. Operators do not count; what they communicate does.
  std::int64_t get_total_counts() const;
  /// Returns the number of records of each kind: "redistribute", "collective" (functional),
  /// "agreement", "metadata", "io", "operator".
  std::map<std::string, std::int64_t> get_comm_counts() const;
  /// Returns the calls that moved data and the calls of operators, with their specs, in the order
  /// of completion, by region ("solver/gemm"; "" outside of regions). A call of an operator that
  /// moved an operand implicitly ends in " (implicit)".
  std::map<std::string, std::vector<std::string>> get_sharding_info() const;
  /// Returns a copy of the specs, and so shapes and placements, of the parameters and buffers of all modules
  /// whose forward pass the mode has seen begin. The key joins the names of the running modules, outermost
  /// first, and that of the parameter by dots: "Mlp.fc1.weight". Of two with one key it has the last.
  std::map<std::string, DTensorSpec> get_parameter_info() const;
  /// Returns all communications and calls of operators that the mode has seen, in the order of
  /// completion: an operator follows its communications.
  const std::vector<CommRecord>& records() const { return records_; }

  /// Returns a tree of regions. The noise levels are those of PyTorch; each adds to the one below.
  /// Level 0 shows how many data movements each region has, by transport. Level 1 adds bytes, time,
  /// the operators that are not trivial, with equal calls on one line, and the parameters and
  /// buffers of modules in their regions. Level 2 adds agreement, metadata and io, and the region of
  /// each operator on its line. Level 3 adds trivial operators, and shows every communication and
  /// operator with its call.
  ///
  /// An operator is trivial if it moved no operand and communicated nothing. The numbers beside
  /// regions do not count operators. Errors: InvalidArgument for another level.
  std::string table(int noise_level = 0) const;
  /// Writes table(noise_level) to a stream and flushes it. Errors: InvalidArgument.
  void write_table(std::ostream& out, int noise_level = 0) const;
  /// Writes table(noise_level) to a file, whose previous content is lost.
  /// Errors: InvalidArgument; IoError if the file cannot be written.
  void write_table(const std::filesystem::path& file, int noise_level = 0) const;

  /// Returns all records and the counts as JSON.
  std::string json() const;
  /// Writes json() to a file, whose previous content is lost. Errors: IoError if it cannot be
  /// written.
  void write_json(const std::filesystem::path& file) const;

  /// Writes what all ranks of `mesh` have recorded to one file for chrome://tracing and Perfetto:
  /// one row per rank, with operators and regions around communications. Times are those of each
  /// node's clock.
  ///
  /// Collective over the mesh; mesh rank 0 writes the file. Errors: IoError on every rank.
  void write_chrome_trace(const DeviceMesh& mesh, const std::filesystem::path& file) const;

 private:
  /// A parameter or buffer of a module whose forward pass has begun.
  struct SeenParameter {
    std::string name;                 ///< "Mlp.fc1.weight"
    std::vector<std::string> region;  ///< region of the forward pass
    DTensorSpec spec;
  };

  void add(const TraceEvent& event);
  void add_parameter(const TraceEvent& event);

  double begin_;        // detail::seconds()
  double begin_epoch_;  // seconds since 1970 at the same time
  detail::RegionWatch regions_;
  std::vector<CommRecord> records_;
  std::vector<SeenParameter> parameters_;  // last seen last
  TraceScope scope_;
};

}  // namespace tessera
