// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/redistribute/detail/run.hpp>

namespace tessera::detail {

Run::Run(const Execution& execution, const RedistributePlan& plan, const std::vector<Step>& steps,
         const Group& group, const ArrayRef& source, const ArrayRef& destination, Scratch& scratch,
         const char* operation)
    : execution_(execution),
      plan_(plan),
      steps_(steps),
      group_(group),
      destination_(destination),
      scratch_(scratch),
      operation_(operation),
      current_(source) {
  const bool touches_host =
      source.space == MemorySpace::host || destination.space == MemorySpace::host;
  if (!execution_.is_given() || touches_host)
    execution_.fence("tessera::redistribute: before reading the source");
  scratch_.hand_over(execution_);
  prepare_destination(execution_, plan_, destination_);
  begin_phase();
}

bool Run::is_last_phase() const {
  return step_ + 1 == steps_.size() && phase_ + 1 == steps_[step_].phases.size();
}

void Run::begin_phase() {
  const auto& step = steps_[step_];
  const auto& phase = step.phases[phase_];
  if (phase_ == 0 && step.communicates)
    exchange_.emplace(group_.communicator, TraceKind::exchange, operation_, group_.size());
  next_ = is_last_phase() ? destination_ : intermediate_array(phase, destination_, scratch_);
  run_.emplace(plan_, step, phase, group_.position, current_, next_, scratch_);
  run_->pack(execution_);
  const auto rank_of = [&](const Message& message) {
    return group_.ranks[static_cast<std::size_t>(message.peer)];
  };
  if (exchange_) {
    execution_.fence("tessera::redistribute: packed, before MPI reads and writes");
    for (const auto& message : run_->incoming())
      exchange_->receive(message.data, message.bytes, rank_of(message));
    for (const auto& message : run_->outgoing())
      exchange_->send(message.data, message.bytes, rank_of(message));
  }
  run_->copy_own(execution_);
}

/// Once all messages of the phase have arrived.
void Run::end_phase() {
  run_->unpack(execution_);
  if (!is_last_phase()) execution_.fence("tessera::redistribute: before scratch is used again");
  current_ = next_;
  if (++phase_ == steps_[step_].phases.size()) {
    if (exchange_) exchange_->finish();
    exchange_.reset();
    phase_ = 0;
    ++step_;
  }
  if (is_complete())
    complete_destination(execution_, plan_, steps_, destination_);
  else
    begin_phase();
}

bool Run::test() {
  while (!is_complete()) {
    if (exchange_ && !exchange_->test()) return false;
    end_phase();
  }
  return true;
}

void Run::wait() {
  while (!is_complete()) {
    if (exchange_) exchange_->wait();
    end_phase();
  }
}

void Run::look(Watch& watch) {
  if (exchange_) exchange_->look(watch);
}

void Run::abandon() {
  if (exchange_) exchange_->abandon();
}

}  // namespace tessera::detail
