// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators on operands distributed at random, compared with what one rank computes of the full
// operands. TESSERA_TEST_SEED and TESSERA_TEST_CASES repeat and extend it.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <mpi.h>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

#include "../support/generator.hpp"
#include "../support/meshes.hpp"
#include "../support/random_case.hpp"
#include "../support/tensors.hpp"

namespace tessera::test {
namespace {

using Complex = Kokkos::complex<double>;
using Number = std::complex<double>;
template <class T, class Layout>
using MatrixOf = Kokkos::View<T**, Layout, TestSpace>;
using IndexVector = Kokkos::View<std::int64_t*, Kokkos::LayoutRight, TestSpace>;

template <class T>
inline constexpr bool is_complex_type = std::is_same_v<T, Complex>;
template <class T>
inline constexpr bool is_bool = std::is_same_v<T, bool>;
template <class T>
inline constexpr bool has_fractions = std::is_floating_point_v<T> || is_complex_type<T>;

template <class T>
Number number_of(const T& value) {
  if constexpr (is_complex_type<T>)
    return {value.real(), value.imag()};
  else
    return static_cast<double>(value);
}
template <class T>
T element_of_number(const Number& value) {
  if constexpr (is_complex_type<T>)
    return {value.real(), value.imag()};
  else if constexpr (std::is_floating_point_v<T> || is_bool<T>)
    return static_cast<T>(value.real());
  else
    return static_cast<T>(static_cast<std::int64_t>(value.real()));
}

/// Holds a full array, row-major.
struct Full {
  Extents shape;
  std::vector<Number> values;

  Number at(std::int64_t i, std::int64_t j) const {
    const auto row = shape[0] == 1 ? 0 : i, column = shape[1] == 1 ? 0 : j;
    return values[static_cast<std::size_t>(row * shape[1] + column)];
  }
};

/// Returns all elements of a tensor. Collective over its mesh.
template <class V>
Full gathered(const DTensor<V>& tensor) {
  Full result{tensor.shape(), {}};
  const auto view = full_tensor(tensor);
  if (!is_on(tensor.device_mesh())) return result;
  const auto host = on_host(view);
  const auto zero = Extents::filled(result.shape.size(), 0);
  for_each_index_in({zero, result.shape}, [&](const Extents& index) {
    result.values.push_back(number_of(element_of(host, zero, index)));
  });
  return result;
}

/// Returns what the serial program computes of two matrices, element by element; shapes broadcast.
using Scalar = std::function<Number(Number, Number)>;
Full elementwise(const Full& a, const Full& b, const Scalar& function) {
  const auto extent = [&](std::size_t d) { return a.shape[d] == 1 ? b.shape[d] : a.shape[d]; };
  Full result{{extent(0), extent(1)}, {}};
  for (std::int64_t i = 0; i < extent(0); ++i)
    for (std::int64_t j = 0; j < extent(1); ++j)
      result.values.push_back(function(a.at(i, j), b.at(i, j)));
  return result;
}

/// Returns what it computes of the elements that a reduction makes one: over rows (dim 0), columns
/// (dim 1) or both (dim -1).
using OfMany = std::function<Number(const std::vector<Number>&)>;
Full reduced(const Full& a, int dim, const OfMany& function) {
  const auto rows = a.shape[0], columns = a.shape[1];
  Full result;
  std::vector<Number> many;
  const auto finish = [&] {
    result.values.push_back(function(many));
    many.clear();
  };
  if (dim == 0) {
    for (std::int64_t j = 0; j < columns; ++j, finish())
      for (std::int64_t i = 0; i < rows; ++i) many.push_back(a.at(i, j));
    result.shape = {columns};
  } else {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) many.push_back(a.at(i, j));
      if (dim == 1) finish();
    }
    if (dim == 1) result.shape = {rows};
    if (dim < 0) finish();
  }
  return result;
}

Number sum_of(const std::vector<Number>& many) {
  Number result = 0;
  for (const auto& each : many) result += each;
  return result;
}

