// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Programs that a new user writes. compile_errors_test.py compiles each of them alone, with the name of its #ifdef
// defined, and looks for the text after `expect:` in what the compiler says. `expect: compiles` is a program that works.
#include <array>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tessera/tessera.hpp>

using namespace tessera;
using Matrix = Kokkos::View<double**>;
using Vector = Kokkos::View<double*>;
using Index = Kokkos::Array<std::int64_t, 2>;

extern const DeviceMesh mesh;
extern const DTensor<Matrix> x, y;
extern const Matrix view;
extern const grad::Variable<Matrix> variable;

// --- local_map: the function ---------------------------------------------------------------------

#ifdef MISTAKE_function_of_other_views
// expect: local_map: func cannot be called with the local Views of these arguments
void program() {
  auto f = local_map([](Kokkos::View<float*> piece) { return piece; }, {Shard(0)});
  auto z = f(x);
}
#endif

#ifdef MISTAKE_function_of_a_dtensor
// expect: local_map: func cannot be called with the local Views of these arguments
void program() {
  auto f = local_map([](DTensor<Matrix> tensor) { return tensor.to_local(); }, {Shard(0)});
  auto z = f(x);
}
#endif

#ifdef MISTAKE_function_of_a_reference
// expect: local_map: func cannot be called with the local Views of these arguments
void program() {
  auto f = local_map([](Matrix& piece) { piece = Matrix("new", 3, 3); }, none);
  f(x);
}
#endif

#ifdef MISTAKE_function_of_fewer_arguments
// expect: local_map: func cannot be called with the local Views of these arguments
void program() {
  auto f = local_map([](Matrix piece) { return piece; }, {Shard(0)});
  auto z = f(x, y);
}
#endif

#ifdef MISTAKE_function_of_more_arguments
// expect: local_map: func cannot be called with the local Views of these arguments
void program() {
  auto f = local_map([](Matrix piece, double factor) { piece(0, 0) *= factor; }, none);
  f(x);
}
#endif

#ifdef MISTAKE_generic_function_that_takes_views_for_tensors
// expect: no member named
void program() {
  auto f = local_map([](const auto& tensor) { return tensor.to_local(); }, {Shard(0)});
  auto z = f(x);
}
#endif

#ifdef MISTAKE_generic_function_of_more_arguments
// expect: local_map: func cannot be called with the local Views of these arguments
void program() {
  auto f = local_map([](auto piece, auto factor) { piece(0, 0) *= factor; }, none);
  f(x);
}
#endif

#ifdef MISTAKE_mutable_function
// expect: local_map: func is called as const; remove mutable from the lambda
void program() {
  auto f = local_map([n = 0](Matrix piece) mutable { piece(0, 0) = ++n; }, none);
  f(x);
}
#endif

#ifdef MISTAKE_no_function
// expect: local_map: func cannot be called with the local Views of these arguments
void program() {
  auto f = local_map(x, {Shard(0)});
  auto z = f(x);
}
#endif

#ifdef MISTAKE_variable
// expect: use grad::local_map(func, vjp, ...), or pass variable.detach()
void program() {
  auto f = local_map([](Matrix piece) { return piece; }, {Shard(0)});
  auto z = f(variable);
}
#endif

#ifdef MISTAKE_variables_in_a_vector
// expect: use grad::local_map(func, vjp, ...), or pass variable.detach()
void program() {
  auto f = local_map([](const auto& pieces) { return pieces[0]; }, {Shard(0)});
  auto z = f(std::vector{variable, variable});
}
#endif

#ifdef MISTAKE_variables_in_a_vector_for_an_adjoint
// expect: grad::local_map: variables, and tensors beside them, are arguments of their own
void program() {
  auto f =
      grad::local_map([](const auto& pieces) { return pieces[0]; },
                      [](const auto&, const Matrix&, const Matrix& dy) { return dy; }, {Shard(0)});
  auto z = f(std::vector{variable, variable});
}
#endif

#ifdef MISTAKE_variables_deep_in_a_tree
// expect: use grad::local_map(func, vjp, ...), or pass variable.detach()
void program() {
  auto f = local_map([](const auto& tree) { return tree[0].first[0]; }, {Shard(0)});
  auto z = f(std::vector{std::pair(std::array{variable, variable}, 1.0)});
}
#endif

#ifdef MISTAKE_variables_deep_in_a_tree_for_an_adjoint
// expect: grad::local_map: variables, and tensors beside them, are arguments of their own
void program() {
  auto f =
      grad::local_map([](const auto& tree) { return tree[0].first; },
                      [](const auto&, const Matrix&, const Matrix& dy) { return dy; }, {Shard(0)});
  auto z = f(std::vector{std::pair(variable, 1.0)});
}
#endif

