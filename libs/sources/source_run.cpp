#include "sources/source_run.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "sources/jetstream/jetstream_intake.hpp"

namespace skua::sources {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTurn{100};
/// Between two questions where the active relay stands.
constexpr std::chrono::seconds kHeadInterval{5};
/// How long a probe waits for a frame.
constexpr std::chrono::milliseconds kLeastPatience{2'000};
constexpr std::chrono::milliseconds kMostPatience{30'000};
/// What a relay says once may be a slip.
constexpr int kLowerNumbers = 2;

std::optional<std::int64_t> start_position(const CursorChoice& choice,
                                           std::optional<std::int64_t> saved) {
  switch (choice.kind) {
    case CursorChoice::Kind::Saved:
      return saved;
    case CursorChoice::Kind::Live:
      return std::nullopt;
    case CursorChoice::Kind::Oldest:
      return 0;
    case CursorChoice::Kind::At:
      return choice.seq;
    case CursorChoice::Kind::Resume:
      return saved.value_or(choice.seq);
  }
  return saved;
}

ingest::SourceFormat format_of(const Source& source) {
  if (std::holds_alternative<TapSource>(source)) return ingest::SourceFormat::Tap;
  if (is_labeler(source)) return ingest::SourceFormat::Labels;
  return is_relay(source) ? ingest::SourceFormat::Frames : ingest::SourceFormat::Jetstream;
}

std::vector<std::string> names_of(const std::vector<Source>& sources) {
  std::vector<std::string> names;
  names.reserve(sources.size());
  for (const Source& source : sources) names.push_back(source_name(source));
  return names;
}

}  // namespace

SourceRun::SourceRun(SourceRunOptions options, ingest::Writing& writing, const Clock& clock,
                     std::function<void(const std::string&)> on_defect)
    : options_(std::move(options)),
      clock_(clock),
      on_defect_(std::move(on_defect)),
      started_at_(clock.now()),
      cursor_saver_(saver_options(), writing.server_clock()),
      verifying_(verifies_commits()
                     ? std::make_unique<ingest::Verifying>(
                           *options_.accounts, &chain_, options_.level,
                           ingest::RepositoryLookup::Options{.database_url = options_.database_url,
                                                             .on_defect = on_defect_})
                     : nullptr),
      labelers_(options_.accounts != nullptr && is_labeler(options_.sources.front())
                    ? std::make_unique<accounts::RetryingAccounts>(*options_.accounts)
                    : nullptr),
      pipeline_(pipeline_options(), writing, clock),
      fail_over_(options_.fail_over, options_.sources.size(), SteadyClock::now()),
      positions_(options_.sources.size(), options_.margin) {
  members_.resize(options_.sources.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i].name = source_name(options_.sources[i]);
    members_[i].found_cursor = cursor_saver_.saved(i);
    members_[i].intake =
        std::visit([&](const auto& source) { return make_intake(source, i); }, options_.sources[i]);
    members_[i].frames = dynamic_cast<FrameIntake*>(members_[i].intake.get());
  }
  members_[0].was_read = true;
  client_ = make_client(0);
}

SourceRun::~SourceRun() = default;

bool SourceRun::verifies_commits() const {
  return options_.accounts != nullptr && is_relay(options_.sources.front());
}

ingest::CursorSaver::Options SourceRun::saver_options() {
  return {.database_url = options_.database_url,
          .sources = names_of(options_.sources),
          .interval = options_.cursor_interval,
          .chain = verifies_commits() ? &chain_ : nullptr,
          .resync = options_.resync};
}

ingest::PipelineOptions SourceRun::pipeline_options() {
  const bool is_labels = is_labeler(options_.sources.front());
  return {.sources = names_of(options_.sources),
          // All that a labeler sends waits for the same key.
          .decode_threads = is_labels ? 1 : options_.decode_threads,
          .in_flight = options_.in_flight,
          .format = format_of(options_.sources.front()),
          .on_finished = std::holds_alternative<TapSource>(options_.sources.front())
                             ? [this](auto tickets) { tap_->on_finished(tickets); }
                             : writer::InFlightList::OnFinished(),
          .verification = verifying_ ? &verifying_->verification() : nullptr,
          .labelers = labelers_.get(),
          .filter = options_.filter,
          .on_defect = on_defect_};
}

std::unique_ptr<Intake> SourceRun::make_intake(const RelaySource& source, std::size_t member) {
  return std::make_unique<FrameIntake>(
      pipeline_, source.endpoint, start_position(source.cursor, cursor_saver_.saved(member)),
      [this] { cursor_saver_.save_soon(); }, member);
}

std::unique_ptr<Intake> SourceRun::make_intake(const TapSource& source, std::size_t /*member*/) {
  auto intake = std::make_unique<TapIntake>(pipeline_, source);
  tap_ = intake.get();
  return intake;
}

std::unique_ptr<Intake> SourceRun::make_intake(const JetstreamSource& source, std::size_t member) {
  return std::make_unique<JetstreamIntake>(
      pipeline_, source, start_position(source.cursor, cursor_saver_.saved(member)),
      options_.filter);
}

std::unique_ptr<Intake> SourceRun::make_intake(const LabelerSource& source, std::size_t member) {
  // Labels are state: all that it has is wanted once.
  const auto saved = cursor_saver_.saved(member).value_or(0);
  return std::make_unique<FrameIntake>(
      pipeline_, source.endpoint, start_position(source.cursor, saved),
      [this] { cursor_saver_.save_soon(); }, member, FrameIntake::Sender::Labeler);
}

std::unique_ptr<transport::StreamClient> SourceRun::make_client(std::size_t member) {
  Intake& intake = *members_[member].intake;
  auto options = intake.stream();
  options.ca_file = options_.ca_file;
  options.read_timeout = options_.read_timeout;
  options.clock = &clock_;
  auto client = std::make_unique<transport::StreamClient>(std::move(options), intake);
  intake.attach(*client);
  return client;
}

void SourceRun::start() {
  cursor_saver_.start(
      {.watermark = [this](std::size_t member) { return pipeline_.watermark(member); },
       .first_unfinished = [this] { return pipeline_.first_unfinished(); },
       .metrics = [this](std::size_t member) { return to_json(metrics_of(member)); }},
      on_defect_);
  client_->start();
  if (members_.size() > 1) {
    watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }
}

void SourceRun::close() {
  if (watcher_.joinable()) {
    watcher_.request_stop();
    watcher_.join();
  }
  for (Member& member : members_) member.probe.reset();
  // A Tap is still told what becomes durable meanwhile.
  if (tap_ != nullptr) {
    tap_->close();
  } else {
    client_->stop();
  }
}

bool SourceRun::drain(std::chrono::steady_clock::time_point deadline) {
  return pipeline_.drain(deadline);
}

void SourceRun::end() {
  client_->stop();
  if (verifying_) verifying_->stop();
  if (labelers_) labelers_->stop();
}

bool SourceRun::save() {
  return cursor_saver_.stop();
}

void SourceRun::drop() {
  cursor_saver_.drop();
}

std::vector<Source> SourceRun::resumed_sources() const {
  std::vector<Source> sources;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    auto began = members_[i].intake->began_after();
    // A database without the cursor that this began at lacks rows from before it, too.
    if (began && began == members_[i].found_cursor) began = 0;
    sources.push_back(resumed(options_.sources[i], began));
  }
  return sources;
}

