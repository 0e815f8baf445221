// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <tessera/error/detail/never.hpp>
#include <tessera/grad/elementwise.hpp>
#include <tessera/grad/linear_algebra.hpp>
#include <tessera/grad/shapes.hpp>
#include <tessera/nn/module.hpp>
#include <tessera/ops/elementwise.hpp>
#include <tessera/ops/matmul.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/detail/view_traits.hpp>

namespace tessera {

namespace nn {

/// Says what a Linear has, and which initial values.
struct LinearOptions {
  bool bias = true;  ///< whether it has a bias
  /// Selects the initial values, as Random does. Without a seed and a stream, the layer takes the next
  /// stream of this process: see Linear.
  std::optional<std::uint64_t> seed = {};
  std::optional<std::uint64_t> stream = {};
};

}  // namespace nn

namespace detail {

/// Throws InvalidArgument unless a layer has at least one feature on both sides.
void require_features(std::int64_t in_features, std::int64_t out_features);
/// Throws InvalidArgument unless the last dim of an input has this many features. `module` is the name in
/// the message.
void require_input(const std::string& module, std::int64_t features, const Extents& shape);

/// Sets the initial values of a layer; `bias` is null if it has none. They are complete on return.
void fill_linear(const nn::LinearOptions& options, const ArrayRef& weight, const ArrayRef* bias);

/// Throws InvalidArgument for a tensor, or a variable of one, whose last dim has other than `features`.
template <class X>
void require_input_of(const std::string& module, std::int64_t features, const X& x) {
  if constexpr (is_dtensor_v<value_of_t<X>>)
    if (x.device_mesh().coordinate()) require_input(module, features, x.shape());
}

/// Names a View of 1 dim with the elements of V, and its other template arguments.
template <class V>
struct VectorLike {
  using type = void;
};
template <class Data, class... Properties>
struct VectorLike<Kokkos::View<Data, Properties...>> {
  using type = Kokkos::View<typename Kokkos::View<Data, Properties...>::non_const_value_type*,
                            Properties...>;
};
/// Names the View type of the parameters of 1 dim of a layer: View<double*> of View<double**>.
template <class V>
using vector_like_t =
    std::conditional_t<is_allocatable<typename VectorLike<V>::type>, typename VectorLike<V>::type,
                       view_like_t<V, std::remove_const_t<element_of<V>>, 1>>;

/// Returns whether a layer with parameters in Views of type V takes an X. If not, it stops the compiler with a
/// sentence.
template <class V, class X>
consteval bool expect_input() {
  if constexpr (!is_dtensor_v<value_of_t<X>>) {
    static_assert(never<X>,
                  "a layer takes a tensor, or a variable of one; make a tensor of a View by "
                  "from_local(view, mesh, ...)");
    return false;
  } else {
    using T = std::remove_const_t<typename value_of_t<X>::value_type>;
    constexpr bool is_one_type = std::is_same_v<T, std::remove_const_t<element_of<V>>>;
    static_assert(is_one_type,
                  "a layer takes elements of the type of its parameters: convert the input by "
                  "to<T>(x)");
    return is_one_type;
  }
}

/// Returns whether a Linear can hold its weight in a V. If not, it stops the compiler with a sentence.
template <class V>
consteval bool expect_linear() {
  constexpr auto kind = element_kind<element_of<V>>;
  constexpr bool is_matrix = rank_of<V> == 2;
  constexpr bool is_number = kind == ElementKind::float32 || kind == ElementKind::float64 ||
                             kind == ElementKind::complex64 || kind == ElementKind::complex128;
  static_assert(is_matrix || !is_local_view<V>,
                "expected a View type of 2 dims: nn::Linear<Kokkos::View<double**>>");
  static_assert(is_number || !is_local_view<V>,
                "nn::Linear holds numbers of type float or double, or complex numbers of these");
  return is_matrix && is_number && expect_parameter<V>();
}

}  // namespace detail

namespace nn {

/// A Linear computes y = x Wᵀ + b of tensors x of shape (…, in_features), as PyTorch's. V is a View type of
/// 2 dims with elements float, double or complex; x has elements of the same type.
///
/// Parameters: "weight" (out_features, in_features), in Views of type V; "bias" (out_features), in Views
///             of type Linear<V>::Bias, which is View<double*> for View<double**>.
/// Result:     a variable of shape (…, out_features), in the layout of x. It is placed as ops::matmul()
///             says: a weight of column_parallel() splits the last dim of y along its mesh dim, one of
///             row_parallel() gives a Partial sum, to which the bias is added once. Both without an
///             exchange, where the last dim of x is placed as the weight needs it or is replicated.
/// Collective: as ops::matmul() is.
/// Errors:     InvalidArgument before distribute_module(), and for another number of features; those of
///             ops::matmul().
///
/// Initial values are uniform in ±1/sqrt(in_features), also the real and the imaginary part of complex
/// ones. They depend on seed, stream and index alone, so that all ranks have the same. With the tensor
/// u = rand<V>(mesh, target, {out_features, in_features + 1}, {seed, stream}), weight (i, j) is
/// (2 u(i, j) - 1) / sqrt(in_features), and the bias is made of the last column likewise. Layers without a seed and
/// a stream have seed 0 and streams 2^62, 2^62 + 1, … in the order in which this process makes them:
/// ranks have equal values if all of them make the same layers in one order.
///
/// Example: nn::Linear<Kokkos::View<double**>> layer(64, 10);
///          nn::distribute_module(layer, mesh);
///          auto y = layer(x);
/// Copies share the parameters.
template <LocalView V>
class Linear {
 public:
  using Bias = detail::vector_like_t<V>;  ///< View type of the bias

  /// Makes the parameters on this rank. Local. Errors: InvalidArgument for less than 1 feature.
  Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options = {})
      : in_features_(in_features) {
    detail::named("Linear", [&] { detail::require_features(in_features, out_features); });
    if constexpr (detail::expect_linear<V>()) make_parameters(out_features, options);
  }

  /// Returns the list of its parameters.
  const Module& registry() const { return module_; }

  /// Returns the result for a tensor, or a variable of one.
  template <class X>
  auto operator()(const X& x) const {
    if constexpr (!detail::expect_input<V, X>())
      return detail::Unusable();
    else
      return module_.forward([&] {
        detail::require_input_of(module_.name(), in_features_, x);
        auto y = ops::matmul(x, grad::transpose(weight_.variable()));
        if (!bias_) return y;
        return decltype(y)(ops::add(y, bias_->variable()));
      });
  }

 private:
  void make_parameters(std::int64_t out_features, const LinearOptions& options) {
    const auto weight =
        detail::allocate<V>({out_features, in_features_}, "tessera::nn::Linear weight");
    weight_ = module_.register_parameter("weight", weight);
    if (!options.bias) return detail::fill_linear(options, array_ref(weight), nullptr);
    const auto bias = detail::allocate<Bias>({out_features}, "tessera::nn::Linear bias");
    bias_ = module_.register_parameter("bias", bias);
    const auto bias_array = array_ref(bias);
    detail::fill_linear(options, array_ref(weight), &bias_array);
  }

  std::int64_t in_features_;
  Module module_{"Linear"};
  Parameter<V> weight_{nullptr};
  std::optional<Parameter<Bias>> bias_;
};

}  // namespace nn
}  // namespace tessera
