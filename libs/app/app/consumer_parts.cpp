#include "app/consumer_parts.hpp"

#include <algorithm>
#include <iterator>

namespace skua::app {

ConsumerParts::ConsumerParts(postgres::Runtime& runtime, std::size_t threads)
    : log_maintenance_(runtime), messages_(runtime), pool_(runtime, {.threads = threads}) {}

void ConsumerParts::start() {
  log_maintenance_.start();
  messages_.start();
  pool_.start();
}

void ConsumerParts::stop() {
  pool_.stop();
  messages_.stop();
  log_maintenance_.stop();
}

std::vector<MetricValue> ConsumerParts::metrics() const {
  std::vector<MetricValue> all = values_of(pool_.metrics());
  std::ranges::move(values_of(log_maintenance_.metrics()), std::back_inserter(all));
  std::ranges::move(values_of(messages_.metrics()), std::back_inserter(all));
  return all;
}

}  // namespace skua::app
