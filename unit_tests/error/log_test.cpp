// SPDX-FileCopyrightText: 2026 Tessera authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <tessera/error/error.hpp>
#include <tessera/error/log.hpp>

#include "../support/errors.hpp"

namespace tessera::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Puts the settings back.
class LogTest : public testing::Test {
 protected:
  ~LogTest() override { set_log_settings(before_); }

  /// What reaches an observer of records of two modules and all levels.
  static std::vector<std::string> seen() {
    std::vector<std::string> texts;
    const LogScope scope([&](const LogRecord& record) { texts.push_back(to_string(record)); });
    for (const auto* module : {"comm", "redistribute"})
      for (const auto level : {LogLevel::warning, LogLevel::info, LogLevel::debug})
        log(level, module, [] { return std::string("text"); });
    return texts;
  }

 private:
  LogSettings before_ = log_settings();
};

TEST_F(LogTest, records_warnings_unless_told_otherwise) {
  set_log_settings({});

  EXPECT_THAT(seen(), ElementsAre("comm: warning: text", "redistribute: warning: text"));
}

TEST_F(LogTest, has_a_level_for_each_module) {
  set_log_settings({.levels = {{"redistribute", LogLevel::debug}}, .otherwise = LogLevel::info});

  EXPECT_THAT(seen(),
              ElementsAre("comm: warning: text", "comm: info: text", "redistribute: warning: text",
                          "redistribute: info: text", "redistribute: debug: text"));
}

TEST_F(LogTest, makes_no_text_that_nobody_records) {
  set_log_settings({});
  int made = 0;
  log(LogLevel::debug, "comm", [&] {
    ++made;
    return std::string();
  });

  EXPECT_EQ(made, 0);
}

TEST_F(LogTest, tells_nested_observers_innermost_first) {
  set_log_settings({});
  std::string received;
  const LogScope outer([&](const LogRecord&) { received += "outer "; });
  const LogScope inner([&](const LogRecord&) { received += "inner "; });
  log({LogLevel::warning, "comm", ""});

  EXPECT_EQ(received, "inner outer ");
}

TEST(LogSettings, are_read_from_words) {
  const auto settings = parse_log_settings("redistribute:debug,comm:info,ranks:all,warning");

  EXPECT_EQ(settings,
            (LogSettings{.levels = {{"comm", LogLevel::info}, {"redistribute", LogLevel::debug}},
                         .prints = true,
                         .is_on_all_ranks = true}));
  EXPECT_EQ(parse_log_settings("info").otherwise, LogLevel::info);
}

TEST(LogSettings, name_what_they_expect) {
  EXPECT_THAT(message_of<InvalidArgument>([] { parse_log_settings("comm:loud"); }),
              HasSubstr("TESSERA_LOG: expected levels such as redistribute:debug,comm:info"));
}

}  // namespace
}  // namespace tessera::test