#ifdef MISTAKE_tensors_in_a_tree_beside_a_variable
// expect: grad::local_map: variables, and tensors beside them, are arguments of their own
void program() {
  auto f = grad::local_map(
      [](const auto&, Matrix piece) { return piece; },
      [](const auto&, const Matrix&, const Matrix&, const Matrix& dy) { return dy; }, {Shard(0)});
  auto z = f(std::vector{std::pair(x, 1.0)}, variable);
}
#endif

#ifdef MISTAKE_function_of_another_tree
// expect: local_map: func cannot be called with the local Views of these arguments
void program() {
  auto f = local_map([](const std::vector<Matrix>& list) { return list[0]; }, {Shard(0)});
  auto z = f(std::vector{std::pair(x, 1.0)});
}
#endif

#ifdef MISTAKE_adjoint_of_fewer_arguments
// expect: vjp cannot be called: it needs a parameter
void program() {
  auto f = grad::local_map([](Matrix piece) { return piece; },
                           [](const Matrix&, const Matrix& dy) { return dy; }, {Shard(0)});
  auto z = f(variable);
}
#endif

#ifdef MISTAKE_adjoint_of_fewer_results
// expect: vjp returns one gradient for each argument that is a variable
void program() {
  auto f = grad::local_map(
      [](Matrix a, Matrix) { return a; },
      [](const Matrix&, const Matrix&, const Matrix&, const Matrix& dy) { return dy; }, {Shard(0)});
  auto z = f(variable, variable);
}
#endif

#ifdef MISTAKE_adjoint_that_returns_a_number
// expect: grad::local_map: vjp returns local Views with as many dims as the arguments
void program() {
  auto f =
      grad::local_map([](Matrix piece) { return piece; },
                      [](const Matrix&, const Matrix&, const Matrix&) { return 1.0; }, {Shard(0)});
  auto z = f(variable);
}
#endif

#ifdef MISTAKE_function_without_a_differentiable_output
// expect: grad::local_map: expected an output placement: what is passed on as it is has no gradient
void program() {
  auto f = grad::local_map([](Matrix piece) { return piece; },
                           [](const Matrix&, const Matrix&) { return 1.0; }, none);
  auto z = f(variable);
}
#endif

#ifdef MISTAKE_adjoint_as_meant
// expect: compiles
void program() {
  auto f =
      grad::local_map([](Matrix a, double) { return a; },
                      [](const Matrix&, double, const Matrix&, const Matrix& dy) { return dy; },
                      {Shard(0)}, {{Shard(0)}, std::nullopt}, {keep, std::nullopt});
  grad::Variable<Matrix> a = f(variable, 2.0);
  DTensor<Matrix> b = f(x, 2.0);
}
#endif

// --- local_map: its outputs ----------------------------------------------------------------------

#ifdef MISTAKE_nothing_returned
// expect: local_map: func returns nothing; write none as its output placement
void program() {
  auto f = local_map([](Matrix piece) { piece(0, 0) = 1; }, {Shard(0)});
  f(x);
}
#endif

#ifdef MISTAKE_number_returned
// expect: local_map: func returns something that is no View; write none
void program() {
  auto f = local_map([](Matrix piece) { return piece(0, 0); }, {Partial()});
  auto z = f(x);
}
#endif

#ifdef MISTAKE_number_returned_in_a_tuple
// expect: local_map: func returns something that is no View; write none
void program() {
  const std::tuple<OutPlacement, OutPlacement> out({Shard(0)}, {Partial()});
  auto f = local_map([](Matrix piece) { return std::tuple(piece, 1.0); }, out);
  auto z = f(x);
}
#endif

#ifdef MISTAKE_tree_returned
// expect: local_map: func returns something that is no View; write none
void program() {
  const auto out = std::tuple(Placements{Shard(0)}, Placements{Shard(0)});
  auto f = local_map([](Matrix piece) { return std::pair(std::vector{piece}, piece); }, out);
  auto z = f(x);
}
#endif

#ifdef MISTAKE_pending_returned
// expect: local_map: func returns something that is no View; write none
void program() {
  const auto sum = [](Matrix piece) { return all_reduce_async(piece, ReduceOp::sum, mesh, 0); };
  auto z = local_map(sum, {Replicate()})(x);
}
#endif

#ifdef MISTAKE_dtensor_returned
// expect: local_map: func returns a DTensor; return a local View
void program() {
  auto f = local_map([](Matrix piece) { return distribute_tensor(piece, mesh, {Shard(0)}); },
                     {Shard(0)});
  auto z = f(x);
}
#endif

