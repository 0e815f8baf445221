// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include <tessera/nn/linear.hpp>
#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/random.hpp>

namespace tessera::detail {
namespace {

/// Far from the streams that users name, and from those of meshes.
constexpr std::uint64_t first_stream_of_layers = std::uint64_t{1} << 62;

RandomKey key_of_layer(const nn::LinearOptions& options) {
  static std::atomic<std::uint64_t> layers{0};
  if (options.seed || options.stream) return {options.seed.value_or(0), options.stream.value_or(0)};
  return {0, first_stream_of_layers + layers++};
}

/// Makes numbers in [-bound, bound) of those in [0, 1).
template <class T>
struct Centre {
  T* data;
  T bound;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    data[i] = (T(2) * data[i] - T(1)) * bound;
  }
};

/// Expects an array without gaps.
template <class T>
void centre(const ArrayRef& array, double bound) {
  const auto count = array.bytes() / static_cast<std::int64_t>(sizeof(T));
  const Centre<T> kernel{reinterpret_cast<T*>(array.data), static_cast<T>(bound)};
  if (is_on_device(array.space))
    launch_on_device(Execution(), "tessera::nn::Linear", count, kernel);
  else
    launch_on_host(Execution(), "tessera::nn::Linear", count, array.bytes(), kernel);
}

/// Fills the columns of `array` with those of a random matrix, from column `first` on.
void fill_columns(const ArrayRef& array, RandomKey key, std::int64_t in_features,
                  std::int64_t first) {
  const auto rows = array.extents[0], columns = array.extents[1];
  const Piece piece{{Sections(Interval{0, rows}), Sections(Interval{first, first + columns})}};
  fill_random(Execution(), Distribution::uniform, key, array, {rows, in_features + 1}, piece);
  const auto bound = 1 / std::sqrt(static_cast<double>(in_features));
  const bool is_single =
      array.type.kind == ElementKind::float32 || array.type.kind == ElementKind::complex64;
  if (is_single)
    centre<float>(array, bound);
  else
    centre<double>(array, bound);
}

}  // namespace

void require_features(std::int64_t in_features, std::int64_t out_features) {
  require(in_features >= 1 && out_features >= 1, [&] {
    return fmt::format("expected at least 1 feature on both sides, got {} inputs and {} outputs",
                       in_features, out_features);
  });
}

void require_input(const std::string& module, std::int64_t features, const Extents& shape) {
  require(!shape.empty() && shape[shape.size() - 1] == features, [&] {
    return fmt::format("{}: expected an input with {} features in its last dim, got shape {}",
                       module, features, to_string(shape));
  });
}

void fill_linear(const nn::LinearOptions& options, const ArrayRef& weight, const ArrayRef* bias) {
  const auto key = key_of_layer(options);
  const auto in_features = weight.extents[1];
  fill_columns(weight, key, in_features, 0);
  if (bias != nullptr) {
    auto column = *bias;
    column.extents.push_back(1);
    column.strides.push_back(1);
    fill_columns(column, key, in_features, in_features);
  }
  finish(Execution(), "tessera::nn::Linear");
}

}  // namespace tessera::detail
