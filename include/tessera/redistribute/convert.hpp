// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <tessera/redistribute/detail/redistribution.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/execution.hpp>

namespace tessera {

namespace detail {

/// Names the data type of a View with elements of type T in place of its own.
template <class Data, class T>
struct WithElement {
  using type = T;
};
template <class Data, class T>
struct WithElement<Data*, T> {
  using type = typename WithElement<Data, T>::type*;
};
template <class Data, std::size_t N, class T>
struct WithElement<Data[N], T> {
  using type = typename WithElement<Data, T>::type[N];
};

/// Names the View type of to<To>() of a V: To itself if it is a View type, otherwise that of a result
/// with elements of type To.
template <class V, class To>
struct Converted {
  using Result = redistributed_view_t<V>;
  using Other = Kokkos::View<typename WithElement<typename Result::data_type, To>::type,
                             typename Result::array_layout, typename Result::device_type>;
  using type = std::conditional_t<std::is_same_v<To, typename Result::value_type>, Result, Other>;
};
template <class V, LocalView To>
struct Converted<V, To> {
  using type = redistributed_view_t<V, To>;
};

/// Throws if the contributions of a Partial cannot be converted one by one.
void require_convertible(const DTensorSpec& spec, ElementType from, ElementType to);

}  // namespace detail

/// Names the View type of the result of to<To>() of a DTensor<V>.
template <LocalView V, class To>
using converted_view_t = typename detail::Converted<V, To>::type;

/// Returns the tensor with elements of type To, a number type; or in Views of type To, which may also
/// have another layout or lie in another memory space. The spec stays. Local: nothing travels.
///
/// Numbers are converted as by static_cast, with three exceptions: a floating-point number that no
/// integer can hold becomes the largest or the least one, NaN becomes 0, and any number but 0 becomes
/// true. Complex numbers do not become real. If To is the tensor's own View type, the result is the
/// same memory.
///
/// Example: to<float>(x); to<Kokkos::View<float**, Kokkos::HostSpace>>(x).
/// Collective: no. Errors: InvalidArgument for a Partial whose sum differs from the sum of converted
///             contributions: of sums and averages, floating-point and complex numbers convert into
///             such numbers; of P(max) and P(min), real numbers into real ones.
template <class To, LocalView V>
DTensor<converted_view_t<V, To>> to(const DTensor<V>& tensor) {
  return to<To>(Execution(), tensor);
}
/// Orders the work on `exec`.
template <class To, LocalView V>
DTensor<converted_view_t<V, To>> to(const Execution& exec, const DTensor<V>& tensor) {
  using Result = converted_view_t<V, To>;
  static_assert(detail::elements_convert<V, Result>,
                "to<T>: expected number types, and no real one for complex numbers");
  if constexpr (std::is_same_v<Result, V>) {
    return tensor;
  } else {
    return detail::named("to", [&] {
      const auto& mesh = tensor.device_mesh();
      detail::require_convertible(tensor.spec(), detail::element_type_of<V>(),
                                  detail::element_type_of<Result>());
      detail::require_representable<Result>(tensor.spec());
      auto result = detail::allocate_dtensor<Result>(mesh, tensor.spec(), "tessera::to");
      if (!mesh.coordinate()) return result;
      if (!exec.is_given()) exec.fence("tessera::to: before reading the source");
      detail::change_arrived(exec, array_ref(tensor.to_local()), array_ref(result.to_local()), {},
                             "tessera::to");
      return result;
    });
  }
}

}  // namespace tessera
