// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include <tessera/ops/detail/elementwise_kernel.hpp>
#include <tessera/ops/take.hpp>

#include "kernels/copy_batch.hpp"
#include "ops/lookup.hpp"
#include "ops/rules.hpp"

namespace tessera::detail {
namespace {

template <class T>
KOKKOS_FUNCTION std::int64_t read_integer(const std::byte* from) {
  return static_cast<std::int64_t>(*reinterpret_cast<const T*>(from));
}

/// Reads indices, and finds which elements of this rank they name.
struct IndexReader {
  const std::byte* data;
  ElementKind kind;
  std::int64_t least;   ///< smallest index allowed
  std::int64_t extent;  ///< global extent of the dim that is indexed
  IndexMap map;         ///< what this rank has of it

  /// Returns the index at `offset` bytes; one beyond all int64 becomes the largest of them.
  KOKKOS_FUNCTION std::int64_t index(std::int64_t offset) const {
    const auto* const from = data + offset;
    switch (kind) {
      case ElementKind::int8:
        return read_integer<std::int8_t>(from);
      case ElementKind::int16:
        return read_integer<std::int16_t>(from);
      case ElementKind::int32:
        return read_integer<std::int32_t>(from);
      case ElementKind::uint8:
        return read_integer<std::uint8_t>(from);
      case ElementKind::uint16:
        return read_integer<std::uint16_t>(from);
      case ElementKind::uint32:
        return read_integer<std::uint32_t>(from);
      case ElementKind::uint64: {
        const auto result = read_integer<std::uint64_t>(from);
        return result < 0 ? Kokkos::Experimental::finite_max_v<std::int64_t> : result;
      }
      default:
        return read_integer<std::int64_t>(from);
    }
  }

  KOKKOS_FUNCTION bool is_in_range(std::int64_t index) const {
    return index >= least && index < extent;
  }

  /// Returns the local position that the index at `offset` names; -1 if this rank lacks it.
  KOKKOS_FUNCTION std::int64_t position(std::int64_t offset) const {
    const auto given = index(offset);
    if (!is_in_range(given))
      Kokkos::abort("tessera: take or cross_entropy got an index that is out of range\n");
    return map.local_index(given < 0 ? given + extent : given);
  }
};

/// Finds the first index in row-major order that is out of range.
struct FindOutOfRange {
  DeviceLoops loops;
  LoopArray strides;
  IndexReader reader;
  std::int64_t* first;

  KOKKOS_FUNCTION std::int64_t offset(std::int64_t i) const {
    std::int64_t result = 0;
    loops.at(i, [&](int d, std::int64_t index) { result += index * strides[d]; });
    return result;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (!reader.is_in_range(reader.index(offset(i)))) Kokkos::atomic_min(first, i);
  }
};

void require_in_range(const Execution& execution, const Lookup& lookup, const IndexReader& reader) {
  const auto& indices = lookup.indices;
  if (indices.size() == 0 || is_on_device(indices.space)) return;
  auto extents = indices.extents, strides = indices.strides;
  for (auto& stride : strides) stride *= indices.type.size;
  join_dims(extents, std::span(&strides, 1));
  auto first = indices.size();
  const FindOutOfRange find{DeviceLoops(extents), loop_strides(strides), reader, &first};
  launch_on_host(execution, lookup.label, indices.size(), indices.bytes(), find);
  finish_host(execution);
  require(first == indices.size(), [&] {
    const auto offset = find.offset(first);
    const auto got =
        reader.kind == ElementKind::uint64
            ? std::to_string(*reinterpret_cast<const std::uint64_t*>(reader.data + offset))
            : std::to_string(reader.index(offset));
    return fmt::format("expected {} in [{}, {}), got {}", lookup.what, reader.least, reader.extent,
                       got);
  });
}

/// Describes the arrays of a lookup; strides are in bytes.
struct LookupArrays {
  std::byte* result;
  const std::byte* table;
  IndexReader reader;
  LoopArray result_strides;
  LoopArray table_strides;
  LoopArray index_strides;
  std::int64_t dim_stride;  ///< stride of the table along the dim that is indexed
  std::int64_t words;       ///< number of words of an element

