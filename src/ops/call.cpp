// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>
#include <unordered_map>

#include <fmt/format.h>

#include <tessera/comm/detail/keep_for_messages.hpp>
#include <tessera/error/log.hpp>
#include <tessera/mpi/trace.hpp>
#include <tessera/ops/detail/call.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/owned_array.hpp>
#include <tessera/tensor/detail/saved_memory.hpp>

#include "mpi/clock.hpp"
#include "ops/choose.hpp"
#include "ops/prepared_call.hpp"
#include "ops/registry.hpp"
#include "ops/tuning.hpp"

namespace tessera::detail {
namespace {

constexpr const char* module = "ops";

/// Largest number of operands that a call has: map_into() has the result and four others.
constexpr std::size_t most_operands = 8;

/// Holds the prepared calls of one mesh by hash. All are forgotten when rules are registered.
struct PreparedCalls {
  std::unordered_multimap<std::uint64_t, std::shared_ptr<const PreparedCall>> calls;
  std::shared_ptr<const PreparedCall> last;
  std::uint64_t generation = 0;
};

std::uint64_t hash_of(const CallRequest& request, Redistribution allowed) {
  auto hash = hash_combine(reinterpret_cast<std::uintptr_t>(&request.op), request.type);
  hash = hash_combine(hash, static_cast<std::uint64_t>(allowed));
  hash = hash_combine(hash, request.keeps_dims ? 1 : 0);
  for (const auto dim : request.dims) hash = hash_combine(hash, static_cast<std::uint64_t>(dim));
  for (const auto& operand : request.operands) {
    const auto& number = operand.number;
    hash = hash_combine(hash, operand.array.type);
    hash = hash_combine(hash, operand.spec != nullptr ? operand.spec->hash()
                                                      : std::uint64_t{number.is_finite} +
                                                            2 * std::uint64_t{number.is_zero} +
                                                            4 * std::uint64_t{number.is_negative});
  }
  return hash;
}

bool is_same(const OperatorOperand& kept, const OperandRef& operand) {
  if (kept.type != operand.array.type || kept.spec.has_value() != (operand.spec != nullptr))
    return false;
  return kept.spec ? *kept.spec == *operand.spec : *kept.number == operand.number;
}

bool is_same(const PreparedCall& kept, const CallRequest& request, Redistribution allowed) {
  return kept.op == &request.op && kept.allowed == allowed && kept.call.type == request.type &&
         kept.dims == request.dims && kept.keeps_dims == request.keeps_dims &&
         std::ranges::equal(kept.call.operands, request.operands,
                            [](const auto& a, const auto& b) { return is_same(a, b); }) &&
         std::ranges::equal(kept.attributes, request.attributes);
}

/// Returns placements as they are written in a program: "{Shard(0), Replicate()}".
std::string code_of(const Placement& placement) {
  if (placement.is_replicate()) return "Replicate()";
  if (placement.is_partial())
    return placement.op() == ReduceOp::sum
               ? "Partial()"
               : fmt::format("Partial(ReduceOp::{})", to_string(placement.op()));
  switch (placement.rule()) {
    case ShardingRule::balanced:
      return fmt::format("Balanced({})", placement.dim());
    case ShardingRule::cyclic:
      return fmt::format("Cyclic({}, {})", placement.dim(), placement.block());
    case ShardingRule::head_tail:
      return fmt::format("HeadTail({})", placement.dim());
    default:
      return fmt::format("Shard({})", placement.dim());
  }
}

std::string name_of(std::size_t tensor) {
  return std::string(1, "xyzuvw"[std::min<std::size_t>(tensor, 5)]);
}

/// Returns the target as it is written in a program: by another operand's spec where that says it.
std::string code_of(const OperatorCall& call, const DTensorSpec& target) {
  const auto positions = target.placements().split_positions();
  const bool is_plain =
      std::ranges::all_of(target.boundaries(), [](const auto& cuts) { return cuts.empty(); }) &&
      Placements(std::vector<Placement>(target.placements().begin(), target.placements().end())) ==
          target.placements();
  std::size_t tensor = 0;
  for (const auto& operand : call.operands) {
    if (!operand.spec) continue;
    if (!is_plain && *operand.spec == target) return name_of(tensor) + ".spec()";
    ++tensor;
  }
  std::string text;
  for (const auto& placement : target.placements())
    text += (text.empty() ? "" : ", ") + code_of(placement);
  return is_plain ? "{" + text + "}"
                  : fmt::format("{{{{{}}}, {{{}}}}}", text, fmt::join(positions, ", "));
}

std::string bytes_in_words(std::int64_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{:.3g} MiB", static_cast<double>(bytes) / (1 << 20));
  if (bytes >= 1 << 10) return fmt::format("{:.3g} KiB", static_cast<double>(bytes) / (1 << 10));
  return fmt::format("{} B", bytes);
}

/// Says which operands have which placements, and what to write so that the call is permitted.
std::string mismatch_in_words(const OperatorCall& call, const std::vector<OperatorRule>& rules,
                              Redistribution allowed) {
  std::string text;
  std::size_t tensor = 0;
  std::string mesh;
  for (const auto& operand : call.operands) {
    if (!operand.spec) continue;
    text += fmt::format("{}{} is {}", text.empty() ? "" : ", ", name_of(tensor++),
                        to_string(operand.spec->placements()));
    mesh = to_string(operand.spec->layout());
  }
  text += " on " + mesh;
  const auto wanted = choose(call, rules, Redistribution::any);
  if (!wanted) return text + "; no rule fits these placements";
  const bool has_moves = wanted->is_implicit();
  std::string lines;
  tensor = 0;
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    if (!call.operands[k].spec) continue;
    const auto name = name_of(tensor++);
    const bool is_left =
        allowed == Redistribution::local && has_moves && wanted->moves[k] != OperandMove::moves;
    if (wanted->moves[k] == OperandMove::none || is_left) continue;
    lines += fmt::format("{}redistribute({}, {})", lines.empty() ? "" : " and ", name,
                         code_of(call, *wanted->inputs[k]));
  }
  const auto* scope = allowed == Redistribution::none && !wanted->is_implicit() ? "local" : "any";
  return fmt::format(
      "{}; write {} ({} received per rank), or allow it by "
      "RedistributionScope(Redistribution::{})",
      text, lines, bytes_in_words(wanted->bytes), scope);
}

OperatorCall call_of(const CallRequest& request) {
  OperatorCall call;
  call.name = request.op.name;
  call.type = request.type;
  for (const auto& operand : request.operands) {
    OperatorOperand kept;
    kept.type = operand.array.type;
    if (operand.spec != nullptr)
      kept.spec = *operand.spec;
    else
      kept.number = operand.number;
    call.operands.push_back(std::move(kept));
  }
  if (request.op.is_reduction) {
    call.attributes.push_back({"dims", std::vector<std::int64_t>(request.dims)});
    call.attributes.push_back({"keep_dims", std::vector<std::int64_t>{request.keeps_dims ? 1 : 0}});
  } else {
    call.attributes.assign(request.attributes.begin(), request.attributes.end());
  }
  call.shape = request.op.shape(call);
  return call;
}

/// Returns the part of an operand's piece that a slice takes; none where it is no box of it.
std::optional<Box> box_within(const DeviceMesh& mesh, const DTensorSpec& source,
                              const DTensorSpec& target) {
  if (!source.has_boxes() || !target.has_boxes() || target.placements().has_partial()) return {};
  const auto outer = local_box(mesh, source);
  auto inner = local_box(mesh, target);
  for (std::size_t d = 0; d < inner.offset.size(); ++d) {
    if (inner.shape[d] == 0) inner.offset[d] = outer.offset[d];
    inner.offset[d] -= outer.offset[d];
  }
  return inner;
}

PreparedOperand prepare_operand(const DeviceMesh& mesh, const OperatorOperand& operand,
                                const std::optional<DTensorSpec>& target, OperandMove move) {
  if (!operand.spec || move == OperandMove::none || !mesh.coordinate()) return {};
  if (move == OperandMove::slices)
    if (const auto box = box_within(mesh, *operand.spec, *target)) return {.part = box};
  return {.target = target};
}

bool counts_numbers_here(const DeviceMesh& mesh, const DTensorSpec& output) {
  if (!mesh.coordinate()) return true;
  for (std::size_t m = 0; m < output.placements().size(); ++m)
    if (output.placements()[m].is_partial(ReduceOp::sum) && (*mesh.coordinate())[m] != 0)
      return false;
  return true;
}

/// Throws InvalidArgument unless local pieces of the operands give a local piece of the result, on all
/// ranks. Only rules that users register may be wrong.
void require_true_shapes(const OperatorInfo& op, const OperatorCall& call, const Choice& choice) {
  const auto& layout = choice.output.layout();
  for (int rank = 0; rank < layout.size(); ++rank) {
    auto local = call;
    for (std::size_t k = 0; k < local.operands.size(); ++k)
      if (choice.inputs[k])
        local.operands[k].spec =
            make_spec(MeshLayout(), Placements(), choice.inputs[k]->local_shape(rank));
    const auto expected = choice.output.local_shape(rank);
    const auto lie = [&](const std::string& got) {
      std::string rules;
      for (const auto& rule : choice.rules) rules += (rules.empty() ? "" : "; ") + to_string(rule);
      return fmt::format(
          "expected rules of operator \"{}\" under which local pieces give a piece of {} of the "
          "result "
          "on mesh rank {}, got {} (rules {})",
          call.name, to_string(expected), rank, got, rules);
    };
    std::optional<Extents> got;
    try {
      got = op.shape(local);
    } catch (const InvalidArgument&) {
      throw InvalidArgument(lie("pieces whose shapes do not fit each other"));
    }
    require(*got == expected, [&] { return lie(to_string(*got)); });
  }
}

std::uint64_t hash_of(const OperatorAttribute& attribute) {
  const auto of_value = [&]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, double>)
      return hash_combine(attribute.value.index(), std::bit_cast<std::uint64_t>(value));
    else if constexpr (std::is_same_v<T, std::int64_t>)
      return hash_combine(attribute.value.index(), static_cast<std::uint64_t>(value));
    else
      return hash_range(attribute.value.index(), value);
  };
  return hash_range(std::visit(of_value, attribute.value), attribute.name);
}

