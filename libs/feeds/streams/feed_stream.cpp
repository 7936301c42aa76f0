#include "streams/feed_stream.hpp"

#include <algorithm>
#include <utility>

namespace skua::streams {
namespace {

/// One call examines at most this number of recent changes, because a filter may pass few of them.
constexpr std::size_t kRecentChanges = 4096;

}  // namespace

FeedStream::FeedStream(ChangeReader& reader, StreamForm form, const Opened& opened,
                       std::shared_ptr<const ChangeFilter> filter)
    : reader_(reader),
      form_(form),
      timeline_(opened.timeline),
      since_us_(opened.since_us),
      filter_(std::move(filter)),
      next_(opened.next) {
  received_.with([&](Received& received) { received.filter = filter_; });
  metrics().streams.at(static_cast<std::size_t>(form_)) += 1;
}

FeedStream::~FeedStream() {
  metrics().streams.at(static_cast<std::size_t>(form_)) -= 1;
}

void FeedStream::connect(std::function<void()> wake) {
  received_.with([&](Received& received) { received.wake = std::move(wake); });
}

void FeedStream::set_filter(std::shared_ptr<const ChangeFilter> filter) {
  filter_ = std::move(filter);
  received_.with([&](Received& received) { received.filter = filter_; });
  page_.reset();
  ignores_page_ = has_asked_;
}

http_server::StreamEnd FeedStream::refused(const char* error, std::string message,
                                           std::uint16_t code) {
  count_error(metrics(), error);
  return {error, std::move(message), code};
}

bool FeedStream::wants(const ChangeEvent& event) const {
  return received_.with([](const Received& received) { return received.filter; })->passes(event);
}

void FeedStream::wake() {
  const auto wake = received_.with([](Received& received) { return received.wake; });
  if (wake) wake();
}

void FeedStream::more() {
  wake();
}

void FeedStream::take(ChangePage page) {
  received_.with([&](Received& received) { received.page = std::move(page); });
  wake();
}

void FeedStream::fail(const FeedError& error) {
  count_error(metrics(), error.error);
  received_.with([&](Received& received) { received.error = error; });
  wake();
}

http_server::MessageBatch FeedStream::next(std::size_t max_bytes) {
  http_server::MessageBatch batch;
  if (auto error = received_.with([](Received& received) { return received.error; })) {
    batch.end = http_server::StreamEnd{std::move(error->error), std::move(error->message)};
    return batch;
  }
  std::size_t bytes = 0;
  while (!waits_ && bytes < max_bytes && add_messages(batch, max_bytes, bytes)) {
  }
  return batch;
}

bool FeedStream::add_messages(http_server::MessageBatch& batch, std::size_t max_bytes,
                              std::size_t& bytes) {
  if (!page_ && has_asked_) {
    page_ = received_.with(
        [](Received& received) { return std::exchange(received.page, std::nullopt); });
    if (!page_) return false;
    has_asked_ = false;
    place_ = 0;
    if (std::exchange(ignores_page_, false)) page_.reset();
  }
  if (page_) {
    while (place_ < page_->events.size() && bytes < max_bytes) {
      if (is_held(page_->events[place_]->pos)) return false;
      const auto& event = *page_->events[place_++];
      next_ = event.pos + 1;
      add_message(event, batch, bytes);
    }
    if (place_ < page_->events.size()) return true;
    next_ = page_->next;
    time_us_ = std::max(time_us_, page_->time_us);
    page_.reset();
    return true;
  }
  const auto recent = reader_.recent(next_, kRecentChanges);
  if (recent.is_older) {
    ask_for_older();
    return false;
  }
  for (const auto& event : recent.events) {
    if (bytes >= max_bytes) return true;
    if (is_held(event->pos)) return false;
    if (!event->is_read && filter_->passes(*event)) {
      ask_for_older();
      return false;
    }
    next_ = event->pos + 1;
    add_message(*event, batch, bytes);
  }
  if (recent.events.size() < kRecentChanges) return false;
  // The stream gives the thread back and continues later, because the server has other clients too.
  wake();
  return false;
}

void FeedStream::ask_for_older() {
  has_asked_ = true;
  reader_.read_older(weak_from_this(), next_, time_us_, filter_);
}

void FeedStream::add_message(const ChangeEvent& event, http_server::MessageBatch& batch,
                             std::size_t& bytes) {
  time_us_ = std::max(event.time_us, time_us_ + 1);
  if (time_us_ < since_us_ || !filter_->passes(event)) return;
  if (auto message = message_of(event, time_us_)) {
    bytes += message->data.size();
    metrics().stream_changes.at(static_cast<std::size_t>(form_)) += 1;
    batch.messages.push_back(*std::move(message));
  }
}

}  // namespace skua::streams
