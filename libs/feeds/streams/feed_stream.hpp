#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/guarded.hpp"
#include "http_server/message_source.hpp"
#include "streams/change_reader.hpp"

namespace skua::streams {

/// Sends changes to one client: the common part of `/changes` and `/subscribe`. It holds at most
/// one page of older changes. Recent changes stay with the reader until the client takes them. The
/// server calls the stream on the server's thread; the reader calls it (FeedClient) on another
/// thread.
class FeedStream : public http_server::MessageSource,
                   public FeedClient,
                   public std::enable_shared_from_this<FeedStream> {
 public:
  /// The reader must outlive the stream.
  FeedStream(ChangeReader& reader, StreamForm form, const Opened& opened,
             std::shared_ptr<const ChangeFilter> filter);
  ~FeedStream() override;
  FeedStream(const FeedStream&) = delete;
  FeedStream& operator=(const FeedStream&) = delete;

  void connect(std::function<void()> wake) final;
  http_server::MessageBatch next(std::size_t max_bytes) final;

  StreamForm form() const final { return form_; }
  std::int32_t timeline() const final { return timeline_; }
  bool wants(const ChangeEvent& event) const final;
  std::int64_t next_position() const final { return next_; }
  void more() final;
  void take(ChangePage page) final;
  void fail(const FeedError& error) final;

 protected:
  /// Returns the message for a change; nothing if the change has no message. `time_us` grows from
  /// change to change.
  virtual std::optional<http_server::Message> message_of(const ChangeEvent& event,
                                                         std::int64_t time_us) const = 0;

  // The following functions run on the server's thread.

  /// Whether the change at this position must not be sent yet. The server then calls `next` again
  /// after other messages.
  virtual bool is_held(std::int64_t /*pos*/) const { return false; }
  /// Returns the position of the last change that was processed.
  Position position() const { return {timeline_, next_ - 1}; }
  /// Sets the filter for the changes after the last processed one.
  void set_filter(std::shared_ptr<const ChangeFilter> filter);
  const std::shared_ptr<const ChangeFilter>& filter() const { return filter_; }
  /// Ends the stream because the client sent an invalid message.
  http_server::StreamEnd refused(const char* error, std::string message, std::uint16_t code);
  /// While the stream waits, `next` returns nothing.
  void set_waits(bool waits) { waits_ = waits; }
  void wake();

 private:
  struct Received {
    std::function<void()> wake;
    /// The filter that the reader's thread uses.
    std::shared_ptr<const ChangeFilter> filter;
    std::optional<ChangePage> page;
    std::optional<FeedError> error;
  };

  /// Appends messages of the next changes. Returns false if there are none now.
  bool add_messages(http_server::MessageBatch& batch, std::size_t max_bytes, std::size_t& bytes);
  /// Requests a page that begins at `next_`.
  void ask_for_older();
  void add_message(const ChangeEvent& event, http_server::MessageBatch& batch, std::size_t& bytes);

  FeedMetrics& metrics() { return reader_.metrics(); }

  ChangeReader& reader_;
  const StreamForm form_;
  const std::int32_t timeline_;
  const std::int64_t since_us_;
  std::shared_ptr<const ChangeFilter> filter_;
  std::atomic<std::int64_t> next_;
  std::int64_t time_us_ = 0;
  /// The page whose changes the client gets, and the index of the next change.
  std::optional<ChangePage> page_;
  std::size_t place_ = 0;
  bool has_asked_ = false;
  /// True if the requested page has another filter and must be ignored.
  bool ignores_page_ = false;
  bool waits_ = false;
  Guarded<Received> received_;
};

}  // namespace skua::streams
