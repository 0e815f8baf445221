// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::perf {

/// Registers the benchmark of a training step, of smaller batches if `is_brief`.
void add_train(bool is_brief);

}  // namespace tessera::perf