/// Returns the matrix in which of_line() takes the place of each column (dim 0) or row (dim 1).
using OfLine = std::function<std::vector<Number>(const std::vector<Number>&)>;
Full by_lines(const Full& a, int dim, const OfLine& of_line) {
  const auto extent = a.shape[static_cast<std::size_t>(dim)], lines = a.shape[dim == 0 ? 1U : 0U];
  auto result = a;
  for (std::int64_t line = 0; line < lines; ++line) {
    std::vector<Number> elements;
    for (std::int64_t i = 0; i < extent; ++i)
      elements.push_back(dim == 0 ? a.at(i, line) : a.at(line, i));
    elements = of_line(elements);
    for (std::int64_t i = 0; i < extent; ++i) {
      const auto flat = dim == 0 ? i * lines + line : line * extent + i;
      result.values[static_cast<std::size_t>(flat)] = elements[static_cast<std::size_t>(i)];
    }
  }
  return result;
}

std::vector<Number> running_sums(const std::vector<Number>& line) {
  auto result = line;
  for (std::size_t i = 1; i < line.size(); ++i) result[i] += result[i - 1];
  return result;
}
Number logsumexp_of(const std::vector<Number>& line) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const auto& each : line) most = std::max(most, each.real());
  for (const auto& each : line) sum += std::exp(each.real() - most);
  return line.empty() ? most : most + std::log(sum);
}
std::vector<Number> log_softmax_of(const std::vector<Number>& line) {
  auto result = line;
  for (auto& each : result) each -= logsumexp_of(line);
  return result;
}
std::vector<Number> softmax_of(const std::vector<Number>& line) {
  auto result = log_softmax_of(line);
  for (auto& each : result) each = std::exp(each);
  return result;
}

/// Returns the product of two matrices.
Full multiplied(const Full& a, const Full& b) {
  Full result{{a.shape[0], b.shape[1]}, {}};
  for (std::int64_t i = 0; i < a.shape[0]; ++i)
    for (std::int64_t j = 0; j < b.shape[1]; ++j) {
      Number sum = 0;
      for (std::int64_t k = 0; k < a.shape[1]; ++k) sum += a.at(i, k) * b.at(k, j);
      result.values.push_back(sum);
    }
  return result;
}

/// Returns the rows (dim 0) or columns (dim 1) that indices name; negative ones count from the end.
Full taken(const Full& a, const Full& indices, int dim) {
  const auto count = indices.shape[0], extent = a.shape[static_cast<std::size_t>(dim)];
  const auto named = [&](std::int64_t i) {
    const auto index =
        static_cast<std::int64_t>(indices.values[static_cast<std::size_t>(i)].real());
    return index < 0 ? index + extent : index;
  };
  Full result{a.shape, {}};
  result.shape[static_cast<std::size_t>(dim)] = count;
  for (std::int64_t i = 0; i < result.shape[0]; ++i)
    for (std::int64_t j = 0; j < result.shape[1]; ++j)
      result.values.push_back(dim == 0 ? a.at(named(i), j) : a.at(i, named(j)));
  return result;
}

/// Returns the matrix with 0 above a diagonal, or below it.
Full triangle_of(const Full& a, std::int64_t offset, bool is_upper) {
  Full result{a.shape, {}};
  for (std::int64_t i = 0; i < a.shape[0]; ++i)
    for (std::int64_t j = 0; j < a.shape[1]; ++j) {
      const bool stays = is_upper ? j - i >= offset : j - i <= offset;
      result.values.push_back(stays ? a.at(i, j) : Number(0));
    }
  return result;
}

Number variance_of(const std::vector<Number>& many) {
  const auto mean = sum_of(many) / static_cast<double>(many.size());
  double squares = 0;
  for (const auto& each : many) squares += std::norm(each - mean);
  return many.size() > 1 ? squares / (static_cast<double>(many.size()) - 1) : std::nan("");
}
/// Returns the position of the first element before which no other one comes.
template <class Before>
std::size_t first_of(const std::vector<Number>& many, const Before& before) {
  const auto found = std::ranges::min_element(
      many, [&](const Number& a, const Number& b) { return before(a.real(), b.real()); });
  return static_cast<std::size_t>(found - many.begin());
}

