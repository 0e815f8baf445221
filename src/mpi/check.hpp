// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
// For all folders that call MPI: return codes become exceptions.
#pragma once

#include <string>

#include <mpi.h>

namespace tessera::detail {

/// Returns the text of an MPI error code.
std::string mpi_error_text(int code);

/// Throws MpiError "<what>: <text of the code>" unless `code` is MPI_SUCCESS. `what` names the MPI
/// function.
void check_mpi(int code, const char* what, const char* file = __builtin_FILE(),
               int line = __builtin_LINE());

/// While it lives, calls on a communicator return their error codes, whatever handler the user has
/// set.
class ErrorsReturned {
 public:
  explicit ErrorsReturned(MPI_Comm comm);
  ~ErrorsReturned();
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

}  // namespace tessera::detail
