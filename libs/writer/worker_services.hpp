#pragma once

#include <cstddef>
#include <vector>

#include "base/time.hpp"
#include "resolve/resolver.hpp"
#include "store/runtime.hpp"
#include "writer/added_lexicons.hpp"
#include "writer/live_backpressure.hpp"
#include "writer/producer.hpp"
#include "writer/source_names.hpp"
#include "writer/worker_metrics.hpp"

namespace skua::writer {

/// The parts that the workers of a pool share. All parts outlive them.
struct WorkerServices {
  store::Runtime& runtime;
  /// The names of the sources, by UnresolvedEvent::origin.
  SourceNames sources;
  /// The producers, by UnresolvedEvent::origin.
  const std::vector<Producer*>& producers;
  /// The number of producers that exist when the workers begin. Workers ask only these whether they
  /// are crowded.
  std::size_t first_producers = 0;
  resolve::SharedIds& ids;
  AddedLexicons& lexicons;
  LiveBackpressure& live_backpressure;
  WorkerMetrics& metrics;
  /// Measures the duration of transactions; does not jump.
  const Clock& monotonic;

  Producer& producer_of(const event::Chunk& chunk) const { return *producers.at(chunk.origin()); }
};

}  // namespace skua::writer
