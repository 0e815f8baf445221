// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For comm and redistribute: the control channels of all communicators that were not freed.
#pragma once

#include <vector>

namespace tessera::detail {

class Control;

/// Registers the control channel of a new communicator; it stays registered until remove_live().
void add_live(Control& control);
/// Removes the control channel of a communicator that is about to be freed.
void remove_live(const Control& control);
/// Returns the registered channels in the order in which their communicators were made, which is
/// equal on all ranks.
std::vector<Control*> live_controls();
/// Advances the background calls of all registered channels.
void advance_all();

}  // namespace tessera::detail
