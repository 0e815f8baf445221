// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/dtensor.hpp>

namespace tessera::detail {

/// Is a buffer of a ContextParallel scope: a variable that holds a tensor of any View type.
class AnyBuffer {
 public:
  AnyBuffer() = default;
  AnyBuffer(const AnyBuffer&) = delete;
  AnyBuffer& operator=(const AnyBuffer&) = delete;
  virtual ~AnyBuffer() = default;

  /// Returns another object for the same variable, which keeps other tensors.
  virtual std::shared_ptr<AnyBuffer> another() const = 0;
  /// Returns the address of the variable.
  virtual const void* address() const = 0;
  /// Returns whether it is a tensor, and not a parameter or a variable of a tape. All other functions expect one.
  virtual bool is_tensor() const = 0;
  virtual const DeviceMesh& device_mesh() const = 0;
  virtual const DTensorSpec& spec() const = 0;
  virtual ElementType type() const = 0;
  virtual PlanSettings settings() const = 0;
  /// Throws InvalidArgument unless the Views can hold all pieces of `target`.
  virtual void require_target(const DTensorSpec& target) const = 0;
  /// Returns the local pieces of the tensor and of a new one, which it allocates.
  virtual Pieces begin(const DTensorSpec& target) = 0;
  /// Returns an object that keeps the memory of both tensors.
  virtual std::shared_ptr<void> memory() const = 0;
  /// Sets the variable to the new tensor.
  virtual void replace() = 0;
  /// Sets the variable to the old tensor.
  virtual void restore() = 0;
};

/// Is a variable of type DTensor<V>.
template <LocalView V>
class TensorBuffer final : public AnyBuffer {
 public:
  explicit TensorBuffer(DTensor<V>& tensor) : tensor_(&tensor) {}

  std::shared_ptr<AnyBuffer> another() const override {
    return std::make_shared<TensorBuffer>(*tensor_);
  }
  const void* address() const override { return tensor_; }
  bool is_tensor() const override { return true; }
  const DeviceMesh& device_mesh() const override { return tensor_->device_mesh(); }
  const DTensorSpec& spec() const override { return tensor_->spec(); }
  ElementType type() const override { return element_type_of<V>(); }
  PlanSettings settings() const override { return settings_for<V, Allocated>(); }
  void require_target(const DTensorSpec& target) const override {
    require_representable<Allocated>(target);
  }
  Pieces begin(const DTensorSpec& target) override {
    const auto made =
        allocate_dtensor<Allocated>(device_mesh(), target, "tessera::ContextParallel");
    const Pieces pieces{array_ref(tensor_->to_local()), array_ref(made.to_local())};
    if constexpr (std::is_same_v<Allocated, V>)
      new_ = made;
    else
      new_ = DTensorAccess::make(V(made.to_local()), device_mesh(), target,
                                 local_box(device_mesh(), target), DTensorAccess::memory(made));
    return pieces;
  }
  std::shared_ptr<void> memory() const override {
    return std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(
        DTensorAccess::memory(*tensor_), DTensorAccess::memory(new_));
  }
  void replace() override {
    old_ = std::move(*tensor_);
    *tensor_ = std::move(new_);
  }
  void restore() override { *tensor_ = std::move(old_); }

 private:
  using Allocated = redistributed_view_t<V>;

  DTensor<V>* tensor_;
  DTensor<V> old_, new_;
};

/// Is a parameter or a variable of a tape, which is no buffer: ContextParallel says so on all ranks.
class ParameterBuffer final : public AnyBuffer {
 public:
  explicit ParameterBuffer(const void* address) : address_(address) {}

  std::shared_ptr<AnyBuffer> another() const override {
    return std::make_shared<ParameterBuffer>(address_);
  }
  const void* address() const override { return address_; }
  bool is_tensor() const override { return false; }
  const DeviceMesh& device_mesh() const override { return none_.device_mesh(); }
  const DTensorSpec& spec() const override { return none_.spec(); }
  ElementType type() const override { return {}; }
  PlanSettings settings() const override { return {}; }
  void require_target(const DTensorSpec&) const override {}
  Pieces begin(const DTensorSpec&) override { return {}; }
  std::shared_ptr<void> memory() const override { return nullptr; }
  void replace() override {}
  void restore() override {}

 private:
  const void* address_;
  DTensor<Kokkos::View<double*>> none_;
};

}  // namespace tessera::detail
