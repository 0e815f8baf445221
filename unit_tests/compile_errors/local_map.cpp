// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

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
