// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Operators whose gradients are tested, and how one of them is run on operands of any placements.
// The tables are compiled by the files *_table.cpp; a new operator is one line there.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/grad/tape.hpp>
#include <tessera/tessera.hpp>

#include "../support/meshes.hpp"
#include "../support/random_case.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {

/// Holds a full array, row-major.
struct FullArray {
  Extents shape = {};
  std::vector<std::complex<double>> values = {};
};

/// Holds a full array, and how it is distributed.
struct DistributedArray {
  FullArray full;
  DTensorSpec spec;
};

/// Says which numbers an operand has. They are distinct, and far from kinks of operators.
enum class Values : std::uint8_t {
  any,       ///< between -2 and 2, none of them 0
  positive,  ///< real parts are between 0.5 and 2.6
};

/// Is a variable of any type.
class ErasedVariable {
 public:
  virtual ~ErasedVariable() = default;
  virtual const DTensorSpec& spec() const = 0;
  virtual bool is_complex() const = 0;
  /// Returns the full value. Collective, as all that follows.
  virtual FullArray value() const = 0;
  virtual void backward(grad::Tape& tape, const DistributedArray& gradient) const = 0;
  virtual bool has_grad() const = 0;
  /// Returns the spec of the gradient. Local.
  virtual const DTensorSpec& gradient_spec() const = 0;
  virtual FullArray gradient() const = 0;
};
using AnyVariable = std::shared_ptr<const ErasedVariable>;

/// Holds the operands and the result of an operator.
struct RecordedCall {
  AnyVariable result;
  std::vector<AnyVariable> operands;
};
using Record = std::function<RecordedCall(grad::Tape&, const DeviceMesh&,
                                          const std::vector<DistributedArray>&)>;

/// Describes an operator, and what it is called with.
struct TestedGradient {
  std::string name;
  std::vector<std::string> shapes;  ///< of the operands: a letter for each dim, or 1 for extent 1
  std::vector<Values> values;       ///< of the operands
  std::vector<bool> are_complex;    ///< whether the operands are
  Record record;
  bool takes_empty = true;        ///< whether it takes operands without elements
  double tolerance = 1e-12;       ///< relative distance to the gradient of replicated operands
  double step = 1e-5;             ///< of central differences
  double slope_tolerance = 1e-6;  ///< relative distance to central differences

  std::size_t operands() const { return shapes.size(); }
  std::size_t rank(std::size_t operand) const { return shapes[operand].size(); }
};
using GradientTable = std::vector<TestedGradient>;

/// Lists elementwise operators of double, in LayoutRight as the next two.
GradientTable elementwise_gradients();
GradientTable reduction_gradients();
GradientTable matrix_gradients();
/// Lists operators of complex numbers, and of real numbers beside them.
GradientTable complex_gradients();
/// Lists some operators of tensors in LayoutLeft, in both layouts, and of float.
GradientTable other_type_gradients();

/// Returns all five tables.
inline GradientTable all_gradients() {
  GradientTable result;
  for (const auto& table : {elementwise_gradients(), reduction_gradients(), matrix_gradients(),
                            complex_gradients(), other_type_gradients()})
    result.insert(result.end(), table.begin(), table.end());
  return result;
}

template <class T>
inline constexpr bool has_imaginary = detail::ComplexNumber<T>;

template <class T>
std::complex<double> as_number(const T& value) {
  if constexpr (has_imaginary<T>)
    return {value.real(), value.imag()};
  else
    return static_cast<double>(value);
}
template <class T>
T as_element(const std::complex<double>& value) {
  if constexpr (has_imaginary<T>)
    return T(value.real(), value.imag());
  else
    return static_cast<T>(value.real());
}

inline std::int64_t row_major_number(const Extents& shape, const Extents& index) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index[d];
  return flat;
}

