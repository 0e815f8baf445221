// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <tessera/ops/detail/elementwise.hpp>
#include <tessera/ops/detail/map_kernel.hpp>
#include <tessera/ops/detail/on_views.hpp>
#include <tessera/tensor/detail/launch.hpp>
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

/// Returns the number that operand `k` is, or, where it does not count, one that changes nothing.
NumberBytes value_of(ElementwiseOp op, std::size_t k, const OperandRef& operand,
                     bool counts_numbers) {
  const bool is_added = op == ElementwiseOp::add || op == ElementwiseOp::subtract;
  if (!is_added || counts_numbers) return operand.value;
  if (op == ElementwiseOp::subtract && k == 1) return {};  // -0 minus -0 would be 0
  return neutral_number(operand.array.type.kind);
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

ElementwiseLoops map_loops(const Execution& execution, std::span<const ArrayRef> operands,
                           const ArrayRef& result, bool simplifies) {
  auto loops = loops_over(result);
  for (std::size_t k = 0; k < operands.size(); ++k)
    set_operand(execution, loops, k, operands[k], operands[k].type, result);
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

ElementwiseLoops loops_over(const ArrayRef& result) {
  ElementwiseLoops loops{result.extents, result.space, result.data};
  loops.strides[0] = result.strides;
  for (auto& stride : loops.strides[0]) stride *= result.type.size;
  return loops;
}

void set_operand(const Execution& execution, ElementwiseLoops& loops, std::size_t k,
                 const ArrayRef& array, ElementType type, const ArrayRef& result) {
  auto read = array;
  const bool overlaps = !is_same_array(array, result) && share_memory(array, result);
  if (array.type != type || overlaps) {
    loops.copies[k] = converted_copy(execution, array, type);
    read = loops.copies[k].array;
  }
  loops.data[k] = read.data;
  loops.strides[k + 1] = strides_along(read, result.extents);
}

void finish_copies(const Execution& execution, const ElementwiseLoops& loops) {
  if (!is_on_device(loops.space)) return;
  for (const auto& copy : loops.copies)
    if (copy.memory) execution.fence("tessera::ops: copies of operands");
}

void run_elementwise(const Execution& execution, ElementwiseOp op, ElementType type,
                     std::span<const OperandRef> operands, std::span<const ArrayRef> arrays,
                     const ArrayRef& result, bool counts_numbers) {
  if (result.size() == 0) return;
  auto loops = loops_over(result);
  const auto size = static_cast<std::size_t>(traits_of(op).tensors);
  for (std::size_t k = 0; k < size; ++k) {
    loops.strides[k + 1] = Extents::filled(result.extents.size(), 0);
    if (operands[k].is_number() && arrays[k].data == nullptr)
      loops.values[k] = value_of(op, k, operands[k], counts_numbers);
    else
      set_operand(execution, loops, k, arrays[k], operand_type(op, k, type), result);
  }
  simplify(loops.extents, std::span(loops.strides).first(size + 1));
  run_elementwise(execution, op, type, loops, operands.subspan(size));
}

std::shared_ptr<const PreparedCall> prepare_elementwise(ElementwiseOp op, ElementType result,
                                                        std::span<const OperandRef> operands) {
  const CallRequest request{elementwise_info(op), operands, result};
  return prepare(common_mesh(request), request);
}

void require_change(ElementwiseOp op, const PreparedCall& call,
                    std::span<const OperandRef> operands) {
  require_in_place(call, {elementwise_info(op), operands, operands.front().array.type});
}

void run_elementwise_call(const Execution& execution, ElementwiseOp op, ElementType type,
                          const PreparedCall& call, std::span<const OperandRef> operands,
                          const ArrayRef& result, const OwnerRef& owner) {
  const auto kernel = [&](std::span<const ArrayRef> arrays, const ArrayRef& to) {
    run_elementwise(execution, op, type, operands, arrays, to, counts_numbers(call));
  };
  run(execution, call, {elementwise_info(op), operands, result.type}, result, kernel, owner);
}

}  // namespace tessera::detail
