// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <tessera/comm/exchange.hpp>
#include <tessera/redistribute/detail/execute.hpp>

namespace tessera::detail {

/// One execution of a plan on this rank of the mesh `group`: packs, exchanges by MPI, unpacks; phase
/// by phase, so that it can rest while messages travel.
///
/// Refers to all its arguments. Scratch is in use until the end.
class Run {
 public:
  /// Begins: fences, packs, and posts the first messages. Collective over the group.
  Run(const Execution& execution, const RedistributePlan& plan, const std::vector<Step>& steps,
      const Group& group, const ArrayRef& source, const ArrayRef& destination, Scratch& scratch,
      const char* operation);

  /// Goes on as far as it can without waiting. Whether all is done.
  bool test();
  /// Goes on to the end.
  void wait();
  /// Between two tests, see Watch::look.
  void look(Watch& watch);
  /// Nothing is received any more.
  void abandon();

 private:
  bool is_complete() const { return step_ == steps_.size(); }
  bool is_last_phase() const;
  void begin_phase();
  void end_phase();

  const Execution& execution_;
  const RedistributePlan& plan_;
  const std::vector<Step>& steps_;
  const Group& group_;
  const ArrayRef& destination_;
  Scratch& scratch_;
  const char* operation_;
  ArrayRef current_;
  ArrayRef next_;
  std::size_t step_ = 0;
  std::size_t phase_ = 0;
  std::optional<Exchange> exchange_;
  std::optional<PhaseRun> run_;
};

}  // namespace tessera::detail
