// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators compute, with all ranks simulated in this process: kernels run on the local pieces that
// the choice of placements means, and the result is put together from what the ranks have.
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include <tessera/ops/elementwise.hpp>

#include "../support/errors.hpp"
#include "../support/random_case.hpp"
#include "../support/same_number.hpp"
#include "operators.hpp"
#include "ops/choose.hpp"
#include "ops/elementwise_types.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;
using tessera::detail::OperandMove;
using tessera::detail::OperandRef;
namespace detail = tessera::detail;

using Specs = std::vector<std::optional<DTensorSpec>>;

std::int64_t flat_index(const Extents& shape, const Extents& index) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index[d];
  return flat;
}

/// Returns the flat index in an operand of what meets `index` of the result.
std::int64_t stretched_index(const Extents& shape, const Extents& index) {
  std::int64_t flat = 0;
  const auto skipped = index.size() - shape.size();
  for (std::size_t d = 0; d < shape.size(); ++d)
    flat = flat * shape[d] + (shape[d] == 1 ? 0 : index[d + skipped]);
  return flat;
}

std::int64_t mixed(std::int64_t a, std::int64_t b) {
  auto bits = static_cast<std::uint64_t>(a) * 0x9e3779b97f4a7c15 +
              static_cast<std::uint64_t>(b) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 29) * 0x94d049bb133111eb;
  return static_cast<std::int64_t>(bits >> 33);
}

/// Returns a small number by chance: an integer, or a number of eighths, so that sums are exact.
Number small_number(ElementKind kind, std::int64_t seed, std::int64_t flat) {
  const auto bits = mixed(seed, flat);
  if (kind == ElementKind::boolean) return static_cast<long double>(bits % 2);
  if (is_integer(kind)) return static_cast<long double>(bits % 7 - 3);
  const auto real = static_cast<long double>(bits % 49 - 24) / 8;
  if (!is_complex(kind)) return real;
  return {real, static_cast<long double>(bits / 64 % 49 - 24) / 8};
}

Numbers small_numbers(ElementKind kind, std::int64_t seed, const Extents& shape) {
  Numbers result;
  for (std::int64_t flat = 0; flat < product(shape); ++flat)
    result.push_back(small_number(kind, seed, flat));
  return result;
}

Number combined(ReduceOp op, const Number& a, const Number& b) {
  switch (op) {
    case ReduceOp::product:
      return a * b;
    case ReduceOp::min:
      return a != a || b != b ? a + b : Number(std::min(a.real(), b.real()));
    case ReduceOp::max:
      return a != a || b != b ? a + b : Number(std::max(a.real(), b.real()));
    case ReduceOp::band:
      return a.real() != 0 && b.real() != 0 ? 1 : 0;
    case ReduceOp::bor:
      return a.real() != 0 || b.real() != 0 ? 1 : 0;
    default:
      return a + b;
  }
}

/// Describes the Partial mesh dims of a spec.
struct Contributions {
  ReduceOp op = ReduceOp::sum;
  int size = 1;
  long double divisor = 1;
  std::vector<int> mesh_dims = {};

  explicit Contributions(const DTensorSpec& spec) {
    for (int m = 0; m < spec.layout().ndim(); ++m) {
      const auto& placement = spec.placements()[static_cast<std::size_t>(m)];
      if (!placement.is_partial()) continue;
      const int ranks = spec.layout().shape()[static_cast<std::size_t>(m)];
      mesh_dims.push_back(m);
      size *= ranks;
      if (placement.op() == ReduceOp::avg) divisor *= ranks;
      op = placement.op() == ReduceOp::avg ? ReduceOp::sum : placement.op();
    }
  }

  /// Returns the number of the contribution of a rank.
  int number_of(const DTensorSpec& spec, const std::vector<int>& coordinate) const {
    int number = 0;
    for (const int m : mesh_dims)
      number = number * spec.layout().shape()[static_cast<std::size_t>(m)] +
               coordinate[static_cast<std::size_t>(m)];
    return number;
  }
};

/// Returns what changes no element that it is combined with.
Number identity(ReduceOp op, ElementType type) {
  if (op != ReduceOp::min && op != ReduceOp::max) return op == ReduceOp::product ? 1 : 0;
  if (is_floating(type.kind))
    return std::numeric_limits<long double>::infinity() * (op == ReduceOp::min ? 1 : -1);
  return with_element(type.kind, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>)
      return number_of(op == ReduceOp::min ? std::numeric_limits<T>::max()
                                           : std::numeric_limits<T>::min());
    else
      return Number(0);
  });
}

