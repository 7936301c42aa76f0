#pragma once

#include <span>

#include "event/chunk.hpp"
#include "writer/counters.hpp"

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

}  // namespace skua::writer
