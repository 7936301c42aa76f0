#include "sources/source_readers.hpp"

#include <utility>

namespace skua::sources {

SourceReaders::~SourceReaders() = default;

void SourceReaders::connect_to(pipeline::Pipeline& pipeline, pipeline::CursorSaver& cursor_saver) {
  readers_.resize(options_.sources.size());
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    const auto& [source, cursor] = options_.sources[i];
    const auto saved = cursor_saver.saved(i);
    readers_[i].name = source->name();
    readers_[i].saved_cursor = saved;
    IntakeServices services{.pipeline = pipeline,
                            .stream = i,
                            .filter = options_.filter,
                            .save_cursor = [&cursor_saver] { cursor_saver.save_soon(); }};
    if (source->has_cursor()) {
      services.start = start_position(cursor, saved ? saved : source->first_position());
    }
    readers_[i].intake = source->make_intake(std::move(services));
  }
  client_ = make_client(0);
}

std::unique_ptr<transport::StreamClient> SourceReaders::make_client(std::size_t source) {
  Intake& intake = *readers_[source].intake;
  auto options = intake.stream();
  options.ca_file = options_.ca_file;
  options.read_timeout = options_.read_timeout;
  options.clock = &clock_;
  auto client = std::make_unique<transport::StreamClient>(std::move(options), intake);
  intake.attach(*client);
  return client;
}

void SourceReaders::start() {
  client_->start();
}

void SourceReaders::close() {
  bool client_stays = false;
  for (const Reader& reader : readers_) client_stays = reader.intake->close() || client_stays;
  if (!client_stays) client_->stop();
}

void SourceReaders::stop() {
  if (client_) client_->stop();
}

void SourceReaders::switch_to(std::size_t source,
                              const std::function<std::optional<std::int64_t>()>& position) {
  std::unique_ptr<transport::StreamClient> old;
  Reader& former = readers_[active_];
  {
    const std::scoped_lock lock(mutex_);
    old = std::move(client_);
    former.earlier_connections += old->statistics().connections;
  }
  // After the stop, no more messages come from the former source.
  old->stop();
  old.reset();
  former.intake->ended();
  readers_[source].intake->begin_at(position());
  auto client = make_client(source);
  {
    const std::scoped_lock lock(mutex_);
    client_ = std::move(client);
    active_ = source;
  }
  client_->start();
}

void SourceReaders::on_finished(std::span<const pipeline::Pipeline::Ticket> tickets) {
  for (const Reader& reader : readers_) reader.intake->on_finished(tickets);
}

std::size_t SourceReaders::active() const {
  const std::scoped_lock lock(mutex_);
  return active_;
}

std::uint64_t SourceReaders::connections(std::size_t i) const {
  const std::scoped_lock lock(mutex_);
  std::uint64_t connections = readers_[i].earlier_connections;
  if (active_ == i && client_) connections += client_->statistics().connections;
  return connections;
}

std::vector<SourceStart> SourceReaders::resumed_sources() const {
  std::vector<SourceStart> sources = options_.sources;
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    auto began = readers_[i].intake->began_after();
    // If the database lacks even the cursor at which this run began, it also lacks earlier rows.
    if (began && began == readers_[i].saved_cursor) began = 0;
    sources[i].cursor = resumed(sources[i].cursor, began);
  }
  return sources;
}

}  // namespace skua::sources
