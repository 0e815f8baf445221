// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::perf {

/// Registers the rows of linear algebra; `is_brief` makes the tensors small.
void add_linear_algebra(bool is_brief);

}  // namespace tessera::perf
