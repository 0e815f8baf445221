// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tessera/nn/sgd.hpp>

#include "nn/update.hpp"

namespace tessera {

namespace detail {
namespace {

template <class T>
struct PlainSgd {
  T lr;
  T weight_decay;

  KOKKOS_FUNCTION T decayed(T p, T g) const {
    return weight_decay == T(0) ? g : g + weight_decay * p;
  }
  KOKKOS_FUNCTION void operator()(T& p, T g) const { p += -lr * decayed(p, g); }
};

template <class T>
struct MomentumSgd {
  PlainSgd<T> plain;
  T momentum;
  T undampened;  ///< 1 - dampening
  bool is_first;
  bool nesterov;

  KOKKOS_FUNCTION void operator()(T& p, T gradient, T& b) const {
    const T g = plain.decayed(p, gradient);
    const T next = is_first ? g : momentum * b + undampened * g;
    b = next;
    p += -plain.lr * (nesterov ? g + momentum * next : next);
  }
};

template <class T>
PlainSgd<T> plain_sgd(const nn::SgdOptions& options) {
  return {static_cast<T>(options.lr), static_cast<T>(options.weight_decay)};
}

void update_by_sgd(const Update& update, const nn::SgdOptions& options) {
  constexpr auto label = "tessera::nn::SGD";
  if (options.momentum == 0)
    return run_update<0>(label, update, [&]<class T>(T) { return plain_sgd<T>(options); });
  run_update<1>(label, update, [&]<class T>(T) {
    return MomentumSgd<T>{plain_sgd<T>(options), static_cast<T>(options.momentum),
                          static_cast<T>(1 - options.dampening), update.step == 1,
                          options.nesterov};
  });
}

void require_sgd(const nn::SgdOptions& options) {
  require_not_negative("a learning rate", options.lr);
  require_not_negative("a momentum", options.momentum);
  require_not_negative("a weight decay", options.weight_decay);
  require(!options.nesterov || (options.momentum > 0 && options.dampening == 0), [&] {
    return fmt::format(
        "expected nesterov with a momentum and without dampening, got momentum {} and dampening {}",
        options.momentum, options.dampening);
  });
}

}  // namespace
}  // namespace detail

struct nn::SGD::State {
  SgdOptions options;
  detail::Optimizer optimizer;
};

nn::SGD::SGD(const Module& module, const SgdOptions& options) {
  detail::named("SGD", [&] { detail::require_sgd(options); });
  const std::size_t arrays = options.momentum == 0 ? 0 : 1;
  state_ = std::make_shared<State>(State{options, detail::Optimizer("SGD", module, arrays)});
}

void nn::SGD::step() {
  for (const auto& update : state_->optimizer.next_updates())
    detail::update_by_sgd(update, state_->options);
}

void nn::SGD::zero_grad() {
  state_->optimizer.zero_grad();
}

const nn::SgdOptions& nn::SGD::options() const {
  return state_->options;
}

void nn::SGD::set_lr(double lr) {
  detail::named("SGD::set_lr", [&] { detail::require_not_negative("a learning rate", lr); });
  state_->options.lr = lr;
}

}  // namespace tessera
