// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <tessera/error/error.hpp>
#include <tessera/grad/tape.hpp>
#include <tessera/grad/variable.hpp>
#include <tessera/mesh/device_mesh.hpp>
#include <tessera/redistribute/redistributor.hpp>
#include <tessera/sharding/spec.hpp>
#include <tessera/sharding/target.hpp>
#include <tessera/tensor/array_ref.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera::detail {

/// Is a parameter or a buffer of a module, of any View type. Before it is distributed, each rank has
/// a View of it; afterwards it is a tensor.
class AnyParameter {
 public:
  AnyParameter(std::string name, bool trainable, bool is_buffer)
      : name_(std::move(name)), trainable_(trainable), is_buffer_(is_buffer) {}
  AnyParameter(const AnyParameter&) = delete;
  AnyParameter& operator=(const AnyParameter&) = delete;
  virtual ~AnyParameter() = default;

  /// Returns the name that it was registered by; once it is distributed, after the name of its
  /// module, as "fc1.weight".
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  bool is_trainable() const { return trainable_; }
  bool is_buffer() const { return is_buffer_; }
  /// Returns the placements that Module::place() has asked for.
  const std::optional<Target>& target() const { return target_; }
  void set_target(std::optional<Target> target) { target_ = std::move(target); }

  virtual bool is_distributed() const = 0;
  virtual ElementType type() const = 0;
  /// Returns the spec of the tensor. Expects that it is distributed.
  virtual const DTensorSpec& spec() const = 0;
  /// Returns the mesh of the tensor. Expects that it is distributed.
  virtual const DeviceMesh& device_mesh() const = 0;
  /// Returns this rank's data: the View or, once it is distributed, the local piece.
  virtual ArrayRef data() const = 0;
  /// Returns an object that keeps the memory of data(), and what allocate() has made.
  virtual std::shared_ptr<void> memory() const = 0;

  /// Returns how plans of it are made.
  virtual PlanSettings settings() const = 0;

  /// Allocates the tensor and returns its local piece. It takes the place of the View when accept() is
  /// called.
  virtual ArrayRef allocate(const DeviceMesh& mesh, const DTensorSpec& spec) = 0;
  virtual void accept() = 0;

  /// Makes it a variable of a tape. Expects that it is distributed, and a parameter.
  virtual void watch(grad::Tape& tape) = 0;
  /// Returns this rank's piece of the gradient, placed as the tensor is; none if there is no gradient.
  virtual std::optional<ArrayRef> gradient() const = 0;
  /// Forgets the gradient.
  virtual void zero_grad() = 0;

 private:
  std::string name_;
  bool trainable_;
  bool is_buffer_;
  std::optional<Target> target_;
};

/// Throws InvalidArgument: a module computes with a parameter that is not distributed.
[[noreturn]] void throw_not_distributed(const std::string& name);

/// Is true for element types whose values have gradients.
template <class T>
inline constexpr bool is_differentiable = is_floating(element_kind<T>) ||
                                          is_complex(element_kind<T>);

/// Is a parameter in Views of type V.
template <class V>
class ParameterOf : public AnyParameter {
 public:
  static constexpr bool has_gradient = is_differentiable<typename V::value_type>;

  ParameterOf(std::string name, const V& view, bool trainable, bool is_buffer)
      : AnyParameter(std::move(name), trainable, is_buffer), view_(view) {}

  const grad::Variable<V>& variable() const {
    if (!variable_) throw_not_distributed(name());
    return *variable_;
  }
  /// Takes a tensor in place of what there was.
  void set(const DTensor<V>& tensor) {
    view_ = V();
    variable_ = VariableAccess::make<DTensor<V>>(tensor, nullptr, nullptr);
  }

  bool is_distributed() const override { return variable_.has_value(); }
  ElementType type() const override { return element_type<typename V::value_type>(); }
  const DTensorSpec& spec() const override { return variable().spec(); }
  const DeviceMesh& device_mesh() const override { return variable().device_mesh(); }
  ArrayRef data() const override {
    return array_ref(variable_ ? variable_->detach().to_local() : view_);
  }
  std::shared_ptr<void> memory() const override {
    return variable_ ? DTensorAccess::memory(variable_->detach()) : held(view_, new_.to_local());
  }

  PlanSettings settings() const override { return plain_settings<V>(); }

  ArrayRef allocate(const DeviceMesh& mesh, const DTensorSpec& spec) override {
    new_ = allocate_dtensor<V>(mesh, spec, "tessera::distribute_module");
    return array_ref(new_.to_local());
  }
  void accept() override {
    set(new_);
    new_ = {};
  }

  void watch(grad::Tape& tape) override {
    if constexpr (has_gradient) variable_ = tape.watch(variable().detach());
  }
  std::optional<ArrayRef> gradient() const override {
    if constexpr (has_gradient)
      if (variable().has_grad()) return array_ref(variable().grad().to_local());
    return {};
  }
  void zero_grad() override {
    if constexpr (has_gradient)
      if (const auto& slot = VariableAccess::slot(variable()); slot)
        std::static_pointer_cast<LeafSlot<DTensor<V>>>(slot)->zero();
  }

 private:
  V view_;                                     ///< this rank's View, until it is distributed
  std::optional<grad::Variable<V>> variable_;  ///< the tensor, once it is distributed
  DTensor<V> new_;                             ///< what allocate() has made, until accept()
};

}  // namespace tessera::detail