std::uint64_t agreed_hash(const PreparedCall& prepared) {
  auto hash = hash_combine(prepared.call.shape.size(), prepared.call.type);
  for (const auto& operand : prepared.call.operands)
    hash = hash_combine(hash, operand.spec ? operand.spec->hash() : 0);
  for (const auto& input : prepared.choice.inputs)
    hash = hash_combine(hash, input ? input->hash() : 0);
  for (const auto dim : prepared.dims) hash = hash_combine(hash, static_cast<std::uint64_t>(dim));
  for (const auto& attribute : prepared.attributes) hash = hash_combine(hash, hash_of(attribute));
  hash = hash_combine(hash, prepared.keeps_dims ? 1 : 0);
  hash = hash_combine(hash, prepared.choice.output.hash());
  return hash;
}

/// Prepares a call for this rank.
std::shared_ptr<const PreparedCall> make_prepared(const DeviceMesh& mesh,
                                                  const CallRequest& request,
                                                  Redistribution allowed) {
  auto result = choose_for(request, allowed);
  const auto& choice = result->choice;
  result->box = local_box(mesh, choice.output);
  if (mesh.coordinate())
    for (const auto& sections : choice.output.sections(*mesh.coordinate()).sections)
      result->maps.emplace_back(sections);
  result->counts_numbers = counts_numbers_here(mesh, choice.output);
  for (std::size_t k = 0; k < request.operands.size(); ++k) {
    result->operands.push_back(
        prepare_operand(mesh, result->call.operands[k], choice.inputs[k], choice.moves[k]));
    result->copies |= result->operands.back().target.has_value();
  }
  if (request.op.own.on_whole_mesh != nullptr && choice.own_exchanges > 0)
    result->summa = std::make_shared<Summa>(*choice.inputs[0], *choice.inputs[1],
                                            result->call.operands[0].type);
  result->hash = agreed_hash(*result);
  log(LogLevel::debug, module, [&] { return explain(*result); });
  if (choice.is_implicit())
    log(LogLevel::info, module, [&] { return "implicit: " + explain(*result); });
  return result;
}

