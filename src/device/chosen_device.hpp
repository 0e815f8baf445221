// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For node and tensor: which device this process works on. Kokkos chooses it, and the folders below
// tensor know nothing of Kokkos.
#pragma once

namespace tessera::detail {

/// Returns the number of the device that this process has chosen: -1 if it has not chosen one yet.
using DeviceQuery = int (*)();

/// Sets the function that knows the device, and returns the previous one (null if none was set).
DeviceQuery set_device_query(DeviceQuery query);

/// Returns the function that knows the device. Returns null if no function was set.
DeviceQuery device_query();

}  // namespace tessera::detail
