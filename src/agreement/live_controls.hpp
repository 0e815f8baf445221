// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For comm: the control channels of all communicators that were not freed.
#pragma once

#include <vector>

namespace tessera::detail {

class Control;

/// Adds the channel of a communicator that was made, until remove_live().
void add_live(Control& control);
/// Removes the channel of a communicator that is about to be freed.
void remove_live(const Control& control);
/// Returns them in the order in which their communicators were made, which is equal on all ranks.
std::vector<Control*> live_controls();
/// Moves on the calls in the background of all of them.
void advance_all();

}  // namespace tessera::detail