std::vector<status::Metrics> SourceRun::metrics() const {
  std::vector<status::Metrics> all;
  for (std::size_t i = 0; i < members_.size(); ++i) all.push_back(metrics_of(i));
  return all;
}

status::Metrics SourceRun::metrics_of(std::size_t member) const {
  const Member& one = members_[member];
  std::size_t active = 0;
  std::uint64_t connections = 0;
  {
    const std::scoped_lock lock(switch_mutex_);
    active = active_;
    connections = one.earlier_connections;
    if (active == member && client_) connections += client_->statistics().connections;
  }
  status::Metrics metrics;
  if (active == member) {
    // Those of relays that stand by for each other are counted together, by whoever is read.
    metrics = ingest::pipeline_metrics(pipeline_, one.name, started_at_, clock_.now());
    if (options_.complete) options_.complete(metrics);
  } else {
    metrics.source = one.name;
    metrics.at = clock_.now();
    metrics.started_at = started_at_;
    metrics.is_verified = pipeline_.is_verified();
  }
  if (members_.size() > 1) {
    metrics.role =
        active == member ? status::Metrics::Role::Active : status::Metrics::Role::Standby;
  }
  metrics.cursor.reset();
  if (const auto watermark = pipeline_.watermark(member)) metrics.cursor = watermark->seq;
  if (!metrics.cursor) metrics.cursor = cursor_saver_.saved(member);
  metrics.connected = one.intake->connected();
  metrics.reconnects = connections > 0 ? connections - 1 : 0;
  metrics.skipped = one.intake->skipped();
  metrics.restarts = one.intake->restarts();
  return metrics;
}

