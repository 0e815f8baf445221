// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/engine/detail/recycler.hpp>
#include <tessera/ops/detail/operand.hpp>
#include <tessera/ops/redistribution_scope.hpp>
#include <tessera/ops/rule.hpp>
#include <tessera/redistribute/detail/plan_cache.hpp>
#include <tessera/tensor/detail/index_map.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera::detail {

struct Choice;

/// Says what an operator exchanges besides moving its operands.
struct OwnAlgorithm {
  /// Number of exchanges that it makes if a dim of the call is split, each of one number for each line along
  /// these dims. 0: the result is Partial instead, or there are no such dims.
  int exchanges = 0;
  /// Returns placements for which there is an algorithm for the whole mesh, if the operands have them.
  std::optional<Choice> (*on_whole_mesh)(const OperatorCall&) = nullptr;
};

/// Holds what is equal in all calls of an operator. Its address tells operators apart.
struct OperatorInfo {
  FunctionName function;  ///< name in errors: "operator+"
  const char* name;       ///< name for rules: "add"
  const char* label;      ///< name in the tools of Kokkos
  /// Returns the global shape of the result. Errors: InvalidArgument.
  Extents (*shape)(const OperatorCall&);
  /// Lists the rules, unless others are registered.
  std::vector<OperatorRule> (*rules)(const OperatorCall&);
  bool is_built_in = true;
  bool is_reduction = false;  ///< whether calls have dims
  OwnAlgorithm own = {};
};

/// Holds a call whose placements are not chosen yet.
struct CallRequest {
  const OperatorInfo& op;
  std::span<const OperandRef> operands;
  ElementType type;   ///< that of the result
  Extents dims = {};  ///< dims of a reduction
  bool keeps_dims = false;
  std::span<const OperatorAttribute> attributes = {};
};

/// Holds the chosen placements of a call, and what they mean on this rank.
struct PreparedCall;

/// Returns the mesh of all tensors. Errors: MeshMismatch; InvalidArgument for a tensor without a mesh.
const DeviceMesh& common_mesh(const CallRequest& request);

/// Chooses placements, or finds those of an equal call. Local; all ranks get the same. Errors:
/// PlacementMismatch where operands would have to move and must not; InvalidArgument.
std::shared_ptr<const PreparedCall> prepare(const DeviceMesh& mesh, const CallRequest& request);

const DTensorSpec& output_of(const PreparedCall& call);
/// Returns the spec that operand `k`, a tensor, is to have.
const DTensorSpec& input_of(const PreparedCall& call, std::size_t k);
/// Returns whether operand `k` moves, or is sliced.
bool moves(const PreparedCall& call, std::size_t k);
const Box& local_box_of(const PreparedCall& call);
/// Returns the global indices of this rank's piece of the result, along one dim.
IndexMap index_map_of(const PreparedCall& call, std::size_t tensor_dim);
/// Throws PlacementMismatch unless the result of the call has the ownership of operand 0, and that does
/// not move.
void require_in_place(const PreparedCall& call, const CallRequest& request);
/// Returns whether the numbers of a call count on this rank. Where a result is P(sum), they are added
/// on one coordinate only.
bool counts_numbers(const PreparedCall& call);

/// Refers to a kernel: a callable that takes the arrays of the operands and that of the result.
class KernelRef {
 public:
  template <class Kernel>
  KernelRef(const Kernel& kernel)
      : object_(&kernel),
        call_([](const void* object, std::span<const ArrayRef> operands, const ArrayRef& result) {
          (*static_cast<const Kernel*>(object))(operands, result);
        }) {}

  void operator()(std::span<const ArrayRef> operands, const ArrayRef& result) const {
    call_(object_, operands, result);
  }

 private:
  const void* object_;
  void (*call_)(const void*, std::span<const ArrayRef>, const ArrayRef&);
};

/// Refers to a callable that returns what owns the memory of all operands and of the result.
class OwnerRef {
 public:
  template <class Make>
  OwnerRef(const Make& make)
      : object_(&make),
        make_([](const void* object) { return (*static_cast<const Make*>(object))(); }) {}

  std::shared_ptr<void> operator()() const { return make_(object_); }

 private:
  const void* object_;
  std::shared_ptr<void> (*make_)(const void*);
};

/// Moves operands as was chosen, and runs the kernel on their local pieces. Collective over the mesh
/// if the choice needs an exchange.
void run(const Execution& execution, const PreparedCall& call, const CallRequest& request,
         const ArrayRef& result, const KernelRef& kernel, const OwnerRef& owner);

