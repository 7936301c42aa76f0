#include "app/database.hpp"

#include <stdexcept>

#include "postgres/connection_string.hpp"
#include "postgres/migrations.hpp"
#include "postgres/query_database.hpp"
#include "postgres/session.hpp"
#include "postgres/table_layout.hpp"
#include "tables/account_groups.hpp"
#include "tables/change_log.hpp"
#include "tables/network_nodes.hpp"
#include "writer/worker_pool.hpp"
#include "writer/write_policy.hpp"

namespace skua::app {
namespace {

/// The locks that can be held at the same time: those of the accounts of full groups, of both event
/// sources, and of the relations that 30 workers use.
constexpr std::size_t kLocks = 2 * writer::kMostWriters * writer::LivePolicy::kBatch + 30 * 32;
constexpr std::size_t kConnections = 46;

void check(const std::string& url, const postgres::ServerNeeds& needs) {
  postgres::Session session(url, postgres::process_name("skua check"));
  if (const auto problem = postgres::pooling_problem(session, url))
    throw std::runtime_error(*problem);
  std::string problems;
  for (const auto& [problem, text] :
       postgres::server_problems(postgres::read_server_facts(session), needs)) {
    problems += (problems.empty() ? "" : "\n") + text;
  }
  if (!problems.empty()) throw std::runtime_error(problems);
  const postgres::SchemaChanges changes = postgres::pending_changes(session, postgres::schema());
  if (!changes.empty()) {
    throw std::runtime_error("the database " + changes.text() + ": run `skua migrate` first");
  }
  if (needs.writes) require_plain_tables(session);
}

}  // namespace

void require_plain_tables(postgres::Session& session) {
  if (const auto problem = postgres::table_layout_problem(session)) {
    throw std::runtime_error(*problem);
  }
}

postgres::ServerNeeds server_needs(Durability durability) {
  return {
      .locks = kLocks, .connections = kConnections, .durable = durability == Durability::Needed};
}

void check_database(const std::string& url, Durability durability) {
  check(url, server_needs(durability));
}

void check_database_to_read(const std::string& url) {
  check(url, {.writes = false});
}

void check_state_to_read(const std::string& url) {
  check_database_to_read(url);
  postgres::Session session(url, postgres::process_name("skua check"));
  if (postgres::is_query_database(session)) require_plain_tables(session);
}

atproto::GroupSet state_groups(const std::string& url,
                               const std::optional<atproto::GroupSet>& stated) {
  postgres::Session session(url, postgres::process_name("skua check"));
  const atproto::GroupSet owned = tables::state_account_groups(session, stated).owned;
  tables::require_present_groups(session, owned);
  return owned;
}

void check_database_to_write(const std::string& url, Durability durability) {
  check_database(url, durability);
  postgres::Session session(url, postgres::process_name("skua check"));
  tables::check_change_log_timeline(session);
}

}  // namespace skua::app
