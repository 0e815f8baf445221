// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// Computes gradients of tested operators on operands of any placements, and compares them.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/ops/factories.hpp>
#include <tessera/ops/redistribution_scope.hpp>

#include "gradient_table.hpp"

namespace tessera::test {

/// Gives the extent of each letter in the shapes of operands.
using LetterExtents = std::map<char, std::int64_t>;

inline Extents shape_of_letters(const std::string& letters, const LetterExtents& extents) {
  Extents result;
  for (const char letter : letters) result.push_back(letter == '1' ? 1 : extents.at(letter));
  return result;
}

/// Returns the elements of operand `k`. Those of arrays of up to 59 elements are distinct.
inline FullArray operand_array(const TestedGradient& tested, std::size_t k, const Extents& shape,
                               int variant = 0) {
  FullArray result{shape, {}};
  const auto offset = static_cast<std::int64_t>(7 * k) + 13 * variant;
  for (std::int64_t flat = 0; flat < product(shape); ++flat) {
    const auto first = static_cast<double>((23 * flat + offset) % 59);
    const auto second = static_cast<double>((31 * flat + offset + 3) % 59);
    const double shift = 0.01 * static_cast<double>(k + 1);
    const double real = tested.values[k] == Values::positive ? 0.5 + first / 29 : (first - 29) / 16;
    const double imag = tested.are_complex[k] ? (second - 29) / 16 + 2 * shift : 0;
    result.values.emplace_back(real + shift, imag);
  }
  return result;
}

/// Returns the gradient that backward() starts with.
inline FullArray start_array(const Extents& shape, bool is_complex) {
  FullArray result{shape, {}};
  for (std::int64_t flat = 0; flat < product(shape); ++flat)
    result.values.emplace_back(static_cast<double>((17 * flat + 5) % 31 - 15) / 8 + 0.05,
                               is_complex ? static_cast<double>((11 * flat + 3) % 29 - 14) / 8 : 0);
  return result;
}

inline DTensorSpec replicated(const DeviceMesh& mesh, const Extents& shape) {
  return detail::target_spec(mesh.layout(), shape, Target(all_replicate));
}

/// Says how the gradient that backward() starts with is distributed, given its shape.
using PlaceStart = std::function<DTensorSpec(const Extents& shape)>;

/// Holds the gradients of <y, c> with respect to the operands, where y is the result, and c fixed.
struct GradientResult {
  std::vector<FullArray> gradients = {};
  std::string start = {};  ///< placements of c
  std::string fault = {};  ///< what is wrong with the gradients besides their elements
};

/// Returns the gradient of an operand; zeros, and a fault, if there is none.
inline FullArray gradient_of(const ErasedVariable& operand, std::string& fault) {
  if (!operand.has_grad()) {
    fault = "there is no gradient";
    return {operand.spec().shape(), {}};
  }
  const auto expected = detail::like_spec(operand.spec());
  if (!(operand.gradient_spec() == expected))
    fault = "the gradient is " + to_string(operand.gradient_spec()) + " instead of " +
            to_string(expected);
  return operand.gradient();
}

/// Computes gradients. Operands may move in the forward pass. Collective over the mesh.
inline GradientResult gradients_of(const TestedGradient& tested, const DeviceMesh& mesh,
                                   const std::vector<DistributedArray>& operands,
                                   const PlaceStart& place) {
  grad::Tape tape;
  RecordedCall call;
  {
    const RedistributionScope moving(Redistribution::any);
    call = tested.record(tape, mesh, operands);
  }
  GradientResult result;
  const auto& shape = call.result->spec().shape();
  const auto spec = place(shape);
  result.start = to_string(spec.placements());
  call.result->backward(tape, {start_array(shape, call.result->is_complex()), spec});
  for (std::size_t k = 0; k < tested.operands(); ++k) {
    std::string fault;
    result.gradients.push_back(gradient_of(*call.operands[k], fault));
    if (!fault.empty()) result.fault += "operand " + std::to_string(k) + ": " + fault + "; ";
  }
  return result;
}

/// Computes gradients of replicated operands.
inline GradientResult replicated_gradients_of(const TestedGradient& tested, const DeviceMesh& mesh,
                                              const std::vector<FullArray>& arrays) {
  std::vector<DistributedArray> operands;
  for (const auto& array : arrays) operands.push_back({array, replicated(mesh, array.shape)});
  return gradients_of(tested, mesh, operands,
                      [&](const Extents& shape) { return replicated(mesh, shape); });
}

/// Returns <y, c> of replicated operands, without a record.
inline double value_of_replicated(const TestedGradient& tested, const DeviceMesh& mesh,
                                  const std::vector<FullArray>& arrays) {
  const grad::NoRecordScope plain;
  grad::Tape tape;
  std::vector<DistributedArray> operands;
  for (const auto& array : arrays) operands.push_back({array, replicated(mesh, array.shape)});
  const auto y = tested.record(tape, mesh, operands).result;
  const auto value = y->value(), start = start_array(value.shape, y->is_complex());
  double result = 0;
  for (std::size_t i = 0; i < value.values.size(); ++i)
    result += (std::conj(start.values[i]) * value.values[i]).real();
  return result;
}

/// Returns the index of an element as text: "(1, 2)".
inline std::string index_text(const Extents& shape, std::size_t flat) {
  auto rest = static_cast<std::int64_t>(flat);
  std::string result;
  for (std::size_t d = shape.size(); d-- > 0;) {
    result = std::to_string(rest % shape[d]) + (result.empty() ? "" : ", ") + result;
    rest /= shape[d];
  }
  return "(" + result + ")";
}

/// Describes the first element that differs by more than `tolerance` (1 + |expected|); "" if none
/// does.
inline std::string difference(const FullArray& got, const FullArray& expected, double tolerance) {
  if (!(got.shape == expected.shape) || got.values.size() != expected.values.size())
    return "shape " + to_string(got.shape) + " instead of " + to_string(expected.shape);
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    const auto a = got.values[i], b = expected.values[i];
    const auto is_nan = [](const auto& z) { return std::isnan(z.real()) || std::isnan(z.imag()); };
    if (a == b || (is_nan(a) && is_nan(b)) || std::abs(a - b) <= tolerance * (1 + std::abs(b)))
      continue;
    std::ostringstream text;
    text.precision(17);
    text << "element " << index_text(got.shape, i) << " is " << a << " instead of " << b;
    return text.str();
  }
  return "";
}

