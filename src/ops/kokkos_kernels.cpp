// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <utility>

#include <KokkosBlas3_gemm.hpp>
#include <Kokkos_Core.hpp>

#include <tessera/tensor/detail/launch.hpp>

#include "ops/blas.hpp"
#include "ops/kokkos_kernels.hpp"

namespace tessera::detail {
namespace {

/// Returns the memory of a matrix as Kokkos Kernels takes it.
template <class T, class Space>
auto view_of(const MatrixRef& matrix, const BlasMatrix& form) {
  using Device = Kokkos::Device<Space, typename Space::memory_space>;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const auto rows = static_cast<std::size_t>(form.form == 'N' ? matrix.rows : matrix.columns);
  const auto columns = static_cast<std::size_t>(form.form == 'N' ? matrix.columns : matrix.rows);
  const Kokkos::View<T**, Kokkos::LayoutLeft, Device, Unmanaged> whole_columns(
      reinterpret_cast<T*>(matrix.data), static_cast<std::size_t>(form.leading), columns);
  return Kokkos::subview(whole_columns, std::pair<std::size_t, std::size_t>(0, rows), Kokkos::ALL);
}

template <class T, class Space>
void multiply_in(const Space& instance, const MatrixRef& a, const MatrixRef& b, bool adds,
                 const MatrixRef& c) {
  // A result in row-major order is the transpose of one in column-major order.
  if (!BlasMatrix::is_column_major(c))
    return multiply_in<T>(instance, b.transposed(), a.transposed(), adds, c.transposed());
  const BlasMatrix left(a), right(b), result(c);
  const char left_form[] = {left.form, '\0'}, right_form[] = {right.form, '\0'};
  KokkosBlas::gemm(instance, left_form, right_form, T(1), view_of<T, Space>(a, left),
                   view_of<T, Space>(b, right), T(adds ? 1 : 0), view_of<T, Space>(c, result));
}

template <class Space>
void multiply_on(const Space& instance, ElementType type, const MatrixRef& a, const MatrixRef& b,
                 bool adds, const MatrixRef& c) {
  if (type.kind == ElementKind::float32) multiply_in<float>(instance, a, b, adds, c);
  if (type.kind == ElementKind::float64) multiply_in<double>(instance, a, b, adds, c);
  if (type.kind == ElementKind::complex64)
    multiply_in<Kokkos::complex<float>>(instance, a, b, adds, c);
  if (type.kind == ElementKind::complex128)
    multiply_in<Kokkos::complex<double>>(instance, a, b, adds, c);
}

}  // namespace

bool has_kokkos_kernels_for(ElementType type) {
  return type.kind == ElementKind::float32 || type.kind == ElementKind::float64 ||
         type.kind == ElementKind::complex64 || type.kind == ElementKind::complex128;
}

void multiply_by_kokkos_kernels(const Execution& execution, MemorySpace space, ElementType type,
                                const MatrixRef& a, const MatrixRef& b, bool adds,
                                const MatrixRef& c) {
  if (is_on_device(space))
    multiply_on(execution.instance<MemorySpace::device>(), type, a, b, adds, c);
  else
    multiply_on(execution.instance<MemorySpace::host>(), type, a, b, adds, c);
}

}  // namespace tessera::detail
