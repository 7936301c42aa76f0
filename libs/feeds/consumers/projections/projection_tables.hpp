#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "consumers/projections/projection.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

/// The SQL of a projection for the tables of one consumer.
std::string sql_for(const Projection& projection, std::int32_t consumer_id, std::string_view sql);

/// Whether the role of the session may create and drop tables of projections, and change the views:
/// only the owner of the schema may, not a writer.
bool may_change_tables(postgres::Session& session);

/// Creates the tables of a consumer and fills them from the records that the transaction sees. In a
/// REPEATABLE READ transaction of the caller. The planner may scan whole tables in it. Throws
/// postgres::SqlError, as all here.
void build_tables(postgres::Session& session, const Projection& projection,
                  std::int32_t consumer_id);

/// Lets the views of the projection read the tables of this consumer. In the caller's transaction;
/// it waits for readers of the views.
void show_tables(postgres::Session& session, const Projection& projection,
                 std::int32_t consumer_id);

/// The views have no rows any more. In the caller's transaction.
void hide_tables(postgres::Session& session, const Projection& projection);

/// The live consumer of a projection that publishes its tables, if there is one. Locks its lanes: a
/// session that applies a batch would publish the result later. In the caller's transaction.
std::optional<std::int32_t> lock_published(postgres::Session& session,
                                           const Projection& projection);

/// Appends the differences between the tables of two consumers to the log, if the projection
/// publishes them. At least one of the consumers exists. The last statement of the caller's
/// transaction, which has locked the lanes of both.
void publish_tables(postgres::Session& session, const Projection& projection,
                    std::optional<std::int32_t> former, std::optional<std::int32_t> next);

/// Drops the tables of a consumer. In the caller's transaction; it waits for their readers.
void drop_tables(postgres::Session& session, const Projection& projection,
                 std::int32_t consumer_id);

}  // namespace skua::consumers
