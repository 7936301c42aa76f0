#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "consumers/projections/projection.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

/// Returns the name of a table of one consumer, with its schema.
std::string table_of(const Projection& projection, std::string_view table,
                     std::int32_t consumer_id);

/// Returns SQL of a projection with the names of the tables of one consumer.
std::string sql_for(const Projection& projection, std::int32_t consumer_id, std::string_view sql);

/// Returns whether the role of the session may create and drop tables of projections, and change
/// the views. Only the owner of the schema may; a writer may not.
bool may_change_tables(postgres::Session& session);

/// Creates the tables of a consumer, without indexes. Runs in the caller's transaction.
void create_tables(postgres::Session& session, const Projection& projection,
                   std::int32_t consumer_id);

/// Fills the tables from the records, and builds their indexes. Runs in the caller's transaction.
void fill_tables(postgres::Session& session, const Projection& projection,
                 std::int32_t consumer_id);

/// Creates the tables of a consumer and fills them from the records that the transaction sees. Runs
/// in a REPEATABLE READ transaction of the caller. The planner may scan whole tables in this
/// transaction. Throws std::invalid_argument if the database refuses the statements of a user. All
/// functions throw postgres::SqlError.
void build_tables(postgres::Session& session, const Projection& projection,
                  std::int32_t consumer_id);

/// Lets the views of the projection read the tables of this consumer. Runs in the caller's
/// transaction, and waits for readers of the views.
void show_tables(postgres::Session& session, const Projection& projection,
                 std::int32_t consumer_id);

/// Makes the views empty. Runs in the caller's transaction.
void hide_tables(postgres::Session& session, const Projection& projection);

/// Returns the live consumer of a projection that publishes its tables, if there is one, and locks
/// its lanes: otherwise a session that applies a batch would publish its result after the exchange.
/// Runs in the caller's transaction.
std::optional<std::int32_t> lock_published(postgres::Session& session,
                                           const Projection& projection);

/// Appends the differences between the tables of two consumers to the log, if the projection
/// publishes its tables. At least one of the consumers exists. This must be the last statement of
/// the caller's transaction, which has locked the lanes of both consumers.
void publish_tables(postgres::Session& session, const Projection& projection,
                    std::optional<std::int32_t> former, std::optional<std::int32_t> next);

/// Creates the views of projections that were dropped, for example together with a table, without
/// rows. `skua migrate` calls it, because other views need them. Returns their names. Runs its own
/// transaction.
std::vector<std::string> restore_views(postgres::Session& session);

/// Returns the statements that drop the views that read the tables of a consumer, such as "drop
/// view public.mine", separated by "; ". Empty if there are none. Needs no rights.
/// The definition is the hash of the text of a user; it is empty for a built-in projection.
std::string dependents_of_tables(postgres::Session& session, const std::string& name,
                                 const std::string& definition, std::int32_t consumer_id);

/// Drops the tables of a consumer of a built-in projection. Runs in the caller's transaction, and
/// waits for readers of the tables.
void drop_tables(postgres::Session& session, const Projection& projection,
                 std::int32_t consumer_id);

}  // namespace skua::consumers
