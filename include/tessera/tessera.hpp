// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// clang-format off
// These come first, in this order: compilers print the chain of includes above each error.
#include <tessera/tensor/view_types.hpp>
#include <tessera/tensor/dtensor.hpp>
#include <tessera/tensor/factories.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/fetch/fetch.hpp>
#include <tessera/local_map/local_map.hpp>
#include <tessera/ops/elementwise.hpp>
#include <tessera/ops/reductions.hpp>
#include <tessera/ops/map.hpp>
// clang-format on

#include <tessera/agreement/flight_recorder.hpp>
#include <tessera/comm/progress.hpp>
#include <tessera/config/version.hpp>
#include <tessera/debug/comm_debug_mode.hpp>
#include <tessera/debug/simulate.hpp>
#include <tessera/error/error.hpp>
#include <tessera/error/log.hpp>
#include <tessera/io/npy.hpp>
#include <tessera/mesh/by_dim.hpp>
#include <tessera/mesh/device_mesh.hpp>
#include <tessera/movement/concatenate.hpp>
#include <tessera/movement/reshape.hpp>
#include <tessera/movement/roll.hpp>
#include <tessera/movement/scalapack.hpp>
#include <tessera/movement/shift.hpp>
#include <tessera/ops/compare.hpp>
#include <tessera/ops/cross_entropy.hpp>
#include <tessera/ops/cumsum.hpp>
#include <tessera/ops/dims.hpp>
#include <tessera/ops/explain.hpp>
#include <tessera/ops/factories.hpp>
#include <tessera/ops/implicit_replication.hpp>
#include <tessera/ops/items.hpp>
#include <tessera/ops/matmul.hpp>
#include <tessera/ops/matrix.hpp>
#include <tessera/ops/operator.hpp>
#include <tessera/ops/redistribution_scope.hpp>
#include <tessera/ops/rule.hpp>
#include <tessera/ops/skip_dispatch.hpp>
#include <tessera/ops/softmax.hpp>
#include <tessera/ops/take.hpp>
#include <tessera/picture/plan_svg.hpp>
#include <tessera/picture/sharding_svg.hpp>
#include <tessera/picture/visualize_sharding.hpp>
#include <tessera/placement/placements.hpp>
#include <tessera/redistribute/calibrate.hpp>
#include <tessera/redistribute/collectives.hpp>
#include <tessera/redistribute/convert.hpp>
#include <tessera/redistribute/distribute_tensor.hpp>
#include <tessera/redistribute/item.hpp>
#include <tessera/redistribute/redistribute_all.hpp>
#include <tessera/sharding/spec.hpp>
#include <tessera/sharding/target.hpp>
#include <tessera/tensor/clone.hpp>
#include <tessera/tensor/deep_copy.hpp>
#include <tessera/tensor/device_mesh_scope.hpp>
#include <tessera/tensor/from_local.hpp>
#include <tessera/tensor/info.hpp>
#include <tessera/tensor/label_scope.hpp>
#include <tessera/tensor/permute.hpp>
#include <tessera/tensor/scope_guard.hpp>
#include <tessera/tensor/slice.hpp>

// What is built on all of this.
#include <tessera/grad/checkpoint.hpp>
#include <tessera/grad/collectives.hpp>
#include <tessera/grad/elementwise.hpp>
#include <tessera/grad/fetch.hpp>
#include <tessera/grad/function.hpp>
#include <tessera/grad/linear_algebra.hpp>
#include <tessera/grad/local_map.hpp>
#include <tessera/grad/lookup.hpp>
#include <tessera/grad/movement.hpp>
#include <tessera/grad/pending.hpp>
#include <tessera/grad/redistribute.hpp>
#include <tessera/grad/reductions.hpp>
#include <tessera/grad/shapes.hpp>
#include <tessera/grad/tape.hpp>
#include <tessera/grad/variable.hpp>
#include <tessera/nn/adam.hpp>
#include <tessera/nn/attention.hpp>
#include <tessera/nn/context_parallel.hpp>
#include <tessera/nn/distribute_module.hpp>
#include <tessera/nn/layer_norm.hpp>
#include <tessera/nn/linear.hpp>
#include <tessera/nn/module.hpp>
#include <tessera/nn/partition.hpp>
#include <tessera/nn/sgd.hpp>
