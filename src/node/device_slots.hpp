// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For engine: slots in device memory that the ranks of a node have mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tessera/comm/communicator.hpp>

#include "device/device_memory.hpp"
#include "node/window.hpp"

namespace tessera::detail {

/// Device memory of all ranks of a node, as this one has mapped it: one section per rank, with the
/// slots of a window.
///
/// Own sections are never freed, for others may have them mapped: those to come take them over.
class DeviceSlots {
 public:
  /// Bytes of a slot where so many ranks share a node; 0 where there is room for none.
  static std::int64_t slot_bytes(int ranks);

  /// Makes the section of this rank, the one at `position` among `ranks`, and leaves a number there.
  DeviceSlots(int device, int ranks, int position, std::int64_t slot_bytes);
  ~DeviceSlots();
  DeviceSlots(const DeviceSlots&) = delete;
  DeviceSlots& operator=(const DeviceSlots&) = delete;

  /// Of the own section.
  const DeviceHandle& handle() const { return own_.handle; }
  /// Maps the section of another rank, and looks for its number.
  void open(int position, const DeviceHandle& handle);

  /// What the driver refused first, and why; "" if nothing.
  const std::string& error() const { return error_; }
  const SlotMemory& memory() const { return memory_; }

 private:
  struct Section {
    int device = 0;
    std::int64_t bytes = 0;
    DeviceMemory memory = {};
    DeviceHandle handle = {};
  };

  static std::vector<Section>& spare_sections();
  static Section make_section(int device, std::int64_t bytes);
  void add(int position, const DeviceMemory& section);
  void fail(const std::string& error);

  SlotMemory memory_;
  Section own_;
  std::vector<DeviceMemory> others_;
  std::string error_;
};

/// When the first mesh of a communicator is made, where device memory may take the way of slots:
/// makes those of each node, tries them, and fills in that way. Where one rank has not chosen its
/// device yet, or its driver refuses, no rank has slots; a record in the log tells why. Collective
/// over the duplicate, inside a call that all its ranks have agreed on.
void learn_device_path(const Communicator& communicator);

}  // namespace tessera::detail