#ifdef MISTAKE_tuple_of_another_size
// expect: local_map: expected one output placement for each element of the tuple that func returns
void program() {
  const auto out = std::tuple(Placements{Shard(0)}, Placements{Shard(0)}, Placements{Shard(1)});
  auto f = local_map([](Matrix piece) { return std::tuple(piece, piece); }, out);
  auto z = f(x);
}
#endif

#ifdef MISTAKE_tuple_for_one_view
// expect: local_map: func does not return a tuple; write one output placement
void program() {
  const auto out = std::tuple(Placements{Shard(0)}, none);
  auto f = local_map([](Matrix piece) { return piece; }, out);
  auto z = f(x);
}
#endif

#ifdef MISTAKE_one_placement_for_a_tuple
// expect: local_map: func returns a tuple; write a std::tuple of output placements
void program() {
  auto f = local_map([](Matrix piece) { return std::tuple(piece, piece); }, {Shard(0)});
  auto [a, b] = f(x);
}
#endif

#ifdef MISTAKE_placements_side_by_side
// expect: local_map: func returns a tuple; write a std::tuple of output placements
void program() {
  auto f = local_map([](Matrix piece) { return std::tuple(piece, piece); }, {Shard(0)}, {Shard(1)});
  auto [a, b] = f(x);
}
#endif

#ifdef MISTAKE_placements_in_braces
// expect: local_map: func returns a tuple; write a std::tuple of output placements
void program() {
  auto f = local_map([](Matrix piece) { return std::pair(piece, piece); }, {{Shard(0)}, {Shard(1)}},
                     {{Shard(0)}});
  auto [a, b] = f(x);
}
#endif

#ifdef MISTAKE_no_output_placement
// expect: local_map: expected an output placement after func
void program() {
  auto f = local_map([](Matrix piece) { return piece; });
  auto z = f(x);
}
#endif

#ifdef MISTAKE_outputs_as_meant
// expect: compiles
void program() {
  const auto view_and_number = [](Matrix piece) { return std::tuple(piece, piece(0, 0)); };
  Matrix a = local_map([](Matrix piece) { return piece; }, none)(x);
  auto [b, c] = local_map(view_and_number, none)(x);
  auto [d, e] = local_map(view_and_number, std::tuple(Placements{Shard(0)}, none))(x);
  DTensor<Matrix> f = d;
  double g = e;
  local_map([](Matrix) {}, std::nullopt)(x);
}
#endif

// --- local_map: its inputs -----------------------------------------------------------------------

#ifdef MISTAKE_inputs_with_a_brace_too_few
// expect: compiles
void program() {
  const auto first = [](Matrix a, auto&&...) { return a; };
  DTensor<Matrix> a = local_map(first, {Shard(0)}, {Shard(0)})(x);
  DTensor<Matrix> b = local_map(first, {Shard(0)}, {Shard(0), Replicate()})(x, y);
  DTensor<Matrix> c = local_map(first, Shard(0), {Shard(0), keep, none})(x, y, 1.0);
}
#endif

#ifdef MISTAKE_trees_as_meant
// expect: compiles
void program() {
  using Local = std::vector<std::tuple<Matrix, double>>;
  const std::vector<std::tuple<DTensor<Matrix>, double>> terms{{x, 1.0}, {y, 2.0}};
  const auto first = [](const Local& tree) { return std::get<0>(tree[0]); };
  DTensor<Matrix> a = local_map(first, {Shard(0)}, {Shard(0), none, Shard(0), none})(terms);
  auto f = grad::local_map(first, [](const Local&, const Matrix&, const Matrix& dy) { return dy; },
                           {Shard(0)});
  DTensor<Matrix> b = f(terms);
}
#endif

#ifdef MISTAKE_inputs_as_meant
// expect: compiles
void program() {
  const Placements rows{Shard(0), Replicate()};
  auto f = local_map([](Matrix a, double, Matrix, Matrix) { return a; }, {Shard(0), Replicate()},
                     {rows, std::nullopt, keep, {Shard(0), Shard(1)}});
  DTensor<Matrix> a = f(x, 2.0, y, y);
  auto g = local_map([](Matrix piece) { return piece; }, rows, {{Shard(0), Shard(1)}},
                     {.redistribute_inputs = true});
  DTensor<Matrix> b = g(x);
}
#endif

// --- factories -----------------------------------------------------------------------------------

#ifdef MISTAKE_function_of_two_ints
// expect: from_function: expected a function that takes the global index as one
void program() {
  auto z = from_function<Matrix>(
      mesh, {Shard(0)}, {10, 4}, KOKKOS_LAMBDA(int i, int j) { return double(i + j); });
}
#endif

