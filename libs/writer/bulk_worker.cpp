#include "writer/bulk_worker.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "base/log.hpp"
#include "store/sqlstate.hpp"
#include "writer/dead_letter.hpp"

namespace skua::writer {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

/// How long chunks of small repositories wait for company.
constexpr milliseconds kBulkLinger{100};
constexpr milliseconds kBulkIdle{500};

}  // namespace

BulkWorker::BulkWorker(std::string name, WriteTurns& turns, BulkServices& services)
    : name_(std::move(name)),
      turns_(turns),
      services_(services),
      queue_(std::numeric_limits<std::size_t>::max()),
      session_({services.database_url, name_, services.counters}),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

BulkWorker::~BulkWorker() {
  abandon();
  queue_.close();
}

void BulkWorker::push(event::UnresolvedBulk chunk) {
  queue_.push(std::move(chunk));
}

void BulkWorker::join() {
  if (thread_.joinable()) thread_.join();
}

void BulkWorker::run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { queue_.close(); });
  try {
    while (!stop.stop_requested()) {
      std::vector<event::UnresolvedBulk> chunks = take();
      if (chunks.empty()) {
        if (queue_.closed() && queue_.size() == 0) return;
        continue;
      }
      Events events;
      std::vector<std::int64_t> claims;
      for (event::UnresolvedBulk& chunk : chunks) {
        for (event::ResolvedEvent& event : chunk.events) events.push_back(&event);
        claims.resize(events.size(), chunk.claim);
      }
      if (!write(std::move(events), claims, stop)) return;
      for (const event::UnresolvedBulk& chunk : chunks) {
        services_.on_written({chunk.repository, chunk.events.size(), chunk.bytes});
      }
    }
  } catch (const std::exception& error) {
    services_.on_defect(name_ + ": " + error.what());
  }
}

std::vector<event::UnresolvedBulk> BulkWorker::take() {
  std::vector<event::UnresolvedBulk> chunks;
  std::size_t events = 0;
  auto wait = kBulkIdle;
  const auto take_one = [&] {
    if (queue_.pop_some(chunks, 1, wait) == 0) return false;
    events += chunks.back().events.size();
    return true;
  };
  if (!take_one()) return chunks;
  const auto until = SteadyClock::now() + kBulkLinger;
  while (events < group_.size()) {
    wait = std::max(milliseconds::zero(),
                    std::chrono::duration_cast<milliseconds>(until - SteadyClock::now()));
    if (!take_one()) break;
  }
  return chunks;
}

bool BulkWorker::write(Events events, std::span<const std::int64_t> claims,
                       const std::stop_token& stop) {
  std::optional<WriteTurns::Turn> turn;
  std::size_t written = 0;
  std::size_t size = group_.size();
  while (written < events.size()) {
    turn.reset();
    services_.live_backpressure.wait_while_deep(stop);
    turn = turns_.wait(stop);
    if (!turn || stop.stop_requested()) return false;
    size = std::min(size, events.size() - written);
    try {
      write_piece(std::span(events).subspan(written, size), claims.subspan(written, size));
      written += size;
      size = std::min(2 * size, group_.size());
    } catch (const store::DataError& poison) {
      // Halve until the event that the database refuses stands alone. After it the pieces double:
      // whole groups again, one for each poison, would be written and undone many times over.
      if (size > 1) {
        size /= 2;
        continue;
      }
      try {
        dead_letter(*events[written], poison);
        ++written;
        size = 2;
      } catch (const store::ServerError& error) {
        if (!session_.back_off(error, turns_, turn, stop)) return false;
      }
    } catch (const store::ServerError& error) {
      if (error.sqlstate() == store::kOutOfMemory) size = std::max<std::size_t>(size / 2, 1);
      if (!session_.back_off(error, turns_, turn, stop)) return false;
    }
  }
  return true;
}

void BulkWorker::write_piece(std::span<event::ResolvedEvent* const> piece,
                             std::span<const std::int64_t> claims) {
  store::Session& connection = session_.get();
  const std::uint64_t nuls_before = connection.nuls_removed();
  resolve::Resolver resolver(connection, services_.ids, services_.clock);
  for (const resolve::Conflict& conflict : resolver.resolve(piece)) {
    reject(*piece[conflict.index], conflict.reason);
  }
  const resolve::PostClaims::HeldAll posts(services_.ids.post_claims,
                                           resolve::posts_written_by(piece));
  const Timestamp now = services_.clock.now();
  const Timestamp start = services_.pace.now();
  const BulkWriter::Outcome outcome = services_.writer.write(connection, piece, now, claims);
  group_.took(piece.size(), services_.pace.now() - start);
  if (outcome.held_back + outcome.lost == 0) {
    for (const resolve::KnownPosts::Key& post : posts.keys()) services_.ids.posts.insert(post);
  }

  Counters& counters = services_.counters;
  counters.transactions += 1;
  counters.events += piece.size();
  counters.not_canonical += static_cast<std::uint64_t>(std::count_if(
      piece.begin(), piece.end(), [](const auto* event) { return !is_canonical(event->event); }));
  counters.rows += outcome.rows;
  counters.unchanged += outcome.unchanged;
  counters.dead_letters += outcome.dead_letters;
  counters.nuls_removed += connection.nuls_removed() - nuls_before;
  session_.succeeded();
}

void BulkWorker::dead_letter(const event::ResolvedEvent& event, const store::SqlError& error) {
  try {
    services_.writer.write_dead_letter(session_.get(), event, error.what(), error.sqlstate(),
                                       services_.clock.now());
  } catch (const store::DataError& again) {
    throw store::DefectError(std::string("a dead letter was refused: ") + again.what(),
                             again.sqlstate());
  }
  services_.counters.events += 1;
  services_.counters.dead_letters += 1;
  logger("writer")->warn("did={} lane={}: dead-lettered: {}", event.event.did, name_, error.what());
}

}  // namespace skua::writer