/// Returns contribution `number` to an element of this value. If they are spread, all ranks contribute;
/// else the first one has the value.
Number contribution(const Contributions& all, int number, const Number& value, std::int64_t flat,
                    ElementType type, bool are_spread) {
  if (all.size == 1) return value;
  const auto extra = [&](int k) {
    return is_integer(type.kind) ? Number(static_cast<long double>(mixed(flat, k) % 3 - 1))
                                 : small_number(type.kind, 1000 + k, flat);
  };
  if (all.op == ReduceOp::sum) {
    if (number != 0) return are_spread ? extra(number) : Number(0);
    auto first = value * all.divisor;
    for (int k = 1; k < all.size && are_spread; ++k) first -= extra(k);
    return first;
  }
  const int holder = are_spread ? static_cast<int>(flat % all.size) : 0;
  if (number == holder) return value;
  if (!are_spread) return identity(all.op, type);
  if (all.op == ReduceOp::bor) return value.real() != 0 ? extra(number) : Number(0);
  const auto distance = std::abs(extra(number).real());
  return all.op == ReduceOp::max ? value - distance : value + distance;
}

/// Returns this rank's piece of a tensor of these values, in any layout.
StridedArray piece_of(Generator& generator, const DTensorSpec& spec, int rank, ElementType type,
                      const Numbers& values, bool are_spread) {
  const auto coordinate = spec.layout().coordinate(rank);
  const Contributions all(spec);
  const int number = all.number_of(spec, coordinate);
  const auto piece = spec.sections(coordinate);
  StridedArray array(generator, type, piece.shape());
  for_each_element(piece, [&](const Extents& index, const Extents& local) {
    const auto flat = flat_index(spec.shape(), index);
    store_number(
        array.element(local), type,
        contribution(all, number, values[static_cast<std::size_t>(flat)], flat, type, are_spread));
  });
  return array;
}

/// Holds what is expected of one element of the result.
struct Expected {
  Number value;
  long double tolerance = 0;
};

bool is_near(const Number& value, const Expected& expected) {
  const auto same = [](long double a, long double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
  };
  if (same(value.real(), expected.value.real()) && same(value.imag(), expected.value.imag()))
    return true;
  // Of infinities and NaN in complex numbers, which one it is depends on the formula.
  const bool is_finite = std::isfinite(std::abs(value));
  if (expected.value.imag() != 0 && is_finite == false && !std::isfinite(std::abs(expected.value)))
    return true;
  return std::abs(value - expected.value) <= expected.tolerance;
}

/// Returns the distance from 1 to the next larger number of a type; 0 for integers and bool.
long double epsilon(ElementType type) {
  if (type.kind == ElementKind::float32) return std::numeric_limits<float>::epsilon();
  const bool has_fractions = is_floating(type.kind) || is_complex(type.kind);
  return has_fractions ? std::numeric_limits<double>::epsilon() : 0.0L;
}

/// A Case is a call on tensors whose elements are known.
class Case {
 public:
  Case(const TestedOperator& tested, const Form& form, std::int64_t seed)
      : tested_(tested), form_(form), result_(result_type(tested, form.type)) {
    for (std::size_t k = 0; k < form.operands(); ++k)
      values_.push_back(values_of(k, seed + static_cast<int>(k)));
    // The mean of one element is that element.
    if (tested.is(ReductionOp::variance) && divisor() == 0) values_[1] = values_[0];
    if (tested.is_whole()) {
      find_whole();
    } else if (tested.is_reduction()) {
      shape_ = detail::reduced_shape(*form.shapes[0], form.over);
      find_reduced();
    } else {
      std::vector<Extents> shapes;
      for (const auto& shape : form.shapes)
        if (shape) shapes.push_back(*shape);
      shape_ = detail::broadcast_shape(shapes);
      find_elementwise();
    }
  }

  /// Runs all ranks with operands of these specs; "" if all is right, or if the operator itself would
  /// exchange something.
  std::string run(Generator& generator, const Specs& specs) const {
    const auto call = call_of(tested_, form_, specs);
    const auto rules = tested_.info().rules(call);
    const detail::OwnAlgorithm own{tested_.info().own.exchanges, nullptr};
    auto choice = detail::choose(call, rules, Redistribution::local, own);
    if (!choice) choice = detail::choose(call, rules, Redistribution::any, own);
    if (!choice) return "nothing fits: " + to_string(call);
    if (exchanges(*choice)) return "";
    Assembled assembled(choice->output, result_);
    for (int rank = 0; rank < choice->output.layout().size(); ++rank)
      assembled.add(rank, run_rank(generator, specs, *choice, rank));
    const auto difference = assembled.difference(expected_);
    return difference.empty() ? "" : to_string(call) + ": " + difference;
  }

 private:
  /// Puts the result together.
  class Assembled {
   public:
    Assembled(const DTensorSpec& spec, ElementType type)
        : spec_(spec),
          type_(type),
          all_(spec),
          size_(static_cast<std::size_t>(product(spec.shape()))),
          values_(size_ * static_cast<std::size_t>(spec.layout().size())),
          counts_(values_.size(), 0) {}