/// Returns a description of how a result differs from the expected one; "" if it does not.
std::string difference(const Full& got, const Full& expected, double tolerance) {
  if (!(got.shape == expected.shape))
    return "shape " + to_string(got.shape) + " instead of " + to_string(expected.shape);
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    const auto a = got.values[i], b = expected.values[i];
    const bool are_nan = std::isnan(a.real()) && std::isnan(b.real());
    if (a == b || are_nan || std::abs(a - b) <= tolerance * (1 + std::abs(b))) continue;
    std::ostringstream text;
    text << "element " << i << " is " << a << " instead of " << b;
    return text.str();
  }
  return "";
}

struct SumOfProducts {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& a, const T& b) const {
    return a * b + a;
  }
};

/// Draws operands and calls operators of one element type.
template <class T>
class Sampler {
 public:
  explicit Sampler(Generator& generator) : generator_(generator) {}

  /// Runs an operator that is drawn, on tensors that are drawn.
  void run_case(const DeviceMesh& mesh) {
    mesh_ = mesh;
    draw_partials();
    const Extents shape{draw_extent(), draw_extent()};
    const auto a = tensor<Kokkos::LayoutRight>(shape);
    const int kind = draw(generator_, 0, 3);
    if (kind == 0) return run_reduction(a);
    if (kind == 1) return run_whole(a);
    auto other = shape;
    if (draw(generator_, 0, 4) == 0) other[static_cast<std::size_t>(draw(generator_, 0, 1))] = 1;
    if (draw(generator_, 0, 2) == 0)
      run_elementwise(a, tensor<Kokkos::LayoutLeft>(other));
    else
      run_elementwise(a, tensor<Kokkos::LayoutRight>(other));
  }

  int refused() const { return refused_; }
  int implicit() const { return implicit_; }

 private:
  std::int64_t draw_extent() {
    return draw(generator_, 0, 9) == 0 ? draw(generator_, 0, 1) : draw(generator_, 1, 9);
  }

  void draw_partials() {
    constexpr auto kind = element_kind<T>;
    partial_.reset();
    constexpr ReduceOp all[] = {ReduceOp::sum, ReduceOp::max, ReduceOp::min, ReduceOp::bor,
                                ReduceOp::product};
    const auto op = all[draw(generator_, 0, 4)];
    if (can_reduce(op, kind) && !(is_bool<T> && op == ReduceOp::sum)) partial_ = op;
  }

  bool has_average(const Placements& placements) const {
    return std::ranges::any_of(
        placements, [](const Placement& placement) { return placement.is_partial(ReduceOp::avg); });
  }

  /// Returns a tensor of small numbers. Ranks that hold the same part of it hold the same numbers.
  template <class Layout>
  DTensor<MatrixOf<T, Layout>> tensor(const Extents& shape) {
    auto placements = random_placements(generator_, mesh_.ndim(), 2, partial_);
    while (!has_fractions<T> && has_average(placements))
      placements = random_placements(generator_, mesh_.ndim(), 2, partial_);
    const auto spec =
        with_random_boundaries(generator_, DTensorSpec(mesh_.layout(), placements, shape));
    auto part = static_cast<std::uint64_t>(generator_());
    if (is_on(mesh_))
      for (std::size_t m = 0; m < spec.placements().size(); ++m)
        if (spec.placements()[m].is_partial())
          part = 31 * part + static_cast<std::uint64_t>((*mesh_.coordinate())[m]);
    return filled<MatrixOf<T, Layout>>(
        spec, [&](const Extents& global) { return small_number(part, global); });
  }

  /// Returns a vector of indices of a dim; negative ones count from the end.
  DTensor<IndexVector> indices_of(std::int64_t extent) {
    const Extents shape{extent == 0 ? 0 : draw(generator_, 0, 6)};
    const auto placements = random_placements(generator_, mesh_.ndim(), 1, {});
    const auto spec =
        with_random_boundaries(generator_, DTensorSpec(mesh_.layout(), placements, shape));
    const auto seed = static_cast<std::uint64_t>(generator_());
    const auto n = static_cast<int>(extent);
    return filled<IndexVector>(spec, [&](const Extents& global) {
      Generator generator(seed + static_cast<std::uint64_t>(global[0]));
      return draw(generator, -n, n - 1);
    });
  }

