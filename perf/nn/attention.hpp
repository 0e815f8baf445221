// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::perf {

/// Registers the benchmarks of attention, of short sequences if `is_brief`.
void add_attention(bool is_brief);

}  // namespace tessera::perf
