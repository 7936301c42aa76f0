#include "filter/filter_watch.hpp"

#include <utility>

#include "base/log.hpp"
#include "filter/filter_text.hpp"
#include "store/outage.hpp"
#include "store/process_name.hpp"

namespace skua::filter {

FilterWatch::FilterWatch(Options options, CurrentFilter& current)
    : options_(std::move(options)), current_(current) {
  if (options_.choice) {
    wanted_ = options_.choice->names;
    if (options_.choice->file) {
      file_.emplace(*options_.choice->file, options_.files);
      wanted_ = merged(options_.choice->names, file_->read());
    }
    normalize(*wanted_);
    set_stored();
  }
  current_.set(store::load_filter(session()));
}

FilterWatch::~FilterWatch() {
  stop();
}

void FilterWatch::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void FilterWatch::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void FilterWatch::run(const std::stop_token& stop) {
  stop_ = stop;
  while (!stop.stop_requested()) {
    try {
      look();
    } catch (const store::ServerError& error) {
      session_.reset();
      store::log_retry("filter", "the stored filter cannot be read, the last one stays", error);
    } catch (const std::exception& error) {
      return options_.on_defect(std::string("following the stored filter: ") + error.what());
    }
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, options_.interval, [] { return false; });
  }
}

void FilterWatch::look() {
  if (file_) look_at_file();
  try {
    if (wanted_) set_stored();
  } catch (const store::DataError& error) {
    logger("filter")->warn("the database refuses this filter; the previous filter stays: {}",
                           error.what());
    wanted_.reset();
  }
  adopt();
}

void FilterWatch::look_at_file() {
  try {
    if (auto content = file_->look()) wanted_ = merged(options_.choice->names, *content);
  } catch (const FilterError& error) {
    logger("filter")->warn("{}; the previous filter stays", error.what());
  }
}

void FilterWatch::set_stored() {
  const auto change = store::change_filter(session(), store::FilterEdit::Set, *wanted_);
  wanted_.reset();
  if (!change.is_change()) return;
  logger("filter")->info("stored filter changed{}: {}", file_ ? " by " + file_->path() : "",
                         change_text(change));
}

void FilterWatch::adopt() {
  const std::int64_t known = current_.get()->version();
  store::FilterState state = store::load_filter_state(session());
  if (state.version != known) {
    current_.set(store::load_filter(session()));
    logger("filter")->info("stored from now on: {}", filter_text(current_.get()->content()));
    // What was left out since it became wider may be in no CAR that was asked for meanwhile.
    if (state.widened > known && state.is_late) {
      logger("filter")->warn("this process noticed the wider filter late: the resyncs start again");
      store::widen_filter_again(session());
      state = store::load_filter_state(session());
      current_.set(store::load_filter(session()));
    }
  }
  while (state.is_marking && !stop_.stop_requested() && store::mark_for_filter(session())) {
  }
}

store::Session& FilterWatch::session() {
  if (!session_ || !session_->connected()) {
    session_ = std::make_unique<store::Session>(options_.database_url,
                                                store::process_name("skua filter watch"));
    // An administrator may hold the lock of the filter table for long.
    session_->run("SET lock_timeout = '5s'");
  }
  return *session_;
}

}  // namespace skua::filter
