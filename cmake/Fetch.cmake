# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
#
# cmake -DURL=<address> -DSHA256=<checksum> -DFILE=<where> -P Fetch.cmake: downloads a file. Fails, and says why in its first
# line, if the file cannot be had or is another one. The checksum alone says that it is the right one, so that no certificates
# need to be installed.
file(DOWNLOAD "${URL}" "${FILE}" INACTIVITY_TIMEOUT 20 TLS_VERIFY OFF STATUS status)
list(POP_FRONT status code)
if(code EQUAL 0)
  file(SHA256 "${FILE}" sha256)
  set(status "expected SHA-256 ${SHA256}, got ${sha256}")
endif()
if(NOT sha256 STREQUAL SHA256)
  file(REMOVE "${FILE}")
  message("${URL}: ${status}")
  message(FATAL_ERROR)
endif()
