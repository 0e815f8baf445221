// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/comm/detail/keep_for_messages.hpp>
#include <tessera/nn/context_parallel.hpp>
#include <tessera/redistribute/detail/plan_cache.hpp>
#include <tessera/tensor/detail/named_region.hpp>

#include "kernels/pack.hpp"

namespace tessera {

namespace detail {
namespace {

constexpr const char* context_parallel_label = "tessera::ContextParallel";

std::size_t place_of(const std::vector<nn::BufferRef>& buffers, const nn::BufferRef& wanted) {
  const auto found = std::ranges::find_if(buffers, [&](const nn::BufferRef& buffer) {
    return buffer.buffer()->address() == wanted.buffer()->address();
  });
  return static_cast<std::size_t>(found - buffers.begin());
}

/// Checks what needs no mesh.
void require_buffers(const nn::ContextParallelOptions& options) {
  const auto& buffers = options.buffers;
  require(buffers.size() == options.buffer_seq_dims.size(), [&] {
    return fmt::format("expected a sequence dim for each buffer, got {} buffers and {} dims",
                       buffers.size(), options.buffer_seq_dims.size());
  });
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    require(buffers[i].buffer()->is_tensor(), [&] {
      return fmt::format(
          "expected tensors as buffers, got a Parameter or a Variable as buffer {}; distribute it "
          "by "
          "distribute_module() or redistribute()",
          i);
    });
    require(!buffers[i].buffer()->device_mesh().is_null(), [&] {
      return fmt::format("expected tensors as buffers, got an empty DTensor as buffer {}", i);
    });
    require(place_of(buffers, buffers[i]) == i, [&] {
      return fmt::format("expected different buffers, got one at positions {} and {}",
                         place_of(buffers, buffers[i]), i);
    });
  }
  for (std::size_t i = 0; i < options.no_restore_buffers.size(); ++i)
    require(place_of(buffers, options.no_restore_buffers[i]) < buffers.size(), [&] {
      return fmt::format(
          "expected no_restore_buffers among the buffers, got a variable that is not among them at "
          "position {}",
          i);
    });
}

/// Returns the sequence dim of each buffer, counted from the first dim.
std::vector<int> sequence_dims_of(const nn::ContextParallelOptions& options) {
  std::vector<int> result;
  for (std::size_t i = 0; i < options.buffers.size(); ++i) {
    const auto& spec = options.buffers[i].buffer()->spec();
    const int dims = spec.tensor_dims(), dim = options.buffer_seq_dims[i];
    require(-dims <= dim && dim < dims, [&] {
      return fmt::format("expected a sequence dim from {} to {} for buffer {}, got {}", -dims,
                         dims - 1, i, dim);
    });
    result.push_back(dim < 0 ? dim + dims : dim);
    const auto length = [&](std::size_t k) {
      return options.buffers[k].buffer()->spec().shape()[static_cast<std::size_t>(result[k])];
    };
    require(length(i) == length(0), [&] {
      return fmt::format(
          "expected buffers with sequences of one length, got {} in buffer 0 and {} in buffer {}",
          length(0), length(i), i);
    });
  }
  return result;
}

/// Returns the dim of the buffers' mesh along which `line` lies: of several, such as dims of one rank, the one of
/// the same name.
std::size_t dim_along(const DeviceMesh& mesh, const DeviceMesh& line) {
  std::vector<int> dims;
  for (int d = 0; d < mesh.ndim(); ++d)
    if (mesh.sub({d}) == line) dims.push_back(d);
  const auto& names = mesh.layout().dim_names();
  for (const int d : dims)
    if (!names.empty() &&
        line.layout().dim_names() == std::vector{names[static_cast<std::size_t>(d)]})
      return static_cast<std::size_t>(d);
  if (!dims.empty()) return static_cast<std::size_t>(dims.front());
  throw MeshMismatch(
      fmt::format("expected buffers on mesh {} or on one of which it is a dim, got buffers on {}",
                  with_ranks(line.layout()), with_ranks(mesh.layout())));
}

DTensorSpec context_parallel_spec(const DTensorSpec& spec, std::size_t mesh_dim, int sequence_dim,
                                  bool causal) {
  std::vector<Placement> placements(spec.placements().begin(), spec.placements().end());
  placements[mesh_dim] =
      causal ? Placement(HeadTail(sequence_dim)) : Placement(Shard(sequence_dim));
  for (std::size_t m = 0; m < placements.size(); ++m)
    require(m == mesh_dim || !placements[m].is_shard(sequence_dim), [&] {
      return fmt::format(
          "expected a sequence that no other mesh dim splits, got a buffer as {} whose dim {} is "
          "its "
          "sequence",
          to_string(spec.placements()), sequence_dim);
    });
  auto positions = spec.placements().split_positions();
  for (std::size_t m = 0; m < placements.size(); ++m)
    if (m != mesh_dim && placements[m].is_shard(spec.placements()[mesh_dim].dim()) &&
        positions[m] > positions[mesh_dim])
      --positions[m];
  positions[mesh_dim] = 0;
  const Placements wanted(std::move(placements), std::move(positions));
  auto boundaries = spec_with(spec, wanted).boundaries();
  boundaries[static_cast<std::size_t>(sequence_dim)].clear();  // as Shard and HeadTail cut it
  return DTensorSpec(spec.layout(), wanted, spec.shape(), std::move(boundaries));
}

/// Holds what is to be done with one buffer.
struct BufferMove {
  std::shared_ptr<AnyBuffer> buffer;
  DTensorSpec target;

