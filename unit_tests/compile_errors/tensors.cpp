// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

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