#ifdef MISTAKE_function_of_three_indices
// expect: from_function: expected a function that takes the global index as one
void program() {
  auto z = from_function<Matrix>(
      mesh, {Shard(0)}, {10, 4},
      KOKKOS_LAMBDA(Kokkos::Array<std::int64_t, 3> i) { return double(i[0]); });
}
#endif

#ifdef MISTAKE_function_that_changes_its_captures
// expect: from_function: expected a function that takes the global index as one
void program() {
  double n = 0;
  auto z = from_function<Matrix>(mesh, {Shard(0)}, {10, 4}, [n](Index) mutable { return ++n; });
}
#endif

#ifdef MISTAKE_function_of_text
// expect: from_function: expected a function whose result converts to the element type
void program() {
  auto z = from_function<Matrix>(
      mesh, {Shard(0)}, {10, 4}, KOKKOS_LAMBDA(Index) { return "text"; });
}
#endif

#ifdef MISTAKE_function_of_nothing
// expect: from_function: expected a function whose result converts to the element type
void program() {
  double sum = 0;
  auto z = from_function<Matrix>(mesh, {Shard(0)}, {10, 4},
                                 [&](Index i) { sum += static_cast<double>(i[0]); });
}
#endif

#ifdef MISTAKE_const_elements
// expect: expected a managed, non-const Kokkos::View in LayoutLeft or LayoutRight
void program() {
  auto z = empty<Kokkos::View<const double**>>(mesh, {Shard(0)}, {10, 4});
}
#endif

#ifdef MISTAKE_unmanaged_view
// expect: expected a managed, non-const Kokkos::View in LayoutLeft or LayoutRight
void program() {
  using Unmanaged = Kokkos::View<double**, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  auto z = zeros<Unmanaged>(mesh, {Shard(0)}, {10, 4});
}
#endif

#ifdef MISTAKE_strided_view
// expect: expected a managed, non-const Kokkos::View in LayoutLeft or LayoutRight
void program() {
  auto z = rand<Kokkos::View<double**, Kokkos::LayoutStride>>(mesh, {Shard(0)}, {10, 4});
}
#endif

#ifdef MISTAKE_strided_view_of_a_function
// expect: expected a managed, non-const Kokkos::View in LayoutLeft or LayoutRight
void program() {
  auto z = from_function<Kokkos::View<double**, Kokkos::LayoutStride>>(
      mesh, {Shard(0)}, {10, 4}, KOKKOS_LAMBDA(Index i) { return double(i[0]); });
}
#endif

#ifdef MISTAKE_strided_view_of_a_file
// expect: expected a managed, non-const Kokkos::View in LayoutLeft or LayoutRight
void program() {
  auto z = read_npy<Kokkos::View<double**, Kokkos::LayoutStride>>("x.npy", mesh, {Shard(0)});
}
#endif

#ifdef MISTAKE_element_type_for_view_type
// expect: expected a Kokkos::View type in the angle brackets
void program() {
  auto z = empty<double>(mesh, {Shard(0)}, {10, 4});
}
#endif

#ifdef MISTAKE_element_type_of_a_dtensor
// expect: expected a Kokkos::View type in the angle brackets
void program() {
  DTensor<double> z;
}
#endif

#ifdef MISTAKE_dtensor_type_for_view_type
// expect: expected a Kokkos::View type in the angle brackets
void program() {
  auto z = zeros<DTensor<Matrix>>(mesh, {Shard(0)}, {10, 4});
}
#endif

#ifdef MISTAKE_text_as_value
// expect: full: expected a value that converts to the element type of the View
void program() {
  auto z = full<Matrix>(mesh, {Shard(0)}, {10, 4}, "text");
}
#endif

#ifdef MISTAKE_factories_as_meant
// expect: compiles
void program() {
  DTensor<Matrix> a = empty<Matrix>(mesh, {Shard(0)}, {10, 4});
  DTensor<Matrix> b = full<Matrix>(mesh, {Shard(0), Replicate()}, {10, 4}, 7);
  DTensor<Matrix> c = zeros<Matrix>({Shard(0)}, {10, 4});
  DTensor<Matrix> d = rand<Matrix>(mesh, {Shard(0)}, {10, 4}, {.seed = 1});
  DTensor<Matrix> e = from_function<Matrix>(
      mesh, {Shard(0)}, {10, 4}, KOKKOS_LAMBDA(const Index& i) { return i[0] + i[1]; });
  DTensor<Matrix> f = from_function<Matrix>(
      mesh, {Shard(0)}, {10, 4}, KOKKOS_LAMBDA(auto i) { return float(i[0]); });
}
#endif

