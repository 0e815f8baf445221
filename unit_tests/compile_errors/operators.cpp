// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

#ifdef MISTAKE_dtensor_plus_view
// expect: or write x + implicit(view) with ImplicitReplication implicit(mesh)
void program() {
  auto z = x + view;
}
#endif

#ifdef MISTAKE_view_minus_dtensor
// expect: or write x + implicit(view) with ImplicitReplication implicit(mesh)
void program() {
  auto z = view - x;
}
#endif

#ifdef MISTAKE_maximum_of_a_dtensor_and_a_view
// expect: or write x + implicit(view) with ImplicitReplication implicit(mesh)
void program() {
  auto z = ops::maximum(x, view);
}
#endif

#ifdef MISTAKE_integers_plus_floating_point_numbers
// expect: convert one of them by to<T>(x)
void program() {
  auto z = n + x;
}
#endif

#ifdef MISTAKE_integers_plus_a_fraction
// expect: convert the tensor by to<T>(x), or the number
void program() {
  auto z = n * 0.5;
}
#endif

#ifdef MISTAKE_complex_number_times_real_dtensor
// expect: convert the tensor by to<T>(x), or the number
void program() {
  auto z = x * Kokkos::complex<double>(0, 1);
}
#endif

#ifdef MISTAKE_square_root_of_integers
// expect: convert the operand by to<T>(x), as in sqrt(to<double>(x))
void program() {
  auto z = ops::sqrt(n);
}
#endif

#ifdef MISTAKE_complex_numbers_compared
// expect: this operator has no result for elements of this type
void program() {
  auto z = c < c;
}
#endif

#ifdef MISTAKE_double_added_to_float
// expect: the result has another element type than the tensor that is changed
void program() {
  f += x;
}
#endif

#ifdef MISTAKE_const_dtensor_changed
// expect: expected a tensor that can be written: its View has const elements
void program() {
  DTensor<Kokkos::View<const double**>> z;
  z += 1.0;
}
#endif

#ifdef MISTAKE_dtensors_compared
// expect: a DTensor has no ==: write equal(x, y)
void program() {
  bool same = x == y;
}
#endif

#ifdef MISTAKE_dtensors_compared_for_difference
// expect: a DTensor has no ==: write equal(x, y)
void program() {
  bool differ = x != y;
}
#endif

#ifdef MISTAKE_least_element_over_too_many_dims
// expect: a reduction cannot go over more dims than the tensor has
void program() {
  auto z = ops::min(x, Dims{0, 1, 2});
}
#endif

#ifdef MISTAKE_reduction_over_dims_in_a_vector
// expect: a reduction takes one dim, Dims{0, 2}, KeepDims{0}, or nothing for all dims
void program() {
  auto z = ops::sum(x, std::vector<int>{0, 1});
}
#endif

#ifdef MISTAKE_any_of_numbers
// expect: or compare it first, as in any(x != 0) written ops::not_equal_to(x, 0)
void program() {
  auto z = ops::any(x);
}
#endif

#ifdef MISTAKE_item_of_a_vector
// expect: items takes tensors of 0 dims, such as results of ops::sum(x)
void program() {
  auto [value] = items(v);
}
#endif

#ifdef MISTAKE_closeness_of_different_types
// expect: allclose takes tensors of one element type: convert one of them by to<T>(x)
void program() {
  bool close = allclose(x, f);
}
#endif

#ifdef MISTAKE_dot_of_matrices
// expect: dot takes two tensors of 1 dim, vdot two of one shape
void program() {
  auto z = ops::dot(x, y);
}
#endif

#ifdef MISTAKE_map_of_another_number_of_tensors
// expect: map: expected a function of one element of each operand
void program() {
  auto z = map(
      KOKKOS_LAMBDA(double a) { return 2 * a; }, x, y);
}
#endif

#ifdef MISTAKE_ramp_of_a_matrix
// expect: expected a View type of 1 dim: arange<Kokkos::View<double*>>(...)
void program() {
  auto z = arange<Matrix>(mesh, {Shard(0)}, 10);
}
#endif

#ifdef MISTAKE_operators_as_meant
// expect: compiles
void program() {
  DTensor<Matrix> a = x + y * 2 - 1.5;
  a += ops::exp(-x);
  DTensor<Matrix> b = x + ImplicitReplication(mesh)(view);
  auto complex = x * c + f;
  auto converted = to<double>(n) / x;
  auto chosen = ops::where(flags && x < y, x, 0);
  auto [total, largest] = items(ops::sum(x), ops::max(x, Dims{0, 1}));
  bool same = equal(x, y) || allclose(x, y);
  auto mapped = map(
      KOKKOS_LAMBDA(double p, double q) { return p + 2 * q; }, x, y);
  ops::sum(Kokkos::DefaultExecutionSpace(), x, KeepDims{0});
}
#endif
