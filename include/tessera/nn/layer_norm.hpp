// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include <tessera/error/detail/never.hpp>
#include <tessera/grad/detail/record.hpp>
#include <tessera/grad/elementwise.hpp>
#include <tessera/grad/reductions.hpp>
#include <tessera/nn/linear.hpp>
#include <tessera/nn/module.hpp>
#include <tessera/ops/dims.hpp>
#include <tessera/ops/elementwise.hpp>
#include <tessera/ops/reductions.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/redistribute/redistribute_all.hpp>
#include <tessera/tensor/detail/view_traits.hpp>

namespace tessera {

namespace nn {

/// Says how a LayerNorm computes.
struct LayerNormOptions {
  double eps = 1e-5;  ///< is added to the variance
};

}  // namespace nn

namespace detail {

/// Throws InvalidArgument for less than 1 feature, and unless eps is a number of at least 0.
void require_layer_norm(std::int64_t features, const nn::LayerNormOptions& options);

/// Returns the operand, reduced if it is Partial. Errors: PlacementMismatch where it must not be.
template <class X>
auto without_partial(const X& x, const char* function) {
  if constexpr (is_variable_v<X>)
    return reduced_operand(x, function);
  else
    return values_of(Execution(), x, function);
}

/// Returns two means whose ranks hold parts, as values on all of them. They travel together.
template <class T>
std::array<T, 2> reduced_together(const std::array<T, 2>& means) {
  const auto& spec = means[0].spec();
  if (!spec.placements().has_partial()) return means;
  return redistribute_all(means, Target(like_spec(spec)));
}

/// Returns how parameters are placed that meet a tensor of `spec` along its last dim: split as that is, if `own`, the
/// spec of the parameters, is all Replicate; otherwise `own`.
DTensorSpec spec_along_last_dim(const DTensorSpec& spec, const DTensorSpec& own);

/// Holds what the backward pass of a LayerNorm needs.
template <class X, class N, class D, class W>
struct LayerNormInputs {
  Input<X> x;
  Input<N> normalized;  ///< n = (x - mean) / deviation
  Input<D> deviation;
  Input<W> weight;
  Input<W> bias;
  Input<W> factor;  ///< the weight, placed as n
};

/// Passes on the gradients: with dn = dy · weight, that of x is (dn - mean(dn) - n mean(n dn)) / deviation.
template <class Inputs, class G>
void add_layer_norm_gradients(const Inputs& inputs, const G& gradient) {
  const KeepDims<1> last(-1);
  const auto& n = inputs.normalized.value();
  const auto dy = redistribute(gradient, Target(inputs.normalized.form().spec));
  const auto& weight = inputs.weight;
  const auto& bias = inputs.bias;
  if (bias.is_wanted()) bias.add(unstretched(bias.form(), dy));
  if (weight.is_wanted()) weight.add(unstretched(weight.form(), ops::multiply(dy, n)));
  if (!inputs.x.is_wanted()) return;
  const auto dn = ops::multiply(dy, inputs.factor.value());
  const auto [mean, product] =
      reduced_together(std::array{ops::mean(dn, last), ops::mean(ops::multiply(dn, n), last)});
  const auto difference = ops::subtract(ops::subtract(dn, mean), ops::multiply(n, product));
  inputs.x.add(ops::divide(difference, inputs.deviation.value()));
}

/// Returns (x - mean) / sqrt(variance + eps) · weight + bias.
template <class X, class W>
auto layer_norm(const X& operand, const grad::Variable<W>& weight, const grad::Variable<W>& bias,
                double eps) {
  constexpr auto name = "LayerNorm";
  const KeepDims<1> last(-1);
  const auto x = without_partial(operand, name);
  const auto& values = value_of(x);
  const auto centred = ops::subtract(values, whole(Execution(), ops::mean(values, last)));
  const auto variance = whole(Execution(), ops::mean(ops::square(centred), last));
  using T = typename OperandElement<value_of_t<X>>::type;
  const auto deviation = ops::sqrt(ops::add(variance, static_cast<T>(eps)));
  const auto n = ops::divide(centred, deviation);
  const Target placed(spec_along_last_dim(n.spec(), weight.spec()));
  const auto factor = redistribute(weight.detach(), placed);
  const auto y =
      ops::add(ops::multiply(n, factor),
               redistribute(bias.detach(), Target(spec_along_last_dim(n.spec(), bias.spec()))));
  const auto tape = tape_of(x, weight, bias);
  if (!tape) return unrecorded(y);
  using Values = value_of_t<X>;
  const LayerNormInputs<Values, std::remove_const_t<decltype(n)>,
                        std::remove_const_t<decltype(deviation)>, DTensor<W>>
      inputs{
          input_of(*tape, name, x, Keep::nothing),    input_of(*tape, name, n),
          input_of(*tape, name, deviation),           input_of(*tape, name, weight, Keep::nothing),
          input_of(*tape, name, bias, Keep::nothing), input_of(*tape, name, factor)};
  return recorded(tape, y,
                  [inputs](const auto& gradient) { add_layer_norm_gradients(inputs, gradient); });
}

/// Returns whether a LayerNorm computes with elements of a V. If not, it stops the compiler with a sentence.
template <class V>
consteval bool expect_layer_norm() {
  constexpr auto kind = element_kind<element_of<V>>;
  constexpr bool is_number = kind == ElementKind::float32 || kind == ElementKind::float64;
  static_assert(is_number || !is_local_view<V>, "nn::LayerNorm computes with float or double");
  return is_number && is_local_view<V>;
}

}  // namespace detail

namespace nn {

/// A LayerNorm computes y = (x - mean) / sqrt(variance + eps) · weight + bias, as PyTorch's, with the mean
/// and the variance of x along its last dim; the variance divides by the number of features. V is a View
/// type like those of x: it gives the element type, float or double, the layout and the memory space.
/// x has any number of dims.
///
/// Parameters: "weight" (features), of ones at first, and "bias" (features), of zeros; both in Views of
///             type LayerNorm<V>::Vector, which is View<double*> for View<double**>.
/// Result:     a variable placed as x, which is reduced first if it is Partial. Along mesh dims that split the
///             parameters but not x, it is split in its last dim.
/// Collective: where x is Partial, and where its last dim is sharded: then the sums over the features
///             travel, in 2 exchanges, and 1 more in the backward pass; otherwise local, with parameters that
///             are Replicate.
/// Errors:     InvalidArgument before distribute_module(), and for another number of features;
///             PlacementMismatch for parameters that a mesh dim splits which splits another dim of x.
///
/// The mean is subtracted before squares are summed up. The backward pass keeps (x - mean) / sqrt(variance + eps).
/// Copies share the parameters.
template <LocalView V>
class LayerNorm {
 public:
  using Vector = detail::vector_like_t<V>;  ///< View type of the parameters