  /// Returns a tensor of this spec, whose elements are value_of(global index).
  template <class V, class ValueOf>
  DTensor<V> filled(const DTensorSpec& spec, const ValueOf& value_of) const {
    if (!is_on(mesh_)) return from_local(V(), mesh_, spec, spec.shape());
    const auto piece = spec.sections(*mesh_.coordinate());
    const auto view = detail::allocate<V>(piece.shape(), "operand");
    change_on_host(view, [&](const auto& host) {
      for_each_element(piece, [&](const Extents& global, const Extents& local) {
        element_of(host, Extents::filled(local.size(), 0), local) = value_of(global);
      });
    });
    return from_local(view, mesh_, spec, spec.shape());
  }

  static T small_number(std::uint64_t seed, const Extents& index) {
    Generator generator(seed + 1000 * static_cast<std::uint64_t>(index[0]) +
                        static_cast<std::uint64_t>(index[1]));
    const double first = draw(generator, is_bool<T> ? 0 : -2, is_bool<T> ? 1 : 3);
    const double second = draw(generator, -2, 2);
    return element_of_number<T>({first, is_complex_type<T> ? second : 0});
  }

  /// Calls an operator under both scopes, and compares what it gives. One that is refused must be so
  /// on all ranks, and may do something about its operands under Redistribution::any.
  void check(const std::string& name, const std::function<Full()>& call,
             const std::function<Full()>& expected) {
    bool is_implicit = false, is_trivial = true;
    for (const auto allowed : {Redistribution::any, Redistribution::local}) {
      const RedistributionScope scope(allowed);
      const TraceScope trace([&](const TraceEvent& event) {
        if (event.kind != TraceKind::operation) return;
        is_implicit |= event.is_implicit;
        is_trivial &= event.is_trivial;
      });
      std::string refused;
      try {
        const auto got = call();
        if (is_on(mesh_)) {
          EXPECT_EQ(difference(got, expected(), std::is_same_v<T, float> ? 1e-4 : 1e-11), "")
              << name;
        }
      } catch (const PlacementMismatch& error) {
        refused = error.what();
      }
      const int is_refused = refused.empty() ? 0 : 1;
      int most = 0, least = 0;
      MPI_Allreduce(&is_refused, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      MPI_Allreduce(&is_refused, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
      EXPECT_EQ(most, least) << name;
      if (is_refused == 1) {
        EXPECT_EQ(allowed, Redistribution::local) << name << ": " << refused;
        EXPECT_FALSE(is_trivial) << name << ": " << refused;
      }
      refused_ += is_refused;
    }
    implicit_ += is_implicit ? 1 : 0;
  }

  /// Returns a number as the element type holds it: integers of 8 bits wrap around.
  static Number as_element(const Number& value) { return number_of(element_of_number<T>(value)); }

  template <class A, class B>
  void run_elementwise(const DTensor<A>& a, const DTensor<B>& b) {
    const auto x = gathered(a), y = gathered(b);
    const auto with = [&](const std::string& op, const auto& call, const Scalar& function) {
      check(
          op + " of " + to_string(a.spec()) + " and " + to_string(b.spec()),
          [&] { return gathered(call()); }, [&] { return elementwise(x, y, function); });
    };
    const auto alone = [&](const std::string& op, const auto& call, const Scalar& function) {
      check(
          op + " of " + to_string(a.spec()), [&] { return gathered(call()); },
          [&] { return elementwise(x, x, function); });
    };
    const auto kept = [](const auto& function) {
      return [function](Number p, Number q) { return as_element(function(p, q)); };
    };
    switch (draw(generator_, 0, 15)) {
      case 0:
        if constexpr (!is_bool<T>) {
          return with(
              "subtract", [&] { return a - b; }, kept(std::minus<>()));
        }
        return with(
            "or", [&] { return a + b; }, kept(std::plus<>()));
      case 1:
        return with(
            "multiply", [&] { return a * b; }, kept(std::multiplies<>()));
      case 2:
        if constexpr (has_fractions<T>)
          return with(
              "divide", [&] { return a / (b * b + 7); },
              [](Number p, Number q) { return p / (q * q + 7.0); });
        return with(
            "equal_to", [&] { return ops::equal_to(a, b); },
            [](Number p, Number q) { return p == q; });
      case 3:
        if constexpr (!is_bool<T> && !is_complex_type<T>)
          return with(
              "minimum", [&] { return ops::minimum(a, b); },
              [](Number p, Number q) { return std::min(p.real(), q.real()); });
        return with(
            "not_equal_to", [&] { return ops::not_equal_to(a, b); },
            [](Number p, Number q) { return p != q; });
      case 4:
        if constexpr (!is_bool<T> && !is_complex_type<T>)
          return with(
              "less", [&] { return a < b; },
              [](Number p, Number q) { return p.real() < q.real(); });
        [[fallthrough]];
      case 5:
        return with(
            "where", [&] { return ops::where(ops::equal_to(a, b), a, b * a); },
            [](Number p, Number q) { return p == q ? p : as_element(p * q); });
      case 6:
        if constexpr (!is_bool<T>)
          return with(
              "axpby", [&] { return axpby(2, a, 3, b); },
              kept([](Number p, Number q) { return 2.0 * p + 3.0 * q; }));
        [[fallthrough]];
      case 7:
        if constexpr (!is_bool<T>)
          return with(
              "map", [&] { return map<T>(SumOfProducts(), a, b); },
              kept([](Number p, Number q) { return p * q + p; }));
        [[fallthrough]];
      case 8:
        if constexpr (!is_bool<T>)
          return alone(
              "negate", [&] { return -a; }, kept([](Number p, Number) { return -p; }));
        return alone(
            "not",
            [&] {
              if constexpr (is_bool<T>)
                return !a;
              else
                return a;
            },
            [](Number p, Number) { return 1.0 - p; });
      case 9:
        if constexpr (!is_bool<T>)
          return alone(
              "square", [&] { return ops::square(a); },
              kept([](Number p, Number) { return p * p; }));
        [[fallthrough]];
      case 10:
        if constexpr (has_fractions<T>)
          return alone(
              "exp", [&] { return ops::exp(a / 8); },
              [](Number p, Number) { return std::exp(p / 8.0); });
        [[fallthrough]];
      case 11:
        if constexpr (!is_bool<T> && !is_complex_type<T>)
          return alone(
              "relu", [&] { return ops::relu(a); },
              [](Number p, Number) { return std::max(p.real(), 0.0); });
        [[fallthrough]];
      case 12:
        if constexpr (!is_bool<T>)
          return alone(
              "number", [&] { return 3 - a * 2; },
              kept([](Number p, Number) { return 3.0 - 2.0 * p; }));
        [[fallthrough]];
      case 13:
        if constexpr (is_bool<T>)
          return with(
              "and", [&] { return a && b; }, std::multiplies<>());
        if constexpr (has_fractions<T>)
          return alone(
              "part", [&] { return ops::real(a / 4); },
              [](Number p, Number) { return p.real() / 4; });
        [[fallthrough]];
      default:
        return with(
            "add", [&] { return a + b; }, kept([](Number p, Number q) {
              return is_bool<T> ? Number(p != 0.0 || q != 0.0) : p + q;
            }));
    }
  }

  template <class A>
  void run_reduction(const DTensor<A>& a) {
    const auto x = gathered(a);
    const int dim = draw(generator_, -1, 1);
    const bool keeps = dim >= 0 && draw(generator_, 0, 2) == 0;
    const bool is_empty = product(a.shape()) == 0;
    const auto over = [&](const std::string& op, const auto& call, const OfMany& function) {
      const auto name = op + " of " + to_string(a.spec()) + " over dim " + std::to_string(dim);
      const auto compute = [&] {
        auto expected = reduced(x, dim, function);
        if (keeps) expected.shape = dim == 0 ? Extents{1, x.shape[1]} : Extents{x.shape[0], 1};
        return expected;
      };
      if (dim < 0)
        check(
            name, [&] { return gathered(call()); }, compute);
      else if (keeps)
        check(
            name + ", kept", [&] { return gathered(call(KeepDims{dim})); }, compute);
      else
        check(
            name, [&] { return gathered(call(dim)); }, compute);
    };
    const auto sum = [&] {
      over(
          "sum", [&](auto... d) { return ops::sum(a, d...); }, sum_of);
    };
    constexpr bool is_real = !is_bool<T> && !is_complex_type<T>;
    switch (draw(generator_, 0, 9)) {
      case 0:
        if constexpr (!is_bool<T>)
          return over(
              "mean", [&](auto... d) { return ops::mean(a, d...); },
              [](const auto& many) { return sum_of(many) / static_cast<double>(many.size()); });
        return sum();
      case 1:
        if constexpr (is_real)
          if (!is_empty)
            return over(
                "max", [&](auto... d) { return ops::max(a, d...); },
                [](const auto& many) { return many[first_of(many, std::greater<>())]; });
        return sum();
      case 2:
        if constexpr (is_real)
          if (!is_empty)
            return over(
                "min", [&](auto... d) { return ops::min(a, d...); },
                [](const auto& many) { return many[first_of(many, std::less<>())]; });
        return sum();
      case 3:
        if constexpr (is_real)
          if (!is_empty)
            return over(
                "argmax", [&](auto... d) { return ops::argmax(a, d...); },
                [](const auto& many) {
                  return static_cast<double>(first_of(many, std::greater<>()));
                });
        return sum();
      case 4:
        if constexpr (is_real)
          if (!is_empty)
            return over(
                "argmin", [&](auto... d) { return ops::argmin(a, d...); },
                [](const auto& many) {
                  return static_cast<double>(first_of(many, std::less<>()));
                });
        return sum();
      case 5:
        if constexpr (!is_bool<T>)
          return over(
              "var", [&](auto... d) { return ops::var(a, d...); }, variance_of);
        return over(
            "any",
            [&](auto... d) {
              if constexpr (is_bool<T>)
                return ops::any(a, d...);
              else
                return a;
            },
            [](const auto& many) { return Number(sum_of(many) != 0.0); });
      case 6:
        return over(
            "count_nonzero", [&](auto... d) { return ops::count_nonzero(a, d...); },
            [](const auto& many) {
              return static_cast<double>(
                  std::ranges::count_if(many, [](const Number& n) { return n != 0.0; }));
            });
      case 7:
        if constexpr (!is_bool<T>)
          return over(
              "norm", [&](auto... d) { return ops::norm(a, Norm::two, d...); },
              [](const auto& many) {
                double squares = 0;
                for (const auto& each : many) squares += std::norm(each);
                return std::sqrt(squares);
              });
        return over(
            "all",
            [&](auto... d) {
              if constexpr (is_bool<T>)
                return ops::all(a, d...);
              else
                return a;
            },
            [](const auto& many) {
              return Number(sum_of(many).real() == static_cast<double>(many.size()));
            });
      default:
        return sum();
    }
  }

  /// Runs an operator that is described by whole arrays.
  template <class A>
  void run_whole(const DTensor<A>& a) {
    const auto x = gathered(a);
    const int dim = draw(generator_, 0, 1);
    const auto name = " of " + to_string(a.spec()) + " along dim " + std::to_string(dim);
    const auto alone = [&](const std::string& op, const auto& call, const auto& compute) {
      check(
          op + name, [&] { return gathered(call()); }, compute);
    };
    switch (draw(generator_, 0, 6)) {
      case 0:
      case 1:
        if constexpr (!is_bool<T>) {
          const Extents other{a.shape()[1], draw_extent()};
          if (draw(generator_, 0, 1) == 0)
            return run_matmul(a, x, tensor<Kokkos::LayoutLeft>(other));
          return run_matmul(a, x, tensor<Kokkos::LayoutRight>(other));
        }
        [[fallthrough]];
      case 2:
        if constexpr (std::is_floating_point_v<T>) {
          const int member = draw(generator_, 0, 2);
          if (member == 0)
            return alone(
                "softmax", [&] { return ops::softmax(a, dim); },
                [&] { return by_lines(x, dim, softmax_of); });
          if (member == 1)
            return alone(
                "log_softmax", [&] { return ops::log_softmax(a, dim); },
                [&] { return by_lines(x, dim, log_softmax_of); });
          return alone(
              "logsumexp", [&] { return ops::logsumexp(a, dim); },
              [&] { return reduced(x, dim, logsumexp_of); });
        }
        [[fallthrough]];
      case 3:
        return alone(
            "cumsum", [&] { return ops::cumsum(a, dim); },
            [&] { return by_lines(x, dim, running_sums); });
      case 4:
      case 5: {
        const auto indices = indices_of(a.shape()[static_cast<std::size_t>(dim)]);
        const auto y = gathered(indices);
        return alone(
            "take by " + to_string(indices.spec()), [&] { return ops::take(a, indices, dim); },
            [&] { return taken(x, y, dim); });
      }
      default: {
        const int offset = draw(generator_, -3, 3);
        const auto by = " by " + std::to_string(offset);
        if (draw(generator_, 0, 1) == 0)
          return alone(
              "tril" + by, [&] { return ops::tril(a, offset); },
              [&] { return triangle_of(x, offset, false); });
        return alone(
            "triu" + by, [&] { return ops::triu(a, offset); },
            [&] { return triangle_of(x, offset, true); });
      }
    }
  }

  /// Runs a product of matrices; x are the elements of a.
  template <class A, class B>
  void run_matmul(const DTensor<A>& a, const Full& x, const DTensor<B>& b) {
    const auto y = gathered(b);
    check(
        "matmul of " + to_string(a.spec()) + " and " + to_string(b.spec()),
        [&] { return gathered(ops::matmul(a, b)); }, [&] { return multiplied(x, y); });
  }

  Generator& generator_;
  DeviceMesh mesh_;
  std::optional<ReduceOp> partial_;
  int refused_ = 0;
  int implicit_ = 0;
};

/// Returns lines and grids of all ranks, and of some.
std::vector<DeviceMesh> all_meshes() {
  const int size = world_size();
  auto result = meshes_of({{size}, {1, size}});
  if (size > 1) result.push_back(mesh_of({size - 1}));
  if (size % 2 == 0) result.push_back(mesh_of({2, size / 2}));
  return result;
}

TEST(OperatorSample, operands_of_any_placements_give_what_one_rank_computes) {
  Generator generator(seed() + static_cast<unsigned>(world_size()));
  Sampler<float> floats(generator);
  Sampler<double> doubles(generator);
  Sampler<Complex> complexes(generator);
  Sampler<std::int8_t> bytes(generator);
  Sampler<std::int64_t> integers(generator);
  Sampler<bool> flags(generator);
  const auto meshes = all_meshes();
  // 2,000 on 1 to 4 ranks together: fewer where ranks share the cores of a small machine.
  const int usual =
      std::array{1000, 650, 200, 150}[static_cast<std::size_t>(std::clamp(world_size(), 1, 4) - 1)];
  const int count = cases(usual);
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const auto& mesh = meshes[static_cast<std::size_t>(i) % meshes.size()];
    SCOPED_TRACE("case " + std::to_string(i));
    switch (i % 6) {
      case 0:
        floats.run_case(mesh);
        break;
      case 1:
        complexes.run_case(mesh);
        break;
      case 2:
        bytes.run_case(mesh);
        break;
      case 3:
        integers.run_case(mesh);
        break;
      case 4:
        flags.run_case(mesh);
        break;
      default:
        doubles.run_case(mesh);
    }
    int failed = testing::Test::HasFailure() ? 1 : 0, any = 0;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any != 0) break;
  }
  if (world_size() > 1 && count >= usual) {
    EXPECT_GT(doubles.refused() + integers.refused(), 0);
    EXPECT_GT(doubles.implicit() + integers.implicit(), 0);
  }
}

}  // namespace
}  // namespace tessera::test