    void add(int rank, const StridedArray& array) {
      auto coordinate = spec_.layout().coordinate(rank);
      const auto piece = spec_.sections(coordinate);
      for (const int m : all_.mesh_dims) coordinate[static_cast<std::size_t>(m)] = 0;
      const auto begin = size_ * static_cast<std::size_t>(spec_.layout().mesh_rank(coordinate));
      for_each_element(piece, [&](const Extents& index, const Extents& local) {
        const auto at = begin + static_cast<std::size_t>(flat_index(spec_.shape(), index));
        const auto value = load_number(array.element(local), type_);
        values_[at] = counts_[at]++ == 0 ? value : combined(all_.op, values_[at], value);
      });
    }

    /// Describes the first element of any replica that is not as expected, or missing.
    std::string difference(const std::vector<Expected>& expected) const {
      for (std::size_t flat = 0; flat < size_; ++flat) {
        int replicas = 0;
        for (auto at = flat; at < values_.size(); at += size_) {
          if (counts_[at] == 0) continue;
          ++replicas;
          const auto value = values_[at] / all_.divisor;
          if (counts_[at] != all_.size || !is_near(value, expected[flat]))
            return text_of(flat, value) + " instead of " + text_of(flat, expected[flat].value);
        }
        if (replicas == 0) return "nobody has element " + std::to_string(flat);
      }
      return "";
    }

   private:
    std::string text_of(std::size_t flat, const Number& value) const {
      return "element " + std::to_string(flat) + " = (" + std::to_string(value.real()) + ", " +
             std::to_string(value.imag()) + ") as " + to_string(spec_);
    }

    const DTensorSpec& spec_;
    ElementType type_;
    Contributions all_;
    std::size_t size_;
    Numbers values_;  // [replica][element]
    std::vector<int> counts_;
  };

  /// Returns whether numbers that are added count on a rank: on the first of those that contribute.
  static bool counts_numbers(const DTensorSpec& output, int rank) {
    const auto coordinate = output.layout().coordinate(rank);
    for (std::size_t m = 0; m < coordinate.size(); ++m)
      if (output.placements()[m].is_partial(ReduceOp::sum) && coordinate[m] != 0) return false;
    return true;
  }

  /// Returns whether ranks hold parts of a dim that the operator combines by an exchange of its own.
  bool exchanges(const detail::Choice& choice) const {
    if (tested_.info().own.exchanges == 0) return false;
    const auto& spec = *choice.inputs[0];
    for (std::size_t m = 0; m < spec.placements().size(); ++m)
      if (spec.layout().shape()[m] > 1 &&
          spec.placements()[m].is_shard(static_cast<int>(form_.over.dims[0])))
        return true;
    return false;
  }

  StridedArray run_rank(Generator& generator, const Specs& specs, const detail::Choice& choice,
                        int rank) const {
    std::vector<StridedArray> pieces;
    std::vector<ArrayRef> arrays;
    std::vector<OperandRef> operands;
    pieces.reserve(form_.operands());
    for (std::size_t k = 0; k < form_.operands(); ++k) {
      const auto type = operand_type(tested_, form_, k);
      operands.push_back(number_operand(type, number_for(tested_, k)));
      arrays.emplace_back();
      if (!specs[k]) continue;
      const bool stays = choice.moves[k] == OperandMove::none;
      pieces.push_back(piece_of(generator, stays ? *specs[k] : *choice.inputs[k], rank, type,
                                values_[k], stays));
      operands.back().spec = &*specs[k];
      arrays.back() = pieces.back().array();
    }
    StridedArray result(generator, result_, choice.output.local_shape(rank));
    if (tested_.is_whole())
      run_whole(choice, rank, arrays, result.array());
    else if (tested_.is_reduction())
      detail::run_reduction(Execution(), tested_.reduction(), nullptr, arrays, form_.over,
                            divisor(), result.array());
    else
      detail::run_elementwise(Execution(), tested_.elementwise(), form_.type, operands, arrays,
                              result.array(), counts_numbers(choice.output, rank));
    return result;
  }

  void run_whole(const detail::Choice& choice, int rank, const std::vector<ArrayRef>& arrays,
                 const ArrayRef& result) const {
    const auto coordinate = choice.output.layout().coordinate(rank);
    std::vector<Piece> pieces;
    for (const auto& input : choice.inputs) pieces.push_back(input->sections(coordinate));
    tested_.whole().run({form_, arrays, pieces, result, choice.output.sections(coordinate)});
  }

