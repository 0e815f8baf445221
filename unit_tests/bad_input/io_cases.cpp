// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace tessera::test {

std::vector<Case> io_cases() {
  const std::string absent = "no-such-folder/no-such-file.npy";
  return {
      {"file_that_is_missing", io_error, "no-such-file.npy",
       [=](const Given& s) { read_npy<Matrix>(absent, s.mesh, {Shard(0)}); }, Reach::cold},
      {"header_of_a_file_that_is_missing", io_error, "no-such-file.npy",
       [=](const Given& s) { read_npy_header(absent, s.mesh); }, Reach::cold},
      {"file_in_a_folder_that_is_missing", io_error, "no-such-file.npy",
       [=](const Given& s) { write_npy(absent, s.tensor); }, Reach::cold},
      {"partial_to_be_read", invalid_argument, "read_npy: expected Shard and Replicate placements",
       [=](const Given& s) { read_npy<Matrix>(absent, s.mesh, {Partial()}); }},
      {"partial_to_be_written", invalid_argument, "write_npy: expected Shard and Replicate",
       [=](const Given& s) {
         write_npy(absent, from_local(Matrix("contribution", 16, 24), s.mesh, {Partial()}, shape));
       }},
      {"structs_to_be_written", invalid_argument, "write_npy: expected an element type of the .npy",
       [=](const Given& s) { write_npy(absent, empty<Particles>(s.mesh, {Shard(0)}, {5})); }},
      {"no_tensor_to_be_written", invalid_argument,
       "write_npy: expected a tensor on a mesh, got a null handle",
       [=](const Given&) { write_npy(absent, DTensor<Matrix>()); }, Reach::this_rank},
      {"no_default_mesh_to_read_on", invalid_argument, "read_npy: expected a mesh, or a DeviceMesh",
       [=](const Given&) { read_npy<Matrix>(absent); }, Reach::this_rank},
  };
}

}  // namespace tessera::test