  /// Returns the element that an index names; null if this rank lacks it.
  KOKKOS_FUNCTION const std::byte* element(std::int64_t in_table, std::int64_t in_indices) const {
    const auto position = reader.position(in_indices);
    return position < 0 ? nullptr : table + in_table + position * dim_stride;
  }

  /// Copies an element, or writes 0 if `from` is null.
  template <int Bytes>
  KOKKOS_FUNCTION void copy(const std::byte* from, std::byte* to) const {
    for (std::int64_t w = 0; w < words; ++w, to += Bytes) {
      auto* const word = reinterpret_cast<Word<Bytes>*>(to);
      *word = from == nullptr ? Word<Bytes>{} : reinterpret_cast<const Word<Bytes>*>(from)[w];
    }
  }
};

/// Copies rows on the host. One index is a part of a row; see Loops.
template <int Bytes>
struct HostLookup {
  Loops loops;
  LookupArrays arrays;

  void operator()(std::int64_t i) const { copy_row(loops.item(i)); }
  void operator()(std::int64_t begin, std::int64_t end) const {
    auto item = loops.item(begin);
    for (auto i = begin; i < end; ++i, loops.advance(item)) copy_row(item);
  }

 private:
  void copy_row(const Loops::Item& item) const {
    const int inner = loops.ndims - 1;
    auto* const to = arrays.result + loops.offset(item, arrays.result_strides);
    const auto in_table = loops.offset(item, arrays.table_strides);
    const auto in_indices = loops.offset(item, arrays.index_strides);
    const auto to_step = arrays.result_strides[inner], from_step = arrays.table_strides[inner],
               index_step = arrays.index_strides[inner], size = arrays.words * Bytes;
    if (index_step == 0 && to_step == size && from_step == size) {
      const auto bytes = static_cast<std::size_t>(item.length * size);
      if (const auto* const from = arrays.element(in_table, in_indices))
        std::memcpy(to, from, bytes);
      else
        std::memset(to, 0, bytes);
      return;
    }
    for (std::int64_t i = 0; i < item.length; ++i)
      arrays.copy<Bytes>(arrays.element(in_table + i * from_step, in_indices + i * index_step),
                         to + i * to_step);
  }
};

/// Copies one element per index on a device.
template <int Bytes>
struct DeviceLookup {
  DeviceLoops loops;
  LookupArrays arrays;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t to = 0, in_table = 0, in_indices = 0;
    loops.at(i, [&](int d, std::int64_t index) {
      to += index * arrays.result_strides[d];
      in_table += index * arrays.table_strides[d];
      in_indices += index * arrays.index_strides[d];
    });
    arrays.copy<Bytes>(arrays.element(in_table, in_indices), arrays.result + to);
  }
};

/// Copies by words of `Bytes` bytes.
template <int Bytes>
void copy_by_word(const Execution& execution, const Lookup& lookup, const Extents& extents,
                  LookupArrays arrays) {
  const auto& result = lookup.result;
  arrays.words = result.type.size / Bytes;
  if (is_on_device(result.space))
    launch_on_device(execution, lookup.label, result.size(),
                     DeviceLookup<Bytes>{DeviceLoops(extents), arrays});
  else {
    const HostLookup<Bytes> kernel{make_loops(extents, elementwise_chunk), arrays};
    launch_on_host(execution, lookup.label, kernel.loops.items(), result.bytes(), kernel);
  }
}

/// Returns the size, in bytes, of the largest word that divides an element and to which all
/// elements are aligned.
int word_bytes(const Lookup& lookup, const Extents& result_strides, const Extents& table_strides,
               std::int64_t dim_stride) {
  auto bits = reinterpret_cast<std::uintptr_t>(lookup.result.data) |
              reinterpret_cast<std::uintptr_t>(lookup.table.data) |
              static_cast<std::uintptr_t>(lookup.result.type.size) |
              static_cast<std::uintptr_t>(dim_stride);
  for (const auto stride : result_strides) bits |= static_cast<std::uintptr_t>(stride);
  for (const auto stride : table_strides) bits |= static_cast<std::uintptr_t>(stride);
  constexpr int largest = 4;
  return 1 << std::min(std::countr_zero(bits), largest);
}

Extents take_shape_of_call(const OperatorCall& call) {
  return take_shape(call.operands[0].spec->shape(), call.operands[1].spec->shape(),
                    call.integers("dims").front());
}

/// Lists the rules: what is split along another dim stays split; along the dim itself each rank
/// gives what it has; and contributions to the table become contributions to the result.
std::vector<OperatorRule> take_rules_of_call(const OperatorCall& call) {
  const auto dim = static_cast<int>(call.integers("dims").front());
  const auto kind = call.operands[0].type.kind;
  const int index_dims = call.tensor_dims(1);
  std::vector<OperatorRule> rules;
  for (int d = 0; d < call.tensor_dims(0); ++d)
    if (d != dim)
      rules.push_back({Shard(d < dim ? d : d + index_dims - 1), {Shard(d), Replicate()}});
  for (int d = 0; d < index_dims; ++d) rules.push_back({Shard(dim + d), {Replicate(), Shard(d)}});
  if (kind != ElementKind::opaque) rules.push_back({own_elements(kind), {Shard(dim), Replicate()}});
  for (const auto& placement : call.operands[0].spec->placements()) {
    const OperatorRule passes{placement, {placement, Replicate()}};
    if (placement.is_partial() && std::ranges::find(rules, passes) == rules.end())
      rules.push_back(passes);
  }
  rules.push_back({Replicate(), {Replicate(), Replicate()}});
  return rules;
}

}  // namespace

