// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include <fmt/format.h>

#include <tessera/error/error.hpp>
#include <tessera/extents/hash.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/loops.hpp>
#include <tessera/tensor/random.hpp>

#include "sharding/strided_parts.hpp"
#include "tensor/tuning.hpp"

namespace tessera::detail {
namespace {

using Words = Kokkos::Array<std::uint32_t, 4>;

KOKKOS_FUNCTION std::uint32_t low(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
KOKKOS_FUNCTION std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

/// Returns the four words of Philox4x32-10.
///
/// It is written out because Random123 1.14 does not compile for HIP. Source: Salmon, Moraes, Dror,
/// Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC11).
KOKKOS_FUNCTION Words draw(RandomKey key, std::uint64_t index) {
  constexpr int rounds = 10;
  Words words = {low(index), high(index), low(key.stream), high(key.stream)};
  std::uint32_t key0 = low(key.seed);
  std::uint32_t key1 = high(key.seed);
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xd2511f53} * words[0];
    const std::uint64_t product1 = std::uint64_t{0xcd9e8d57} * words[2];
    words = {high(product1) ^ words[1] ^ key0, low(product1), high(product0) ^ words[3] ^ key1,
             low(product0)};
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
  return words;
}

/// Returns the upper 53 bits of the 64-bit number whose low word is `part` and high word `part +
/// 1`.
KOKKOS_FUNCTION std::uint64_t bits53(const Words& words, int part) {
  return ((static_cast<std::uint64_t>(words[part + 1]) << 32) | words[part]) >> 11;
}

/// Multiplying by a power of two is exact, so these factors add no rounding.
constexpr double unit53 = 1.0 / 9007199254740992.0;
constexpr float unit24 = 1.0f / 16777216.0f;

struct Uniform {
  template <class T>
  KOKKOS_FUNCTION static T number(const Words& words, int part) {
    if constexpr (std::is_same_v<T, double>)
      return static_cast<double>(bits53(words, 2 * part)) * unit53;
    else if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(words[2 * part] >> 8) * unit24;
    else if constexpr (std::is_same_v<T, Kokkos::Experimental::half_t>)
      return static_cast<T>(static_cast<float>(words[0] >> 21) / 2048.0f);
    else
      return static_cast<T>(static_cast<float>(words[0] >> 24) / 256.0f);
  }
};

struct Normal {
  template <class T>
  KOKKOS_FUNCTION static T number(const Words& words, int part) {
    constexpr double two_pi = 6.283185307179586476925286766559;
    const double radius =
        Kokkos::sqrt(-2.0 * Kokkos::log(static_cast<double>(bits53(words, 0) + 1) * unit53));
    const double angle = two_pi * (static_cast<double>(bits53(words, 2)) * unit53);
    const double value = radius * (part == 0 ? Kokkos::cos(angle) : Kokkos::sin(angle));
    if constexpr (sizeof(T) == 2)
      return static_cast<T>(static_cast<float>(value));
    else
      return static_cast<T>(value);
  }
};

/// Fills each element with `Parts` numbers of type T. One index of the kernel fills one chunk of
/// the innermost loop.
template <class T, int Parts, class Distribution>
struct FillRandom {
  std::byte* data;
  Loops loops;
  LoopArray strides;
  LoopArray index_strides;
  std::int64_t first_index;
  RandomKey key;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto item = loops.item(i);
    auto* to = data + loops.offset(item, strides);
    auto index = first_index + loops.offset(item, index_strides);
    for (std::int64_t k = 0; k < item.length; ++k) {
      const Words words = draw(key, static_cast<std::uint64_t>(index));
      for (int part = 0; part < Parts; ++part)
        reinterpret_cast<T*>(to)[part] = Distribution::template number<T>(words, part);
      to += strides[loops.ndims - 1];
      index += index_strides[loops.ndims - 1];
    }
  }
};

/// Describes a part of a local piece, whose elements lie regularly in the global tensor, too.
struct PartOfPiece {
  ArrayRef destination;
  Extents index_strides;
  std::int64_t first_index;
};

template <class T, int Parts, class Distribution>
void fill(const Execution& execution, RandomKey key, const PartOfPiece& piece) {
  Extents extents = piece.destination.extents;
  std::array strides{piece.destination.strides, piece.index_strides};
  for (auto& stride : strides[0]) stride *= piece.destination.type.size;
  simplify(extents, strides);
  const bool on_device = is_on_device(piece.destination.space);
  const FillRandom<T, Parts, Distribution> kernel{
      piece.destination.data,   make_loops(extents, on_device ? 1 : random_host_chunk),
      loop_strides(strides[0]), loop_strides(strides[1]),
      piece.first_index,        key};
  if (on_device)
    launch_on_device(execution, "tessera::detail::fill_random", kernel.loops.items(), kernel);
  else
    launch_on_host(execution, "tessera::detail::fill_random", kernel.loops.items(),
                   piece.destination.bytes(), kernel);
}

template <class T, int Parts>
void fill(const Execution& execution, Distribution distribution, RandomKey key,
          const PartOfPiece& piece) {
  if (distribution == Distribution::uniform)
    fill<T, Parts, Uniform>(execution, key, piece);
  else
    fill<T, Parts, Normal>(execution, key, piece);
}

template <class T>
constexpr bool is_half = sizeof(T) == 2;

using Half = Kokkos::Experimental::half_t;
using Bhalf = Kokkos::Experimental::bhalf_t;

bool can_draw(ElementKind kind) {
  switch (kind) {
    case ElementKind::float32:
    case ElementKind::float64:
    case ElementKind::complex64:
    case ElementKind::complex128:
      return true;
    case ElementKind::float16:
      return is_half<Half>;
    case ElementKind::bfloat16:
      return is_half<Bhalf>;
    default:
      return false;
  }
}

void fill_part(const Execution& execution, Distribution distribution, RandomKey key,
               const PartOfPiece& piece) {
  const auto fill_with = [&]<class T, int Parts>() {
    fill<T, Parts>(execution, distribution, key, piece);
  };
  switch (piece.destination.type.kind) {
    case ElementKind::float32:
      return fill_with.template operator()<float, 1>();
    case ElementKind::float64:
      return fill_with.template operator()<double, 1>();
    case ElementKind::complex64:
      return fill_with.template operator()<float, 2>();
    case ElementKind::complex128:
      return fill_with.template operator()<double, 2>();
    case ElementKind::float16:
      if constexpr (is_half<Half>) fill_with.template operator()<Half, 1>();
      break;
    case ElementKind::bfloat16:
      if constexpr (is_half<Bhalf>) fill_with.template operator()<Bhalf, 1>();
      break;
    default:
      break;
  }
}

/// Far from the streams that users name.
constexpr std::uint64_t first_stream_of_mesh = std::uint64_t{1} << 63;

}  // namespace

