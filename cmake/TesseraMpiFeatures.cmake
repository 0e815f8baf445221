# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
#
# Functions of MPI 4 that the library uses where they are. Sets TESSERA_HAVE_<function> for each.
include(CheckCXXSymbolExists)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX)
check_cxx_symbol_exists(MPI_Isend_c mpi.h TESSERA_HAVE_MPI_Isend_c)
check_cxx_symbol_exists(MPI_Irecv_c mpi.h TESSERA_HAVE_MPI_Irecv_c)
check_cxx_symbol_exists(MPI_Imrecv_c mpi.h TESSERA_HAVE_MPI_Imrecv_c)
unset(CMAKE_REQUIRED_LIBRARIES)