  /// Returns the elements of operand k.
  Numbers values_of(std::size_t k, std::int64_t seed) const {
    const auto type = operand_type(tested_, form_, k);
    if (!form_.shapes[k]) return {rounded(type, number_for(tested_, k))};
    if (!tested_.has_indices(k)) return small_numbers(type.kind, seed, *form_.shapes[k]);
    const auto extent = (*form_.shapes[0])[static_cast<std::size_t>(form_.over.dims[0])];
    const auto least = tested_.whole().indices == Indices::from_both_ends ? -extent : 0;
    Numbers result;
    for (std::int64_t flat = 0; flat < product(*form_.shapes[k]); ++flat)
      result.emplace_back(static_cast<long double>(least + mixed(seed, flat) % (extent - least)));
    return result;
  }

  /// Returns the number of elements that become one, less the correction of var.
  double divisor() const {
    const auto size = detail::reduced_size(*form_.shapes[0], form_.over.dims);
    return static_cast<double>(size) - (tested_.is(ReductionOp::variance) ? 1 : 0);
  }

  void find_elementwise() {
    const auto eps = epsilon(result_);
    for_each_index({Extents::filled(shape_.size(), 0), shape_}, [&](const Extents& index) {
      Elements x;
      x.kind = form_.type.kind;
      std::array<Number*, 4> elements = {&x.a, &x.b, &x.c, &x.d};
      for (std::size_t k = 0; k < values_.size(); ++k)
        *elements[k] =
            values_[k][form_.shapes[k]
                           ? static_cast<std::size_t>(stretched_index(*form_.shapes[k], index))
                           : 0];
      const auto value = tested_.oracle(x);
      // Powers of complex numbers are exp(b log a), which multiplies the error of the logarithm.
      const bool is_power = tested_.is(ElementwiseOp::power) && is_complex(form_.type.kind);
      const long double ulps = is_power ? 64 : 4;
      expected_.push_back(
          {eps == 0 ? rounded(result_, value) : value, ulps * eps * std::abs(value)});
    });
  }

  void find_whole() {
    const bool has_fractions = epsilon(result_) > 0;
    const auto error = tested_.whole().ulps * epsilon(result_);
    for (const auto& value : tested_.whole().oracle(form_, values_)) {
      const auto size = std::abs(value);
      expected_.push_back({has_fractions ? value : rounded(result_, value),
                           std::isfinite(size) ? error * (1 + size) : 0});
    }
  }

  void find_reduced() {
    std::vector<Numbers> first(static_cast<std::size_t>(product(shape_))), second(first.size());
    const detail::ReducedDims kept{form_.over.dims, true};
    const auto kept_shape = detail::reduced_shape(*form_.shapes[0], kept);
    const Box all{Extents::filled(form_.shapes[0]->size(), 0), *form_.shapes[0]};
    for_each_index(all, [&](const Extents& index) {
      const auto to = static_cast<std::size_t>(stretched_index(kept_shape, index));
      first[to].push_back(
          values_[0][static_cast<std::size_t>(flat_index(*form_.shapes[0], index))]);
      if (values_.size() > 1)
        second[to].push_back(
            values_[1][static_cast<std::size_t>(stretched_index(*form_.shapes[1], index))]);
    });
    for (std::size_t to = 0; to < first.size(); ++to)
      expected_.push_back(reduced(first[to], second[to]));
  }

  Expected reduced(const Numbers& first, const Numbers& second) const {
    Elements x;
    x.first = first;
    x.second = second;
    x.kind = form_.type.kind;
    const auto value = tested_.oracle(x);
    long double sizes = 0;  // of what is added
    for (std::size_t i = 0; i < first.size(); ++i)
      sizes += std::abs(first[i]) * (second.empty() ? 1.0L : std::abs(second[i]));
    const auto n = static_cast<long double>(first.size());
    const auto eps = epsilon(result_);
    using enum ReductionOp;
    if (tested_.is(sum) || tested_.is(dot) || tested_.is(vdot))
      return {value, (n + std::ceil(std::log2(n + 1))) * eps / 2 * sizes};
    if (tested_.is(mean)) return {value, (n + std::ceil(std::log2(n + 1))) * eps / 2 * sizes / n};
    // Others round once or twice for each element.
    return {eps == 0 ? rounded(result_, value) : value, (2 * n + 8) * eps * std::abs(value)};
  }

  const TestedOperator& tested_;
  const Form& form_;
  ElementType result_;
  Extents shape_;
  std::vector<Numbers> values_;     // by operand
  std::vector<Expected> expected_;  // by flat index of the result
};

/// Lists the operators that have an oracle.
std::vector<const TestedOperator*> computed_operators() {
  std::vector<const TestedOperator*> result;
  for (const auto& tested : tested_operators())
    if (tested.has_oracle()) result.push_back(&tested);
  return result;
}

