// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>
#include <vector>

#include <tessera/tensor/detail/launch.hpp>

#include "kernels/copy_loop.hpp"
#include "kernels/pack.hpp"

namespace tessera::detail {
namespace {

template <MemorySpace Space>
using Bytes =
    Kokkos::View<std::byte*, std::conditional_t<Space == MemorySpace::host, Kokkos::HostSpace,
                                                Kokkos::DefaultExecutionSpace::memory_space>>;

[[maybe_unused]] bool has_strides(const ArrayRef& array, const Extents& strides) {
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (array.extents[d] != 1 && array.strides[d] != strides[d]) return false;
  return true;
}

/// Returns the memory of `array` if it has these strides, otherwise scratch memory of the same
/// size.
template <MemorySpace Space>
Bytes<Space> memory_with(const ArrayRef& array, const Extents& strides) {
  const auto bytes = static_cast<std::size_t>(array.bytes());
  if (has_strides(array, strides)) return Bytes<Space>(array.data, bytes);
  return Bytes<Space>(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "tessera::detail::copy scratch"), bytes);
}

template <MemorySpace From, MemorySpace To>
void copy_across(const Execution& execution, const ArrayRef& source, const ArrayRef& destination) {
  const Extents strides = dense_strides(destination);
  const auto packed = memory_with<From>(source, strides);
  const auto arrived = memory_with<To>(destination, strides);
  if (packed.data() != source.data)
    copy(execution, {source, {packed.data(), source.type, source.extents, strides, From}});
  finish_host(execution);
  const auto device = execution.instance<MemorySpace::device>();
  Kokkos::deep_copy(device, arrived, packed);
  device.fence("tessera::detail::copy: before scratch is freed or the host goes on");
  if (arrived.data() == destination.data) return;
  copy(execution, {{arrived.data(), source.type, source.extents, strides, To}, destination});
  device.fence("tessera::detail::copy: before scratch is freed");
}

void copy_between_spaces(const Execution& execution, const CopyJob& job);

/// Brings the elements as they are to the space of the destination, and changes them there.
template <MemorySpace To>
void change_across(const Execution& execution, const CopyJob& job) {
  const Bytes<To> arrived(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "tessera::detail::copy scratch"),
      static_cast<std::size_t>(job.source.bytes()));
  const ArrayRef between{arrived.data(), job.source.type, job.source.extents,
                         dense_strides(job.source), To};
  copy_between_spaces(execution, {job.source, between});
  convert(execution, between, job.destination, job.scaling);
  execution.instance<To>().fence("tessera::detail::copy: before scratch is freed");
}

void copy_between_spaces(const Execution& execution, const CopyJob& job) {
  if constexpr (has_device) {
    if (job.changes_values())
      return is_on_device(job.destination.space)
                 ? change_across<MemorySpace::device>(execution, job)
                 : change_across<MemorySpace::host>(execution, job);
    if (job.source.space == MemorySpace::host)
      copy_across<MemorySpace::host, MemorySpace::device>(execution, job.source, job.destination);
    else
      copy_across<MemorySpace::device, MemorySpace::host>(execution, job.source, job.destination);
  }
}

}  // namespace

void copy(const Execution& execution, std::span<const CopyJob> jobs) {
  if (jobs.size() == 1) return copy(execution, jobs.front());
  std::vector<CopyLoop> on_host;
  std::vector<CopyLoop> on_device;
  for (const auto& job : jobs) {
    if (job.destination.bytes() == 0) continue;
    const bool from_device = is_on_device(job.source.space);
    const bool to_device = is_on_device(job.destination.space);
    if (from_device != to_device)
      copy_between_spaces(execution, job);
    else if (job.changes_values())
      convert(execution, job.source, job.destination, job.scaling, job.stores);
    else
      (to_device ? on_device : on_host).push_back(copy_loop(job));
  }
  if (!on_host.empty()) copy_on_host(execution, on_host);
  if (!on_device.empty()) copy_on_device(execution, on_device);
}

void copy(const Execution& execution, const CopyJob& job) {
  if (job.destination.bytes() == 0) return;
  const bool from_device = is_on_device(job.source.space);
  const bool to_device = is_on_device(job.destination.space);
  if (from_device != to_device) return copy_between_spaces(execution, job);
  if (job.changes_values())
    return convert(execution, job.source, job.destination, job.scaling, job.stores);
  const CopyLoop loop = copy_loop(job);
  if (to_device)
    copy_on_device(execution, {&loop, 1});
  else
    copy_on_host(execution, {&loop, 1});
}

}  // namespace tessera::detail
