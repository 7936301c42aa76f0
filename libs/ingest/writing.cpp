#include "ingest/writing.hpp"

#include <utility>

#include "resolve/actor_ids.hpp"

namespace skua::ingest {
namespace {

/// Events waiting in live lanes from which on backfill waits.
constexpr std::size_t kDeep = 2'000;

}  // namespace

Writing::Writing(std::string database_url, const Clock& clock, const Clock& server_clock,
                 std::function<void(const std::string&)> on_defect)
    : database_url_(std::move(database_url)),
      clock_(clock),
      server_clock_(server_clock),
      on_defect_(std::move(on_defect)),
      live_backpressure_(kDeep) {}

Writing::~Writing() {
  end(false);
}

std::uint32_t Writing::add_source(std::string name, writer::InFlightList& in_flight) {
  names_.push_back(std::move(name));
  in_flight_.push_back(&in_flight);
  return static_cast<std::uint32_t>(names_.size() - 1);
}

void Writing::start() {
  resolve::fill_with_actors(database_url_, ids_.actors);
  writer_ = std::make_unique<writer::LiveWriter>(writer::SourceNames(names_));
  // NOLINTNEXTLINE(modernize-make-unique): its parts are named
  services_ = std::unique_ptr<writer::WorkerServices>(
      new writer::WorkerServices{.database_url = database_url_,
                                 .writer = *writer_,
                                 .ids = ids_,
                                 .in_flight = in_flight_,
                                 .live_backpressure = live_backpressure_,
                                 .counters = counters_,
                                 .clock = clock_,
                                 .server_clock = server_clock_,
                                 .on_defect = on_defect_});
  pool_ = std::make_unique<writer::WorkerPool>(*services_);
}

void Writing::end(bool all_durable) {
  if (!pool_) return;
  if (all_durable) {
    pool_->finish();
  } else {
    pool_->abandon();
  }
}

}  // namespace skua::ingest