/// Holds operands that have moved, and their memory.
class MovedOperands {
 public:
  MovedOperands(const CallRequest& request, const PreparedCall& call) {
    for (std::size_t k = 0; k < request.operands.size(); ++k) {
      const auto& array = request.operands[k].array;
      const auto& part = call.operands[k].part;
      arrays_.push_back(part ? array.part(part->offset, part->shape) : array);
    }
  }

  /// Moves what has to move, all in one exchange.
  void move(const Execution& execution, const DeviceMesh& mesh, const CallRequest& request,
            const PreparedCall& call, const OwnerRef& owner) {
    std::vector<Redistributor> redistributors;
    std::vector<Pieces> pieces;
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
      if (!call.operands[k].target) continue;
      const auto& target = *call.operands[k].target;
      const auto source = arrays_[k];
      redistributors.push_back(
          cached_redistributor(mesh, *request.operands[k].spec, target, source.type, {}));
      memory_->push_back(
          allocate_array(source.type, local_extents(mesh, target), source.space, request.op.label));
      arrays_[k] = memory_->back().array;
      pieces.push_back({source, arrays_[k]});
    }
    keeping(
        mesh.communicator(),
        [&] { run_together(execution, redistributors, pieces, request.op.label); },
        [&] {
          return std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(owner(),
                                                                                           memory_);
        });
  }

  std::span<const ArrayRef> arrays() const { return arrays_; }

 private:
  std::vector<ArrayRef> arrays_;
  std::shared_ptr<std::vector<OwnedArray>> memory_ = std::make_shared<std::vector<OwnedArray>>();
};

