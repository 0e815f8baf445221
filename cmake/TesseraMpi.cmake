# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
#
# Where several MPIs are installed, other packages may have turned mpicxx and mpiexec into Open MPI's: name MPICH's.
if(NOT MPI_CXX_COMPILER AND NOT MPI_HOME)
  find_program(TESSERA_MPICXX_MPICH mpicxx.mpich)
  find_program(TESSERA_MPIEXEC_MPICH mpiexec.mpich)
  mark_as_advanced(TESSERA_MPICXX_MPICH TESSERA_MPIEXEC_MPICH)
  if(TESSERA_MPICXX_MPICH AND TESSERA_MPIEXEC_MPICH)
    set(MPI_CXX_COMPILER "${TESSERA_MPICXX_MPICH}" CACHE FILEPATH "MPI compiler wrapper")
    set(MPIEXEC_EXECUTABLE "${TESSERA_MPIEXEC_MPICH}" CACHE FILEPATH "MPI launcher")
  endif()
endif()
set(MPI_CXX_SKIP_MPICXX ON)
