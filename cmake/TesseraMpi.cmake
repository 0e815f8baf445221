# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
#
# Where several MPIs are installed side by side, as on Debian, TESSERA_MPI (a CMake or an environment variable) takes
# mpich or openmpi; mpich if it is not set. Elsewhere CMake's FindMPI decides.
if(TESSERA_MPI AND DEFINED ENV{TESSERA_MPI} AND NOT TESSERA_MPI STREQUAL "$ENV{TESSERA_MPI}")
  message(FATAL_ERROR "TESSERA_MPI is ${TESSERA_MPI} in this build folder and $ENV{TESSERA_MPI} in the environment: take another folder")
endif()
if(NOT TESSERA_MPI AND DEFINED ENV{TESSERA_MPI})
  set(TESSERA_MPI "$ENV{TESSERA_MPI}")
endif()
if(NOT MPI_CXX_COMPILER AND NOT MPI_HOME AND NOT DEFINED ENV{MPI_HOME})
  foreach(name ${TESSERA_MPI} mpich)
    find_program(TESSERA_MPICXX_${name} mpicxx.${name})
    find_program(TESSERA_MPIEXEC_${name} mpiexec.${name})
    mark_as_advanced(TESSERA_MPICXX_${name} TESSERA_MPIEXEC_${name})
    if(TESSERA_MPICXX_${name} AND TESSERA_MPIEXEC_${name})
      set(TESSERA_MPI "${name}" CACHE STRING "MPI, where several are installed side by side: mpich or openmpi")
      set(MPI_CXX_COMPILER "${TESSERA_MPICXX_${name}}" CACHE FILEPATH "MPI compiler wrapper")
      set(MPIEXEC_EXECUTABLE "${TESSERA_MPIEXEC_${name}}" CACHE FILEPATH "MPI launcher")
      break()
    endif()
    if(name STREQUAL "${TESSERA_MPI}" AND NOT name STREQUAL "${tessera_MPI}")
      message(FATAL_ERROR "TESSERA_MPI: expected mpicxx.${name} and mpiexec.${name} on the PATH, found none")
    endif()
  endforeach()
endif()
set(MPI_CXX_SKIP_MPICXX ON)
