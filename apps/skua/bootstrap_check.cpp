#include "bootstrap_check.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "backfill/bootstrap/bootstrap_indexes.hpp"

namespace skua::cli {

bool can_use_indexes(store::Session& session, std::string_view command) {
  if (!backfill::bootstrap_is_open(session)) return true;
  fmt::print(stderr,
             "skua {}: a bootstrap is not finished: `skua backfill --bootstrap` finishes it\n",
             command);
  return false;
}

}  // namespace skua::cli
