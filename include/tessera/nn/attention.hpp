// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

#include <tessera/error/detail/never.hpp>
#include <tessera/grad/detail/record.hpp>
#include <tessera/ops/detail/call.hpp>
#include <tessera/ops/detail/elementwise.hpp>
#include <tessera/redistribute/redistribute.hpp>
#include <tessera/tensor/detail/owned_array.hpp>

namespace tessera {

namespace nn {

/// An AttentionMethod says how the queries of a rank get keys and values of the other ranks, where the sequence is
/// split.
enum class AttentionMethod : std::uint8_t {
  ring,  ///< blocks of keys with their values go from rank to rank; a rank has two at a time, six in the backward pass
  all_gather,  ///< each rank gets all keys and values first
};

/// Describes how attention is computed.
struct Attention {
  bool causal = false;  ///< whether query i sees the keys 0 … i only, by global indices
  AttentionMethod method = AttentionMethod::ring;
  /// Says whether a rank receives the next block of the ring while it computes with the current one.
  bool overlap = true;
};

}  // namespace nn

namespace detail {

/// Holds a call of attention whose operands are checked.
struct AttentionCall;

/// Describes queries, keys and values, in this order, of a call of attention.
struct AttentionOperands {
  std::array<const DeviceMesh*, 3> meshes;
  std::array<DTensorSpec, 3> specs;
  ElementType type;
  MemorySpace space;
};

/// Checks the operands. Local; all ranks get the same. Errors: InvalidArgument, MeshMismatch, PlacementMismatch.
std::shared_ptr<const AttentionCall> prepare_attention(const AttentionOperands& operands,
                                                       const nn::Attention& options);
const DTensorSpec& result_of(const AttentionCall& call);
/// Returns the specs of the gradients of queries, keys and values. They may be Partial.
const std::array<DTensorSpec, 3>& gradients_of(const AttentionCall& call);

/// Holds what the backward pass needs besides operands and result.
struct AttentionRecord {
  OwnedArray log_sums;      ///< logarithm of the sum of exponentials of the scores, by query
  OwnedArray keys, values;  ///< those of all ranks, where they were gathered
};

/// Holds the local pieces of queries, keys and values, or of their gradients.
using AttentionArrays = std::array<ArrayRef, 3>;

/// Computes the local piece of the result, which `make_result` allocates on ranks of the mesh.
AttentionRecord run_attention(const Execution& execution, const DeviceMesh& mesh,
                              const AttentionCall& call, const AttentionArrays& operands,
                              const std::function<ArrayRef()>& make_result, const OwnerRef& owner);
/// Computes the local pieces of the gradients, which `make_gradients` allocates. `start` is that of the gradient of the
/// result.
void run_attention_adjoint(const Execution& execution, const DeviceMesh& mesh,
                           const AttentionCall& call, const AttentionArrays& operands,
                           const AttentionRecord& record, const ArrayRef& result,
                           const ArrayRef& start,
                           const std::function<AttentionArrays()>& make_gradients,
                           const OwnerRef& owner);

template <class T>
inline constexpr bool is_for_attention = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// Returns whether attention takes such operands. If not, it stops the compiler with a sentence.
template <class Q, class K, class V>
consteval bool expect_attention() {
  constexpr bool are_tensors = is_dtensor_v<Q> && is_dtensor_v<K> && is_dtensor_v<V>;
  static_assert(are_tensors,
                "scaled_dot_product_attention takes tensors or Variables: make tensors of Views by "
                "from_local(view, mesh, …) or distribute_tensor(view, mesh, …)");
  if constexpr (are_tensors) {
    using T = std::remove_const_t<typename Q::value_type>;
    constexpr bool is_one_type = std::is_same_v<T, std::remove_const_t<typename K::value_type>> &&
                                 std::is_same_v<T, std::remove_const_t<typename V::value_type>>;
    static_assert(
        is_one_type && is_for_attention<T>,
        "scaled_dot_product_attention takes tensors of one element type, float or double: "
        "convert them by to<T>(x)");
    constexpr bool have_4_dims = Q::rank() == 4 && K::rank() == 4 && V::rank() == 4;
    static_assert(have_4_dims,
                  "scaled_dot_product_attention takes tensors of 4 dims: batch, head, sequence, "
                  "column");
    constexpr bool is_one_space =
        memory_space<typename Q::view_type> == memory_space<typename K::view_type> &&
        memory_space<typename Q::view_type> == memory_space<typename V::view_type>;
    static_assert(is_one_space,
                  "scaled_dot_product_attention takes tensors in one memory space: convert one by "
                  "to<View>(x)");
    return is_one_type && is_for_attention<T> && have_4_dims && is_one_space;
  }
  return false;
}

/// Computes attention of tensors. Sets `record` to what the backward pass needs.
template <class Q, class K, class V>
auto call_attention(const Execution& execution, const AttentionCall& call, const DTensor<Q>& q,
                    const DTensor<K>& k, const DTensor<V>& v, AttentionRecord& record) {
  using Result = typename GradientOf<Q>::type;
  const auto& mesh = q.device_mesh();
  DTensor<Result> result;
  const auto make = [&] {
    result =
        allocate_dtensor<Result>(mesh, result_of(call), "tessera::scaled_dot_product_attention");
    return array_ref(result.to_local());
  };
  if (!mesh.coordinate()) make();
  record =
      run_attention(execution, mesh, call,
                    {array_ref(q.to_local()), array_ref(k.to_local()), array_ref(v.to_local())},
                    make, [&] { return held_all(result, q, k, v); });
  return result;
}

/// Adds the gradients of attention to those of its operands, which are Inputs.
template <class Q, class K, class V, class Y, class G>
void add_attention_gradients(const AttentionCall& call, const AttentionRecord& record, const Q& q,
                             const K& k, const V& v, const Y& y, const G& dy) {
  const auto& queries = q.value();
  const auto& keys = k.value();
  const auto& values = v.value();
  const auto& result = y.value();
  const auto& mesh = result.device_mesh();
  const auto start = dy.spec() == result.spec() ? dy : redistribute(dy, Target(result.spec()));
  gradient_t<std::remove_cvref_t<decltype(queries)>> dq;
  gradient_t<std::remove_cvref_t<decltype(keys)>> dk;
  gradient_t<std::remove_cvref_t<decltype(values)>> dv;
  const auto make = [&] {
    const auto one = [&]<class Gradient>(Gradient& gradient, std::size_t i) {
      gradient = allocate_dtensor<typename Gradient::view_type>(mesh, gradients_of(call)[i],
                                                                "tessera::gradient");
      return array_ref(gradient.to_local());
    };
    return AttentionArrays{one(dq, 0), one(dk, 1), one(dv, 2)};
  };
  if (!mesh.coordinate()) make();
  run_attention_adjoint(
      Execution(), mesh, call,
      {array_ref(queries.to_local()), array_ref(keys.to_local()), array_ref(values.to_local())},
      record, array_ref(result.to_local()), array_ref(start.to_local()), make,
      [&] { return held_all(queries, keys, values, result, start, dq, dk, dv); });
  if (q.is_wanted()) q.add(dq);
  if (k.is_wanted()) k.add(dk);
  if (v.is_wanted()) v.add(dv);
}

/// Computes attention, and records it if a tape records an operand.
template <class Q, class K, class V>
auto attention(const Execution& execution, const Q& q, const K& k, const V& v,
               const nn::Attention& options) {
  constexpr const char* name = "scaled_dot_product_attention";
  if constexpr (expect_attention<value_of_t<Q>, value_of_t<K>, value_of_t<V>>()) {
    const auto& queries = value_of(q);
    const auto& keys = value_of(k);
    const auto& values = value_of(v);
    using Value = std::remove_cvref_t<decltype(queries)>;
    const auto tape = tape_of(q, k, v);
    const auto call =
        prepare_attention({{&queries.device_mesh(), &keys.device_mesh(), &values.device_mesh()},
                           {queries.spec(), keys.spec(), values.spec()},
                           element_type<std::remove_const_t<typename Value::value_type>>(),
                           memory_space<typename Value::view_type>},
                          options);
    AttentionRecord record;
    const auto result = call_attention(execution, *call, queries, keys, values, record);
    if constexpr (!HasVariable<Q, K, V>) {
      return result;
    } else {
      if (!tape) return unrecorded(result);
      const auto input_q = input_of(*tape, name, q);
      const auto input_k = input_of(*tape, name, k);
      const auto input_v = input_of(*tape, name, v);
      const auto output = input_of(*tape, name, result);
      return recorded(tape, result, [=](const auto& dy) {
        add_attention_gradients(*call, record, input_q, input_k, input_v, output, dy);
      });
    }
  } else {
    return Unusable();
  }
}

}  // namespace detail

namespace nn {

/// Returns softmax(q kᵀ / √D) v, the attention of queries q to keys k with values v, for each batch and head.
///
/// Operands:   q is (B, H, S, D), k is (B, H, T, D), v is (B, H, T, E): batch, head, sequence, column. They are
///             tensors or Variables of float or double, in any layout. With .causal, S = T, and query i sees
///             the keys with global indices 0 … i.
/// Result:     (B, H, S, E), in the layout of q, placed as q. It is 0 where there are no keys,
///             and where all scores are −infinity.
/// Placements: along each mesh dim one of
///               - Replicate, for all three;
///               - batch (dim 0) or heads (dim 1) split alike in all three, by any rule;
///               - sequence (dim 2) split in all three: in k and v alike, in q by any rule. HeadTail(2) shares
///                 out the work of causal attention evenly;
///               - sequence split in q, Replicate for k and v.
/// Collective: over the mesh where the sequence of k and v is split over n > 1 ranks, otherwise local. The ring
///             takes n − 1 exchanges of a block of k and v, and n in the backward pass; .all_gather takes one
///             exchange in each pass.
/// Memory:     besides operands and result, a rank holds by the ring two blocks of keys with their values, each of
///             2 B H S D / n elements, and six in the backward pass; by .all_gather all of k and v; and the scores
///             of some tiles.
/// Gradients:  of k and v are Partial along mesh dims that split the sequence of q only. The backward pass
///             computes the weights again.
/// Errors:     InvalidArgument for shapes that do not fit, MeshMismatch, PlacementMismatch for other
///             placements, on all ranks.
///
/// Example:    auto y = nn::scaled_dot_product_attention(q, k, v, {.causal = true});
/// Source:     Milakov and Gimelshein, Online normalizer calculation for softmax (2018); Liu, Zaharia and
///             Abbeel, Ring Attention with Blockwise Transformers (2023).
template <class Q, class K, class V>
auto scaled_dot_product_attention(const Q& q, const K& k, const V& v,
                                  const Attention& options = {}) {
  return detail::attention(Execution(), q, k, v, options);
}
/// Orders the work on `exec`.
template <class Space, class Q, class K, class V>
requires detail::is_execution<Space>
auto scaled_dot_product_attention(const Space& exec, const Q& q, const K& k, const V& v,
                                  const Attention& options = {}) {
  return detail::attention(Execution(exec), q, k, v, options);
}

}  // namespace nn
}  // namespace tessera
