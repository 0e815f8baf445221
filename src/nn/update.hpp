// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/loops.hpp>

#include "nn/optimizer.hpp"

// Kernels that update parameters. A rule computes rule(p, g, s…) for each real number p of a parameter, with the number g
// of its gradient and those of the optimizer's arrays.
namespace tessera::detail {

/// Updates arrays that lie alike in memory, without gaps.
template <class T, class Rule, std::size_t... S>
struct DenseUpdate {
  Rule rule;
  T* parameter;
  const T* gradient;
  Kokkos::Array<T*, sizeof...(S)> arrays;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    rule(parameter[i], gradient[i], arrays[S][i]...);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t begin, std::int64_t end) const {
    const DenseUpdate own = *this;  // no store can change it, so that the loop can be in vectors
    for (std::int64_t i = begin; i < end; ++i) own(i);
  }
};

/// Updates arrays of any strides, of elements that have `parts` numbers. One index of the kernel is one chunk of
/// the innermost loop.
template <class T, class Rule, std::size_t... S>
struct StridedUpdate {
  Rule rule;
  Loops loops;
  int parts;
  T* parameter;
  const T* gradient;
  Kokkos::Array<T*, sizeof...(S)> arrays;
  LoopArray
      strides[2 +
              sizeof...(S)];  ///< strides of the parameter, the gradient and the arrays, in numbers

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const auto place = loops.item(item);
    const int inner = loops.ndims - 1;
    std::int64_t at[2 + sizeof...(S)];
    for (std::size_t k = 0; k < 2 + sizeof...(S); ++k) at[k] = loops.offset(place, strides[k]);
    for (std::int64_t i = 0; i < place.length; ++i) {
      for (int part = 0; part < parts; ++part)
        rule(parameter[at[0] + part], gradient[at[1] + part], arrays[S][at[2 + S] + part]...);
      for (std::size_t k = 0; k < 2 + sizeof...(S); ++k) at[k] += strides[k][inner];
    }
  }
};

template <class Kernel>
void launch_update(const char* label, const Update& update, std::int64_t items,
                   const Kernel& kernel) {
  if (is_on_device(update.parameter.space))
    launch_on_device(Execution(), label, items, kernel);
  else
    launch_on_host(Execution(), label, items, update.parameter.bytes(), kernel);
}

template <class T, class Rule, std::size_t... S>
void run_update(const char* label, const Update& update, const Rule& rule,
                std::index_sequence<S...>) {
  auto extents = update.parameter.extents;
  std::array strides{update.parameter.strides, update.gradient.strides,
                     update.arrays[S].array.strides...};
  simplify(extents, strides);
  const auto numbers = [](const ArrayRef& array) { return reinterpret_cast<T*>(array.data); };
  auto* const parameter = numbers(update.parameter);
  const auto* const gradient = numbers(update.gradient);
  const Kokkos::Array<T*, sizeof...(S)> arrays{numbers(update.arrays[S].array)...};
  const auto parts = update.parameter.type.size / static_cast<int>(sizeof(T));

  const bool is_dense = extents.empty() || (extents.size() == 1 && [&] {
                          for (const auto& of_array : strides)
                            if (of_array[0] != 1) return false;
                          return true;
                        }());
  if (is_dense)
    return launch_update(label, update, update.parameter.size() * parts,
                         DenseUpdate<T, Rule, S...>{rule, parameter, gradient, arrays});
  const bool on_device = is_on_device(update.parameter.space);
  const auto chunk = on_device ? 1 : extents[extents.size() - 1];
  StridedUpdate<T, Rule, S...> kernel{
      rule, make_loops(extents, chunk), parts, parameter, gradient, arrays, {}};
  for (std::size_t k = 0; k < strides.size(); ++k) {
    for (auto& stride : strides[k]) stride *= parts;
    kernel.strides[k] = loop_strides(strides[k]);
  }
  launch_update(label, update, kernel.loops.items(), kernel);
}

/// Updates a parameter by make_rule(T()), for numbers of type T; `Arrays` is the number of arrays that the rule
/// takes.
template <std::size_t Arrays, class MakeRule>
void run_update(const char* label, const Update& update, const MakeRule& make_rule) {
  const auto kind = update.parameter.type.kind;
  constexpr std::make_index_sequence<Arrays> arrays;
  if (kind == ElementKind::float32 || kind == ElementKind::complex64)
    run_update<float>(label, update, make_rule(float()), arrays);
  else
    run_update<double>(label, update, make_rule(double()), arrays);
}

}  // namespace tessera::detail
