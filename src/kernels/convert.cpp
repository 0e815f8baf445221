// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <tessera/error/error.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/loops.hpp>

#include "kernels/avx2.hpp"
#include "kernels/conversion.hpp"
#include "kernels/convert.hpp"
#include "kernels/non_temporal_copy.hpp"
#include "kernels/tuning.hpp"

namespace tessera::detail {
namespace {

/// Describes a row of elements in memory; the stride is in bytes.
struct Row {
  std::byte* data;
  std::int64_t stride;

  Row from(std::int64_t i) const { return {data + i * stride, stride}; }
  /// Brings the first elements into the cache, unless they are far apart.
  void prefetch(std::int64_t length) const {
    if (std::abs(stride) > cache_line) return;
    const auto bytes = length * std::abs(stride);
    const auto* const begin = stride < 0 ? data + (length - 1) * stride : data;
    for (std::int64_t at = 0; at < bytes; at += cache_line) __builtin_prefetch(begin + at);
  }
};

template <class T>
T& element(const Row& row, std::int64_t i) {
  return *reinterpret_cast<T*>(row.data + i * row.stride);
}

/// Calls function(i, from, to) for all elements of two rows. Rows without gaps have a loop of their
/// own, which is vectorised.
template <class S, class T, class Function>
TESSERA_INLINED inline void for_each_pair(const Row& from, const Row& to, std::int64_t length,
                                          const Function& function) {
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

template <class T>
struct ConvertElement {
  template <class S>
  TESSERA_INLINED void operator()(const S& read, T& written) const {
    written = converted<T>(read);
  }
};

template <class T, bool HasBeta>
struct ScaleElement {
  T alpha;
  T beta;
  TESSERA_INLINED void operator()(const T& read, T& written) const {
    written = Scaled<T>{alpha, beta, HasBeta}(read, HasBeta ? written : read);
  }
};

template <class S, class T>
TESSERA_INLINED inline void convert_row(const Row& from, const Row& to, std::int64_t length) {
  for_each_pair<S, T>(from, to, length, ConvertElement<T>{});
}

template <class T>
TESSERA_INLINED inline void scale_row(const Row& from, const Row& to, std::int64_t length,
                                      const Scaling& scaling) {
  const auto alpha = number_as<T>(scaling.alpha);
  const auto beta = number_as<T>(scaling.beta);
  if (scaling.beta == Factor(0))
    for_each_pair<T, T>(from, to, length, ScaleElement<T, false>{alpha, beta});
  else
    for_each_pair<T, T>(from, to, length, ScaleElement<T, true>{alpha, beta});
}

// Variants for AVX2: twice as many elements per instruction.
template <class S, class T>
TESSERA_FOR_AVX2 void convert_row_by_avx2(const Row& from, const Row& to, std::int64_t length) {
  convert_row<S, T>(from, to, length);
}
template <class T>
TESSERA_FOR_AVX2 void scale_row_by_avx2(const Row& from, const Row& to, std::int64_t length,
                                        const Scaling& scaling) {
  scale_row<T>(from, to, length, scaling);
}

using ConvertRow = void (*)(const Row&, const Row&, std::int64_t);
using ScaleRow = void (*)(const Row&, const Row&, std::int64_t, const Scaling&);

ConvertRow convert_row_of(ElementKind from, ElementKind to) {
  ConvertRow result = nullptr;
  with_element_type(from, [&]<class S>(std::type_identity<S>) {
    with_element_type(to, [&]<class T>(std::type_identity<T>) {
      result = has_avx2 ? &convert_row_by_avx2<S, T> : &convert_row<S, T>;
    });
  });
  return result;
}

ScaleRow scale_row_of(ElementKind kind) {
  ScaleRow result = nullptr;
  with_element_type(kind, [&]<class T>(std::type_identity<T>) {
    result = has_avx2 ? &scale_row_by_avx2<T> : &scale_row<T>;
  });
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

/// Converts row by row; one item is a chunk of the innermost loop.
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
  /// Goes part by part, so that what a part reads is fetched while the one before is changed.
  void run(const Row& from, const Row& to, std::int64_t length) const {
    const bool streams = stores == Stores::non_temporal && to.stride == element_bytes &&
                         length * element_bytes >= least_non_temporal_run;
    const bool is_in_one = !streams && (scale == nullptr || convert == nullptr);
    if (is_in_one) return change_part(from, to, length);
    const auto most = changed_part_bytes / element_bytes;
    for (std::int64_t first = 0; first < length; first += most) {
      if (const auto next = first + most; next < length) {
        const auto next_length = std::min(most, length - next);
        from.from(next).prefetch(next_length);
        if (reads_destination()) to.from(next).prefetch(next_length);
      }
      const auto part_length = std::min(most, length - first);
      if (streams)
        stream_part(from.from(first), to.from(first), part_length);
      else
        change_part(from.from(first), to.from(first), part_length);
    }
    if (streams) fence_non_temporal_stores();
  }

  bool reads_destination() const { return scale != nullptr && scaling.beta != Factor(0); }

  /// What is both converted and scaled lies in a small buffer between.
  void change_part(const Row& from, const Row& to, std::int64_t length) const {
    if (scale == nullptr) return convert(from, to, length);
    if (convert == nullptr) return scale(from, to, length, scaling);
    alignas(cache_line) std::byte converted[changed_part_bytes];
    const Row between{converted, element_bytes};
    convert(from, between, length);
    scale(between, to, length, scaling);
  }

  /// Changes the elements in a small buffer, and writes them from there.
  void stream_part(const Row& from, const Row& to, std::int64_t length) const {
    alignas(cache_line) std::byte changed[changed_part_bytes];
    if (reads_destination())
      std::memcpy(changed, to.data, static_cast<std::size_t>(length * element_bytes));
    change_part(from, {changed, element_bytes}, length);
    non_temporal_copy(to.data, changed, length * element_bytes, 0);
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