  /// Makes the parameters on this rank. Local. Errors: InvalidArgument for less than 1 feature, and eps < 0.
  explicit LayerNorm(std::int64_t features, const LayerNormOptions& options = {})
      : features_(features), eps_(options.eps) {
    detail::named("LayerNorm", [&] { detail::require_layer_norm(features, options); });
    if constexpr (detail::expect_layer_norm<V>()) make_parameters();
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
        detail::require_input_of(module_.name(), features_, x);
        return detail::layer_norm(x, weight_.variable(), bias_.variable(), eps_);
      });
  }

 private:
  void make_parameters() {
    const auto weight = detail::allocate<Vector>({features_}, "tessera::nn::LayerNorm weight");
    const auto bias = detail::allocate<Vector>({features_}, "tessera::nn::LayerNorm bias");
    Kokkos::deep_copy(weight, detail::element_of<V>(1));
    Kokkos::deep_copy(bias, detail::element_of<V>(0));
    weight_ = module_.register_parameter("weight", weight);
    bias_ = module_.register_parameter("bias", bias);
  }

  std::int64_t features_;
  double eps_;
  Module module_{"LayerNorm"};
  Parameter<Vector> weight_{nullptr};
  Parameter<Vector> bias_{nullptr};
};

}  // namespace nn
}  // namespace tessera