// --- operators -----------------------------------------------------------------------------------

extern const DTensor<Kokkos::View<float**>> f;
extern const DTensor<Kokkos::View<int**>> n;
extern const DTensor<Kokkos::View<Kokkos::complex<double>**>> c;
extern const DTensor<Kokkos::View<bool**>> flags;
extern const DTensor<Vector> v;

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

// --- a DTensor is no array -----------------------------------------------------------------------

#ifdef MISTAKE_element_of_a_dtensor
// expect: a DTensor has no elements of its own: take x.to_local()(i, j)
void program() {
  double value = x(3, 4);
}
#endif

#ifdef MISTAKE_element_of_a_dtensor_written
// expect: a DTensor has no elements of its own: take x.to_local()(i, j)
void program() {
  x(3, 4) = 1.0;
}
#endif

#ifdef MISTAKE_subscript_of_a_dtensor
// expect: a DTensor has no elements of its own: take x.to_local()(i, j)
void program() {
  auto row = x[0];
}
#endif

#ifdef MISTAKE_dtensor_filled
// expect: Kokkos::deep_copy takes Views
void program() {
  Kokkos::deep_copy(x, 1.0);
}
#endif

#ifdef MISTAKE_dtensor_copied_by_kokkos
// expect: Kokkos::deep_copy takes Views
void program() {
  Kokkos::deep_copy(x, y);
}
#endif

#ifdef MISTAKE_view_copied_to_a_dtensor
// expect: Kokkos::deep_copy takes Views
void program() {
  Kokkos::deep_copy(x, view);
}
#endif

#ifdef MISTAKE_dtensor_filled_on_an_instance
// expect: Kokkos::deep_copy takes Views
void program() {
  Kokkos::deep_copy(Kokkos::DefaultExecutionSpace(), x, 1.0);
}
#endif

#ifdef MISTAKE_mirror_of_a_dtensor
// expect: Kokkos::create_mirror_view takes Views
void program() {
  auto host = Kokkos::create_mirror_view(x);
}
#endif

#ifdef MISTAKE_mirror_and_copy_of_a_dtensor
// expect: Kokkos::create_mirror_view_and_copy takes Views
void program() {
  auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
}
#endif

#ifdef MISTAKE_subview_of_a_dtensor
// expect: Kokkos::subview takes Views
void program() {
  auto row = Kokkos::subview(x, 0, Kokkos::ALL);
}
#endif

#ifdef MISTAKE_dtensor_printed
// expect: compiles
void program() {
  std::cout << x << to_string(y) << x.extent(-1) << x.rank;
  deep_copy(x, 1.0);
  deep_copy(x, y);
}
#endif

// --- redistribute --------------------------------------------------------------------------------

struct Pair {
  float first, second;
};

#ifdef MISTAKE_other_element_type
// expect: redistribute<Out>: expected a View with the element type of the tensor
void program() {
  auto z = redistribute<Kokkos::View<Pair**>>(x, {Shard(1)});
}
#endif

#ifdef MISTAKE_other_rank
// expect: redistribute<Out>: expected a View with as many dims as the tensor
void program() {
  auto z = redistribute<Vector>(x, {Shard(1)});
}
#endif

#ifdef MISTAKE_result_of_const_elements
// expect: redistribute<Out>: expected a managed, non-const View in LayoutLeft or LayoutRight
void program() {
  auto z = redistribute<Kokkos::View<const double**>>(x, {Shard(1)});
}
#endif

#ifdef MISTAKE_element_type_as_result
// expect: redistribute<Out>: expected a Kokkos::View type as Out
void program() {
  auto z = redistribute<double>(x, {Shard(1)});
}
#endif

#ifdef MISTAKE_other_element_type_on_another_mesh
// expect: redistribute<Out>: expected a View with the element type of the tensor
void program() {
  auto z = redistribute<Kokkos::View<Pair**>>(x, mesh, {Shard(1)});
}
#endif

#ifdef MISTAKE_other_element_type_in_the_background
// expect: redistribute<Out>: expected a View with the element type of the tensor
void program() {
  auto z = redistribute_async<Kokkos::View<Pair**>>(x, {Shard(1)});
}
#endif

#ifdef MISTAKE_into_another_element_type
// expect: redistribute_into: expected a destination with the element type of the tensor
void program() {
  redistribute_into(DTensor<Kokkos::View<Pair**>>(), x);
}
#endif

#ifdef MISTAKE_into_another_rank
// expect: redistribute_into: expected a destination with as many dims as the tensor
void program() {
  redistribute_into(DTensor<Vector>(), x);
}
#endif

