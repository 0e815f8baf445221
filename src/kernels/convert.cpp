// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tessera/error/error.hpp>
#include <tessera/tensor/detail/launch.hpp>

#include "kernels/conversion.hpp"
#include "kernels/convert.hpp"
#include "kernels/non_temporal_copy.hpp"
#include "kernels/tuning.hpp"
#include "tensor/loops.hpp"

namespace tessera::detail {
namespace {

/// Describes a row of elements in memory; the stride is in bytes.
struct Row {
  std::byte* data;
  std::int64_t stride;

  Row from(std::int64_t i) const { return {data + i * stride, stride}; }
};

template <class T>
T& element(const Row& row, std::int64_t i) {
  return *reinterpret_cast<T*>(row.data + i * row.stride);
}

/// Calls function(i, from, to) for all elements of two rows. Rows without gaps have a loop of their
/// own, which is vectorised.
template <class S, class T, class Function>
void for_each_pair(const Row& from, const Row& to, std::int64_t length, const Function& function) {
  const bool is_dense =
      from.stride == std::int64_t{sizeof(S)} && to.stride == std::int64_t{sizeof(T)};
  if (is_dense) {
    const auto* const read = reinterpret_cast<const S*>(from.data);
    auto* const written = reinterpret_cast<T*>(to.data);
    for (std::int64_t i = 0; i < length; ++i) function(read[i], written[i]);
  } else {
    for (std::int64_t i = 0; i < length; ++i) function(element<S>(from, i), element<T>(to, i));
  }
}

template <class S, class T>
void convert_row(const Row& from, const Row& to, std::int64_t length) {
  for_each_pair<S, T>(from, to, length,
                      [](const S& read, T& written) { written = converted<T>(read); });
}

template <class T>
void scale_row(const Row& from, const Row& to, std::int64_t length, const Scaling& scaling) {
  const Scaled<T> scaled{number_as<T>(scaling.alpha), number_as<T>(scaling.beta), true};
  if (scaling.beta == Factor(0)) {
    const auto alpha = Scaled<T>{scaled.alpha, scaled.beta, false};
    for_each_pair<T, T>(from, to, length,
                        [alpha](const T& read, T& written) { written = alpha(read, read); });
  } else {
    for_each_pair<T, T>(from, to, length,
                        [scaled](const T& read, T& written) { written = scaled(read, written); });
  }
}

using ConvertRow = void (*)(const Row&, const Row&, std::int64_t);
using ScaleRow = void (*)(const Row&, const Row&, std::int64_t, const Scaling&);

ConvertRow convert_row_of(ElementKind from, ElementKind to) {
  ConvertRow result = nullptr;
  with_element_type(from, [&]<class S>(std::type_identity<S>) {
    with_element_type(to, [&]<class T>(std::type_identity<T>) { result = &convert_row<S, T>; });
  });
  return result;
}

ScaleRow scale_row_of(ElementKind kind) {
  ScaleRow result = nullptr;
  with_element_type(kind, [&]<class T>(std::type_identity<T>) { result = &scale_row<T>; });
  return result;
}

/// Describes a conversion as nested loops over rows.
struct Conversion {
  std::byte* source;
  std::byte* destination;
  Loops loops;
  LoopArray source_strides;
  LoopArray destination_strides;
};

/// Converts row by row; one item is a chunk of the innermost loop. What is both converted and scaled
/// lies in a small buffer between.
struct HostConvert {
  Conversion work;
  ConvertRow convert;  ///< null if the types are equal
  ScaleRow scale;      ///< null if nothing is scaled
  std::int64_t element_bytes;
  Scaling scaling;
  Stores stores;

  void operator()(std::int64_t i) const {
    const auto& loops = work.loops;
    const auto item = loops.item(i);
    const auto row = [&](std::byte* data, const LoopArray& strides) {
      return Row{data + loops.offset(item, strides), strides[loops.ndims - 1]};
    };
    run(row(work.source, work.source_strides), row(work.destination, work.destination_strides),
        item.length);
  }

 private:
  void run(const Row& from, const Row& to, std::int64_t length) const {
    const bool is_direct = stores == Stores::cached || to.stride != element_bytes ||
                           length * element_bytes < least_non_temporal_run;
    if (is_direct && scale == nullptr) return convert(from, to, length);
    if (is_direct && convert == nullptr) return scale(from, to, length, scaling);
    alignas(cache_line) std::byte buffer[4096];
    const Row between{buffer, element_bytes};
    const auto most = std::int64_t{sizeof(buffer)} / element_bytes;
    for (std::int64_t first = 0; first < length; first += most)
      run_part(from.from(first), between, to.from(first), std::min(most, length - first),
               is_direct);
    if (!is_direct) fence_non_temporal_stores();
  }

