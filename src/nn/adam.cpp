// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include <tessera/nn/adam.hpp>

#include "nn/update.hpp"

namespace tessera {

namespace detail {
namespace {

template <class T>
struct AdamRule {
  T weight_decay;
  T weight1;  ///< 1 - beta1
  T beta2;
  T weight2;             ///< 1 - beta2
  T root_of_correction;  ///< √(1 - beta2^t)
  T eps;
  T step_size;  ///< lr / (1 - beta1^t)

  /// Returns torch.lerp(m, g, weight1), which is exact at both ends.
  KOKKOS_FUNCTION T mean(T m, T g) const {
    return weight1 < T(0.5) ? m + weight1 * (g - m) : g - (g - m) * (T(1) - weight1);
  }
  KOKKOS_FUNCTION void operator()(T& p, T gradient, T& m, T& v) const {
    const T g = weight_decay == T(0) ? gradient : gradient + weight_decay * p;
    const T next_m = mean(m, g);
    const T next_v = beta2 * v + weight2 * g * g;
    m = next_m;
    v = next_v;
    p += -step_size * next_m / (Kokkos::sqrt(next_v) / root_of_correction + eps);
  }
};

void update_by_adam(const Update& update, const nn::AdamOptions& options) {
  const auto step = static_cast<double>(update.step);
  const double correction1 = 1 - std::pow(options.beta1, step);
  const double correction2 = 1 - std::pow(options.beta2, step);
  run_update<2>("tessera::nn::Adam", update, [&]<class T>(T) {
    return AdamRule<T>{static_cast<T>(options.weight_decay),    static_cast<T>(1 - options.beta1),
                       static_cast<T>(options.beta2),           static_cast<T>(1 - options.beta2),
                       static_cast<T>(std::sqrt(correction2)),  static_cast<T>(options.eps),
                       static_cast<T>(options.lr / correction1)};
  });
}

void require_beta(std::string_view name, double beta) {
  require(beta >= 0 && beta < 1,
          [&] { return fmt::format("expected {} in [0, 1), got {}", name, beta); });
}

void require_adam(const nn::AdamOptions& options) {
  require_not_negative("a learning rate", options.lr);
  require_not_negative("an eps", options.eps);
  require_not_negative("a weight decay", options.weight_decay);
  require_beta("beta1", options.beta1);
  require_beta("beta2", options.beta2);
}

}  // namespace
}  // namespace detail

struct nn::Adam::State {
  AdamOptions options;
  detail::Optimizer optimizer;
};

nn::Adam::Adam(const Module& module, const AdamOptions& options) {
  detail::named("Adam", [&] { detail::require_adam(options); });
  state_ = std::make_shared<State>(State{options, detail::Optimizer("Adam", module, 2)});
}

void nn::Adam::step() {
  for (const auto& update : state_->optimizer.next_updates())
    detail::update_by_adam(update, state_->options);
}

void nn::Adam::zero_grad() {
  state_->optimizer.zero_grad();
}

const nn::AdamOptions& nn::Adam::options() const {
  return state_->options;
}

void nn::Adam::set_lr(double lr) {
  detail::named("Adam::set_lr", [&] { detail::require_not_negative("a learning rate", lr); });
  state_->options.lr = lr;
}

}  // namespace tessera
