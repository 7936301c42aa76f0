#pragma once

#include <string>

namespace skua::store {

/// A statement that a session prepares on first use. Each name is unique in the program. Most
/// statements stand in the SQL files of a library, which the build makes into constants of this
/// type (libs/README.md).
struct Statement {
  std::string name;
  std::string sql;
};

}  // namespace skua::store