void expect_right_values(const TestedOperator& tested, const MeshLayout& mesh, int& cases) {
  Generator generator(seed());
  const auto types = types_of(tested);
  for (const auto& shapes : tested_shapes()) {
    // Element types are taken in turn.
    const auto type = types[static_cast<std::size_t>(cases) % types.size()];
    for (const auto& form : forms_of(tested, type, shapes)) {
      const Case values(tested, form, seed());
      for_each_specs(tested, form, mesh, [&](const Specs& specs) {
        ++cases;
        EXPECT_EQ(values.run(generator, specs), "");
      });
    }
  }
}

TEST(Operators, are_right_for_all_placements_on_meshes_of_one_dim) {
  int cases = 0;
  for (const int size : {1, 2, 3, 4})
    for (const auto* tested : computed_operators())
      expect_right_values(*tested, MeshLayout({size}), cases);
  RecordProperty("cases", cases);
}

TEST(Operators, are_right_for_placements_at_random_on_meshes_of_two_dims) {
  Generator generator(seed());
  const auto operators = computed_operators();
  const int number = cases(20000);
  for (int i = 0; i < number; ++i) {
    const auto& tested = *pick(generator, operators);
    const MeshLayout mesh({2, draw(generator, 2, 3)});
    const auto forms =
        forms_of(tested, pick(generator, types_of(tested)), pick(generator, tested_shapes()));
    if (forms.empty()) continue;
    const auto& form = pick(generator, forms);
    const auto specs = random_specs(generator, tested, form, mesh);
    EXPECT_EQ(Case(tested, form, i).run(generator, specs), "") << "case " << i;
  }
}

template <class T>
ArrayRef array_of(std::vector<T>& elements) {
  return row_major(reinterpret_cast<std::byte*>(elements.data()), element_type<T>(),
                   {static_cast<std::int64_t>(elements.size())}, MemorySpace::host);
}

/// Returns what an operator gives for the elements of one or two arrays.
template <class T>
std::vector<T> computed(ElementwiseOp op, std::vector<T> a, std::vector<T> b = {}) {
  std::vector<T> result(a.size());
  const std::vector<ArrayRef> arrays = {array_of(a), array_of(b)};
  detail::run_elementwise(Execution(), op, element_type<T>(), std::vector<OperandRef>(2), arrays,
                          array_of(result), true);
  return result;
}

/// Returns what a reduction gives for all elements of an array.
template <class R, class T>
R reduced(ReductionOp op, std::vector<T> elements) {
  std::vector<R> result(1);
  auto to = array_of(result);
  to.extents = to.strides = {};
  const std::vector<ArrayRef> arrays = {array_of(elements)};
  detail::run_reduction(Execution(), op, nullptr, arrays, {{0}, false},
                        static_cast<double>(elements.size()), to);
  return result[0];
}

