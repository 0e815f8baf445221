// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <tessera/extents/extents.hpp>
#include <tessera/mesh/device_mesh.hpp>
#include <tessera/sharding/sections.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera {

/// Selects random numbers. Without a seed and a stream, they are those of the mesh, which advance
/// with each call: see manual_seed().
///
/// Where one of them is given, the other one is 0 by default. An element depends on (seed, stream,
/// its global index) only. Element i, the row-major linear index in the global shape, draws the four
/// 32-bit words w0 … w3 of Philox4x32-10 (Salmon et al., SC11) with
///   counter {low word of i, high word of i, low word of stream, high word of stream},
///   key     {low word of seed, high word of seed}.
/// With a = w0 + 2^32 w1 and b = w2 + 2^32 w3:
///   uniform  float64: (a >> 11) / 2^53.     float32: (w0 >> 8) / 2^24.
///            float16: (w0 >> 21) / 2^11.    bfloat16: (w0 >> 24) / 2^8.
///            complex128: real part from a, imaginary part from b; complex64: from w0 and w2.
///   normal   in double, r = sqrt(-2 log(((a >> 11) + 1) / 2^53)), angle = 2 pi ((b >> 11) / 2^53):
///            r cos(angle), rounded to the type.
///            complex: the imaginary part is r sin(angle), so each part has variance 1.
struct Random {
  std::optional<std::uint64_t> seed = {};
  std::optional<std::uint64_t> stream = {};
};

/// Resets the random numbers that rand() and randn() draw without a seed on meshes of these ranks
/// in this shape: call number n after it, from 0, draws those of the given seed and stream 2^63 +
/// n. Every mesh begins as if after manual_seed(mesh, 0), so that the first draws on two meshes are
/// equal.
///
/// Collective over the mesh. Errors: InvalidArgument for a null mesh, or seeds that differ between
/// ranks.
void manual_seed(const DeviceMesh& mesh, std::uint64_t seed);

namespace detail {

enum class Distribution { uniform, normal };

/// Chooses the numbers of one tensor.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

/// Returns what `random` selects; without a seed and a stream the next numbers of the mesh.
///
/// Local with a seed. Otherwise collective over the mesh, without a message, as long as no call has
/// failed. Errors: InvalidArgument, if the ranks have drawn different numbers of tensors.
RandomKey key_of(const Random& random, const DeviceMesh& mesh, FunctionName function);

/// Throws InvalidArgument unless numbers of `type` can be drawn: float32, float64, complex64,
/// complex128, and 16-bit floats if the backend has them. All ranks get the same result.
void require_random(ElementType type);

/// Fills `destination`, which holds `piece` of a tensor of `global_shape`. Ordered on `execution`,
/// not fenced.
///
/// Uniform numbers lie in [0, 1). Errors: as require_random.
void fill_random(const Execution& execution, Distribution distribution, RandomKey key,
                 const ArrayRef& destination, const Extents& global_shape, const Piece& piece);

}  // namespace detail
}  // namespace tessera