/// Lists the operands' arrays where nothing moves, without allocation.
class OperandArrays {
 public:
  explicit OperandArrays(const CallRequest& request) : size_(request.operands.size()) {
    for (std::size_t k = 0; k < size_; ++k) arrays_[k] = request.operands[k].array;
  }
  std::span<const ArrayRef> arrays() const { return {arrays_.data(), size_}; }

 private:
  std::array<ArrayRef, most_operands> arrays_;
  std::size_t size_;
};

/// Returns the instance on which work is ordered that needs no other rank, without a fence.
Execution ordered(const Execution& execution, MemorySpace space) {
  if (execution.is_given()) return execution;
  if (is_on_device(space)) return Execution(Kokkos::DefaultExecutionSpace());
  return Execution(Kokkos::DefaultHostExecutionSpace());
}

/// Throws InvalidArgument if the call changes its first operand, and a tape keeps that.
void require_writable_result(const CallRequest& request, const ArrayRef& result) {
  if (result.data != request.operands.front().array.data) return;
  named(request.op.function.text, [&] { require_writable(result); });
}

void run_moving(const Execution& execution, const DeviceMesh& mesh, const PreparedCall& call,
                const CallRequest& request, const ArrayRef& result, const KernelRef& kernel,
                const OwnerRef& owner) {
  MovedOperands moved(request, call);
  if (!call.copies && call.choice.exchanges == 0 && !call.communicates) {
    if (!mesh.coordinate()) return;
    require_writable_result(request, result);
    kernel(moved.arrays(), result);
    return;
  }
  const bool has_exchange = call.choice.exchanges > 0 || call.communicates;
  const auto on = has_exchange ? execution : ordered(execution, result.space);
  collectively(mesh, request.op.function, [&](Operation& operation) {
    require_writable_result(request, result);
    if (has_exchange) operation.agree(call.hash, [&] { return to_string(call.call); });
    if (!mesh.coordinate()) return;
    if (call.copies) moved.move(on, mesh, request, call, owner);
    keeping(
        mesh.communicator(), [&] { kernel(moved.arrays(), result); }, owner);
    if (has_exchange) finish(on, request.op.label);
  });
}

void emit_record(const PreparedCall& call, const CallRequest& request, double start) {
  const auto text = explain(call);
  TraceEvent event{TraceKind::operation, request.op.label, common_mesh(request).size(), 0, 0, 0, 0,
                   seconds() - start};
  event.start = start;
  event.description = text.c_str();
  event.is_implicit = call.choice.is_implicit();
  event.is_trivial = !call.moves && !call.communicates;
  emit(event);
}

}  // namespace

std::string explain(const PreparedCall& prepared) {
  const auto& choice = prepared.choice;
  std::string text = to_string(prepared.call) + " -> " + to_string(prepared.call.type) + " " +
                     to_string(choice.output);
  std::string moves;
  for (std::size_t k = 0; k < choice.moves.size(); ++k) {
    if (choice.moves[k] == OperandMove::none) continue;
    const auto* verb = choice.moves[k] == OperandMove::slices    ? "slices"
                       : choice.moves[k] == OperandMove::reduces ? "reduces"
                                                                 : "redistributes";
    moves += fmt::format("{} {} operand {} to {}", moves.empty() ? ";" : ",", verb, k,
                         to_string(choice.inputs[k]->placements()));
  }
  if (choice.exchanges > 0) moves += fmt::format("; at most {} B received per rank", choice.bytes);
  if (choice.own_exchanges > 0)
    moves +=
        fmt::format("; the operator itself: {} exchange{}, about {} B received per rank",
                    choice.own_exchanges, choice.own_exchanges == 1 ? "" : "s", choice.own_bytes);
  return text + moves;
}

std::shared_ptr<PreparedCall> choose_for(const CallRequest& request, Redistribution allowed) {
  return named(request.op.function.text, [&] {
    auto result = std::make_shared<PreparedCall>();
    result->op = &request.op;
    result->allowed = allowed;
    result->dims = request.dims;
    result->keeps_dims = request.keeps_dims;
    result->attributes.assign(request.attributes.begin(), request.attributes.end());
    result->call = call_of(request);
    bool is_registered = false;
    const auto rules = rules_of(request.op, result->call, is_registered);
    auto own = request.op.own;
    if (is_registered) own.on_whole_mesh = nullptr;  // the program's rules count
    auto choice = choose(result->call, rules, allowed, own);
    require<PlacementMismatch>(choice.has_value(), [&] {
      return "expected placements that fit: " + mismatch_in_words(result->call, rules, allowed);
    });
    if (is_registered) require_true_shapes(request.op, result->call, *choice);
    result->choice = std::move(*choice);
    result->moves = result->choice.moves_at_all();
    result->communicates = result->choice.own_exchanges > 0;
    return result;
  });
}

