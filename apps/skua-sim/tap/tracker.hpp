#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "atproto/cid.hpp"
#include "atproto/data_model.hpp"
#include "event/frame_decoder.hpp"
#include "tap/outbox.hpp"
#include "world/message_log.hpp"
#include "world/network.hpp"

namespace skua::sim {

/// A repository in the state of Tap.
struct TapRepo {
  enum class State : std::uint8_t { pending, desynchronized, active, error };
  State state = State::pending;
  /// The handle that was last sent to the consumer; empty if there was none.
  std::string handle;
  std::string status = "active";
  std::string rev;
  std::string error;
  std::int64_t retries = 0;
  std::map<std::string, atproto::Cid, std::less<>> records;

  /// The number of commits that Tap will miss before it notices.
  std::size_t to_lose = 0;
  /// If true, the next resync sends known records again.
  bool send_all = false;
};
std::string_view state_name(TapRepo::State state);

/// Follows a network as Tap does and fills the outbox: first whole repositories (`live:false`),
/// then their commits (`live:true`). Ignores dishonest messages. A resync never reports deletes. If
/// one commit changes a path twice, only the end state is reported. One thread; the arguments must
/// outlive the tracker.
class TapTracker {
 public:
  using TimePoint = TapOutbox::TimePoint;

  /// If `full_network` is set, the tracker follows all accounts of the network; otherwise only
  /// those of `track`.
  TapTracker(const Network& network, TapOutbox& outbox, bool full_network);

  /// Processes a message of a host. A message about an account that is not on this host is dropped,
  /// as relays do.
  void hear(std::size_t host, const Message& message, TimePoint now);

  void track(const std::string& did);
  void untrack(const std::string& did);

  bool has_resyncs() const { return !resyncs_.empty(); }
  /// Reads the next waiting repository.
  void resync_next(TimePoint now);
  /// Reads a repository again. If `all` is set, known records are sent too. Returns false if the
  /// repository is not tracked.
  bool resync(const std::string& did, bool all);
  /// Resyncs all accounts that have lost commits or are still to lose some.
  void resync_lost();

  /// Returns null if the repository is not tracked.
  const TapRepo* repo(std::string_view did) const;
  std::size_t repos() const { return repos_.size(); }
  std::size_t resyncs() const { return resyncs_.size(); }
  std::size_t records() const;

  // The following functions carry out faults. Each adds a separate event to the honest ones, so
  // that no data is lost with it. A function returns false if there is no usable account yet.

  /// Makes the next account that commits lose this number of commits. The account is then read
  /// again completely.
  void lose_commits(std::size_t count) { lose_next_ = count; }
  /// Sends an event of an unknown type, and adds unknown fields to the next record.
  bool say_unknown(TimePoint now);
  /// Sends a record that cannot be stored, of alternating kinds.
  bool say_poison(TimePoint now);
  /// Sends a create without its record.
  bool say_no_record(TimePoint now);

 private:
  void hear_commit(TapRepo& repo, event::DecodedFrame& frame, TimePoint now);
  void tell_commit(TapRepo& repo, event::DecodedFrame& frame, TimePoint now);
  void hear_sync(TapRepo& repo, const event::DecodedFrame& frame);
  void hear_account(TapRepo& repo, const event::DecodedFrame& frame, TimePoint now);
  void refresh_identity(const std::string& did, TapRepo& repo, TimePoint now);
  void tell_identity(const std::string& did, const TapRepo& repo, TimePoint now);
  void tell_repository(const std::string& did, TapRepo& repo, TimePoint now);
  void want_resync(const std::string& did, TapRepo& repo, TapRepo::State state);
  /// Returns a tracked account in a normal state, a different one each time; null if there is none.
  const std::pair<const std::string, TapRepo>* some_repo();
  bool say_record(const std::string& record_json, std::string_view cid, TimePoint now);

  const Network& network_;
  TapOutbox& outbox_;
  const bool full_network_;
  std::map<std::string, TapRepo, std::less<>> repos_;
  std::deque<std::string> resyncs_;
  event::FrameDecoder decoder_;
  atproto::Document scratch_;
  std::size_t lose_next_ = 0;
  bool odd_fields_next_ = false;
  std::size_t said_ = 0;
};

}  // namespace skua::sim