/// Returns what the rank at `coordinate` contributes to element `flat`, so that all contributions
/// together give `value`.
inline std::complex<double> contribution_to(const DTensorSpec& spec,
                                            const std::vector<int>& coordinate, std::int64_t flat,
                                            std::complex<double> value) {
  int mine = 0, ranks = 1, averaged = 1;
  auto op = ReduceOp::sum;
  for (std::size_t m = 0; m < coordinate.size(); ++m) {
    const auto& placement = spec.placements()[m];
    if (!placement.is_partial()) continue;
    const int size = spec.layout().shape()[m];
    mine = mine * size + coordinate[m];
    ranks *= size;
    if (placement.op() == ReduceOp::avg) averaged *= size;
    op = placement.op() == ReduceOp::avg ? ReduceOp::sum : placement.op();
  }
  if (ranks == 1) return value;
  const auto holder = static_cast<int>(flat % ranks);
  if (op == ReduceOp::max) return mine == holder ? value : value - (1.0 + mine);
  if (op == ReduceOp::min) return mine == holder ? value : value + (1.0 + mine);
  if (op == ReduceOp::product) {
    for (int k = 1; k < ranks; ++k) value /= 2;
    return mine == holder ? value : 2;
  }
  const auto extra = [&](int k) { return static_cast<double>((7 * flat + 5 * k) % 9 - 4) / 4; };
  if (mine != holder) return extra(mine);
  value *= averaged;
  for (int k = 0; k < ranks; ++k)
    if (k != holder) value -= extra(k);
  return value;
}

/// Returns a tensor of these values.
template <class V>
DTensor<V> distributed(const DeviceMesh& mesh, const DistributedArray& array) {
  const auto& spec = array.spec;
  if (!is_on(mesh)) return from_local(V(), mesh, spec, spec.shape());
  const auto coordinate = *mesh.coordinate();
  const auto piece = spec.sections(coordinate);
  const auto view = detail::allocate<V>(piece.shape(), "operand");
  change_on_host(view, [&](const auto& host) {
    for_each_element(piece, [&](const Extents& global, const Extents& local) {
      const auto flat = row_major_number(spec.shape(), global);
      const auto value = array.full.values[static_cast<std::size_t>(flat)];
      element_of(host, Extents::filled(local.size(), 0), local) =
          as_element<typename V::value_type>(contribution_to(spec, coordinate, flat, value));
    });
  });
  return from_local(view, mesh, spec, spec.shape());
}

/// Returns all elements of a tensor; none off its mesh. Collective over it.
template <class V>
FullArray gathered(const DTensor<V>& tensor) {
  FullArray result{tensor.shape(), {}};
  const auto view = full_tensor(tensor);
  if (!is_on(tensor.device_mesh())) return result;
  const auto host = on_host(view);
  const auto zero = Extents::filled(result.shape.size(), 0);
  for_each_index_in({zero, result.shape}, [&](const Extents& index) {
    result.values.push_back(as_number(element_of(host, zero, index)));
  });
  return result;
}

/// Holds a variable of type Variable<V>.
template <class V>
class TypedVariable : public ErasedVariable {
 public:
  explicit TypedVariable(grad::Variable<V> variable) : variable_(std::move(variable)) {}

  const DTensorSpec& spec() const override { return variable_.spec(); }
  bool is_complex() const override { return has_imaginary<typename V::non_const_value_type>; }
  FullArray value() const override { return gathered(variable_.detach()); }
  void backward(grad::Tape& tape, const DistributedArray& gradient) const override {
    tape.backward(variable_,
                  distributed<redistributed_view_t<V>>(variable_.device_mesh(), gradient));
  }
  bool has_grad() const override { return variable_.has_grad(); }
  const DTensorSpec& gradient_spec() const override { return variable_.grad().spec(); }
  FullArray gradient() const override { return gathered(variable_.grad()); }

 private:
  grad::Variable<V> variable_;
};

