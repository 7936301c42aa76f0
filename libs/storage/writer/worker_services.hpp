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

/// Gives events to the workers, and learns when they are durable. A producer is the pipeline of a
/// stream, or a backfill. It outlives the threads of the worker pool, which call its functions.
class Producer {
 public:
  Producer() = default;
  virtual ~Producer() = default;
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  /// Reports that all events of these chunks are durable: as rows, as dead letters, or as counted
  /// drops. Each chunk is reported once.
  virtual void written(std::span<const event::Chunk* const> chunks) = 0;

  /// Returns whether so many of the producer's messages wait that their rows are late in any case.
  /// Live workers then collect larger batches, which cost the server less.
  virtual bool is_crowded() const = 0;

  /// Returns the counters of the producer's events. Producers may share their counters. A
  /// transaction only has events of producers that share them.
  virtual Counters& counters() = 0;
};

/// The names of a process's sources ("relay:host"), by UnresolvedEvent::origin. Tombstones and dead
/// letters contain these names. Copies share the names.
class SourceNames {
 public:
  explicit SourceNames(std::string only) : SourceNames(std::vector{std::move(only)}) {}
  explicit SourceNames(std::vector<std::string> names)
      : names_(std::make_shared<std::vector<std::string>>(std::move(names))) {}

  const std::string& of(const event::ResolvedEvent& event) const {
    return names_->at(event.event.origin);
  }

  /// Sets the name of a source. No worker may have an event of this source, and no other call for
  /// the same source may run at the same time.
  void set(std::uint32_t origin, std::string name) { names_->at(origin) = std::move(name); }

 private:
  std::shared_ptr<std::vector<std::string>> names_;
};

/// The parts that the workers of a pool share. All parts outlive the workers.
struct WorkerServices {
  postgres::Runtime& runtime;
  /// The names of the sources, by UnresolvedEvent::origin.
  SourceNames sources;
  /// The producers, by UnresolvedEvent::origin.
  const std::vector<Producer*>& producers;
  /// The number of producers that exist when the workers begin. Workers call Producer::is_crowded
  /// of these producers only.
  std::size_t first_producers = 0;
  ids::SharedIds& ids;
  AddedLexicons& lexicons;
  LiveBackpressure& live_backpressure;
  WorkerMetrics& metrics;
  /// The clock that measures the duration of transactions. It never jumps.
  const Clock& monotonic;

  Producer& producer_of(const event::Chunk& chunk) const { return *producers.at(chunk.origin()); }
};

}  // namespace skua::writer