template <class T>
void expect_same(const std::vector<T>& got, const std::vector<T>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(is_same(got[i], expected[i]))
        << "element " << i << ": " << got[i] << " instead of " << expected[i];
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
using Int8s = std::vector<std::int8_t>;
using Int64s = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

TEST(Integers, wrap_around) {
  using enum ElementwiseOp;
  EXPECT_EQ(computed<std::int8_t>(add, {127, -128}, {1, -1}), (Int8s{-128, 127}));
  EXPECT_EQ(computed<std::int8_t>(subtract, {-128, 100}, {1, -100}), (Int8s{127, -56}));
  EXPECT_EQ(computed<std::int8_t>(multiply, {100, 16}, {3, 16}), (Int8s{44, 0}));
  EXPECT_EQ(computed<std::int8_t>(negate, {-128, 5}), (Int8s{-128, -5}));
  EXPECT_EQ(computed<std::int8_t>(abs, {-128, -5}), (Int8s{-128, 5}));
  EXPECT_EQ(computed<std::int8_t>(square, {16, -12}), (Int8s{0, -112}));
  EXPECT_EQ(computed<std::uint16_t>(add, {65535}, {2}), std::vector<std::uint16_t>{1});
  EXPECT_EQ(computed<std::uint16_t>(multiply, {65535}, {65535}), std::vector<std::uint16_t>{1});
  const auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(computed<std::int64_t>(add, {most}, {1}), Int64s{-most - 1});
  EXPECT_EQ(reduced<std::int64_t>(ReductionOp::sum, Int64s{most, 1, 1}), -most);
  EXPECT_EQ(reduced<std::int64_t>(ReductionOp::sum, Int8s{100, 100}), 200);
}

TEST(Integers, are_divided_as_in_cpp_and_give_0_where_the_divisor_is_0) {
  EXPECT_EQ(
      computed<std::int8_t>(ElementwiseOp::divide, {7, -7, 7, 0, -128, -128}, {2, 2, 0, 0, -1, 0}),
      (Int8s{3, -3, 0, 0, -128, 0}));
  const auto least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(computed<std::int64_t>(ElementwiseOp::divide, {least, least}, {-1, 0}),
            (Int64s{least, 0}));
  EXPECT_EQ(computed<std::uint16_t>(ElementwiseOp::divide, {65535}, {0}),
            std::vector<std::uint16_t>{0});
}

TEST(Integers, have_powers_that_wrap_around_and_are_0_for_negative_exponents) {
  EXPECT_EQ(
      computed<std::int8_t>(ElementwiseOp::power, {2, 2, 3, -2, 0, 0, 5}, {3, 7, 5, 3, 0, 1, 0}),
      (Int8s{8, -128, -13, -8, 1, 0, 1}));
  EXPECT_EQ(computed<std::int8_t>(ElementwiseOp::power, {2, 1, -1, -1, 0}, {-1, -5, -3, -4, -1}),
            (Int8s{0, 1, -1, 1, 0}));
}

TEST(NotANumber, wins_over_numbers_in_minimum_and_maximum) {
  using enum ElementwiseOp;
  const Doubles a = {nan, 1, 1, -0.0, 0.0}, b = {1, nan, 2, 0.0, -0.0};
  expect_same(computed<double>(minimum, a, b), {nan, nan, 1, -0.0, -0.0});
  expect_same(computed<double>(maximum, a, b), {nan, nan, 2, 0.0, 0.0});
  expect_same(computed<float>(maximum, {static_cast<float>(nan)}, {1}), {static_cast<float>(nan)});
}

TEST(NotANumber, wins_in_min_and_max_wherever_it_is) {
  for (std::size_t at = 0; at < 20; ++at) {
    Doubles elements(20, 1.0);
    elements[at] = nan;
    EXPECT_TRUE(std::isnan(reduced<double>(ReductionOp::min, elements))) << at;
    EXPECT_TRUE(std::isnan(reduced<double>(ReductionOp::max, elements))) << at;
    EXPECT_TRUE(std::isnan(reduced<double>(ReductionOp::norm_inf, elements))) << at;
  }
}

TEST(NotANumber, stays_in_relu_sign_and_clamp) {
  expect_same(computed<double>(ElementwiseOp::relu, {nan, -1, 2}), {nan, 0, 2});
  expect_same(computed<double>(ElementwiseOp::sign, {nan, -3, 0.5}), {nan, -1, 1});
  Doubles elements = {nan, -5, 0.5, 7}, result(4);
  const std::vector<ArrayRef> arrays = {array_of(elements), {}, {}};
  const std::vector<OperandRef> operands = {
      {}, detail::operand_ref<double>(-1.0), detail::operand_ref<double>(2.0)};
  detail::run_elementwise(Execution(), ElementwiseOp::clamp, element_type<double>(), operands,
                          arrays, array_of(result), true);
  expect_same(result, {nan, -1, 0.5, 2});
}

/// Returns what a rank on which a number does not count computes of tensor and number, or of number and
/// tensor.
Doubles with_uncounted_number(ElementwiseOp op, bool number_is_first, Doubles elements) {
  Doubles result(elements.size());
  const auto number = detail::operand_ref<double>(7.0);
  std::vector<OperandRef> operands = {{}, number};
  std::vector<ArrayRef> arrays = {array_of(elements), {}};
  if (number_is_first) {
    std::ranges::reverse(operands);
    std::ranges::reverse(arrays);
  }
  detail::run_elementwise(Execution(), op, element_type<double>(), operands, arrays,
                          array_of(result), false);
  return result;
}

TEST(UncountedNumber, leaves_contributions_as_they_are_with_the_sign_of_zero) {
  const Doubles elements = {-0.0, 0.0, 3, infinity};
  expect_same(with_uncounted_number(ElementwiseOp::add, false, elements), elements);
  expect_same(with_uncounted_number(ElementwiseOp::add, true, elements), elements);
  expect_same(with_uncounted_number(ElementwiseOp::subtract, false, elements), elements);
  expect_same(with_uncounted_number(ElementwiseOp::subtract, true, elements),
              {0.0, -0.0, -3, -infinity});
}

TEST(Sigmoid, of_large_numbers_is_0_or_1) {
  expect_same(computed<double>(ElementwiseOp::sigmoid, {-1000, 1000, -infinity, infinity, 0, nan}),
              {0, 1, 0, 1, 0.5, nan});
  expect_same(computed<float>(ElementwiseOp::sigmoid, {-200, 200, 0}), {0, 1, 0.5F});
  EXPECT_GT(computed<double>(ElementwiseOp::sigmoid, {-700})[0], 0);
}

TEST(Where, takes_a_number_as_the_condition) {
  const Kokkos::View<double*> a("a", 2), b("b", 2);
  Kokkos::deep_copy(a, 1);
  Kokkos::deep_copy(b, 2);
  EXPECT_EQ(ops::where(true, a, b)(0), 1);
  EXPECT_EQ(ops::where(false, a, b)(0), 2);
}

TEST(EmptyReductions, give_what_changes_nothing) {
  using enum ReductionOp;
  EXPECT_EQ(reduced<double>(sum, Doubles()), 0);
  EXPECT_EQ(reduced<double>(product, Doubles()), 1);
  EXPECT_TRUE(std::isnan(reduced<double>(mean, Doubles())));
  EXPECT_TRUE(std::isnan(reduced<double>(mean, Int64s())));
  EXPECT_EQ(reduced<std::int64_t>(sum, Int8s()), 0);
  EXPECT_EQ(reduced<std::int64_t>(product, Int8s()), 1);
  EXPECT_EQ(reduced<std::int64_t>(count_nonzero, Doubles()), 0);
  EXPECT_EQ(reduced<double>(norm_one, Doubles()), 0);
  EXPECT_EQ(reduced<double>(norm_inf, Doubles()), 0);
}

TEST(Variance, is_not_a_number_where_it_is_divided_by_0_or_less) {
  Doubles elements = {1, 3}, mean = {2};
  const std::vector<ArrayRef> arrays = {array_of(elements), array_of(mean)};
  for (const double divisor : {0.0, -1.0}) {
    Doubles result(1);
    auto to = array_of(result);
    to.extents = to.strides = {};
    detail::run_reduction(Execution(), ReductionOp::variance, nullptr, arrays, {{0}, false},
                          divisor, to);
    EXPECT_TRUE(std::isnan(result[0])) << result[0] << " for the divisor " << divisor;
  }
}

TEST(EmptyReductions, have_no_least_or_largest_element) {
  using enum ReductionOp;
  for (const auto op : {ReductionOp::min, ReductionOp::max, argmin, argmax}) {
    const auto refused = invalid_argument_of([&] {
      detail::require_elements(op, {0, 3}, {{0}, false});
    });
    EXPECT_EQ(refused, "expected at least one element to reduce, got shape (0, 3)");
    EXPECT_NO_THROW(detail::require_elements(op, {0, 3}, {{1}, false}));
  }
  EXPECT_NO_THROW(detail::require_elements(sum, {0, 3}, {{0}, false}));
}

TEST(ReducedDims, count_from_the_last_dim_where_they_are_negative) {
  EXPECT_EQ(detail::reduced_dims(std::array{-1, 0}, false, 3).dims, (Extents{0, 2}));
  EXPECT_EQ(invalid_argument_of([] { detail::reduced_dims(std::array{3}, false, 3); }),
            "expected dims of a tensor with 3 dims, got 3");
  EXPECT_EQ(invalid_argument_of([] {
              detail::reduced_dims(std::array{2, -1}, false, 3);
            }),
            "expected each dim once, got dim 2 twice");
}

TEST(BroadcastShape, aligns_last_dims_and_stretches_extents_of_1) {
  const auto shape_of = [](std::vector<Extents> shapes) { return detail::broadcast_shape(shapes); };
  EXPECT_EQ(shape_of({{2, 1, 3}, {4, 1}}), (Extents{2, 4, 3}));
  EXPECT_EQ(shape_of({{}, {5}}), (Extents{5}));
  EXPECT_EQ(shape_of({{0, 3}, {1, 3}}), (Extents{0, 3}));
  EXPECT_EQ(shape_of({{1}, {0}}), (Extents{0}));
}

TEST(BroadcastShape, refuses_other_extents) {
  const auto refused = [](std::vector<Extents> shapes) {
    return invalid_argument_of([&] { detail::broadcast_shape(shapes); });
  };
  const std::string text =
      "expected shapes that broadcast: equal extents, or 1, from the last dim on; got ";
  EXPECT_EQ(refused({{3, 4}, {3}}), text + "(3, 4) and (3)");
  EXPECT_EQ(refused({{0}, {5}}), text + "(0) and (5)");
  EXPECT_EQ(refused({{2, 1}, {3, 1}, {1, 4}}), text + "(2, 1) and (3, 1) and (1, 4)");
}

/// Returns the sum of all ranks' sums of parts, and the bound of its error.
template <class T>
void expect_sum_within_bound(std::int64_t size, int ranks, std::int64_t stride) {
  std::mt19937 generator(seed());
  std::uniform_real_distribution<T> number(-1, 2);
  std::vector<T> elements(static_cast<std::size_t>(size * stride));
  for (auto& element : elements) element = number(generator);
  long double exact = 0, sizes = 0;
  for (std::size_t i = 0; i < elements.size(); i += static_cast<std::size_t>(stride)) {
    exact += elements[i];
    sizes += std::abs(elements[i]);
  }

  auto array = array_of(elements);
  array.extents = {size};
  array.strides = {stride};
  const DTensorSpec spec(MeshLayout({ranks}), {Shard(0)}, {size});
  T sum = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto box = spec.piece(std::array{rank});
    const std::vector<ArrayRef> parts = {array.part(box.offset, box.shape)};
    std::vector<T> part(1);
    auto to = array_of(part);
    to.extents = to.strides = {};
    detail::run_reduction(Execution(), ReductionOp::sum, nullptr, parts, {{0}, false}, 1, to);
    sum += part[0];
  }

  const auto length = static_cast<long double>(spec.largest_local_shape()[0]);
  const auto unit = static_cast<long double>(std::numeric_limits<T>::epsilon()) / 2;
  const auto bound =
      (length + std::ceil(std::log2(static_cast<long double>(ranks)))) * unit * sizes;
  EXPECT_LE(std::abs(sum - exact), bound) << size << " elements on " << ranks << " ranks";
}

