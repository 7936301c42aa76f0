#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "ids/resolver.hpp"
#include "postgres/runtime.hpp"
#include "writer/added_lexicons.hpp"
#include "writer/worker_metrics.hpp"
#include "writer/write_permits.hpp"

namespace skua::writer {

/// Brings events to the workers, and learns when they are durable: the pipeline of a stream, or a
/// backfill. Outlives the worker pool's threads. Called from the workers' threads.
class Producer {
 public:
  Producer() = default;
  virtual ~Producer() = default;
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  /// All events of these chunks are durable: as rows, as dead letters, or as counted drops. Each
  /// chunk comes once.
  virtual void written(std::span<const event::Chunk* const> chunks) = 0;

  /// So many of its messages wait that their rows are late anyway: live workers then collect larger
  /// batches, which cost the server less.
  virtual bool is_crowded() const = 0;

  /// What the workers count for it. Producers may share one; a transaction holds the events of
  /// producers that do.
  virtual Counters& counters() = 0;
};

/// The names of a process's sources ("relay:host"), by UnresolvedEvent::origin: what tombstones and
/// dead letters call them. Copies share the names.
class SourceNames {
 public:
  explicit SourceNames(std::string only) : SourceNames(std::vector{std::move(only)}) {}
  explicit SourceNames(std::vector<std::string> names)
      : names_(std::make_shared<std::vector<std::string>>(std::move(names))) {}

  const std::string& of(const event::ResolvedEvent& event) const {
    return names_->at(event.event.origin);
  }

  /// While no worker has an event of this source. Not beside another call for the same source.
  void set(std::uint32_t origin, std::string name) { names_->at(origin) = std::move(name); }

 private:
  std::shared_ptr<std::vector<std::string>> names_;
};

/// The parts that the workers of a pool share. All parts outlive them.
struct WorkerServices {
  postgres::Runtime& runtime;
  /// The names of the sources, by UnresolvedEvent::origin.
  SourceNames sources;
  /// The producers, by UnresolvedEvent::origin.
  const std::vector<Producer*>& producers;
  /// The number of producers that exist when the workers begin. Workers ask only these whether they
  /// are crowded.
  std::size_t first_producers = 0;
  ids::SharedIds& ids;
  AddedLexicons& lexicons;
  LiveBackpressure& live_backpressure;
  WorkerMetrics& metrics;
  /// Measures the duration of transactions; does not jump.
  const Clock& monotonic;

  Producer& producer_of(const event::Chunk& chunk) const { return *producers.at(chunk.origin()); }
};

}  // namespace skua::writer
