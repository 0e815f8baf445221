// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <typeindex>
#include <vector>

#include <tessera/tensor/detail/view_traits.hpp>

namespace tessera::detail {

/// The last results of some plans, which are given out again once nobody else holds them: fresh
/// memory costs more than what fills it. The oldest go first where together they are too large.
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
    const auto entry = std::ranges::find(entries_, plan, &Entry::plan);
    if (entry == entries_.end() || entry->type != typeid(V)) return nullptr;
    const V& view = static_cast<const ViewHolder<V>*>(entry->holder.get())->get();
    if (view.use_count() != 1 || extents_of(view) != shape) return nullptr;
    std::rotate(entry, entry + 1, entries_.end());
    return &view;
  }

  /// Keeps `view` as the last result of `plan`.
  template <class V>
  void keep(const void* plan, const V& view) {
    std::erase_if(entries_, [plan](const Entry& entry) { return entry.plan == plan; });
    add(plan, view);
  }

  /// Returns a result that keep_for_any() got, of this type and shape, if nobody else holds it; else
  /// null.
  template <class V>
  const V* find_any(const Extents& shape) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->plan != nullptr || entry->type != typeid(V)) continue;
      const V& view = static_cast<const ViewHolder<V>*>(entry->holder.get())->get();
      if (view.use_count() != 1 || extents_of(view) != shape) continue;
      std::rotate(entry, entry + 1, entries_.end());
      return &view;
    }
    return nullptr;
  }

  /// Keeps `view` as a result of no plan, one of the last `most_for_any`.
  template <class V>
  void keep_for_any(const V& view) {
    const auto is_for_any = [](const Entry& entry) { return entry.plan == nullptr; };
    if (std::ranges::count_if(entries_, is_for_any) >= most_for_any)
      entries_.erase(std::ranges::find_if(entries_, is_for_any));
    add(nullptr, view);
  }

  /// Returns whether keep_for_any() got the View of this memory, so that it counts as a holder of it.
  bool keeps(const void* data) const {
    return std::ranges::any_of(entries_, [data](const Entry& entry) {
      return entry.plan == nullptr && entry.data == data;
    });
  }

 private:
  /// Largest number of results of no plan. Their search is linear. Not measured on its own; judgement:
  /// more than the temporaries of one expression.
  static constexpr std::ptrdiff_t most_for_any = 16;

  struct Entry {
    const void* plan;
    std::type_index type;
    std::shared_ptr<void> holder;
    const void* data;
    std::int64_t bytes;
  };

  template <class V>
  void add(const void* plan, const V& view) {
    const auto bytes = static_cast<std::int64_t>(view.span() * sizeof(typename V::value_type));
    if (bytes == 0 || bytes > limit_) return;
    entries_.push_back(
        {plan, typeid(V), std::make_shared<ViewHolder<V>>(view), view.data(), bytes});
    shrink();
  }

  void shrink() {
    std::int64_t bytes = 0;
    for (const auto& entry : entries_) bytes += entry.bytes;
    auto oldest = entries_.begin();
    for (; oldest != entries_.end() && bytes > limit_; ++oldest) bytes -= oldest->bytes;
    entries_.erase(entries_.begin(), oldest);
  }

  std::vector<Entry> entries_;  // last used last; without a plan: results of operators
  std::int64_t limit_;
};

}  // namespace tessera::detail
