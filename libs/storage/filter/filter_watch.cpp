#include "filter/filter_watch.hpp"

#include <utility>

#include "base/log.hpp"
#include "filter/filter_file.hpp"
#include "postgres/connection_string.hpp"

namespace skua::filter {

FilterWatch::FilterWatch(postgres::Runtime& runtime, Options options, CurrentFilter& current)
    : options_(std::move(options)),
      current_(current),
      thread_(
          runtime,
          {.session_name = postgres::process_name("skua filter watch"),
           // An administrator may hold the lock of the filter table for a long time.
           .prepare = [](postgres::Session& session) { session.run("SET lock_timeout = '5s'"); },
           .component = "filter",
           .failure = "the stored filter cannot be read, the last one stays",
           .retry_pause = options_.interval},
          [this](postgres::LazySession& session, const std::stop_token& stop) {
            look(session.get(), stop);
            return options_.interval;
          }) {
  postgres::Session& session = thread_.session().get();
  if (options_.choice) {
    wanted_ = options_.choice->names;
    if (options_.choice->file) {
      file_.emplace(*options_.choice->file, options_.files);
      wanted_ = merged(options_.choice->names, file_->read());
    }
    normalize(*wanted_);
    set_stored(session);
  }
  current_.set(tables::load_filter(session));
}

void FilterWatch::look(postgres::Session& session, const std::stop_token& stop) {
  if (file_) look_at_file();
  try {
    if (wanted_) set_stored(session);
  } catch (const postgres::DataError& error) {
    logger("filter")->warn("the database refuses this filter; the previous filter stays: {}",
                           error.what());
    wanted_.reset();
  }
  if (rounds_++ % options_.lists_every == 0) tables::refresh_filter_lists(session);
  adopt(session, stop);
}

void FilterWatch::look_at_file() {
  try {
    if (auto content = file_->look()) wanted_ = merged(options_.choice->names, *content);
  } catch (const FilterError& error) {
    logger("filter")->warn("{}; the previous filter stays", error.what());
  }
}

void FilterWatch::set_stored(postgres::Session& session) {
  const auto change = tables::change_filter(session, tables::FilterEdit::Set, *wanted_);
  wanted_.reset();
  if (!change.is_change()) return;
  logger("filter")->info("stored filter changed{}: {}", file_ ? " by " + file_->path() : "",
                         change_text(change));
}

void FilterWatch::adopt(postgres::Session& session, const std::stop_token& stop) {
  const std::int64_t known = current_.get()->version();
  tables::FilterState state = tables::load_filter_state(session);
  if (state.version != known) {
    current_.set(tables::load_filter(session));
    logger("filter")->info("stored from now on: {}", filter_text(current_.get()->content()));
    // This process dropped events that only the wider filter passes. CARs that were requested
    // before this process noticed the wider filter may not contain the records of these events.
    if (state.widened > known && state.is_late) {
      logger("filter")->warn("this process noticed the wider filter late: the resyncs start again");
      tables::widen_filter_again(session);
      state = tables::load_filter_state(session);
      current_.set(tables::load_filter(session));
    }
  }
  while (state.is_marking && !stop.stop_requested() && tables::mark_for_filter(session)) {
  }
}

}  // namespace skua::filter