void look_up(const Execution& execution, const Lookup& lookup) {
  const auto& table = lookup.table;
  const auto& indices = lookup.indices;
  const auto& result = lookup.result;
  const IndexReader reader{indices.data, indices.type.kind, lookup.least, lookup.extent,
                           IndexMap(lookup.sections)};
  named(lookup.function, [&] { require_in_range(execution, lookup, reader); });
  if (result.size() == 0) return;
  auto extents = result.extents;
  std::array strides{result.strides, lookup.table_strides, lookup.index_strides};
  for (auto& stride : strides[0]) stride *= result.type.size;
  for (auto& stride : strides[1]) stride *= table.type.size;
  for (auto& stride : strides[2]) stride *= indices.type.size;
  simplify(extents, strides);
  const auto dim_stride = lookup.dim_stride * table.type.size;
  const LookupArrays arrays{result.data,
                            table.data,
                            reader,
                            loop_strides(strides[0]),
                            loop_strides(strides[1]),
                            loop_strides(strides[2]),
                            dim_stride,
                            1};
  switch (word_bytes(lookup, strides[0], strides[1], dim_stride)) {
    case 1:
      return copy_by_word<1>(execution, lookup, extents, arrays);
    case 2:
      return copy_by_word<2>(execution, lookup, extents, arrays);
    case 4:
      return copy_by_word<4>(execution, lookup, extents, arrays);
    case 8:
      return copy_by_word<8>(execution, lookup, extents, arrays);
    default:
      return copy_by_word<16>(execution, lookup, extents, arrays);
  }
}

const OperatorInfo& take_info() {
  static constexpr OperatorInfo take_operator{
      "take", "take", "tessera::take", take_shape_of_call, take_rules_of_call, true, true};
  return take_operator;
}

Extents take_shape(const Extents& table, const Extents& indices, std::int64_t dim) {
  Extents result;
  for (std::size_t d = 0; d < table.size(); ++d)
    if (static_cast<std::int64_t>(d) != dim)
      result.push_back(table[d]);
    else
      for (const auto extent : indices) result.push_back(extent);
  return result;
}

void run_take(const Execution& execution, const ArrayRef& table, const ArrayRef& indices,
              const Sections& table_indices, std::int64_t extent, std::int64_t dim,
              const ArrayRef& result) {
  Lookup lookup{.function = take_info().function.text,
                .label = take_info().label,
                .what = "an index",
                .table = table,
                .indices = indices,
                .result = result,
                .dim_stride = table.strides[static_cast<std::size_t>(dim)],
                .sections = table_indices,
                .extent = extent,
                .least = -extent};
  for (std::size_t d = 0; d < table.extents.size(); ++d) {
    if (static_cast<std::int64_t>(d) != dim) {
      lookup.table_strides.push_back(table.strides[d]);
      lookup.index_strides.push_back(0);
      continue;
    }
    for (const auto stride : indices.strides) {
      lookup.table_strides.push_back(0);
      lookup.index_strides.push_back(stride);
    }
  }
  look_up(execution, lookup);
}

}  // namespace tessera::detail
