#include "bootstrap_check.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "backfill/bootstrap/bootstrap_indexes.hpp"
#include "command_line/finish.hpp"

namespace skua::cli {

bool can_use_indexes(store::Session& session, std::string_view command) {
  if (!backfill::bootstrap_is_open(session)) return true;
  command_line::print_stderr(
      "skua {}: a bootstrap is not finished: `skua backfill --bootstrap` finishes it\n", command);
  return false;
}

}  // namespace skua::cli
