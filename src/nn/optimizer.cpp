// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <tessera/tensor/detail/launch.hpp>
#include <tessera/tensor/detail/saved_memory.hpp>
#include <tessera/tensor/factories.hpp>

#include "nn/optimizer.hpp"

namespace tessera::detail {
namespace {

bool holds_elements(const ArrayRef& array) {
  return array.data != nullptr && array.size() > 0;  // off the mesh, Views of 0 dims have no memory
}

/// Returns the strides of an array without gaps whose elements lie in the order of those of `array`.
Extents strides_in_order_of(const ArrayRef& array) {
  std::array<std::size_t, max_tensor_dims> dims{};
  const auto end = dims.begin() + static_cast<std::ptrdiff_t>(array.extents.size());
  std::iota(dims.begin(), end, std::size_t{0});
  std::stable_sort(dims.begin(), end, [&](std::size_t a, std::size_t b) {
    return std::abs(array.strides[a]) > std::abs(array.strides[b]);
  });
  auto result = array.strides;
  std::int64_t next = 1;
  for (auto d = end; d != dims.begin();) {
    result[*--d] = next;
    next *= array.extents[*d];
  }
  return result;
}

OwnedArray zeros_in_order_of(const ArrayRef& array) {
  auto result = allocate_array(array.type, array.extents, array.space, "tessera::nn::optimizer");
  result.array.strides = strides_in_order_of(array);
  const auto bytes = result.array.bytes();
  const Fill<std::byte> fill{result.array.data, std::byte{0}};
  if (is_on_device(array.space))
    launch_on_device(Execution(), "tessera::nn::optimizer", bytes, fill);
  else
    launch_on_host(Execution(), "tessera::nn::optimizer", bytes, bytes, fill);
  return result;
}

bool can_update(ElementKind kind) {
  return kind == ElementKind::float32 || kind == ElementKind::float64 ||
         kind == ElementKind::complex64 || kind == ElementKind::complex128;
}

}  // namespace

Optimizer::Optimizer(std::string_view name, const nn::Module& module, std::size_t arrays)
    : name_(name), arrays_(arrays) {
  for (const auto& parameter : trainable_parameters(module)) {
    require_usable(*parameter);
    parameters_.push_back({parameter, {}, {}});
  }
  require(!parameters_.empty(), [&] {
    return fmt::format("{}: expected a module with trainable parameters, got {} without any", name_,
                       module.name());
  });
}

std::vector<Update> Optimizer::next_updates() {
  std::vector<UpdatedParameter*> entries;
  for (auto& entry : parameters_) {
    require_usable(*entry.parameter);
    if (!entry.parameter->gradient()) continue;
    require_writable_for_step(*entry.parameter);
    entries.push_back(&entry);
  }
  std::vector<Update> result;
  for (auto* const entry : entries) {
    const auto& parameter = *entry->parameter;
    if (entry->mesh != parameter.device_mesh() || entry->spec != parameter.spec())
      begin_anew(*entry);
    ++entry->steps;
    const auto data = parameter.data();
    if (holds_elements(data))
      result.push_back({data, *parameter.gradient(), entry->arrays, entry->steps});
  }
  return result;
}

void Optimizer::zero_grad() {
  for (const auto& entry : parameters_) entry.parameter->zero_grad();
}

void Optimizer::require_usable(const AnyParameter& parameter) const {
  require(parameter.is_distributed(), [&] {
    return fmt::format(
        "{}: expected a module that distribute_module() has distributed, got one whose parameter "
        "{} is not",
        name_, parameter.name());
  });
  require(can_update(parameter.type().kind), [&] {
    return fmt::format(
        "{}: expected parameters of type float or double, or complex numbers of these, got {} in "
        "{}",
        name_, to_string(parameter.type()), parameter.name());
  });
  require(!parameter.spec().placements().has_partial(), [&] {
    return fmt::format("{}: expected parameters that are not Partial, got {} as {}", name_,
                       parameter.name(), to_string(parameter.spec()));
  });
}

void Optimizer::require_writable_for_step(const AnyParameter& parameter) const {
  if (saved_arrays.load(std::memory_order_relaxed) == 0) return;
  named(fmt::format("{}::step of {}", name_, parameter.name()).c_str(),
        [&] { require_writable(parameter.data()); });
}

void Optimizer::begin_anew(UpdatedParameter& entry) const {
  const auto data = entry.parameter->data();
  std::vector<OwnedArray> arrays;
  if (holds_elements(data))
    for (std::size_t i = 0; i < arrays_; ++i) arrays.push_back(zeros_in_order_of(data));
  entry = {entry.parameter, entry.parameter->device_mesh(), entry.parameter->spec(), 0,
           std::move(arrays)};
}

void require_not_negative(std::string_view option, double value) {
  require(value >= 0,
          [&] { return fmt::format("expected {} of at least 0, got {}", option, value); });
}

}  // namespace tessera::detail
