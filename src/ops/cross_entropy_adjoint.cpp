// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <type_traits>
#include <vector>

#include <tessera/ops/detail/cross_entropy_adjoint.hpp>
#include <tessera/ops/detail/elementwise_kernel.hpp>

#include "kernels/number_types.hpp"
#include "ops/elementwise_function.hpp"
#include "ops/index_values.hpp"

namespace tessera::detail {
namespace {

Extents cross_entropy_adjoint_shape(const OperatorCall& call) {
  return call.operands[0].spec->shape();
}

/// Lists the rules: rows or columns stay split; what is linear in the gradient passes.
std::vector<OperatorRule> cross_entropy_adjoint_rules(const OperatorCall&) {
  std::vector<OperatorRule> rules{{Shard(0), {Shard(0), Shard(0), Shard(0)}},
                                  {Shard(1), {Shard(1), Replicate(), Replicate()}}};
  for (const auto op : {ReduceOp::sum, ReduceOp::avg})
    rules.push_back({Partial(op), {Replicate(), Replicate(), Partial(op)}});
  rules.push_back({Replicate(), {Replicate(), Replicate(), Replicate()}});
  return rules;
}

constexpr OperatorInfo cross_entropy_adjoint_operator{
    "cross_entropy", "cross_entropy_adjoint", "tessera::cross_entropy_adjoint",
    cross_entropy_adjoint_shape, cross_entropy_adjoint_rules};

/// Computes one element of the gradient of logits. Strides are in bytes.
template <class T>
struct GradientOfLogit {
  using Number = std::conditional_t<is_computed_as_float<T>, float, T>;

  const std::byte* logs;
  const std::byte* targets;  ///< elements are int64
  const std::byte* gradient;
  std::byte* result;
  std::int64_t log_strides[2];
  std::int64_t result_strides[2];
  std::int64_t target_stride;
  std::int64_t gradient_stride;
  IndexMap columns;

  TESSERA_ALSO_FOR_HOST_NUMBERS
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    const auto log = read<T>(logs + i * log_strides[0] + j * log_strides[1]);
    const auto target = read<std::int64_t>(targets + i * target_stride);
    // exp(log) - 1 would lose the small difference of a row whose target is almost certain.
    const auto weight = columns.global_index(j) == target ? Kokkos::expm1(static_cast<Number>(log))
                                                          : Kokkos::exp(static_cast<Number>(log));
    const auto slope = static_cast<Number>(read<T>(gradient + i * gradient_stride));
    *reinterpret_cast<T*>(result + i * result_strides[0] + j * result_strides[1]) =
        static_cast<T>(weight * slope);
  }

 private:
  template <class E>
  KOKKOS_FUNCTION static E read(const std::byte* from) {
    return *reinterpret_cast<const E*>(from);
  }
};

/// Computes the gradients of a part of a row, or of a column if these are dense.
template <class T>
struct GradientsOfLogits {
  GradientOfLogit<T> element;
  Loops loops;
  bool is_left;  ///< whether the inner loop goes over rows

  void operator()(std::int64_t i) const {
    const auto item = loops.item(i);
    const auto outer = item.index[0], begin = item.index[1];
    for (std::int64_t k = 0; k < item.length; ++k)
      is_left ? element(begin + k, outer) : element(outer, begin + k);
  }
};

template <class T>
struct GradientsOfLogitsOnDevice {
  GradientOfLogit<T> element;
  DeviceLoops loops;
  bool is_left;  ///< whether the inner loop goes over rows

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t at[2] = {};
    loops.at(i, [&](int d, std::int64_t index) { at[is_left ? 1 - d : d] = index; });
    element(at[0], at[1]);
  }
};

template <class T>
void compute_gradients(const Execution& execution, const GradientOfLogit<T>& element,
                       const ArrayRef& result) {
  const auto* const label = cross_entropy_adjoint_operator.label;
  const bool is_left = result.strides[0] < result.strides[1];
  const auto rows = result.extents[0], columns = result.extents[1];
  const auto extents = is_left ? Extents{columns, rows} : Extents{rows, columns};
  if (!is_on_device(result.space)) {
    const GradientsOfLogits<T> kernel{element, make_loops(extents, elementwise_chunk), is_left};
    launch_on_host(execution, label, kernel.loops.items(), result.bytes(), kernel);
  } else if constexpr (has_device && is_device_number<T>) {
    launch_on_device(execution, label, result.size(),
                     GradientsOfLogitsOnDevice<T>{element, DeviceLoops(extents), is_left});
  } else {
    throw InvalidArgument("expected an element type other than long double on a device");
  }
}

}  // namespace

const OperatorInfo& cross_entropy_adjoint_info() {
  return cross_entropy_adjoint_operator;
}

void run_cross_entropy_adjoint(const Execution& execution, const DeviceMesh* mesh,
                               const ArrayRef& logs, const ArrayRef& targets,
                               const ArrayRef& gradient, const Sections& columns,
                               const ArrayRef& result) {
  if (result.size() == 0) return;
  Temporaries temporaries(execution, mesh);
  const auto classes =
      index_values(execution, temporaries, targets, cross_entropy_adjoint_operator.label);
  const std::int64_t size = result.type.size;
  with_floating_type(result.type.kind, [&]<class T>(std::type_identity<T>) {
    const GradientOfLogit<T> element{logs.data,
                                     classes.array.data,
                                     gradient.data,
                                     result.data,
                                     {logs.strides[0] * size, logs.strides[1] * size},
                                     {result.strides[0] * size, result.strides[1] * size},
                                     classes.array.strides[0] * classes.array.type.size,
                                     gradient.strides[0] * size,
                                     IndexMap(columns)};
    compute_gradients(execution, element, result);
  });
  finish_host(execution);
  temporaries.finish();
}

}  // namespace tessera::detail
