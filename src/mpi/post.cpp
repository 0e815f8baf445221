// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "mpi/check.hpp"
#include "mpi/message_limit.hpp"
#include "mpi/post.hpp"

namespace tessera::detail {
namespace {

#ifdef TESSERA_HAVE_MPI_LARGE_COUNT
using Count = MPI_Count;
constexpr auto largest_message = std::numeric_limits<std::int64_t>::max();
constexpr auto isend = MPI_Isend_c;
constexpr auto irecv = MPI_Irecv_c;
constexpr auto imrecv = MPI_Imrecv_c;
#else
using Count = int;
constexpr auto largest_message = std::int64_t{1} << 30;
constexpr auto isend = MPI_Isend;
constexpr auto irecv = MPI_Irecv;
constexpr auto imrecv = MPI_Imrecv;
#endif

}  // namespace

std::int64_t default_message_limit() {
  return largest_message;
}

int post(MPI_Comm comm, const std::byte* data, std::int64_t bytes, int destination, int tag,
         MPI_Request& request) {
  return isend(data, static_cast<Count>(bytes), MPI_BYTE, destination, tag, comm, &request);
}

int post(MPI_Comm comm, std::byte* data, std::int64_t bytes, int source, int tag,
         MPI_Request& request) {
  return irecv(data, static_cast<Count>(bytes), MPI_BYTE, source, tag, comm, &request);
}

void post_matched(std::byte* data, std::int64_t bytes, MPI_Message& message, MPI_Request& request) {
  check_mpi(imrecv(data, static_cast<Count>(bytes), MPI_BYTE, &message, &request), "MPI_Imrecv");
}

}  // namespace tessera::detail