#ifdef MISTAKE_view_redistributed
// expect: redistribute: expected a DTensor, got a View; make one by from_local(view, mesh, ...)
void program() {
  auto z = redistribute(view, {Shard(0)});
}
#endif

#ifdef MISTAKE_view_redistributed_to_a_mesh
// expect: redistribute: expected a DTensor, got a View; make one by from_local(view, mesh, ...)
void program() {
  auto z = redistribute(view, mesh, {Shard(0)});
}
#endif

#ifdef MISTAKE_view_gathered
// expect: full_tensor: expected a DTensor, got a View; make one by from_local(view, mesh, ...)
void program() {
  auto z = full_tensor(view);
}
#endif

#ifdef MISTAKE_number_as_placement
// expect: expected placements such as {Shard(0), Replicate()}, not numbers
void program() {
  auto z = redistribute(x, {1});
}
#endif

#ifdef MISTAKE_redistribute_as_meant
// expect: compiles
void program() {
  using Columns = Kokkos::View<double**, Kokkos::LayoutLeft>;
  DTensor<Matrix> a = redistribute(x, {Shard(1)});
  DTensor<Columns> b = redistribute<Columns>(x, {Shard(1)});
  DTensor<Matrix> c = redistribute(x, mesh, {Shard(1)});
  redistribute_into(b, x);
  auto strided =
      from_local(Kokkos::subview(view, Kokkos::ALL, Kokkos::pair(0, 2)), mesh, {Shard(0)});
  auto d = redistribute(strided, {Shard(1)});
  d = redistribute(strided, mesh, {Shard(1)});
}
#endif

// --- gradients -----------------------------------------------------------------------------------

#ifdef MISTAKE_variables_in_forward
// expect: grad::function: forward returns a tensor, or a View; it gets values, not variables
void program() {
  auto f = grad::function([](const auto& a) { return ops::multiply(a, variable); },
                          [](const auto&, const auto&, const auto& dy) { return dy; });
  auto z = f(variable);
}
#endif

#ifdef MISTAKE_vjp_of_fewer_arguments
// expect: vjp cannot be called: it needs a parameter
void program() {
  auto f = grad::function([](const auto& a) { return a; },
                          [](const auto&, const auto& dy) { return dy; });
  auto z = f(variable);
}
#endif

#ifdef MISTAKE_vjp_that_returns_a_view
// expect: grad::function: vjp returns a tensor for a Variable
void program() {
  auto f = grad::function([](const auto& a) { return a; },
                          [](const auto&, const auto&, const auto&) { return view; });
  auto z = f(variable);
}
#endif

#ifdef MISTAKE_checkpoint_of_a_tensor
// expect: checkpoint: the function returns no variable
void program() {
  auto z = grad::checkpoint([](const auto& a) { return a.detach(); }, variable);
}
#endif

#ifdef MISTAKE_step_to_another_state
// expect: checkpoint: step returns a state of another kind than it gets
void program() {
  const auto step = [](const auto& a, int) { return a.detach(); };
  auto z = grad::checkpoint(step, variable, {.steps = 3, .snapshots = 2});
}
#endif

#ifdef MISTAKE_gradients_as_meant
// expect: compiles
void program() {
  auto f = grad::function(
      [](const auto& a, double b) { return ops::multiply(a, b); },
      [](const auto&, double b, const auto&, const auto& dy) { return ops::multiply(dy, b); });
  grad::Variable<Matrix> a = f(variable, 2.0);
  DTensor<Matrix> b = f(x, 2.0);
  a = grad::checkpoint([](const auto& c) { return ops::exp(c); }, variable);
  const auto step = [](const auto& c, int, double d) { return ops::multiply(c, d); };
  a = grad::checkpoint(step, x, {.steps = 3, .snapshots = 2}, 0.5);
}
#endif

// --- modules -------------------------------------------------------------------------------------

class Model {
 public:
  Model() { module_.register_module("layer", layer_); }
  const nn::Module& registry() const { return module_; }
  template <class X>
  auto operator()(const X& a) const {
    return module_.forward([&] { return layer_(a); });
  }

 private:
  nn::Linear<Matrix> layer_{4, 3};
  nn::Module module_{"Model"};
};

extern const Model model;

#ifdef MISTAKE_distribute_module_of_no_module
// expect: distribute_module takes an object whose function registry() const returns its nn::Module
void program() {
  auto m = nn::distribute_module(view, mesh);
}
#endif

