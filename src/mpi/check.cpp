// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <mpi.h>

#include <tessera/error/error.hpp>

#include "mpi/check.hpp"

namespace tessera::detail {

std::string mpi_error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS)
    return "error code " + std::to_string(code);
  return {text.data(), static_cast<std::size_t>(length)};
}

void check_mpi(int code, const char* what, const char* file, int line) {
  require<MpiError>(
      code == MPI_SUCCESS, [&] { return std::string(what) + ": " + mpi_error_text(code); }, file,
      line);
}

ErrorsReturned::ErrorsReturned(MPI_Comm comm) : comm_(comm) {
  check_mpi(MPI_Comm_get_errhandler(comm, &before_), "MPI_Comm_get_errhandler");
  check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

ErrorsReturned::~ErrorsReturned() {
  MPI_Comm_set_errhandler(comm_, before_);
  MPI_Errhandler_free(&before_);
}

}  // namespace tessera::detail