void SourceRun::watch(const std::stop_token& stop) {
  try {
    std::unique_lock lock(wait_mutex_);
    while (!stop.stop_requested()) {
      lock.unlock();
      turn(SteadyClock::now());
      lock.lock();
      wait_.wait_for(lock, stop, kTurn, [] { return false; });
    }
  } catch (const std::exception& error) {
    on_defect_(std::string("fail-over: ") + error.what());
  }
}

void SourceRun::turn(SteadyClock::time_point now) {
  listen(now);
  confirm_positions();
  probe(now);
  if (const auto next = fail_over_.decide(now)) switch_to(*next);
}

void SourceRun::listen(SteadyClock::time_point now) {
  const FrameIntake& active = *members_[active_].frames;
  fail_over_.connection(active.connected(), now);
  const std::uint64_t heard = active.heard();
  if (heard != heard_ || active.waits_for_room()) fail_over_.heard(now);
  heard_ = heard;
  // What is missing of the active one is not durable by it: where it stands says nothing any more.
  const std::uint64_t skipped = active.skipped();
  const std::uint64_t restarts = active.restarts();
  if (skipped != skipped_ || restarts != restarts_) positions_.forget_waiting();
  skipped_ = skipped;
  restarts_ = restarts;
}

void SourceRun::confirm_positions() {
  const auto watermark = pipeline_.watermark(active_);
  if (!watermark) return;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (i == active_) continue;
    if (const auto seq = positions_.durable(i, watermark->seq)) {
      pipeline_.pass(i, {*seq, Timestamp{}});
      logger("relay")->debug("{} is durable up to seq {}, by {}", members_[i].name, *seq,
                             members_[active_].name);
    }
  }
}

void SourceRun::probe(SteadyClock::time_point now) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    if (member.probe) {
      const auto answer = member.probe->answer();
      if (!answer) continue;
      const auto begun_at = member.probe->begun_at();
      member.probe.reset();
      if (i != active_) {
        take_answer(i, answer->seq, now);
      } else if (answer->seq && *answer->seq >= member.watermark_then) {
        positions_.head(*answer->seq, begun_at);
      }
      continue;
    }
    bool is_wanted = false;
    if (i != active_) {
      is_wanted = fail_over_.wants_probe(i, now);
      if (is_wanted) fail_over_.probe_begins(i, now);
    } else if (positions_.wants_head(now) && now - asked_head_at_ >= kHeadInterval) {
      is_wanted = true;
      asked_head_at_ = now;
      // Numbers that begin anew are lower than what was durable of the old ones.
      const auto watermark = pipeline_.watermark(i);
      member.watermark_then = watermark ? watermark->seq : 0;
    }
    if (is_wanted) {
      const auto patience =
          std::clamp(options_.fail_over.gone_after, kLeastPatience, kMostPatience);
      member.probe = std::make_unique<RelayProbe>(
          std::get<RelaySource>(options_.sources[i]).endpoint, options_.ca_file, patience);
    }
  }
}