/// Describes how gradients differ from those of replicated operands; "" if they do not.
inline std::string difference(const TestedGradient& tested, const GradientResult& got,
                              const GradientResult& expected) {
  std::string result = got.fault;
  for (std::size_t k = 0; k < tested.operands(); ++k) {
    const auto text = difference(got.gradients[k], expected.gradients[k], tested.tolerance);
    if (!text.empty()) result += "gradient of operand " + std::to_string(k) + ": " + text + "; ";
  }
  return result;
}

/// Returns a description of a call: the operator, its operands, and the gradient it starts with.
inline std::string text_of(const TestedGradient& tested,
                           const std::vector<DistributedArray>& operands) {
  std::string result = tested.name;
  for (const auto& operand : operands) result += " | " + to_string(operand.spec);
  return result;
}

/// Computes gradients, and returns how they differ from `expected`, with a description of the call;
/// "" if they do not. Exceptions become text.
inline std::string wrong_gradient(const TestedGradient& tested, const DeviceMesh& mesh,
                                  const std::vector<DistributedArray>& operands,
                                  const PlaceStart& place, const GradientResult& expected) {
  try {
    const auto got = gradients_of(tested, mesh, operands, place);
    const auto text = is_on(mesh) ? difference(tested, got, expected) : got.fault;
    if (text.empty()) return "";
    return text_of(tested, operands) + " | dy " + got.start + ": " + text;
  } catch (const std::exception& error) {
    return text_of(tested, operands) + ": exception: " + error.what();
  }
}

}  // namespace tessera::test