#ifdef MISTAKE_partition_function_of_two_arguments
// expect: distribute_module: partition_fn takes (name, module, mesh)
void program() {
  auto m = nn::distribute_module(model, mesh, [](const std::string&, nn::Module&) {});
}
#endif

#ifdef MISTAKE_partition_function_of_a_const_module_that_is_placed
// expect: passing 'const tessera::nn::Module' as 'this' argument discards qualifiers
void program() {
  auto m = nn::distribute_module(model, mesh,
                                 [](const std::string&, const nn::Module& part, const DeviceMesh&) {
                                   part.place("weight", Shard(0));
                                 });
}
#endif

#ifdef MISTAKE_placements_for_the_partition_function
// expect: distribute_module: partition_fn takes (name, module, mesh)
void program() {
  auto m = nn::distribute_module(model, mesh, Shard(0));
}
#endif

#ifdef MISTAKE_input_hook_of_one_argument
// expect: distribute_module: input_fn and output_fn take (module, inputs or outputs, mesh)
void program() {
  auto m = nn::distribute_module(model, mesh, {}, [](const std::tuple<DTensor<Matrix>>&) {});
}
#endif

#ifdef MISTAKE_output_hook_of_four_arguments
// expect: distribute_module: input_fn and output_fn take (module, inputs or outputs, mesh)
void program() {
  const auto hook = [](const Model&, const grad::Variable<Matrix>&, const DeviceMesh&, int) {};
  auto m = nn::distribute_module(model, mesh, {}, {}, hook);
}
#endif

#ifdef MISTAKE_generic_hook_of_one_argument
// expect: distribute_module: input_fn takes (module, inputs, mesh), where inputs is a std::tuple
void program() {
  auto m = nn::distribute_module(model, mesh, {}, [](const auto&) {});
  auto z = m(x);
}
#endif

#ifdef MISTAKE_hook_of_a_tensor_for_its_inputs
// expect: distribute_module: input_fn takes (module, inputs, mesh), where inputs is a std::tuple
void program() {
  auto m = nn::distribute_module(model, mesh, {},
                                 [](const Model&, const DTensor<Matrix>&, const DeviceMesh&) {});
  auto z = m(x);
}
#endif

#ifdef MISTAKE_linear_layer_of_a_vector
// expect: expected a View type of 2 dims: nn::Linear<Kokkos::View<double**>>
void program() {
  nn::Linear<Vector> layer(4, 3);
}
#endif

#ifdef MISTAKE_linear_layer_of_integers
// expect: nn::Linear holds numbers of type float or double, or complex numbers of these
void program() {
  nn::Linear<Kokkos::View<int**>> layer(4, 3);
}
#endif

#ifdef MISTAKE_layer_called_with_a_view
// expect: a layer takes a tensor, or a variable of one
void program() {
  auto z = nn::Linear<Matrix>(4, 3)(view);
}
#endif

#ifdef MISTAKE_layer_called_with_integers
// expect: a layer takes elements of the type of its parameters
void program() {
  auto z = nn::Linear<Matrix>(4, 3)(n);
}
#endif

#ifdef MISTAKE_layer_norm_called_with_a_view
// expect: a layer takes a tensor, or a variable of one
void program() {
  auto z = nn::LayerNorm<Matrix>(4)(view);
}
#endif

#ifdef MISTAKE_layer_norm_called_with_another_type
// expect: a layer takes elements of the type of its parameters
void program() {
  auto z = nn::LayerNorm<Matrix>(4)(f);
}
#endif

#ifdef MISTAKE_layer_norm_of_integers
// expect: nn::LayerNorm computes with float or double
void program() {
  nn::LayerNorm<Kokkos::View<int**>> layer(4);
}
#endif

#ifdef MISTAKE_parameter_with_static_extents
// expect: a module takes parameters in Views without static extents
void program() {
  nn::Module module("Model");
  module.register_parameter("weight", Kokkos::View<double* [3]>("weight", 4));
}
#endif

#ifdef MISTAKE_parameter_in_an_unmanaged_view
// expect: expected a managed, non-const Kokkos::View in LayoutLeft or LayoutRight
void program() {
  using Unmanaged = Kokkos::View<double**, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  nn::Module module("Model");
  module.register_parameter("weight", Unmanaged(nullptr, 4, 3));
}
#endif

#ifdef MISTAKE_parameter_of_integers
// expect: register_buffer takes others
void program() {
  nn::Module module("Model");
  module.register_parameter("counts", Kokkos::View<int*>("counts", 4));
}
#endif

#ifdef MISTAKE_tensor_as_a_parameter
// expect: register_parameter takes a View of this rank
void program() {
  nn::Module module("Model");
  module.register_parameter("weight", x);
}
#endif

