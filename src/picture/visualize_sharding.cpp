// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include <tessera/agreement/detail/operation.hpp>
#include <tessera/comm/collectives.hpp>
#include <tessera/error/error.hpp>
#include <tessera/picture/visualize_sharding.hpp>

#include "picture/text_picture.hpp"

namespace tessera {

namespace detail {

namespace {

std::vector<WrongPiece> wrong_pieces(const DTensorSpec& spec, const std::vector<Extents>& given) {
  std::vector<WrongPiece> result;
  for (int rank = 0; rank < spec.layout().size(); ++rank) {
    const auto& extents = given[static_cast<std::size_t>(rank)];
    const auto expected = spec.local_shape(rank);
    const bool are_empty = product(extents) == 0 && product(expected) == 0;
    if (extents != expected && !are_empty) result.push_back({rank, expected, extents});
  }
  return result;
}

}  // namespace

std::string visualize_pieces(const DeviceMesh& mesh, const DTensorSpec& spec,
                             const Extents& local_extents, const VisualizeOptions& options) {
  require(!mesh.is_null(), "visualize_sharding: expected a tensor on a mesh, got a null handle");
  if (!mesh.coordinate()) return "";
  return collectively(mesh, "visualize_sharding", [&](Operation& operation) {
    const auto call = [&] { return "visualize_sharding of " + to_string(spec); };
    operation.agree(spec.hash(), call);
    const auto given = all_gather_value(mesh.group(), local_extents, TraceKind::metadata,
                                        "tessera::visualize_sharding");
    return picture_of(PieceGrid(spec, wrong_pieces(spec, given)), options);
  });
}

}  // namespace detail

std::string visualize_sharding(const DTensorSpec& spec, const VisualizeOptions& options) {
  return detail::named("visualize_sharding",
                       [&] { return detail::picture_of(detail::PieceGrid(spec), options); });
}

bool terminal_has_colour() {
  const char* const no_colour = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool is_refused = no_colour != nullptr && *no_colour != '\0';
  return !is_refused && terminal != nullptr && std::string_view(terminal) != "dumb" &&
         isatty(STDOUT_FILENO) != 0;
}

}  // namespace tessera