RandomKey key_of(const Random& random, const DeviceMesh& mesh, FunctionName function) {
  if (random.seed || random.stream) return {random.seed.value_or(0), random.stream.value_or(0)};
  if (!mesh.coordinate()) return {};
  return collectively(mesh, function, [&](Operation& operation) {
    auto& state = MeshAccess::random_state(mesh);
    const auto call = [&] {
      return fmt::format("{} without a seed, call {} after manual_seed({})", function.text,
                         state.draws, state.seed);
    };
    const auto hash = hash_combine(state.seed, state.draws);
    if (state.compared_at == doubts)
      operation.state(hash, call);
    else
      operation.agree_always(hash, call);
    state.compared_at = doubts;
    return RandomKey{state.seed, first_stream_of_mesh + state.draws++};
  });
}

void require_random(ElementType type) {
  require(can_draw(type.kind), [&] {
    return "expected float, double or a complex of them as element type, got " + to_string(type);
  });
}

void fill_random(const Execution& execution, Distribution distribution, RandomKey key,
                 const ArrayRef& destination, const Extents& global_shape,
                 const tessera::Piece& piece) {
  require_random(destination.type);
  if (destination.bytes() == 0) return;
  for (const auto& part :
       strided_parts(piece, destination.strides, row_major_strides(global_shape)))
    fill_part(execution, distribution, key,
              {{destination.data + part.from.offset * destination.type.size, destination.type,
                part.extents, part.from.strides, destination.space},
               part.to.strides,
               part.to.offset});
}

}  // namespace tessera::detail

void tessera::manual_seed(const DeviceMesh& mesh, std::uint64_t seed) {
  collectively(mesh, "manual_seed", [&](Operation& operation) {
    if (!mesh.coordinate()) return;
    const auto call = [&] { return fmt::format("manual_seed({})", seed); };
    operation.agree_always(seed, call);
    detail::MeshAccess::random_state(mesh) = {
        .seed = seed, .draws = 0, .compared_at = detail::doubts};
  });
}
