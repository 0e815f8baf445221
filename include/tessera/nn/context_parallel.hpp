// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <tessera/error/detail/never.hpp>
#include <tessera/grad/variable.hpp>
#include <tessera/nn/detail/context_parallel_buffer.hpp>
#include <tessera/nn/module.hpp>

namespace tessera {

namespace detail {

template <class T>
inline constexpr bool is_parameter_v = is_variable_v<T>;
template <class V>
inline constexpr bool is_parameter_v<nn::Parameter<V>> = true;

}  // namespace detail

namespace nn {

/// Refers to a variable of type DTensor<V>, for any View type V. std::ref(x) becomes one.
class BufferRef {
 public:
  /// Takes a tensor. It also takes a Parameter or a Variable, which ContextParallel refuses on all ranks.
  template <class T>
  BufferRef(std::reference_wrapper<T> buffer) {
    if constexpr (detail::is_parameter_v<std::remove_const_t<T>>)
      buffer_ = std::make_shared<detail::ParameterBuffer>(&buffer.get());
    else if constexpr (is_dtensor_v<T>)
      buffer_ = std::make_shared<detail::TensorBuffer<typename T::view_type>>(buffer.get());
    else
      static_assert(detail::never<T>,
                    "ContextParallel: expected std::ref(x) of a DTensor x that is not const");
  }

  /// Stops the compiler: the variable itself has to be known.
  template <class V>
  BufferRef(const DTensor<V>&) {
    static_assert(detail::never<V>,
                  "ContextParallel: expected std::ref(x) of a DTensor x that is not const");
  }

  /// Returns the buffer. For the library.
  const std::shared_ptr<detail::AnyBuffer>& buffer() const { return buffer_; }

 private:
  std::shared_ptr<detail::AnyBuffer> buffer_;
};

/// Says what a ContextParallel scope distributes.
struct ContextParallelOptions {
  std::vector<BufferRef> buffers = {};    ///< tensors, as std::ref(x)
  std::vector<int> buffer_seq_dims = {};  ///< sequence dim of each buffer
  std::vector<BufferRef> no_restore_buffers =
      {};  ///< buffers that keep, after the scope, the tensors that they have in it
  /// Whether attention in the scope is causal: then each rank gets a part of the sequence from its beginning and one
  /// from its end, so that all have as much to compute.
  bool causal = true;
};

/// While a ContextParallel lives, the sequence of its buffers is split over the ranks along a mesh dim: by
/// HeadTail, or, if attention is not causal, by Shard. At its end the variables hold their old tensors again,
/// whose memory it keeps: the tensors in the scope have memory of their own, also where nothing has to travel.
/// What was computed in the scope is in other tensors, or in no_restore_buffers. The variables have to live
/// until the end of the scope, and may not move. Scopes nest. Not copyable.
///
/// Example:
///   {
///     nn::ContextParallel cp(mesh, {.buffers = {std::ref(q), std::ref(k), std::ref(v)},
///                                   .buffer_seq_dims = {2, 2, 2}});     // 1 exchange
///     y = nn::scaled_dot_product_attention(q, k, v, {.causal = true});  // n - 1 exchanges
///   }
class ContextParallel {
 public:
  /// Redistributes all buffers in one exchange: two, if some of them are Partial. `mesh` has one dim. The
  /// buffers are on it, or all of them on one mesh of which it is a dim, as mesh["cp"]; along other mesh dims
  /// they stay as they are.
  ///
  /// Collective: over the mesh of the buffers.
  /// Errors:     InvalidArgument for a mesh of another number of dims, numbers of buffers and dims that differ,
  ///             a dim out of range, sequences of different lengths, a buffer that is named twice, a
  ///             no_restore_buffer that is none of the buffers, a Parameter or a Variable, and a sequence that
  ///             another mesh dim splits, too; MeshMismatch for buffers on other meshes. The variables are then
  ///             as they were.
  ContextParallel(const DeviceMesh& mesh, const ContextParallelOptions& options);
  /// Puts the old tensors back. Local.
  ~ContextParallel();
  ContextParallel(const ContextParallel&) = delete;
  ContextParallel& operator=(const ContextParallel&) = delete;

 private:
  std::vector<std::shared_ptr<detail::AnyBuffer>> to_restore_;
};

}  // namespace nn
}  // namespace tessera
