// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tessera/config/version.hpp>

namespace tessera {

static_assert(TESSERA_VERSION == TESSERA_PROJECT_VERSION, "version.hpp and CMakeLists.txt differ");

std::string version() {
  return fmt::format("{}.{}.{}", TESSERA_VERSION_MAJOR, TESSERA_VERSION_MINOR,
                     TESSERA_VERSION_PATCH);
}

std::string build_info() {
  return TESSERA_BUILD_INFO;
}

}  // namespace tessera
