// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "error/json.hpp"
#include "error/utf8.hpp"
#include "picture/svg.hpp"

namespace {

using namespace tessera::detail;

TEST(AsUtf8, leaves_what_is_utf8) {
  for (const std::string text : {"", "plain", "\tµ ∞ 𝒙 ß", "\x7f", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(as_utf8(text), text);
}

TEST(AsUtf8, escapes_each_other_byte) {
  EXPECT_EQ(as_utf8("a\xff z"), "a\\xff z");
  EXPECT_EQ(as_utf8("gr\xf6\xdf"
                    "er"),
            "gr\\xf6\\xdfer");                                     // Latin-1
  EXPECT_EQ(as_utf8("\xe2\x88"), "\\xe2\\x88");                    // cut off
  EXPECT_EQ(as_utf8("\xc0\x80"), "\\xc0\\x80");                    // longer than it need be
  EXPECT_EQ(as_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(as_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(as_utf8("\x80µ"), "\\x80µ");
}

TEST(AsUtf8, is_what_json_and_svg_hold) {
  EXPECT_EQ(json_quoted("a\xff\n\"\x7f"), "\"a\\\\xff\\u000a\\\"\x7f\"");
  EXPECT_EQ(escaped_xml("<a\xff>\x01"), "&lt;a\\xff&gt; ");
}

}  // namespace
