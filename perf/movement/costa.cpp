// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include <costa/grid2grid/transform.hpp>

#include "../costa_layout.hpp"
#include "peer.hpp"

namespace tessera::perf {

const bool has_costa = true;

namespace {

CostaLayout layout(const DTensor<PeerMatrix>& matrix) {
  const auto& spec = matrix.spec();
  std::vector<Box> pieces;
  for (int rank = 0; rank < spec.layout().size(); ++rank)
    pieces.push_back(spec.piece(spec.layout().coordinate(rank)));
  return costa_layout(pieces, static_cast<std::size_t>(matrix.device_mesh().rank()),
                      matrix.to_local().data());
}

}  // namespace

std::function<void()> costa_scaled(const DTensor<PeerMatrix>& from, const DTensor<PeerMatrix>& to,
                                   double alpha, double beta) {
  const auto source = std::make_shared<CostaLayout>(layout(from));
  const auto target = std::make_shared<CostaLayout>(layout(to));
  return [source, target, alpha, beta] {
    costa::transform<double>(*source, *target, 'N', alpha, beta, MPI_COMM_WORLD);
  };
}

}  // namespace tessera::perf
