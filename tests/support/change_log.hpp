#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "postgres/session.hpp"

namespace skua::test {

/// Folds the change log, and compares the result with the tables. Returns up to 20 differences,
/// each in a line. Tests run in the root of the checkout.
inline std::string change_log_differences(postgres::Session& session) {
  std::ifstream file("tests/support/change_log.sql");
  if (!file) throw std::runtime_error("tests/support/change_log.sql is missing");
  const std::string sql{std::istreambuf_iterator<char>(file), {}};
  // The query compares whole tables, for which the settings of a session do not suit.
  session.run("SET enable_hashjoin = on; SET enable_mergejoin = on; SET enable_seqscan = on");
  const postgres::Rows rows = session.run(sql);
  session.run("SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off");
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) text += std::string(rows.text(i, 0)) + "\n";
  return text;
}

}  // namespace skua::test
