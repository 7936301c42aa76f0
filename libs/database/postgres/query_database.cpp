#include "postgres/query_database.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "postgres/connection_string.hpp"
#include "postgres/query_database.sql.hpp"

namespace skua::postgres {
namespace {

/// The file whose functions make the tables of a query database.
constexpr std::string_view kFunctions = "functions/nodes.sql";

/// The options of a connection string that postgres_fdw has at the mapping of the user.
constexpr std::array<std::string_view, 5> kUserOptions = {"user", "password", "sslcert", "sslkey",
                                                          "sslpassword"};
/// The options that postgres_fdw sets itself.
constexpr std::array<std::string_view, 3> kOwnOptions = {
    "client_encoding", "fallback_application_name", "application_name"};

struct Rights {
  bool has_extension;
  bool is_available;
  bool is_superuser;
  bool may_create_servers;
  std::string role;
};

struct FdwOptions {
  ConnectionOptionList server;
  ConnectionOptionList user;

  void add_server(std::string_view name, std::string_view value) {
    if (std::ranges::find(server.names, name) != server.names.end()) return;
    server.names.emplace_back(name);
    server.values.emplace_back(value);
  }
};

FdwOptions fdw_options(const std::string& url, bool is_superuser) {
  FdwOptions options;
  const ConnectionOptionList given = connection_options(url);
  bool has_user = false;
  for (std::size_t i = 0; i < given.names.size(); ++i) {
    const std::string& name = given.names[i];
    if (std::ranges::find(kOwnOptions, name) != kOwnOptions.end()) continue;
    const bool is_of_user = std::ranges::find(kUserOptions, name) != kUserOptions.end();
    ConnectionOptionList& list = is_of_user ? options.user : options.server;
    list.names.push_back(name);
    list.values.push_back(given.values[i]);
    has_user = has_user || name == "user";
  }
  // Without a user, postgres_fdw connects as the user of the query.
  if (!has_user) {
    options.user.names.emplace_back("user");
    options.user.values.push_back(connection_names(url).user);
  }
  // Otherwise readers could not use a node that asks for no password. Only a superuser may permit
  // it.
  if (is_superuser) {
    options.user.names.emplace_back("password_required");
    options.user.values.emplace_back("false");
  }
  options.add_server("application_name", "skua query database");
  options.add_server("connect_timeout", "10");
  options.add_server("options", "-c jit=off");
  options.add_server("updatable", "false");
  options.add_server("async_capable", "true");
  options.add_server("use_remote_estimate", "true");
  options.add_server("fetch_size", "1000");
  return options;
}

/// Returns the names that SQL gives the table of accounts.
std::set<std::string> aliases_of_actors(const std::string& sql) {
  static const std::regex actors(R"(bsky\.actors (?:AS )?(\w+))");
  std::set<std::string> aliases;
  for (std::sregex_iterator each(sql.begin(), sql.end(), actors), end; each != end; ++each) {
    aliases.insert((*each)[1]);
  }
  return aliases;
}

/// A projection that views join, the name that they give it, and its columns for one row of the
/// view.
struct JoinedProjection {
  std::string_view name, alias, columns;
};

constexpr JoinedProjection kJoinedProjections[] = {
    {"post_stats", "stats",
     "max(stats.likes) AS likes, max(stats.reposts) AS reposts, max(stats.replies) AS replies, "
     "max(stats.quotes) AS quotes"},
    {"actor_stats", "stats",
     "max(stats.followers) AS followers, max(stats.follows) AS follows, max(stats.posts) AS posts"},
    {"post_rules", "rules",
     "bool_or(rules.violates_threadgate) AS violates_threadgate, "
     "bool_or(rules.violates_embedding_rules) AS violates_embedding_rules, "
     "bool_or(rules.is_hidden) AS is_hidden, bool_or(rules.has_invalid_root) AS has_invalid_root"},
};

}  // namespace

bool is_query_database(Session& session) {
  return session.query_one<bool>(sql::nodes_is_query_database);
}

std::vector<Node> read_nodes(Session& session) {
  if (!session.query_one<bool>(sql::nodes_have_table)) return {};
  return session.query<Node>(sql::nodes_read);
}

std::vector<Node> require_nodes(Session& session) {
  auto nodes = read_nodes(session);
  if (nodes.empty()) {
    throw NodeError("this query database has no nodes: add one with `skua nodes add`");
  }
  return nodes;
}

std::vector<GroupMove> read_moves(Session& session) {
  return session.query<GroupMove>(sql::nodes_moves);
}

Session open_node(const Node& node, const std::string& command) {
  try {
    return {node.url, process_name(command)};
  } catch (const SqlError& error) {
    throw NodeError(fmt::format("the node {} ({}) cannot be reached: {}", node.name,
                                without_password(node.url), error.what()));
  }
}

std::vector<NodeState> node_states(Session& session) {
  return session.query<NodeState>(sql::nodes_states);
}

std::optional<std::vector<std::string>> nodes_without(Session& session,
                                                      const std::string& projection) {
  if (!session.query_one<bool>(sql::nodes_read_projection, projection)) return std::nullopt;
  return session.query<std::string>(sql::nodes_without_projection, projection);
}

std::vector<std::string> nodes_without_index(Session& session, const std::string& index) {
  return session.query<std::string>(sql::nodes_without_index, index);
}

void refresh_collections(Session& session) {
  session.execute(sql::nodes_refresh_collections);
}

void require_migrated_nodes(Session& session, const Schema& schema) {
  for (const Node& node : read_nodes(session)) {
    Session remote = open_node(node, "skua migrate");
    const SchemaChanges changes = pending_changes(remote, schema);
    if (changes.empty()) continue;
    throw NodeError(fmt::format(
        "the node {} {}: run `skua migrate` with its database, {}, before this query database",
        node.name, changes.text(), without_password(node.url)));
  }
}

std::string for_query_database(const std::string& sql) {
  static const std::regex earlier(R"(least\((\w+)\.created_at, \1\.indexed_at\))",
                                  std::regex::icase);
  static const std::regex active(R"((\w+)\.active IS NOT FALSE)", std::regex::icase);
  static const std::regex since(R"(([<>]=? )(now\(\) - interval '[^']+'))", std::regex::icase);
  static const std::regex registered(
      R"(\(SELECT (\w+)\.created_at FROM skua\.identities \1 WHERE \1\.did = (\w+)\.did\))",
      std::regex::icase);
  static const std::regex links(R"(bsky\.record_links\((\w+)\.record\))");
  std::string text = std::regex_replace(sql, earlier, "$1.sort_at");
  text = std::regex_replace(text, links, "$1.record_links");
  text = std::regex_replace(text, registered, "$2.account_created_at");
  text = std::regex_replace(text, active, "$1.active IS DISTINCT FROM false");
  text = std::regex_replace(text, since, "$1(SELECT $2)");
  for (const std::string& alias : aliases_of_actors(sql)) {
    const std::regex name(fmt::format(R"(coalesce\({0}\.handle, {0}\.did\))", alias));
    text = std::regex_replace(text, name, fmt::format("{}.handle_or_did", alias));
  }
  for (const auto& [projection, alias, columns] : kJoinedProjections) {
    const std::regex join(fmt::format("LEFT JOIN bsky\\.{} {} ON ([^;\n]+)", projection, alias));
    text = std::regex_replace(
        text, join,
        fmt::format("LEFT JOIN LATERAL (SELECT {} FROM bsky.{} {} WHERE $1) {} ON true", columns,
                    projection, alias, alias));
  }
  return text;
}

std::string for_database(Session& session, const std::string& sql) {
  return is_query_database(session) ? for_query_database(sql) : sql;
}

bool hide_ranges(Session& session) {
  if (!session.query_one<bool>(sql::nodes_have_ranges)) return false;
  session.execute(sql::nodes_hide_ranges);
  return true;
}

void show_ranges(Session& session) {
  session.execute(sql::nodes_show_ranges);
}

void require_foreign_tables(Session& session) {
  const auto rights = session.query_one<Rights>(sql::nodes_rights);
  if (!rights.has_extension && !rights.is_available) {
    throw NodeError(
        "the server of the query database does not have the extension postgres_fdw: install it "
        "(Debian: the package postgresql-15 contains it, elsewhere postgresql-contrib)");
  }
  if (!rights.has_extension) {
    try {
      session.run("SAVEPOINT extension; CREATE EXTENSION postgres_fdw");
      session.run("RELEASE SAVEPOINT extension");
    } catch (const DefectError& error) {
      throw NodeError(fmt::format(
          "{}. A superuser runs in the query database: CREATE EXTENSION postgres_fdw; GRANT USAGE "
          "ON FOREIGN DATA WRAPPER postgres_fdw TO \"{}\";",
          error.what(), rights.role));
    }
    return require_foreign_tables(session);
  }
  if (!rights.may_create_servers) {
    throw NodeError(
        fmt::format("the role {} may not create servers of postgres_fdw. A superuser runs in the "
                    "query database: GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO \"{}\";",
                    rights.role, rights.role));
  }
}

void divide_tables(Session& session, const Schema& schema) {
  const auto file = std::ranges::find(schema.definitions, kFunctions, &SchemaFile::name);
  session.run(std::string(file->sql));
  session.execute(sql::nodes_divide);
  std::set<std::string> names;
  for (const SchemaFile& each : schema.definitions) names.emplace(each.name);
  apply_definitions(session, schema.definitions, std::move(names));
}

void join_on_nodes(Session& session) {
  session.execute(sql::nodes_join);
}

void disconnect_nodes(Session& session) {
  session.execute(sql::nodes_disconnect);
}

void connect_node(Session& session, const Node& node) {
  const bool is_superuser = session.query_one<Rights>(sql::nodes_rights).is_superuser;
  const FdwOptions options = fdw_options(node.url, is_superuser);
  session.execute(sql::nodes_connect, node.name, node.owned, options.server.names,
                  options.server.values, options.user.names, options.user.values);
}

void connect_nodes(Session& session) {
  for (const Node& node : read_nodes(session)) connect_node(session, node);
  refresh_collections(session);
}

}  // namespace skua::postgres