#ifdef MISTAKE_view_as_a_submodule
// expect: has no member named 'registry'
void program() {
  nn::Module module("Model");
  module.register_module("layer", view);
}
#endif

#ifdef MISTAKE_number_as_the_place_of_a_parameter
// expect: cannot convert 'int' to 'const tessera::Target&'
void program() {
  nn::Module module("Model");
  module.place("weight", 0);
}
#endif

#ifdef MISTAKE_optimizer_of_no_module
// expect: nn::SGD takes an object whose function registry() const returns its nn::Module
void program() {
  nn::SGD optimizer(view, {.lr = 0.1});
}
#endif

#ifdef MISTAKE_adam_of_variables
// expect: nn::Adam takes an object whose function registry() const returns its nn::Module
void program() {
  nn::Adam optimizer(std::vector{variable});
}
#endif

#ifdef MISTAKE_watch_of_no_module
// expect: nn::watch takes an object whose function registry() const returns its nn::Module
void program() {
  grad::Tape tape;
  nn::watch(x, tape);
}
#endif

#ifdef MISTAKE_forward_pass_that_returns_nothing
// expect: Module::forward takes a function that returns the outputs
void program() {
  model.registry().forward([] { ops::exp(x); });
}
#endif

#ifdef MISTAKE_attention_of_three_dims
// expect: scaled_dot_product_attention takes tensors of 4 dims: batch, head, sequence, column
void program() {
  extern const DTensor<Kokkos::View<double***>> q;
  auto z = nn::scaled_dot_product_attention(q, q, q);
}
#endif

#ifdef MISTAKE_attention_of_integers
// expect: scaled_dot_product_attention takes tensors of one element type, float or double
void program() {
  extern const DTensor<Kokkos::View<int****>> q;
  auto z = nn::scaled_dot_product_attention(q, q, q);
}
#endif

#ifdef MISTAKE_attention_of_two_types
// expect: scaled_dot_product_attention takes tensors of one element type, float or double
void program() {
  extern const DTensor<Kokkos::View<double****>> q;
  extern const DTensor<Kokkos::View<float****>> k;
  auto z = nn::scaled_dot_product_attention(q, k, k, {.causal = true});
}
#endif

#ifdef MISTAKE_attention_of_views
// expect: scaled_dot_product_attention takes tensors or Variables
void program() {
  const Kokkos::View<double****> q("q", 1, 2, 3, 4);
  auto z = nn::scaled_dot_product_attention(q, q, q);
}
#endif

#ifdef MISTAKE_context_of_a_view
// expect: ContextParallel: expected std::ref(x) of a DTensor x that is not const
void program() {
  Matrix buffer = view;
  const nn::ContextParallel cp(mesh, {.buffers = {std::ref(buffer)}, .buffer_seq_dims = {0}});
}
#endif

#ifdef MISTAKE_context_of_a_const_tensor
// expect: ContextParallel: expected std::ref(x) of a DTensor x that is not const
void program() {
  const nn::ContextParallel cp(mesh, {.buffers = {std::ref(x)}, .buffer_seq_dims = {0}});
}
#endif

#ifdef MISTAKE_context_of_a_tensor_without_a_reference
// expect: ContextParallel: expected std::ref(x) of a DTensor x that is not const
void program() {
  const nn::ContextParallel cp(mesh, {.buffers = {x}, .buffer_seq_dims = {0}});
}
#endif

#ifdef MISTAKE_modules_as_meant
// expect: compiles
void program() {
  const auto partition = [](const std::string& name, nn::Module& module, const DeviceMesh& on) {
    if (name == "layer") module.place("weight", Shard(0));
    if (name == "other") nn::column_parallel(module, on);
  };
  Model a = nn::distribute_module(model, mesh, partition);
  auto b = nn::distribute_module(
      model, mesh, partition,
      [](const Model&, const std::tuple<DTensor<Matrix>>& inputs, const DeviceMesh&) {
        return std::tuple(redistribute(std::get<0>(inputs), {Shard(0)}));
      },
      [](const auto& outputs, const DeviceMesh&) { return outputs.detach(); }, {.each_rank = true});
  auto c = a(x);
  auto d = b(x);
  auto gradient = c.grad();
  grad::Tape tape;
  nn::watch(a, tape);
  nn::watch(b, tape);
  nn::SGD one(a, {.lr = 0.1});
  nn::Adam two(b.registry());
  nn::SGD three = one;
  DTensor<Matrix> buffer = x;
  const nn::ContextParallel cp(mesh, {.buffers = {std::ref(buffer)}, .buffer_seq_dims = {0}});
  auto local = d.to_local();
}
#endif
