// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <tessera/extents/extents.hpp>
#include <tessera/placement/placements.hpp>

namespace tessera {

/// Keep is the type of `keep`.
struct Keep {
  constexpr explicit Keep() = default;
};
/// `keep` is the input placement of a DTensor that is taken as it is.
inline constexpr Keep keep{};

/// None is the type of `none`.
struct None {
  // Without `explicit`, nvcc takes {Placements{…}} for None, too.
  constexpr explicit None() = default;
  constexpr None(std::nullopt_t) {}
};
/// `none` is the output placement of a value that is passed on as it is. std::nullopt and
/// `none` are interchangeable, for inputs and for outputs.
inline constexpr None none{};

/// An InPlacement says what local_map asks of one flattened argument: std::nullopt (not a DTensor),
/// keep, or these placements.
class InPlacement {
 public:
  InPlacement(std::nullopt_t) : value_(std::nullopt) {}
  InPlacement(Keep) : value_(keep) {}
  InPlacement(None) : value_(std::nullopt) {}
  InPlacement(Placements placements) : value_(std::move(placements)) {}
  InPlacement(std::initializer_list<Placement> placements) : value_(Placements(placements)) {}
  /// Takes the placement along the only mesh dim.
  template <detail::OnePlacement P>
  InPlacement(P placement) : value_(Placements{Placement(placement)}) {}

  /// Returns whether it is std::nullopt: the argument must not be a DTensor.
  bool is_no_tensor() const { return std::holds_alternative<std::nullopt_t>(value_); }
  /// Returns the placements asked for; null for std::nullopt and keep.
  const Placements* placements() const { return std::get_if<Placements>(&value_); }

 private:
  std::variant<std::nullopt_t, Keep, Placements> value_;
};

/// InPlacements holds one InPlacement per flattened argument. By default nothing is checked.
class InPlacements {
 public:
  InPlacements() = default;
  InPlacements(std::initializer_list<InPlacement> list) : list_(list) {}
  InPlacements(std::vector<InPlacement> list) : list_(std::move(list)) {}

  /// Returns one InPlacement per flattened argument; nullopt if nothing is checked.
  const std::optional<std::vector<InPlacement>>& list() const { return list_; }

 private:
  std::optional<std::vector<InPlacement>> list_;
};

/// An OutPlacement says how local_map makes a DTensor of a View that func returned. Placements
/// convert to it.
///
/// With Placements without Shard, the global shape is the local shape. With a Shard, sizes, even or
/// not, are inferred by one metadata exchange for all outputs together. The other three kinds, made
/// by even, like_input and shaped, communicate nothing.
class OutPlacement {
 public:
  /// Rule says where the global shape comes from: `placements` as above, the others as the
  /// functions of these names say.
  enum class Rule { placements, even, like_input, shaped };

  OutPlacement(Placements placements) : placements_(std::move(placements)) {}
  OutPlacement(std::initializer_list<Placement> placements) : placements_(placements) {}
  /// Takes the placement along the only mesh dim.
  template <detail::OnePlacement P>
  OutPlacement(P placement) : placements_{Placement(placement)} {}

  Rule rule() const { return rule_; }
  /// Returns the placements given; empty for like_input.
  const Placements& placements() const { return placements_; }
  /// Returns the flattened argument of like_input, from 0; -1 for other rules.
  int input() const { return input_; }
  /// Returns the global shape of shaped; empty for other rules.
  const Extents& shape() const { return shape_; }

 private:
  friend OutPlacement even(Placements);
  friend OutPlacement like_input(int);
  friend OutPlacement shaped(Placements, Extents);

  Rule rule_ = Rule::placements;
  Placements placements_;
  int input_ = -1;
  Extents shape_;
};

/// Makes an output of equal extents on every rank: global extent = local extent × number of parts.
/// The call throws InvalidArgument under Cyclic, and under HeadTail for an odd extent: pieces of
/// equal extents are not what these rules give.
inline OutPlacement even(Placements placements) {
  OutPlacement result(std::move(placements));
  result.rule_ = OutPlacement::Rule::even;
  return result;
}

/// Takes placements, global shape and boundaries of flattened argument `argument`, a DTensor, as
/// func saw it.
inline OutPlacement like_input(int argument) {
  OutPlacement result(Placements{});
  result.rule_ = OutPlacement::Rule::like_input;
  result.input_ = argument;
  return result;
}

/// Takes these placements and this global shape, cut by the rules of the placements.
inline OutPlacement shaped(Placements placements, Extents shape) {
  OutPlacement result(std::move(placements));
  result.rule_ = OutPlacement::Rule::shaped;
  result.shape_ = shape;
  return result;
}

}  // namespace tessera