void SourceRun::take_answer(std::size_t member, std::optional<std::int64_t> seq,
                            SteadyClock::time_point now) {
  fail_over_.probe_ended(member, seq.has_value());
  if (!seq || !check_numbers(member, *seq)) return;
  positions_.seen(member, *seq, now);
  if (!members_[member].first_seen) members_[member].first_seen = clock_.now();
}

bool SourceRun::check_numbers(std::size_t member, std::int64_t seq) {
  Member& one = members_[member];
  const auto known = known_position(member);
  if (!known || seq >= *known) {
    one.lower_numbers = 0;
    return true;
  }
  if (++one.lower_numbers < kLowerNumbers) return false;
  one.lower_numbers = 0;
  one.counts_anew = true;
  logger("relay")->warn("{}: sequence reset: it is at seq {}, and was at seq {}", one.name, seq,
                        *known);
  positions_.forget(member);
  pipeline_.restart(member);
  cursor_saver_.save_soon();
  return true;
}

std::optional<std::int64_t> SourceRun::known_position(std::size_t member) const {
  const Member& one = members_[member];
  std::optional<std::int64_t> known;
  if (const auto watermark = pipeline_.watermark(member)) known = watermark->seq;
  if (one.counts_anew) return known;
  // What it sent when it was read is in flight, if it is not durable.
  if (one.was_read) known = std::max(known, one.frames->position());
  const auto& choice = std::get<RelaySource>(options_.sources[member]).cursor;
  if (choice.kind != CursorChoice::Kind::Live) known = std::max(known, cursor_saver_.saved(member));
  return known;
}

bool SourceRun::is_promised() const {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (known_position(i)) return true;
  }
  return false;
}

std::optional<std::int64_t> SourceRun::position_to_read_from(std::size_t member) const {
  const Member& one = members_[member];
  if (const auto known = known_position(member)) return known;
  const auto& choice = std::get<RelaySource>(options_.sources[member]).cursor;
  if (choice.kind == CursorChoice::Kind::Oldest) return 0;
  if (choice.kind == CursorChoice::Kind::Resume) return choice.seq;
  // It has never been read, and nothing says yet how far it need not be.
  const auto seen = positions_.oldest_seen(member);
  if (!is_promised()) return seen;
  const Timestamp newest{std::chrono::microseconds(pipeline_.intake().newest_time_us.load())};
  if (seen && one.first_seen && newest >= *one.first_seen - options_.margin) {
    logger("relay")->warn(
        "{} was seen for the first time a moment ago: reading it from seq {}; events that the "
        "other "
        "relay had not sent by then are missing until a resync",
        one.name, *seen);
    return seen;
  }
  logger("relay")->warn(
      "the position in {} that corresponds to the other relay is not known: reading everything "
      "that "
      "it keeps",
      one.name);
  return 0;
}

void SourceRun::switch_to(std::size_t member) {
  const std::size_t before = active_;
  std::unique_ptr<transport::StreamClient> old;
  {
    const std::scoped_lock lock(switch_mutex_);
    old = std::move(client_);
    members_[before].earlier_connections += old->statistics().connections;
  }
  // From here on nothing more comes from it.
  old->stop();
  old.reset();
  members_[before].frames->ended();
  members_[before].probe.reset();
  members_[member].probe.reset();

  const auto position = position_to_read_from(member);
  logger("relay")->warn("{} {}: {} takes over, {}", members_[before].name,
                        member < before ? "is replaced" : "cannot be read", members_[member].name,
                        position ? "after seq " + std::to_string(*position) : "live from now on");
  members_[member].frames->begin_at(position);
  members_[member].was_read = true;
  members_[member].counts_anew = false;
  auto client = make_client(member);
  {
    const std::scoped_lock lock(switch_mutex_);
    client_ = std::move(client);
    active_ = member;
  }
  client_->start();
  fail_over_.switched(member, SteadyClock::now());
  positions_.forget_waiting();
  heard_ = members_[member].frames->heard();
  skipped_ = members_[member].intake->skipped();
  restarts_ = members_[member].intake->restarts();
  cursor_saver_.save_soon();
  crash_point("relay_switched");
}

}  // namespace skua::sources
