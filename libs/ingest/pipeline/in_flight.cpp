#include "pipeline/in_flight.hpp"

#include <algorithm>
#include <utility>

namespace skua::pipeline {
namespace {

/// The time by which a host's clock may be ahead of ours. A host with a wrong clock must not change
/// the lag.
constexpr std::chrono::minutes kClockSkew{5};

/// The time of a frame without a time.
constexpr Timestamp kNoTime{};

}  // namespace

std::optional<InFlightList::Ticket> InFlightList::admit(const Frame& frame) {
  const std::scoped_lock lock(mutex_);
  if (!has_room()) return std::nullopt;
  entries_.push_back({frame, Timestamp{}, kUndecoded});
  bytes_ += frame.bytes;
  ++unfinished_;
  if (frame.account != 0) {
    Use& use = accounts_[frame.account];
    ++use.frames;
    use.bytes += frame.bytes;
  }
  return first_ + entries_.size() - 1;
}

bool InFlightList::has_share(std::uint64_t account, std::size_t bytes) const {
  const std::scoped_lock lock(mutex_);
  const auto use = accounts_.find(account);
  if (use == accounts_.end()) return true;
  return use->second.frames < limits_.frames / limits_.frame_parts &&
         use->second.bytes + bytes <= limits_.bytes / limits_.byte_parts;
}

void InFlightList::restart(std::size_t stream) {
  const std::scoped_lock lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.frame.stream == stream) entry.frame.seq = 0;
  }
  watermark_of(stream) = Watermark{};
}

void InFlightList::pass(std::size_t stream, const Watermark& watermark) {
  const std::scoped_lock lock(mutex_);
  move_watermark(stream, watermark);
}

std::size_t InFlightList::stream_of(Ticket ticket) const {
  const std::scoped_lock lock(mutex_);
  return entries_[ticket - first_].frame.stream;
}

bool InFlightList::has_credible_time(const Entry& entry) {
  return entry.time != kNoTime && entry.time <= entry.frame.received_at + kClockSkew;
}

std::optional<InFlightList::Watermark>& InFlightList::watermark_of(std::size_t stream) {
  if (watermarks_.size() <= stream) watermarks_.resize(stream + 1);
  return watermarks_[stream];
}

void InFlightList::move_watermark(std::size_t stream, const Watermark& watermark) {
  auto& last = watermark_of(stream);
  // A host may send a frame twice, and the watermark must not go back to it.
  if (!last || watermark.seq > last->seq) last = watermark;
}

void InFlightList::made_at(Ticket ticket, Timestamp time) {
  const std::scoped_lock lock(mutex_);
  entry(ticket).time = time;
}

Timestamp InFlightList::decoded(Ticket ticket, std::size_t events, Timestamp time) {
  std::vector<std::function<void()>> wake;
  Timestamp received_at;
  {
    const std::scoped_lock lock(mutex_);
    received_at = entry(ticket).frame.received_at;
    entry(ticket).remaining = events;
    entry(ticket).time = time;
    if (events == 0) {
      finish(entry(ticket));
      wake = advance();
    }
  }
  if (events == 0 && on_finished_) on_finished_(std::span(&ticket, 1));
  for (const auto& call : wake) call();
  return received_at;
}

bool InFlightList::is_decoded(Ticket ticket) const {
  const std::scoped_lock lock(mutex_);
  return ticket < first_ || entries_[ticket - first_].remaining != kUndecoded;
}

void InFlightList::finish(std::span<const Ticket> tickets, Timestamp now) {
  std::vector<std::function<void()>> wake;
  std::vector<Ticket> whole;
  {
    const std::scoped_lock lock(mutex_);
    for (const Ticket ticket : tickets) {
      Entry& finished = entry(ticket);
      if (--finished.remaining == 0) {
        if (on_finished_) whole.push_back(ticket);
        finish(finished);
        if (has_credible_time(finished)) {
          newest_committed_ = std::max(newest_committed_, finished.time);
        }
        latency_.add(now - finished.frame.received_at);
      }
    }
    wake = advance();
  }
  if (!whole.empty()) on_finished_(whole);
  for (const auto& call : wake) call();
}

void InFlightList::finish(const Entry& entry) {
  --unfinished_;
  bytes_ -= entry.frame.bytes;
  if (entry.frame.account == 0) return;
  const auto use = accounts_.find(entry.frame.account);
  use->second.bytes -= entry.frame.bytes;
  if (--use->second.frames == 0) accounts_.erase(use);
}

std::vector<std::function<void()>> InFlightList::advance() {
  while (!entries_.empty() && entries_.front().remaining == 0) {
    const Entry& done = entries_.front();
    if (done.frame.seq != 0) move_watermark(done.frame.stream, {done.frame.seq, done.time});
    entries_.pop_front();
    ++first_;
  }
  fewer_.notify_all();
  std::vector<std::function<void()>> wake;
  if (has_room()) wake.swap(waiting_);
  return wake;
}

std::optional<InFlightList::Watermark> InFlightList::watermark(std::size_t stream) const {
  const std::scoped_lock lock(mutex_);
  return stream < watermarks_.size() ? watermarks_[stream] : std::nullopt;
}

void InFlightList::when_room(std::function<void()> wake) {
  {
    const std::scoped_lock lock(mutex_);
    if (!has_room()) {
      waiting_.push_back(std::move(wake));
      return;
    }
  }
  wake();
}

InFlightList::Backlog InFlightList::backlog() const {
  const std::scoped_lock lock(mutex_);
  Backlog backlog;
  backlog.waiting = unfinished_;
  if (newest_committed_ != kNoTime) backlog.newest_committed = newest_committed_;
  // Finished entries at the front were removed, so the first entry is unfinished.
  if (!entries_.empty() && has_credible_time(entries_.front())) {
    backlog.oldest_waiting = entries_.front().time;
  }
  return backlog;
}

std::size_t InFlightList::frames() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}

std::size_t InFlightList::unfinished() const {
  const std::scoped_lock lock(mutex_);
  return unfinished_;
}

std::size_t InFlightList::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

InFlightList::Ticket InFlightList::first_unfinished() const {
  const std::scoped_lock lock(mutex_);
  return first_;
}

InFlightList::Ticket InFlightList::next_ticket() const {
  const std::scoped_lock lock(mutex_);
  return first_ + entries_.size();
}

bool InFlightList::wait_until_at_most(std::size_t frames,
                                      std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return fewer_.wait_until(lock, deadline, [&] { return unfinished_ <= frames; });
}

}  // namespace skua::pipeline
