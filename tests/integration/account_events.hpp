#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "event/resolved_event.hpp"
#include "event/unresolved_event.hpp"
#include "ids/resolver.hpp"
#include "support/made_events.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "writer/account_changes.hpp"
#include "writer/row_writer.hpp"

namespace skua::test {

/// Does all steps of the purge of an account. Returns the number of rows.
inline std::size_t purge(postgres::Session& session, const std::string& did) {
  std::size_t rows = 0;
  for (;;) {
    const writer::PurgeStep step = writer::purge_step(session, did, 100);
    rows += step.rows;
    if (step.is_done) return rows;
  }
}

inline Timestamp at(int second) {
  return Timestamp(std::chrono::seconds(second));
}

inline event::UnresolvedEvent actor_event(const std::string& did) {
  event::UnresolvedEvent event;
  event.did = did;
  event.type = records::RecordType::Actor;
  return event;
}

inline event::UnresolvedEvent claim(const std::string& did, const std::string& handle, int second) {
  event::UnresolvedEvent event = actor_event(did);
  event.body = event::IdentityChange{handle, at(second)};
  return event;
}

template <class... Events>
std::vector<event::UnresolvedEvent> list(Events... events) {
  std::vector<event::UnresolvedEvent> all;
  (all.push_back(std::move(events)), ...);
  return all;
}

/// Writes events into a database as a worker does.
class EventWriter {
 protected:
  std::vector<event::ResolvedEvent> resolve(postgres::Session& session,
                                            std::vector<event::UnresolvedEvent> events) {
    std::vector<event::ResolvedEvent> batch;
    batch.reserve(events.size());
    for (auto& event : events) batch.push_back({std::move(event)});
    ids::Resolver resolver(session, ids_, clock_);
    EXPECT_TRUE(resolver.resolve(batch).empty());
    return batch;
  }
  /// One batch, without the steps of purges.
  writer::RowWriter::Outcome write_only_to(postgres::Session& session,
                                           std::vector<event::UnresolvedEvent> events) {
    const std::vector<event::ResolvedEvent> batch = resolve(session, std::move(events));
    return writer_.write(session, pointers_to(batch), clock_.now());
  }
  /// One batch. Returns the number of purged rows.
  std::size_t write_to(postgres::Session& session, std::vector<event::UnresolvedEvent> events) {
    std::size_t rows = 0;
    for (const std::string& did : write_only_to(session, std::move(events)).purges) {
      rows += purge(session, did);
    }
    return rows;
  }

  ManualClock clock_;
  ids::SharedIds ids_;
  writer::SourceNames sources_{"relay:test"};
  writer::RowWriter writer_{sources_};
};

/// A test that writes events as a worker does.
class AccountEventsTest : public PostgresTest, protected EventWriter {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::vector<event::ResolvedEvent> resolved(std::vector<event::UnresolvedEvent> events) {
    return resolve(session(), std::move(events));
  }
  writer::RowWriter::Outcome write_only(std::vector<event::UnresolvedEvent> events) {
    return write_only_to(session(), std::move(events));
  }
  std::size_t write(std::vector<event::UnresolvedEvent> events) {
    return write_to(session(), std::move(events));
  }
  template <class... Events>
  std::size_t write(event::UnresolvedEvent first, Events... others) {
    return write(list(std::move(first), std::move(others)...));
  }
};

}  // namespace skua::test