TEST(Sum, has_no_larger_error_than_promised) {
  for (const std::int64_t size : {1, 7, 8, 9, 1000, 100003})
    for (const int ranks : {1, 2, 3, 7})
      for (const std::int64_t stride : {1, 3}) {
        expect_sum_within_bound<float>(size, ranks, stride);
        expect_sum_within_bound<double>(size, ranks, stride);
      }
}

/// Computes once with elements of a type.
template <class T, class Sum = T, class Mean = T>
void expect_arithmetic() {
  const std::vector<T> a = {T(1), T(2), T(3)}, b = {T(3), T(2), T(1)};
  const std::string name = to_string(element_type<T>());
  EXPECT_TRUE(computed<T>(ElementwiseOp::add, a, b) == (std::vector<T>{T(4), T(4), T(4)})) << name;
  EXPECT_TRUE(computed<T>(ElementwiseOp::multiply, a, b) == (std::vector<T>{T(3), T(4), T(3)}))
      << name;
  EXPECT_TRUE(reduced<Sum>(ReductionOp::sum, a) == Sum(6)) << name;
  EXPECT_TRUE(reduced<Sum>(ReductionOp::product, a) == Sum(6)) << name;
  EXPECT_TRUE(reduced<Mean>(ReductionOp::mean, a) == Mean(2)) << name;
}

