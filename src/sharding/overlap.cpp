// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include <tessera/sharding/sections.hpp>

namespace tessera {
namespace {

using Wide = __int128;

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return -floor_div(-a, b);
}

/// Returns the inverse of `a` modulo `modulus`, which have no common divisor; 0 modulo 1.
std::int64_t inverse(std::int64_t a, std::int64_t modulus) {
  std::int64_t rest = modulus;
  std::int64_t x = 0;
  std::int64_t y = 1;
  a %= modulus;
  while (a > 1) {
    const auto quotient = a / rest;
    a = std::exchange(rest, a % rest);
    y = std::exchange(x, y - quotient * x);
    if (rest == 0) break;
  }
  return y < 0 ? y + modulus : y % modulus;
}

/// Describes one of the two sections that meet.
struct Stored {
  Section section;
  std::int64_t offset;  ///< local index of its first index

  std::int64_t block_at(std::int64_t i) const { return section.interval(i).size(); }
};

/// Collects the runs of overlaps. It joins intervals that follow each other on both sides.
class Runs {
 public:
  void add(IndexRun run) {
    if (run.extent <= 0) return;
    run.block = std::min(run.block, run.extent);
    if (run.block == run.from.stride && run.block == run.to.stride) run.block = run.extent;
    if (run.is_interval()) run.from.stride = run.to.stride = run.extent;
    if (!list_.empty() && list_.back().is_interval() && run.is_interval()) {
      auto& before = list_.back();
      if (before.from.offset + before.extent == run.from.offset &&
          before.to.offset + before.extent == run.to.offset) {
        before.block = before.from.stride = before.to.stride = before.extent += run.extent;
        return;
      }
    }
    list_.push_back(run);
  }

  std::vector<IndexRun> take() { return std::move(list_); }

 private:
  std::vector<IndexRun> list_;
};

/// Returns a run of which `a` is the side `from` unless `is_swapped`.
IndexRun run_of(std::int64_t extent, std::int64_t block, IndexRun::Side a, IndexRun::Side b,
                bool is_swapped) {
  return is_swapped ? IndexRun{extent, block, b, a} : IndexRun{extent, block, a, b};
}

/// Adds what block `i` of `a` has in common with `b`.
void add_interval(const Stored& a, std::int64_t i, const Stored& b, bool is_swapped, Runs& runs) {
  const auto begin = a.section.begin + i * a.section.period;
  const auto end = begin + a.block_at(i);
  const auto own = a.offset + i * a.section.block;
  const auto& other = b.section;
  if (begin >= other.end() || end <= other.begin) return;
  auto first = std::max<std::int64_t>(0, floor_div(begin - other.begin, other.period));
  const auto last = std::min(other.count - 1, floor_div(end - 1 - other.begin, other.period));
  const auto add = [&](std::int64_t j, std::int64_t from, std::int64_t extent, std::int64_t block) {
    const auto within = from - (other.begin + j * other.period);
    runs.add(run_of(extent, block, {own + (from - begin), other.period},
                    {b.offset + j * other.block + within, other.block}, is_swapped));
  };
  if (const auto from = other.begin + first * other.period; from < begin) {
    const auto extent = std::min(end, from + b.block_at(first)) - begin;
    add(first, begin, extent, extent);
    ++first;
  }
  if (first > last) return;
  const auto last_begin = other.begin + last * other.period;
  const auto of_last = std::min(end - last_begin, b.block_at(last));
  add(first, other.begin + first * other.period, (last - first) * other.block + of_last,
      other.block);
}

/// Adds what the blocks of two periodic sections have in common whose beginnings differ by the same
/// number of indices: such pairs come again with the least common multiple of the periods.
class PeriodicOverlap {
 public:
  PeriodicOverlap(const Stored& a, const Stored& b)
      : a_(a),
        b_(b),
        divisor_(std::gcd(a.section.period, b.section.period)),
        step_a_(b.section.period / divisor_),
        step_b_(a.section.period / divisor_),
        inverse_(inverse(step_b_, step_a_)) {}

  /// Returns the number of differences at which blocks meet.
  std::int64_t differences() const {
    return (a_.section.block - 1 + b_.section.block - 1) / divisor_ + 1;
  }

