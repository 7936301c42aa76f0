#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "consumers/projections/projection.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

/// The expression of a number at which a scan of a sample of accounts begins, as the SQL function
/// skua.random_account_number. The statements of own projections must not call functions of Skua.
inline constexpr std::string_view kRandomAccountNumber =
    "(SELECT (floor(random() * ((max(a.id) >> 46) + 1))::int8 << 46) + (random() * (max(a.id) & "
    "70368744177663))::int8 FROM bsky.actors AS a)";

/// The keys of records over which the statements of the simple form work: SELECTs of actor_id, rkey
/// and collection_id.
struct OwnKeys {
  /// The records of a build.
  std::string filled;
  /// The records that a batch concerns.
  std::string touched;
  /// The records of a complete comparison.
  std::string compared;
  /// Records chosen at random, $1 of each collection.
  std::string some;
  /// The first records, $1 of each collection.
  std::string first;
};

/// Returns the keys of the collections: all records, and the records that the changes of a batch
/// name. Throws std::invalid_argument if the database has no such collection, and
/// postgres::SqlError.
OwnKeys keys_of_collections(postgres::Session& session, const Projection& projection);

/// Lets skua_projection read and write the tables of a consumer, and creates a function for each
/// statement of the user. The functions belong to skua_projection and are SECURITY DEFINER: within
/// them PostgreSQL refuses a change of the role. Refuses statements that are not one of SELECT,
/// INSERT, UPDATE, DELETE, or that call functions with side effects (own_faults). Runs in the
/// caller's transaction, as the owner of the schema, after the tables were created. Throws
/// std::invalid_argument with the part of the file, and postgres::SqlError.
void create_own_functions(postgres::Session& session, const Projection& projection,
                          std::int32_t consumer_id, const OwnKeys& keys);

/// Returns SQL of the user with the names of tables and `records`, the keys of the records of a
/// fill.
std::string own_sql(const Projection& projection, std::int32_t consumer_id, const OwnKeys& keys,
                    std::string_view text, const std::string& records);

/// Checks a whole projection in the database: creates its tables and functions and applies a batch
/// without changes, in a transaction that is rolled back. Throws std::invalid_argument with the
/// reason, and postgres::SqlError for failures of the server.
void check_in_database(postgres::Session& session, const Projection& projection);

/// Limits the time of each statement of a transaction, until `end` or the rollback. A shorter limit
/// of the session stays.
class StatementLimit {
 public:
  StatementLimit(postgres::Session& session, std::chrono::milliseconds most);
  /// Lets the former limit apply again.
  void end();

 private:
  postgres::Session& session_;
  std::string former_;
};

/// Returns a number for tables of a check, which no consumer has or will have.
std::int32_t new_consumer_number(postgres::Session& session);

/// Lets the views of the projection read the tables of this consumer; nothing: the views are empty.
/// Runs in the caller's transaction.
void show_own_tables(postgres::Session& session, const Projection& projection,
                     std::optional<std::int32_t> consumer_id);

/// Drops the views of a former version that the next one does not have. Runs in the caller's
/// transaction.
void drop_former_views(postgres::Session& session, const Projection& former,
                       const Projection& next);

/// Returns the names of the tables of a consumer in the schema `projections`, with the schema.
std::vector<std::string> own_tables(postgres::Session& session, std::int32_t consumer_id);

/// Drops the tables and functions of a consumer in the schema `projections`, if there are any.
void drop_own_objects(postgres::Session& session, std::int32_t consumer_id);

}  // namespace skua::consumers
