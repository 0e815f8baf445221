// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <tessera/comm/collectives.hpp>
#include <tessera/error/error.hpp>
#include <tessera/error/log.hpp>

#include "comm/communicator_state.hpp"
#include "device/chosen_device.hpp"
#include "node/device_slots.hpp"
#include "node/nodes.hpp"

namespace tessera::detail {
namespace {

constexpr auto mesh_operation = "tessera::DeviceMesh";
constexpr std::int64_t largest_device_slot_bytes = 16 << 20;
constexpr std::int64_t device_slot_alignment = 64 << 10;
/// Shorter allocations may share what the driver exports as a whole.
constexpr std::int64_t section_alignment = 2 << 20;

std::uint64_t signature(int position) {
  constexpr std::uint64_t unlikely = 0x7465737365726100;
  return unlikely + static_cast<std::uint64_t>(position);
}

std::int64_t section_bytes(int ranks, std::int64_t slot_bytes) {
  const auto bytes = std::int64_t{ranks - 1} * WindowShape::slots * slot_bytes;
  return (bytes + section_alignment - 1) / section_alignment * section_alignment;
}

/// What a rank tells the others.
struct DeviceOffer {
  std::int64_t slot_bytes = 0;  ///< 0: none
  DeviceHandle handle{};
};

int device_of(const CommunicatorState& state) {
  if (const auto query = device_query()) return query();
  return state.wanted_path.is_for_all_memory ? 0 : -1;
}

/// The slots of this node as far as this rank can make them; null if it can not. `error`: why.
std::shared_ptr<DeviceSlots> made_slots(const CommunicatorState& state, int ranks, int position,
                                        std::string& error) {
  const int device = device_of(state);
  const auto slot_bytes = DeviceSlots::slot_bytes(ranks);
  if (device < 0)
    error = "Kokkos was not initialised before the first mesh";
  else if (!state.node->window)
    error = "this node has no window";
  else if (slot_bytes == 0)
    error = fmt::format("no room for the {} ranks of this node", ranks);
  if (!error.empty()) return nullptr;
  auto slots = std::make_shared<DeviceSlots>(device, ranks, position, slot_bytes);
  error = slots->error();
  return error.empty() ? slots : nullptr;
}

}  // namespace

std::int64_t DeviceSlots::slot_bytes(int ranks) {
  if (ranks < 2) return 0;
  const auto slots = std::int64_t{ranks - 1} * WindowShape::slots;
  const auto bytes = std::min(largest_device_slot_bytes, device_section_bytes() / slots);
  return bytes / device_slot_alignment * device_slot_alignment;
}

std::vector<DeviceSlots::Section>& DeviceSlots::spare_sections() {
  static auto& sections = *new std::vector<Section>;
  return sections;
}

DeviceSlots::Section DeviceSlots::make_section(int device, std::int64_t bytes) {
  auto& spare = spare_sections();
  const auto found = std::ranges::find_if(spare, [&](const Section& section) {
    return section.device == device && section.bytes == bytes;
  });
  if (found != spare.end()) {
    auto section = std::move(*found);
    spare.erase(found);
    return section;
  }
  Section section{device, bytes};
  section.memory = make_device_memory(device, bytes, section.handle);
  return section;
}

DeviceSlots::DeviceSlots(int device, int ranks, int position, std::int64_t slot_bytes)
    : memory_{std::vector<std::byte*>(static_cast<std::size_t>(ranks)), slot_bytes,
              device_kind() != DeviceKind::none},
      own_(make_section(device, section_bytes(ranks, slot_bytes))) {
  add(position, own_.memory);
  auto* const own = own_.memory.data.get();
  if (own != nullptr && !write_number(device, own, signature(position)))
    fail("it takes no copies from the host");
}

DeviceSlots::~DeviceSlots() {
  if (own_.memory.data) spare_sections().push_back(std::move(own_));
}

void DeviceSlots::fail(const std::string& error) {
  if (error_.empty()) error_ = error;
}

void DeviceSlots::add(int position, const DeviceMemory& section) {
  fail(section.error);
  memory_.sections[static_cast<std::size_t>(position)] = section.data.get();
}

void DeviceSlots::open(int position, const DeviceHandle& handle) {
  const auto& section = others_.emplace_back(open_device_memory(own_.device, handle, own_.bytes));
  add(position, section);
  const auto* const theirs = section.data.get();
  auto* const own = own_.memory.data.get();
  if (theirs == nullptr || own == nullptr) return;
  std::uint64_t number = 0;
  auto* const unused = own + memory_.slot_bytes;
  if (!read_number(own_.device, theirs, unused, number) || number != signature(position))
    fail("what another process has written there is not to be seen");
}

/// So that kernels pack into the window and unpack from it. This rank's own matter.
static void pin_window(const CommunicatorState& state) {
  const int device = device_of(state);
  const auto& window = state.node->window;
  if (device < 0 || !window || std::exchange(window->was_tried, true)) return;
  window->pinned =
      pin_host_memory(device, window->memory.data(), window->shared.window.shape().bytes());
}

void learn_device_path(const Communicator& communicator) {
  auto& state = communicator.state();
  auto& node = nodes_of(communicator);
  pin_window(state);
  if (!state.may_share_device_memory) return;
  const auto group = all_ranks(communicator);
  const auto neighbours = node.map.peers(state.rank);
  const int ranks = static_cast<int>(neighbours.size());
  const int position = node.map.position(state.rank);
  std::string error;
  std::shared_ptr<DeviceSlots> slots;
  if (ranks > 1) slots = made_slots(state, ranks, position, error);
  DeviceOffer offer;
  if (slots) offer = {slots->memory().slot_bytes, slots->handle()};
  const auto offers = all_gather_value(group, offer, TraceKind::metadata, mesh_operation);
  for (int p = 0; slots && p < ranks; ++p) {
    const auto& theirs = offers[static_cast<std::size_t>(neighbours[static_cast<std::size_t>(p)])];
    if (p == position) continue;
    if (theirs.slot_bytes > 0)
      slots->open(p, theirs.handle);
    else
      error = "another rank of this node has none";
  }
  if (slots && error.empty()) error = slots->error();
  const auto are_fine =
      all_gather_value(group, error.empty() ? 1 : 0, TraceKind::metadata, mesh_operation);
  state.may_share_device_memory = false;
  std::int64_t smallest = 0;
  for (const auto& each : offers)
    if (each.slot_bytes > 0 && (smallest == 0 || each.slot_bytes < smallest))
      smallest = each.slot_bytes;
  const auto refusing = std::ranges::find(are_fine, 0);
  if (refusing == are_fine.end() && smallest > 0) {
    state.device_path = DevicePath::ipc;
    node.smallest_device_slot = smallest;
    node.device_slots = std::move(slots);
    return;
  }
  if (ranks == 1) return;
  log(state.wanted_path.is_auto ? LogLevel::info : LogLevel::warning, "comm", [&] {
    if (error.empty()) error = fmt::format("refused on rank {}", refusing - are_fine.begin());
    return fmt::format(
        "no slots in device memory for the {} ranks of this node: {}; device memory goes through "
        "that of the host",
        ranks, error);
  });
}

}  // namespace tessera::detail