template <class V>
AnyVariable erased(const grad::Variable<V>& variable) {
  return std::make_shared<TypedVariable<V>>(variable);
}

template <class... V, class Function, std::size_t... I>
RecordedCall record_call(const Function& function, grad::Tape& tape, const DeviceMesh& mesh,
                         const std::vector<DistributedArray>& arrays, std::index_sequence<I...>) {
  const std::tuple<grad::Variable<V>...> operands(tape.watch(distributed<V>(mesh, arrays[I]))...);
  const auto result = function(std::get<I>(operands)...);
  return {erased(result), {erased(std::get<I>(operands))...}};
}

/// Returns a tested operator that calls function(variables…) with variables of Views V.
template <class... V, class Function>
TestedGradient tested_call(const std::string& name, const std::vector<std::string>& shapes,
                           const Function& function, std::vector<Values> values = {}) {
  values.resize(sizeof...(V), Values::any);
  TestedGradient result;
  result.name = name;
  for (const auto& shape : shapes) result.name += (&shape == shapes.data() ? " of " : ", ") + shape;
  result.shapes = shapes;
  result.values = std::move(values);
  result.are_complex = {has_imaginary<typename V::non_const_value_type>...};
  result.record = [function](grad::Tape& tape, const DeviceMesh& mesh,
                             const std::vector<DistributedArray>& arrays) {
    return record_call<V...>(function, tape, mesh, arrays, std::index_sequence_for<V...>());
  };
  return result;
}

/// Names a View of N dims.
template <class T, std::size_t N, class Layout = Kokkos::LayoutRight>
using ViewOf = Kokkos::View<typename detail::Pointers<T, N>::type, Layout, TestSpace>;

/// Makes a table of operators on tensors of one element type and layout.
template <class T, class Layout = Kokkos::LayoutRight>
class TableOf {
 public:
  /// Adds an operator of operands with these numbers of dims.
  template <std::size_t... ranks, class Function>
  TestedGradient& add(const std::string& name, const std::vector<std::string>& shapes,
                      const Function& function, const std::vector<Values>& values = {}) {
    table_.push_back(tested_call<ViewOf<T, ranks, Layout>...>(name, shapes, function, values));
    return table_.back();
  }

  /// Adds a reduction of a matrix, over all dims, each dim, and kept dims.
  template <class Function>
  void add_reduction(const std::string& name, const Function& function, bool takes_empty = true) {
    const auto all = [function](const auto& x) { return function(x, detail::AllDims()); };
    add<2>(name, {"ij"}, all).takes_empty = takes_empty;
    for (const int dim : {0, -1}) {
      const auto over = " over dim " + std::to_string(dim);
      const auto one = [function, dim](const auto& x) { return function(x, dim); };
      add<2>(name + over, {"ij"}, one).takes_empty = takes_empty;
      const auto kept = [function, dim](const auto& x) { return function(x, KeepDims<1>(dim)); };
      add<2>(name + over + ", kept,", {"ij"}, kept).takes_empty = takes_empty;
    }
  }
  /// Adds a reduction of a tensor of 3 dims over two of them, and over the middle one.
  template <class Function>
  void add_reduction_of_cube(const std::string& name, const Function& function,
                             bool takes_empty = true) {
    const auto two = [function](const auto& x) { return function(x, Dims<2>(0, 2)); };
    const auto kept = [function](const auto& x) { return function(x, KeepDims<2>(1, 2)); };
    const auto one = [function](const auto& x) { return function(x, 1); };
    add<3>(name + " over dims 0 and 2", {"kij"}, two).takes_empty = takes_empty;
    add<3>(name + " over dims 1 and 2, kept,", {"kij"}, kept).takes_empty = takes_empty;
    add<3>(name + " over dim 1", {"kij"}, one).takes_empty = takes_empty;
  }

  const GradientTable& table() const { return table_; }

 private:
  GradientTable table_;
};

}  // namespace tessera::test