  /// Returns whether each rank has the elements already. They are copied: in the scope the tensor may be written to.
  bool is_local() const { return hold_alike(target, buffer->spec()); }
  std::uint64_t hash() const {
    return plan_hash(buffer->spec(), target, buffer->type(), buffer->settings());
  }
};

std::vector<BufferMove> moves_of(const DeviceMesh& line,
                                 const nn::ContextParallelOptions& options) {
  require(line.ndim() == 1, [&] {
    return fmt::format("expected a mesh of one dim, got {}", to_string(line.layout()));
  });
  require_buffers(options);
  const auto dims = sequence_dims_of(options);
  std::vector<BufferMove> moves;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto buffer = options.buffers[i].buffer()->another();
    const auto& first = options.buffers.front().buffer()->device_mesh();
    require<MeshMismatch>(buffer->device_mesh() == first, [&] {
      const auto [expected, got] = told_apart(first, buffer->device_mesh());
      return fmt::format("expected all buffers on one mesh, got {} and {}", expected, got);
    });
    moves.push_back({buffer, context_parallel_spec(buffer->spec(), dim_along(first, line), dims[i],
                                                   options.causal)});
    buffer->require_target(moves.back().target);
  }
  return moves;
}

std::string context_parallel_text(const std::vector<BufferMove>& moves) {
  auto text = fmt::format("ContextParallel of {} buffers", moves.size());
  for (const auto& move : moves)
    text += fmt::format("; {} from {} to {}", to_string(move.buffer->type()),
                        to_string(move.buffer->spec()), to_string(move.target));
  return text;
}

void run_moves(const DeviceMesh& mesh, const std::vector<BufferMove>& moves) {
  Execution().fence("tessera::ContextParallel: before reading the buffers");
  std::vector<Redistributor> redistributors;
  std::vector<Pieces> pieces;
  for (const auto& move : moves) {
    auto& buffer = *move.buffer;
    const auto of_buffer = buffer.begin(move.target);
    if (!mesh.coordinate()) continue;
    if (move.is_local()) {
      copy(Execution(), of_buffer.source, of_buffer.destination);
      continue;
    }
    redistributors.push_back(
        cached_redistributor(mesh, buffer.spec(), move.target, buffer.type(), buffer.settings()));
    pieces.push_back(of_buffer);
  }
  if (redistributors.empty()) return;
  keeping(
      mesh.communicator(),
      [&] { run_together(Execution(), redistributors, pieces, context_parallel_label); },
      [&] {
        auto all = std::make_shared<std::vector<std::shared_ptr<void>>>();
        for (const auto& move : moves) all->push_back(move.buffer->memory());
        return all;
      });
}

/// Returns the mesh of the first buffer that has one.
const DeviceMesh& mesh_of_buffers(const DeviceMesh& line,
                                  const nn::ContextParallelOptions& options) {
  for (const auto& buffer : options.buffers)
    if (!buffer.buffer()->device_mesh().is_null()) return buffer.buffer()->device_mesh();
  return line;
}

}  // namespace
}  // namespace detail

namespace nn {

ContextParallel::ContextParallel(const DeviceMesh& mesh, const ContextParallelOptions& options) {
  using namespace detail;
  const NamedRegion region(context_parallel_label);
  const auto& of_buffers = mesh_of_buffers(mesh, options);
  std::vector<BufferMove> moves;
  collectively(of_buffers, "ContextParallel", [&](Operation& operation) {
    moves = moves_of(mesh, options);
    std::uint64_t hash = moves.size();
    for (const auto& move : moves) hash = hash_combine(hash, move.hash());
    operation.agree(hash, [&] { return context_parallel_text(moves); });
    run_moves(of_buffers, moves);
    finish(Execution(), context_parallel_label);
  });
  const auto& kept = options.no_restore_buffers;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    moves[i].buffer->replace();
    if (place_of(kept, options.buffers[i]) == kept.size()) to_restore_.push_back(moves[i].buffer);
  }
}

ContextParallel::~ContextParallel() {
  for (const auto& buffer : to_restore_) buffer->restore();
}

}  // namespace nn
}  // namespace tessera
