#include "streams/change_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "postgres/database_watch.hpp"

namespace skua::streams {

namespace {

using std::chrono::milliseconds;

/// A client that begins at a time begins this much earlier in the log and skips changes, because
/// the `time_us` of a change depends on the changes before it.
constexpr std::chrono::seconds kTimeMargin{10};
/// The time between two reads of the log's state while no client is connected.
constexpr milliseconds kPauseWithoutClients{1'000};

FeedError timeline_error(std::int32_t timeline) {
  return {410, "TimelineChanged",
          fmt::format("the database was restored or failed over: its timeline is {} now, and "
                      "positions of other timelines are not valid; read the tables again",
                      timeline)};
}

FeedError too_old(const LogState& state) {
  return {410, "CursorTooOld",
          fmt::format("the changes after the cursor are no longer kept; the oldest one is {}",
                      Position{state.timeline, state.oldest}.text())};
}

std::variant<Opened, FeedError> start_after(const Position& position, const LogState& state) {
  if (position.timeline != state.timeline) return timeline_error(state.timeline);
  if (position.pos >= state.end) {
    return FeedError{
        410, "CursorInFuture",
        fmt::format("the newest change is {}", Position{state.timeline, state.end - 1}.text())};
  }
  if (position.pos + 1 < state.oldest) return too_old(state);
  return Opened{state.timeline, position.pos + 1};
}

}  // namespace

const char* name_of_stream_form(std::size_t index) {
  switch (static_cast<StreamForm>(index)) {
    case StreamForm::ServerSentEvents:
      return "sse";
    case StreamForm::Websocket:
      return "websocket";
    case StreamForm::Jetstream:
      return "jetstream";
  }
  return "";
}

const char* name_of_feed_error(std::size_t index) {
  return kFeedErrors.at(index);
}

void count_error(FeedMetrics& metrics, std::string_view error) {
  const auto found = std::ranges::find(kFeedErrors, error);
  if (found == kFeedErrors.end()) return;
  metrics.errors.at(static_cast<std::size_t>(found - kFeedErrors.begin())) += 1;
}

const char* name_of_batch_end(std::size_t index) {
  switch (static_cast<BatchEnd>(index)) {
    case BatchEnd::Acknowledged:
      return "acknowledged";
    case BatchEnd::Failed:
      return "failed";
    case BatchEnd::Unavailable:
      return "unavailable";
    case BatchEnd::LeaseLost:
      return "lease_lost";
  }
  return "";
}

ChangeReader::ChangeReader(postgres::Runtime& runtime, Options options, FeedMetrics& metrics)
    : runtime_(runtime),
      options_(options),
      metrics_(metrics),
      recent_(RecentChanges(options_.recent_bytes)),
      pause_(options_.busy_pause),
      thread_(runtime,
              {.session_name = "skua serve",
               .component = "feed",
               .failure = "no changes are read",
               .retries_sql_errors = true},
              [this](postgres::LazySession& session, const std::stop_token& stop) {
                return round(session, stop);
              }) {}

void ChangeReader::open(Start start, OnOpen on_open) {
  waiting_.with([&](Waiting& waiting) { waiting.open.push_back({start, std::move(on_open)}); });
  thread_.notify();
}

void ChangeReader::add(std::weak_ptr<FeedClient> client) {
  waiting_.with([&](Waiting& waiting) { waiting.clients.push_back(std::move(client)); });
  thread_.notify();
}

ChangeReader::Recent ChangeReader::recent(std::int64_t from, std::size_t count) const {
  return recent_.with([&](const RecentChanges& recent) {
    if (from < recent.begin()) return Recent{{}, true};
    return Recent{recent.from(from, count), false};
  });
}

void ChangeReader::read_older(std::weak_ptr<FeedClient> client, std::int64_t from,
                              std::int64_t time_us, std::shared_ptr<const ChangeFilter> filter) {
  waiting_.with([&](Waiting& waiting) {
    waiting.older.push_back({std::move(client), from, time_us, std::move(filter)});
  });
  thread_.notify();
}

milliseconds ChangeReader::round(postgres::LazySession& session, const std::stop_token& stop) {
  // The clients are measured before the read, which they cannot have seen yet, and also while the
  // database is down.
  measure_clients();
  try {
    return read(session.get(), stop);
  } catch (const postgres::DatabaseChanged& change) {
    postgres::database_watch().forget(runtime_.database_url);
    session.reset();
    // The change log stays the same while groups move.
    if (change.is_of_groups()) return milliseconds(0);
    logger("feed")->warn("{}: all clients are closed", change.what());
    fail_all({410, "TimelineChanged", "another database, or an older state of it, answers now"});
    timeline_ = 0;
    return milliseconds(0);
  } catch (const postgres::SqlError&) {
    fail_open_requests();
    throw;
  }
}

milliseconds ChangeReader::read(postgres::Session& session, const std::stop_token& stop) {
  const LogState state = read_log_state(session);
  const bool went_back = recent_.with(
      [&](const RecentChanges& recent) { return state.end < recent.end() && timeline_ != 0; });
  if (went_back) fail_all(timeline_error(state.timeline));
  fail_other_timelines(state.timeline);
  const bool has_clients = !clients().empty();
  if (timeline_ != state.timeline || went_back || !has_clients) {
    timeline_ = state.timeline;
    recent_.with([&](RecentChanges& recent) { recent.restart(state.end); });
  }
  answer_open_requests(session, state);
  const bool is_new = has_clients && read_recent(session, state);
  read_older_pages(session, stop);
  const bool is_waiting =
      waiting_.with([](const Waiting& waiting) { return !waiting.older.empty(); });
  const bool lags = has_clients && recent_.with([&](const RecentChanges& recent) {
    return recent.end() < state.end;
  });
  if (is_waiting || lags) return milliseconds(0);
  if (!has_clients) return kPauseWithoutClients;
  pause_ = is_new ? options_.busy_pause : std::min(pause_ * 2, options_.idle_pause);
  return pause_;
}

bool ChangeReader::read_recent(postgres::Session& session, const LogState& state) {
  const auto [end, time_us] = recent_.with(
      [](const RecentChanges& recent) { return std::pair(recent.end(), recent.time_us()); });
  if (end >= state.end) return false;
  const auto readers = clients();
  const auto is_wanted = [&](const ChangeEvent& event) {
    return std::ranges::any_of(readers, [&](const auto& client) { return client->wants(event); });
  };
  auto page = read_page(session, timeline_, end, time_us, {}, options_.page, {}, is_wanted);
  // The retention may have passed the reader. The clients then get their own error.
  recent_.with([&](RecentChanges& recent) {
    page ? recent.append(*std::move(page)) : recent.restart(state.end);
  });
  for (const auto& client : readers) client->more();
  return true;
}

void ChangeReader::read_older_pages(postgres::Session& session, const std::stop_token& stop) {
  // Each client gets one page per round, so that the read of recent changes is not delayed for
  // long.
  auto requests = waiting_.with([](Waiting& waiting) { return std::exchange(waiting.older, {}); });
  while (!requests.empty() && !stop.stop_requested()) {
    const auto& request = requests.front();
    const auto client = request.client.lock();
    if (client) {
      try {
        auto page = read_page(session, timeline_, request.from, request.time_us, *request.filter,
                              options_.page);
        page ? client->take(*std::move(page)) : client->fail(too_old(read_log_state(session)));
      } catch (const postgres::DataError& error) {
        // An error of one client's page does not end the other clients.
        logger("feed")->error("the changes from position {} cannot be read: {}", request.from,
                              error.what());
        client->fail({500, "InternalError", "the changes cannot be read"});
      } catch (...) {
        waiting_.with([&](Waiting& waiting) {
          waiting.older.insert(waiting.older.begin(), requests.begin(), requests.end());
        });
        throw;
      }
    }
    requests.pop_front();
  }
}

void ChangeReader::answer_open_requests(postgres::Session& session, const LogState& state) {
  struct Answer {
    postgres::Session& session;
    const LogState& state;
    std::variant<Opened, FeedError> operator()(const StartLive&) const {
      return Opened{state.timeline, state.end};
    }
    std::variant<Opened, FeedError> operator()(const StartOldest&) const {
      return Opened{state.timeline, state.oldest};
    }
    std::variant<Opened, FeedError> operator()(const StartAfter& start) const {
      return start_after(start.position, state);
    }
    std::variant<Opened, FeedError> operator()(const StartAt& start) const {
      const Timestamp time{std::chrono::microseconds(start.time_us)};
      const auto first = position_at(session, state, time - kTimeMargin);
      // No change is skipped for a time in the future.
      return Opened{state.timeline, first, first < state.end ? start.time_us : 0};
    }
  };
  while (true) {
    auto request = waiting_.with([](Waiting& waiting) -> std::optional<OpenRequest> {
      if (waiting.open.empty()) return std::nullopt;
      return waiting.open.front();
    });
    if (!request) return;
    const auto answer = std::visit(Answer{session, state}, request->start);
    waiting_.with([](Waiting& waiting) { waiting.open.pop_front(); });
    request->on_open(answer);
  }
}

std::vector<std::shared_ptr<FeedClient>> ChangeReader::clients() {
  return waiting_.with([](Waiting& waiting) {
    std::erase_if(waiting.clients, [](const auto& client) { return client.expired(); });
    std::vector<std::shared_ptr<FeedClient>> found;
    found.reserve(waiting.clients.size());
    for (const auto& weak : waiting.clients) {
      if (auto client = weak.lock()) found.push_back(std::move(client));
    }
    return found;
  });
}

void ChangeReader::measure_clients() {
  const std::int64_t end = recent_.with([](const RecentChanges& recent) { return recent.end(); });
  std::array<std::int64_t, kStreamForms> behind{};
  for (const auto& client : clients()) {
    std::int64_t& most = behind.at(static_cast<std::size_t>(client->form()));
    most = std::max(most, end - client->next_position());
  }
  for (std::size_t form = 0; form < kStreamForms; ++form) {
    metrics_.stream_behind.at(form) = static_cast<std::uint64_t>(behind.at(form));
  }
}

void ChangeReader::fail_other_timelines(std::int32_t timeline) {
  std::vector<std::shared_ptr<FeedClient>> others;
  waiting_.with([&](Waiting& waiting) {
    std::erase_if(waiting.clients, [&](const std::weak_ptr<FeedClient>& weak) {
      auto client = weak.lock();
      if (!client || client->timeline() == timeline) return false;
      others.push_back(std::move(client));
      return true;
    });
    std::erase_if(waiting.older, [&](const OlderRequest& request) {
      const auto client = request.client.lock();
      return client && client->timeline() != timeline;
    });
  });
  for (const auto& client : others) client->fail(timeline_error(timeline));
}

void ChangeReader::fail_all(const FeedError& error) {
  for (const auto& client : clients()) client->fail(error);
  waiting_.with([](Waiting& waiting) {
    waiting.clients.clear();
    waiting.older.clear();
  });
}

void ChangeReader::fail_open_requests() {
  const auto requests =
      waiting_.with([](Waiting& waiting) { return std::exchange(waiting.open, {}); });
  for (const auto& request : requests) {
    request.on_open(FeedError{503, "DatabaseUnavailable", "the database does not answer"});
  }
}

}  // namespace skua::streams
