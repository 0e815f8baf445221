// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "device/chosen_device.hpp"

namespace tessera::detail {
namespace {

DeviceQuery current_query = nullptr;

}  // namespace

DeviceQuery set_device_query(DeviceQuery query) {
  return std::exchange(current_query, query);
}

DeviceQuery device_query() {
  return current_query;
}

}  // namespace tessera::detail