/// Throws InvalidArgument: the local result of an operator does not have the shape its rules say.
[[noreturn]] void throw_wrong_local_shape(const PreparedCall& call, const Extents& got);

/// Records a call for CommDebugMode and other observers; run() does it itself.
void record(const PreparedCall& call, const CallRequest& request);

/// Returns the tensor for a result: in the memory of an earlier result of this type and shape that
/// nobody holds any more, else in fresh memory; with an execution space instance always in fresh memory.
template <class Result>
DTensor<Result> result_tensor(const Execution& execution, const DeviceMesh& mesh,
                              const PreparedCall& call, const char* label) {
  const auto& spec = output_of(call);
  if constexpr (Result::rank() != 0 && Result::rank_dynamic() != Result::rank())
    require_representable<Result>(spec);
  if (!mesh.coordinate()) return DTensorAccess::make(Result(), mesh, spec);
  const auto& box = local_box_of(call);
  if (execution.is_given())
    return DTensorAccess::make(allocate<Result>(box.shape, label), mesh, spec, box);
  return DTensorAccess::make(recycler(mesh).view_for_any<Result>(box.shape, label), mesh, spec,
                             box);
}

/// Says how an operator was called.
struct OperatorContext {
  Execution execution = {};
  /// Has bit k set where operand k is a temporary: nobody reads it after the call.
  unsigned temporaries = 0;
};

/// Returns the bit of operand `k` in OperatorContext::temporaries, if an argument of type A&& is one.
template <class A>
constexpr unsigned temporary_bit(std::size_t k) {
  return std::is_lvalue_reference_v<A> || std::is_const_v<A> ? 0 : 1U << k;
}

/// Returns whether a temporary's memory can become that of the result: nobody else holds it.
template <class Result>
bool lends_memory(const DTensor<Result>& operand, const PreparedCall& call, std::size_t k) {
  if constexpr (!is_allocatable<Result>) return false;
  const auto& view = operand.to_local();
  if (view.use_count() < 1 || DTensorAccess::owner(operand) || moves(call, k)) return false;
  const int kept = recycler(operand.device_mesh()).keeps(view.data()) ? 1 : 0;
  return view.use_count() == 1 + kept && extents_of(view) == local_box_of(call).shape;
}

/// Returns the tensor for a result: in the memory of a temporary operand that lends it, else result_tensor().
template <class Result, class... A>
DTensor<Result> result_tensor_of(const OperatorContext& context, const DeviceMesh& mesh,
                                 const PreparedCall& call, const char* label,
                                 const A&... operands) {
  if (context.temporaries != 0 && !context.execution.is_given()) {
    const DTensor<Result>* lender = nullptr;
    std::size_t k = 0;
    const auto look = [&]<class Operand>(const Operand& operand) {
      if constexpr (std::is_same_v<Operand, DTensor<Result>>)
        if (lender == nullptr && (context.temporaries >> k & 1U) != 0 &&
            lends_memory(operand, call, k))
          lender = &operand;
      ++k;
    };
    (look(operands), ...);
    if (lender != nullptr)
      return DTensorAccess::make(lender->to_local(), mesh, output_of(call), local_box_of(call));
  }
  return result_tensor<Result>(context.execution, mesh, call, label);
}

/// Returns an object that keeps all of these.
std::shared_ptr<void> kept_together(std::span<const std::shared_ptr<void>> owners);

/// Returns an object that keeps the memory of all tensors among these.
template <class... A>
std::shared_ptr<void> held_all(const A&... operands) {
  const auto owner = []<class T>(const T& operand) -> std::shared_ptr<void> {
    if constexpr (is_dtensor_v<T>)
      return DTensorAccess::memory(operand);
    else
      return {};
  };
  const std::array owners{owner(operands)...};
  return kept_together(owners);
}

/// Calls an operator on tensors, by a kernel of its own: chooses placements, moves operands, and runs
/// kernel(prepared call, arrays of the operands, array of the result) on this rank.
template <class Result, class Kernel, class... V>
DTensor<Result> call_with_kernel(const Execution& execution, const CallRequest& request,
                                 const Kernel& kernel, const DTensor<V>&... operands) {
  const auto& mesh = common_mesh(request);
  const auto prepared = prepare(mesh, request);
  auto result = result_tensor<Result>(execution, mesh, *prepared, request.op.label);
  const auto run_kernel = [&](std::span<const ArrayRef> arrays, const ArrayRef& to) {
    kernel(*prepared, arrays, to);
  };
  run(execution, *prepared, request, array_ref(result.to_local()), run_kernel,
      [&] { return held_all(result, operands...); });
  return result;
}

}  // namespace tessera::detail