const DeviceMesh& common_mesh(const CallRequest& request) {
  const DeviceMesh* first = nullptr;
  for (const auto& operand : request.operands) {
    if (operand.is_number()) continue;
    if (first == nullptr) first = operand.mesh;
    if (operand.mesh->is_null())
      throw InvalidArgument(std::string(request.op.function.text) +
                            ": expected tensors, got an empty DTensor, which has no mesh");
    if (!(*operand.mesh == *first)) {
      const auto [expected, got] = told_apart(*first, *operand.mesh);
      throw MeshMismatch(fmt::format("{}: expected operands on one mesh, got {} and {}",
                                     request.op.function.text, expected, got));
    }
  }
  return *first;
}

std::shared_ptr<const PreparedCall> prepare(const DeviceMesh& mesh, const CallRequest& request) {
  const auto allowed = current_redistribution();
  auto& kept = MeshAccess::attachment<PreparedCalls>(mesh);
  const auto generation = registry_generation();
  if (kept.generation != generation) kept = {.calls = {}, .last = {}, .generation = generation};
  if (kept.last && is_same(*kept.last, request, allowed)) return kept.last;
  const auto hash = hash_of(request, allowed);
  const auto [begin, end] = kept.calls.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry)
    if (is_same(*entry->second, request, allowed)) return kept.last = entry->second;
  auto made = make_prepared(mesh, request, allowed);
  if (kept.calls.size() >= most_prepared_calls) kept.calls.clear();
  kept.calls.emplace(hash, made);
  return kept.last = made;
}

const DTensorSpec& output_of(const PreparedCall& call) {
  return call.choice.output;
}
const DTensorSpec& input_of(const PreparedCall& call, std::size_t k) {
  return *call.choice.inputs[k];
}
bool moves(const PreparedCall& call, std::size_t k) {
  return call.choice.moves[k] != OperandMove::none;
}
const Box& local_box_of(const PreparedCall& call) {
  return call.box;
}
IndexMap index_map_of(const PreparedCall& call, std::size_t tensor_dim) {
  return call.maps[tensor_dim];
}

bool counts_numbers(const PreparedCall& call) {
  return call.counts_numbers;
}

void throw_wrong_local_shape(const PreparedCall& call, const Extents& got) {
  throw InvalidArgument(
      fmt::format("{}: expected a local result of shape {} by the rules for {}, got {}",
                  call.call.name, to_string(call.box.shape), to_string(call.call), to_string(got)));
}

void require_in_place(const PreparedCall& call, const CallRequest& request) {
  const auto& mine = *request.operands.front().spec;
  const bool fits = call.choice.moves.front() == OperandMove::none &&
                    hold_alike(call.choice.output, mine) &&
                    call.choice.output.shape() == mine.shape();
  if (fits) return;
  const std::string_view name = request.op.function.text;
  const auto line =
      name.starts_with("operator")
          ? fmt::format("x = x {} y", name.substr(std::string_view("operator").size()))
          : fmt::format("redistribute(x, {})", code_of(call.call, call.choice.output));
  throw PlacementMismatch(
      fmt::format("{}: expected a result with the placements of the tensor that is changed, {}, "
                  "got {}; write {}, "
                  "which makes a tensor with the placements of the result",
                  name, to_string(mine), to_string(call.choice.output), line));
}

void run(const Execution& execution, const PreparedCall& call, const CallRequest& request,
         const ArrayRef& result, const KernelRef& kernel, const OwnerRef& owner) {
  const auto& mesh = common_mesh(request);
  const double start = is_traced() ? seconds() : 0;
  if (call.moves || call.communicates) {
    run_moving(execution, mesh, call, request, result, kernel, owner);
  } else if (mesh.coordinate()) {
    require_writable_result(request, result);
    kernel(OperandArrays(request).arrays(), result);
  }
  if (is_traced()) emit_record(call, request, start);
}

void record(const PreparedCall& call, const CallRequest& request) {
  if (is_traced()) emit_record(call, request, seconds());
}

std::shared_ptr<void> kept_together(std::span<const std::shared_ptr<void>> owners) {
  return std::make_shared<std::vector<std::shared_ptr<void>>>(owners.begin(), owners.end());
}

}  // namespace tessera::detail