  /// Changes some elements in the buffer, and writes them.
  void run_part(const Row& from, const Row& between, const Row& to, std::int64_t length,
                bool is_direct) const {
    if (convert != nullptr) convert(from, between, length);
    const auto& changed = convert != nullptr ? between : from;
    if (scale != nullptr && is_direct) return scale(changed, to, length, scaling);
    if (scale != nullptr && scaling.beta == Factor(0)) {
      scale(changed, between, length, scaling);
    } else if (scale != nullptr) {
      // What is there before takes part: it is brought into the buffer, and changed there.
      alignas(cache_line) std::byte before[4096];
      std::memcpy(before, to.data, static_cast<std::size_t>(length * element_bytes));
      scale(changed, {before, element_bytes}, length, scaling);
      non_temporal_copy(to.data, before, length * element_bytes, 0);
      return;
    }
    non_temporal_copy(to.data, between.data, length * element_bytes, 0);
  }
};

/// Converts one element per index. The kind of the source is the same for all threads, so that they
/// take the same branch.
template <class T>
struct DeviceConvert {
  const std::byte* source;
  std::byte* destination;
  ElementKind kind;
  DeviceLoops loops;
  LoopArray source_strides;
  LoopArray destination_strides;
  Scaled<T> scaled;
  bool is_scaled;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto* from = source;
    auto* to = destination;
    loops.at(i, [&](int d, std::int64_t index) {
      from += index * source_strides[d];
      to += index * destination_strides[d];
    });
    auto& written = *reinterpret_cast<T*>(to);
    const auto value = read(from);
    written = is_scaled ? scaled(value, scaled.has_beta ? written : value) : value;
  }

 private:
  template <class S>
  KOKKOS_FUNCTION static T read_as(const std::byte* from) {
    return converted<T>(*reinterpret_cast<const S*>(from));
  }
  template <class Half>
  KOKKOS_FUNCTION static T read_half(const std::byte* from) {
    if constexpr (sizeof(Half) == 2)
      return read_as<Half>(from);
    else
      return T{};
  }

  KOKKOS_FUNCTION T read(const std::byte* from) const {
    switch (kind) {
      case ElementKind::boolean:
      case ElementKind::uint8:
        return read_as<std::uint8_t>(from);
      case ElementKind::int8:
        return read_as<std::int8_t>(from);
      case ElementKind::int16:
        return read_as<std::int16_t>(from);
      case ElementKind::int32:
        return read_as<std::int32_t>(from);
      case ElementKind::int64:
        return read_as<std::int64_t>(from);
      case ElementKind::uint16:
        return read_as<std::uint16_t>(from);
      case ElementKind::uint32:
        return read_as<std::uint32_t>(from);
      case ElementKind::uint64:
        return read_as<std::uint64_t>(from);
      case ElementKind::float16:
        return read_half<Kokkos::Experimental::half_t>(from);
      case ElementKind::bfloat16:
        return read_half<Kokkos::Experimental::bhalf_t>(from);
      case ElementKind::float32:
        return read_as<float>(from);
      case ElementKind::complex64:
        return read_as<Complex<float>>(from);
      case ElementKind::complex128:
        return read_as<Complex<double>>(from);
      default:
        return read_as<double>(from);
    }
  }
};

void check(ElementType from, ElementType to, const Scaling& scaling) {
  require(converts_to(from.kind, to.kind), [&] {
    return "expected a type to which " + to_string(from) + " converts, got " + to_string(to);
  });
  const bool fit = scaling.alpha.fits(to.kind) && scaling.beta.fits(to.kind);
  require(scaling.is_copy() || fit, [&] {
    return "expected factors that are numbers of " + to_string(to) +
           ": integers for integers, real ones for real numbers";
  });
}

void convert_on_device(const Execution& execution, const ArrayRef& source,
                       const ArrayRef& destination, const Conversion& work, const Extents& extents,
                       const Scaling& scaling) {
  require(source.type.kind != ElementKind::long_double &&
              source.type.kind != ElementKind::complex_long_double,
          "expected an element type other than long double on a device");
  with_element_type(destination.type.kind, [&]<class T>(std::type_identity<T>) {
    if constexpr (has_device && is_device_number<T>)
      launch_on_device(execution, "tessera::detail::convert", destination.size(),
                       DeviceConvert<T>{work.source,
                                        work.destination,
                                        source.type.kind,
                                        DeviceLoops(extents),
                                        work.source_strides,
                                        work.destination_strides,
                                        {number_as<T>(scaling.alpha), number_as<T>(scaling.beta),
                                         scaling.beta != Factor(0)},
                                        !scaling.is_copy()});
    else
      throw InvalidArgument("expected an element type other than long double on a device");
  });
}

}  // namespace

void convert(const Execution& execution, const ArrayRef& source, const ArrayRef& destination,
             const Scaling& scaling, Stores stores) {
  check(source.type, destination.type, scaling);
  if (destination.bytes() == 0) return;
  auto extents = destination.extents;
  std::array strides{destination.strides, source.strides};
  for (auto& stride : strides[0]) stride *= destination.type.size;
  for (auto& stride : strides[1]) stride *= source.type.size;
  simplify(extents, strides);
  const Conversion work{source.data, destination.data, make_loops(extents, elementwise_host_chunk),
                        loop_strides(strides[1]), loop_strides(strides[0])};
  if (is_on_device(destination.space))
    return convert_on_device(execution, source, destination, work, extents, scaling);
  const bool are_alike = source.type == destination.type && !scaling.is_copy();
  const HostConvert kernel{
      work,
      are_alike ? nullptr : convert_row_of(source.type.kind, destination.type.kind),
      scaling.is_copy() ? nullptr : scale_row_of(destination.type.kind),
      destination.type.size,
      scaling,
      stores};
  launch_on_host(execution, "tessera::detail::convert", work.loops.items(), destination.bytes(),
                 kernel);
}

}  // namespace tessera::detail
