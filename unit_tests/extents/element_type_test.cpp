// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <tessera/extents/element_type.hpp>

namespace tessera {
namespace {

#ifdef __SIZEOF_INT128__
__extension__ using WideInteger = __int128;
#endif

TEST(ElementKind, is_that_of_the_number) {
  EXPECT_EQ(element_kind<bool>, ElementKind::boolean);
  EXPECT_EQ(element_kind<char>, std::is_signed_v<char> ? ElementKind::int8 : ElementKind::uint8);
  EXPECT_EQ(element_kind<long>, sizeof(long) == 8 ? ElementKind::int64 : ElementKind::int32);
  EXPECT_EQ(element_kind<std::uint16_t>, ElementKind::uint16);
  EXPECT_EQ(element_kind<float>, ElementKind::float32);
  EXPECT_EQ(element_type<const double>().kind, ElementKind::float64);
  EXPECT_EQ(element_kind<long double>, ElementKind::long_double);
  EXPECT_EQ(element_kind<std::complex<long double>>, ElementKind::complex_long_double);
}

TEST(ElementKind, of_what_has_no_arithmetic_here_is_opaque) {
  EXPECT_EQ(element_kind<std::byte>, ElementKind::opaque);
#ifdef __SIZEOF_INT128__
  EXPECT_EQ(element_kind<WideInteger>, ElementKind::opaque);
#endif
}

}  // namespace
}  // namespace tessera
