// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <tessera/ops/detail/elementwise.hpp>
#include <tessera/ops/detail/map_kernel.hpp>
#include <tessera/ops/detail/on_views.hpp>
#include <tessera/tensor/detail/owned_array.hpp>

#include "kernels/pack.hpp"
#include "ops/elementwise_types.hpp"
#include "ops/rules.hpp"
#include "tensor/overlap.hpp"

namespace tessera::detail {
namespace {

Extents shape_of_call(const OperatorCall& call) {
  std::vector<Extents> shapes;
  for (const auto& operand : call.operands)
    if (operand.spec) shapes.push_back(operand.spec->shape());
  return broadcast_shape(shapes);
}

template <ElementwiseOp op>
constexpr OperatorInfo info_of() {
  constexpr const auto& traits = traits_of(op);
  return {traits.function, traits.name, traits.label, shape_of_call, [](const OperatorCall& call) {
            return elementwise_rules(traits_of(op).on_partial, call);
          }};
}

constexpr auto infos = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{info_of<static_cast<ElementwiseOp>(I)>()...};
}
(std::make_index_sequence<elementwise_table.size()>());

/// Returns the byte strides of an operand along the dims of the result; 0 where it stretches.
Extents strides_along(const ArrayRef& operand, const Extents& extents) {
  auto result = Extents::filled(extents.size(), 0);
  const auto skipped = extents.size() - operand.extents.size();
  for (std::size_t d = 0; d < operand.extents.size(); ++d)
    if (operand.extents[d] == extents[d + skipped] && extents[d + skipped] != 1)
      result[d + skipped] = operand.strides[d] * operand.type.size;
  return result;
}

bool is_same_array(const ArrayRef& a, const ArrayRef& b) {
  return a.data == b.data && a.type == b.type && a.extents == b.extents && a.strides == b.strides;
}

OwnedArray converted_copy(const Execution& execution, const ArrayRef& from, ElementType type) {
  auto result = allocate_array(type, from.extents, from.space, "tessera::ops converted operand");
  copy(execution, {from, result.array, Stores::cached, {}});
  return result;
}

/// Returns the type of operand k.
ElementType operand_type(ElementwiseOp op, std::size_t k, ElementType type) {
  return op == ElementwiseOp::where && k == 0 ? element_type<bool>() : type;
}

NumberBytes value_of(ElementwiseOp op, const OperandRef& operand, bool counts_numbers) {
  const bool is_added = op == ElementwiseOp::add || op == ElementwiseOp::subtract;
  return is_added && !counts_numbers ? neutral_number(operand.array.type.kind) : operand.value;
}

}  // namespace

const OperatorInfo& map_info() {
  static constexpr OperatorInfo info{
      "map", "map", "tessera::map", shape_of_call,
      [](const OperatorCall& call) { return elementwise_rules(OnPartial::reduces, call); }};
  return info;
}
const OperatorInfo& map_into_info() {
  static constexpr OperatorInfo info{
      "map_into", "map_into", "tessera::map_into", shape_of_call,
      [](const OperatorCall& call) { return elementwise_rules(OnPartial::reduces, call); }};
  return info;
}

ElementwiseLoops map_loops(std::span<const ArrayRef> operands, const ArrayRef& result,
                           bool simplifies) {
  ElementwiseLoops loops{result.extents, result.space, result.data, {}, {}, {}};
  loops.strides[0] = result.strides;
  for (auto& stride : loops.strides[0]) stride *= result.type.size;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    require(is_same_array(operands[k], result) || !share_memory(operands[k], result),
            "expected operands that share no memory with the result, but for the result itself");
    loops.data[k] = operands[k].data;
    loops.strides[k + 1] = strides_along(operands[k], result.extents);
  }
  if (simplifies) simplify(loops.extents, std::span(loops.strides).first(operands.size() + 1));
  return loops;
}

const OperatorInfo& elementwise_info(ElementwiseOp op) {
  return infos[static_cast<std::size_t>(op)];
}

void throw_number_out_of_range(const std::string& number, ElementType type) {
  throw InvalidArgument(fmt::format("expected a number that elements of {} can hold, got {}",
                                    to_string(type), number));
}

Extents broadcast_shape(std::span<const Extents> shapes) {
  std::size_t dims = 0;
  for (const auto& shape : shapes) dims = std::max(dims, shape.size());
  auto result = Extents::filled(dims, 1);
  for (const auto& shape : shapes)
    for (std::size_t d = 0; d < shape.size(); ++d) {
      auto& extent = result[dims - shape.size() + d];
      if (shape[d] == 1 || shape[d] == extent) continue;
      require(extent == 1, [&] {
        std::string text;
        for (const auto& each : shapes) text += (text.empty() ? "" : " and ") + to_string(each);
        return "expected shapes that broadcast: equal extents, or 1, from the last dim on; got " +
               text;
      });
      extent = shape[d];
    }
  return result;
}

void run_elementwise(const Execution& execution, ElementwiseOp op, ElementType type,
                     std::span<const OperandRef> operands, std::span<const ArrayRef> arrays,
                     const ArrayRef& result, bool counts_numbers) {
  if (result.size() == 0) return;
  ElementwiseLoops loops{result.extents, result.space, result.data, {}, {}, {}};
  const auto size = static_cast<std::size_t>(traits_of(op).tensors);
  loops.strides[0] = result.strides;
  for (auto& stride : loops.strides[0]) stride *= result.type.size;

  std::array<OwnedArray, most_kernel_operands> copies;
  for (std::size_t k = 0; k < size; ++k) {
    loops.strides[k + 1] = Extents::filled(result.extents.size(), 0);
    if (arrays[k].data == nullptr) {
      loops.values[k] = value_of(op, operands[k], counts_numbers);
      continue;
    }
    auto array = arrays[k];
    const auto wanted = operand_type(op, k, type);
    const bool overlaps = !is_same_array(array, result) && share_memory(array, result);
    if (array.type != wanted || overlaps) {
      copies[k] = converted_copy(execution, array, wanted);
      array = copies[k].array;
    }
    loops.data[k] = array.data;
    loops.strides[k + 1] = strides_along(array, result.extents);
  }
  simplify(loops.extents, std::span(loops.strides).first(size + 1));
  const auto numbers = operands.subspan(size);
  run_elementwise(execution, op, type, loops, numbers);
  // A device may still read the copies.
  for (const auto& copy : copies)
    if (copy.memory && is_on_device(result.space))
      execution.fence("tessera::ops: converted operand");
}

}  // namespace tessera::detail