  void add_all(Runs& runs) const {
    const auto least = 1 - a_.section.block;
    const auto distance = a_.section.begin - b_.section.begin;
    const auto rest = distance - least;
    auto difference = least + (rest - floor_div(rest, divisor_) * divisor_);
    for (; difference < b_.section.block; difference += divisor_) add(difference, runs);
  }

 private:
  /// Adds the pairs whose block of `a` begins `difference` indices after the block of `b`.
  void add(std::int64_t difference, Runs& runs) const {
    const auto turns = (difference - (a_.section.begin - b_.section.begin)) / divisor_;
    auto wide = Wide{turns % step_a_} * inverse_ % step_a_;
    if (wide < 0) wide += step_a_;
    auto i = static_cast<std::int64_t>(wide);
    auto j = static_cast<std::int64_t>((Wide{i} * step_b_ - turns) / step_a_);
    if (j < 0) {
      const auto skipped = ceil_div(-j, step_b_);
      if (i + Wide{skipped} * step_a_ >= a_.section.count) return;
      i += skipped * step_a_;
      j += skipped * step_b_;
    }
    if (i >= a_.section.count || j >= b_.section.count) return;
    const auto more =
        std::min((a_.section.count - 1 - i) / step_a_, (b_.section.count - 1 - j) / step_b_);
    const auto in_a = std::max<std::int64_t>(0, -difference);
    const auto in_b = std::max<std::int64_t>(0, difference);
    const auto block = std::min(a_.section.block - in_a, b_.section.block - in_b);
    const auto of_last =
        std::min(a_.block_at(i + more * step_a_) - in_a, b_.block_at(j + more * step_b_) - in_b);
    // Where there is one pair, the product might be too large for an integer.
    const auto stride = [&](std::int64_t step, std::int64_t per_block) {
      return more == 0 ? block : step * per_block;
    };
    runs.add({more * block + std::max<std::int64_t>(0, of_last),
              block,
              {a_.offset + i * a_.section.block + in_a, stride(step_a_, a_.section.block)},
              {b_.offset + j * b_.section.block + in_b, stride(step_b_, b_.section.block)}});
  }

  const Stored& a_;
  const Stored& b_;
  std::int64_t divisor_;
  std::int64_t step_a_;  ///< blocks of `a` from one pair to the next one with the same difference
  std::int64_t step_b_;
  std::int64_t inverse_;
};

void add_overlap(const Stored& from, const Stored& to, Runs& runs) {
  const auto& a = from.section;
  const auto& b = to.section;
  if (a.is_empty() || b.is_empty() || a.begin >= b.end() || b.begin >= a.end()) return;
  const bool are_fewer_of_a = a.count <= b.count;
  const auto fewer = std::min(a.count, b.count);
  if (fewer > 1) {
    const PeriodicOverlap periodic(from, to);
    if (periodic.differences() <= 2 * fewer) return periodic.add_all(runs);
  }
  for (std::int64_t i = 0; i < fewer; ++i) {
    if (are_fewer_of_a)
      add_interval(from, i, to, false, runs);
    else
      add_interval(to, i, from, true, runs);
  }
}

}  // namespace

std::vector<IndexRun> common_runs(std::span<const Section> from, std::span<const Section> to) {
  Runs runs;
  std::int64_t from_offset = 0;
  for (const auto& a : from) {
    std::int64_t to_offset = 0;
    for (const auto& b : to) {
      add_overlap({a, from_offset}, {b, to_offset}, runs);
      to_offset += b.size();
    }
    from_offset += a.size();
  }
  return runs.take();
}

std::int64_t total_extent(std::span<const IndexRun> runs) {
  std::int64_t result = 0;
  for (const auto& run : runs) result += run.extent;
  return result;
}

std::int64_t common_extent(std::span<const Section> a, std::span<const Section> b) {
  if (a.size() == 1 && b.size() == 1 && a[0].is_interval() && b[0].is_interval())
    return intersect({a[0].begin, a[0].end()}, {b[0].begin, b[0].end()}).size();
  return total_extent(common_runs(a, b));
}

std::int64_t common_size(const Piece& a, const Piece& b) {
  std::int64_t result = 1;
  for (std::size_t d = 0; d < a.sections.size(); ++d)
    result *= common_extent(a.sections[d], b.sections[d]);
  return result;
}

}  // namespace tessera
