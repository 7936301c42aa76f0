#include "app/background_work.hpp"

#include "base/metric_group.hpp"

namespace skua::app {

BackgroundWork::BackgroundWork(const Options& options, const filter::CurrentFilter& filter,
                               resolve::SharedIds& ids, const Clock& server_clock)
    : log_maintenance_({.database_url = options.database_url, .on_defect = options.on_defect}),
      remover_({.database_url = options.database_url, .on_defect = options.on_defect}, filter),
      rechecker_({.database_url = options.database_url, .on_defect = options.on_defect}, ids,
                 server_clock),
      consumers_({.database_url = options.database_url,
                  .threads = options.consumer_threads,
                  .on_defect = options.on_defect}) {}

void BackgroundWork::start() {
  log_maintenance_.start();
  remover_.start();
  rechecker_.start();
  consumers_.start();
}

void BackgroundWork::stop() {
  log_maintenance_.stop();
  remover_.stop();
  rechecker_.stop();
  consumers_.stop();
}

void BackgroundWork::add_metrics(status::Metrics& metrics) const {
  using status::MetricScope;
  metrics.add(MetricScope::Process, values_of(log_maintenance_.metrics()));
  metrics.add(MetricScope::Process, values_of(consumers_.metrics()));
  metrics.add(MetricScope::Process, values_of(remover_.metrics()));
  metrics.add(MetricScope::Process, values_of(rechecker_.metrics()));
}

}  // namespace skua::app