TEST(ElementTypes, all_have_arithmetic) {
  expect_arithmetic<std::int8_t, std::int64_t, double>();
  expect_arithmetic<std::int16_t, std::int64_t, double>();
  expect_arithmetic<std::int32_t, std::int64_t, double>();
  expect_arithmetic<std::uint8_t, std::uint64_t, double>();
  expect_arithmetic<std::uint16_t, std::uint64_t, double>();
  expect_arithmetic<std::uint32_t, std::uint64_t, double>();
  expect_arithmetic<std::uint64_t, std::uint64_t, double>();
  expect_arithmetic<long double>();
  expect_arithmetic<Kokkos::Experimental::half_t>();
  expect_arithmetic<Kokkos::Experimental::bhalf_t>();
  expect_arithmetic<Kokkos::complex<float>>();
  expect_arithmetic<std::complex<double>>();
  expect_arithmetic<std::complex<long double>>();
}

TEST(ElementTypes, of_operands_may_differ_from_the_one_that_is_computed_in) {
  std::vector<float> a = {1.5F, -2};
  Doubles b = {0.25, 1}, result(2);
  const std::vector<ArrayRef> arrays = {array_of(a), array_of(b)};
  detail::run_elementwise(Execution(), ElementwiseOp::add, element_type<double>(),
                          std::vector<OperandRef>(2), arrays, array_of(result), true);
  EXPECT_EQ(result, (Doubles{1.75, -1}));
}

TEST(Memory, of_the_result_may_be_that_of_an_operand_or_overlap_it) {
  Doubles a = {1, 2, 3, 4, 5};
  auto whole = array_of(a);
  const std::vector<ArrayRef> same = {whole, whole};
  detail::run_elementwise(Execution(), ElementwiseOp::add, element_type<double>(),
                          std::vector<OperandRef>(2), same, whole, true);
  EXPECT_EQ(a, (Doubles{2, 4, 6, 8, 10}));

  const std::vector<ArrayRef> first = {whole.part({0}, {4}), whole.part({0}, {4})};
  detail::run_elementwise(Execution(), ElementwiseOp::add, element_type<double>(),
                          std::vector<OperandRef>(2), first, whole.part({1}, {4}), true);
  EXPECT_EQ(a, (Doubles{2, 4, 8, 12, 16}));
}

}  // namespace
