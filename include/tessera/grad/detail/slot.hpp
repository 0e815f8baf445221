// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <tessera/ops/elementwise.hpp>
#include <tessera/ops/factories.hpp>
#include <tessera/redistribute/convert.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/sharding/spec.hpp>
#include <tessera/tensor/clone.hpp>
#include <tessera/tensor/dtensor.hpp>

/// A gradient is a value of the same shape as the value that it belongs to: a tensor of a tensor, a View of
/// a View. Gradients of tensors are global arrays as the tensors are; how they are placed is free
/// until they reach a watched variable.
namespace tessera::detail {

/// Names the type of the gradient of a T. Its extents are dynamic: the placements of a gradient may be others
/// than those of the value, and so its local shape.
template <class T>
struct GradientOf;
template <LocalView V>
struct GradientOf<V> {
  using type = typename std::conditional_t<
      V::rank() == V::rank_dynamic(), Redistributed<V>,
      std::type_identity<view_like_t<V, element_of<V>, V::rank()>>>::type;
};
template <class V>
struct GradientOf<DTensor<V>> {
  using type = DTensor<typename GradientOf<V>::type>;
};
template <class T>
using gradient_t = typename GradientOf<T>::type;

/// Returns the shape of a tensor or of a View.
template <class A>
Extents shape_of(const A& operand) {
  if constexpr (is_dtensor_v<A>)
    return operand.shape();
  else
    return extents_of(operand);
}

/// Returns a copy of a View as a To, which may have other elements and another layout.
template <LocalView To, LocalView V>
To copied_view(const V& view) {
  auto result = allocate<To>(extents_of(view), "tessera::gradient");
  change_arrived(Execution(), array_ref(view), array_ref(result), {}, "tessera::gradient");
  return result;
}

/// Converts a gradient to the element type and the layout that the gradient of a T has.
template <class T, class G>
gradient_t<T> as_gradient(const G& gradient) {
  using To = gradient_t<T>;
  if constexpr (std::is_same_v<G, To>) {
    return gradient;
  } else {
    using From = typename OperandElement<G>::type;
    constexpr bool drops_imaginary =
        ComplexNumber<From> && !ComplexNumber<typename OperandElement<To>::type>;
    if constexpr (drops_imaginary) {
      return as_gradient<T>(ops::real(gradient));
    } else if constexpr (is_dtensor_v<G>) {
      return to<typename OperandView<To>::type>(gradient);
    } else {
      return copied_view<To>(gradient);
    }
  }
}

/// Returns a View of the same elements that cannot write them.
template <LocalView V>
typename V::const_type read_only(const V& view) {
  return view;
}
/// Returns a tensor of the same elements that cannot write them.
template <class V>
DTensor<typename V::const_type> read_only(const DTensor<V>& tensor) {
  return DTensorAccess::make_within(typename V::const_type(tensor.to_local()), tensor.spec(),
                                    tensor);
}
/// Names the type of what read_only() returns for a T.
template <class T>
using read_only_t = decltype(read_only(std::declval<const T&>()));

/// Returns a copy of an array in memory of its own, with dynamic extents.
template <class G>
gradient_t<G> copy_of(const G& array) {
  if constexpr (is_dtensor_v<G>)
    return as_gradient<G>(clone(array));
  else
    return copied_view<gradient_t<G>>(array);
}

/// Throws InvalidArgument unless the shapes are equal, or neither has elements.
void require_gradient_shape(const Extents& expected, const Extents& got);

/// Is the place where the gradient of one recorded value arrives during a backward pass.
class AnySlot {
 public:
  explicit AnySlot(std::uint64_t generation) : generation_(generation) {}
  AnySlot(const AnySlot&) = delete;
  AnySlot& operator=(const AnySlot&) = delete;
  virtual ~AnySlot() = default;

  virtual bool has_gradient() const = 0;
  virtual void clear() = 0;
  /// Returns the number of backward passes before that used up what was recorded.
  std::uint64_t generation() const { return generation_; }
  /// Returns whether the value was watched, and so outlives backward passes.
  virtual bool is_leaf() const { return false; }

 private:
  std::uint64_t generation_;
};

/// Holds the gradient of a T that arrives.
template <class T>
class Slot : public AnySlot {
 public:
  using Gradient = gradient_t<T>;

  Slot(const T& value, std::uint64_t generation) : AnySlot(generation) {
    if constexpr (is_dtensor_v<T>) spec_ = like_spec(value.spec());
    if (has_known_shape(value)) shape_ = shape_of(value);
  }

  bool has_gradient() const override { return arrived_.has_value(); }
  void clear() override { arrived_.reset(); }

  /// Adds a gradient to what has arrived. Errors: InvalidArgument for one of another shape.
  template <class G>
  void add(const G& gradient) {
    if (shape_) require_gradient_shape(*shape_, shape_of(gradient));
    const auto converted = as_gradient<T>(gradient);
    arrived_ = arrived_ ? sum(*arrived_, converted) : converted;
  }

  /// Returns what has arrived, and forgets it.
  Gradient take() {
    auto result = std::move(*arrived_);
    arrived_.reset();
    return result;
  }

  /// Returns the sum over all backward passes, of a watched value.
  virtual const read_only_t<Gradient>* total() const { return nullptr; }

 protected:
  /// Adds gradients. Those of unlike placements first become what the value has, with Replicate for Partial.
  Gradient sum(const Gradient& a, const Gradient& b) const {
    if constexpr (is_dtensor_v<T>)
      if (a.spec() != b.spec())
        return Gradient(ops::add(redistribute(a, Target(spec_)), redistribute(b, Target(spec_))));
    return Gradient(ops::add(a, b));
  }

 private:
  static bool has_known_shape(const T& value) {
    if constexpr (is_dtensor_v<T>)
      return value.device_mesh().coordinate().has_value();
    else
      return true;
  }

  std::optional<Extents> shape_;  ///< absent off the mesh of a tensor, where no rank may know it
  DTensorSpec spec_;  ///< what gradients of a tensor become to be added, if their placements differ
  std::optional<Gradient> arrived_;
};

}  // namespace tessera::detail
