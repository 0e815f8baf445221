// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <typeindex>
#include <vector>

#include <tessera/tensor/detail/view_traits.hpp>

namespace tessera::detail {

/// The last results of some plans and of operators, and memory that operators needed, which are given out
/// again once nobody else holds them: fresh memory costs more than what fills it. The oldest go first
/// where together they are too large.
class Recycler {
 public:
  /// Keeps results of at most `limit` bytes in all.
  explicit Recycler(std::int64_t limit) : limit_(limit) {}

  void set_limit(std::int64_t bytes) {
    limit_ = bytes;
    shrink();
  }

  /// The last result of `plan`, if it has this type and shape and nobody else holds it; else null.
  template <class V>
  const V* find(const void* plan, const Extents& shape) {
    return static_cast<const V*>(find_free(plan, typeid(V), shape));
  }

  /// Keeps `view` as the last result of `plan`.
  template <class V>
  void keep(const void* plan, const V& view) {
    forget(plan);
    add(entry_of(plan, view));
  }

  /// Returns a result that keep_for_any() got, of this type and shape, if nobody else holds it; else
  /// null.
  template <class V>
  const V* find_any(const Extents& shape) {
    return find<V>(nullptr, shape);
  }

  /// Keeps `view` as a result of no plan, one of the last `most_for_any`.
  template <class V>
  void keep_for_any(const V& view) {
    add(entry_of(nullptr, view));
  }

  /// Returns memory of this type and shape: that of find_any(), or fresh memory, which it keeps.
  template <class V>
  V view_for_any(const Extents& shape, const char* label) {
    if (const auto* view = find_any<V>(shape)) return *view;
    auto view = allocate<V>(shape, label);
    keep_for_any(view);
    return view;
  }

  /// Returns whether keep_for_any() got the View of this memory, so that it counts as a holder of it.
  bool keeps(const void* data) const;

 private:
  /// Largest number of results of no plan. Their search is linear. Not measured on its own; judgement:
  /// more than the temporaries of one expression and what their operators need.
  static constexpr std::ptrdiff_t most_for_any = 16;

  struct Entry {
    const void* plan;
    std::type_index type;
    std::shared_ptr<void> holder;
    const void* view;  ///< in the holder
    const void* data;
    std::int64_t bytes;
    /// Returns whether the View has this shape and nobody else holds it.
    bool (*is_free)(const void* view, const Extents& shape);
  };

  template <class V>
  static bool is_free(const void* kept, const Extents& shape) {
    const V& view = *static_cast<const V*>(kept);
    return view.use_count() == 1 && extents_of(view) == shape;
  }

  template <class V>
  static Entry entry_of(const void* plan, const V& view) {
    const auto bytes = static_cast<std::int64_t>(view.span() * sizeof(typename V::value_type));
    auto holder = std::make_shared<ViewHolder<V>>(view);
    const void* kept = &holder->get();
    return {plan, typeid(V), std::move(holder), kept, view.data(), bytes, &is_free<V>};
  }

  const void* find_free(const void* plan, std::type_index type, const Extents& shape);
  void forget(const void* plan);
  void add(Entry entry);
  void shrink();

  std::vector<Entry> entries_;  // last used last; without a plan: of operators
  std::int64_t limit_;
};

}  // namespace tessera::detail
