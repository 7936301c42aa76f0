#include "init_database.hpp"

#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "store/connection_string.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

/// The database that every server has.
constexpr const char* kMaintenance = "postgres";

std::string identifier(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

/// The commands of docs/install.md for what may be missing. `role_exists`: the role of the URL
/// could connect to the server.
std::string superuser_commands(const store::ConnectionNames& names, bool role_exists) {
  const std::string prefix = "\n  runuser -u postgres -- ";
  std::string text =
      prefix + "createuser --no-login skua_reader" + prefix + "createuser --no-login skua_writer";
  if (!role_exists) {
    text += fmt::format("{}createuser {}{}", prefix, names.has_password ? "--pwprompt " : "",
                        names.user);
  }
  return text + fmt::format("{}createdb --owner={} --encoding=UTF8 --template=template0 {}", prefix,
                            names.user, names.database);
}

bool has_database(store::Session& session, const std::string& name) {
  store::Params params;
  params.text(name);
  return session
      .execute({"init_database", "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)"},
               params)
      .boolean(0, 0);
}

bool may_create(store::Session& session) {
  return session.run("SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user")
      .boolean(0, 0);
}

/// Null: the server cannot be reached, or refuses the role there; `reason` says why.
std::unique_ptr<store::Session> maintenance_session(const std::string& url, std::string& reason) {
  try {
    return std::make_unique<store::Session>(store::with_database(url, kMaintenance),
                                            store::process_name("skua init"));
  } catch (const store::SqlError& error) {
    reason = error.what();
    return nullptr;
  }
}

}  // namespace

void create_missing_database(const std::string& url) {
  const store::ConnectionNames names = store::connection_names(url);
  std::string reason;
  const auto server = maintenance_session(url, reason);
  if (server && !has_database(*server, names.database)) {
    if (!may_create(*server)) {
      throw std::runtime_error(
          fmt::format("there is no database {}, and the role {} may not create it. A superuser of "
                      "PostgreSQL can, with these commands, which report what exists already:{}",
                      names.database, names.user, superuser_commands(names, true)));
    }
    server->run(fmt::format("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0",
                            identifier(names.database)));
    fmt::print("created the database {}\n", names.database);
  }
  try {
    const store::Session session(url, store::process_name("skua init"));
  } catch (const store::SqlError& error) {
    throw std::runtime_error(
        fmt::format("the database cannot be used: {}\nIf the server runs and the role or the "
                    "database is missing, a superuser of PostgreSQL creates them, with these "
                    "commands, which report what exists already:{}",
                    error.what(), superuser_commands(names, server != nullptr)));
  }
}

}  // namespace skua::cli
