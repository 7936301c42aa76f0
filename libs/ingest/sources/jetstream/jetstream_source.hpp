#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/guarded.hpp"
#include "base/result.hpp"
#include "event/jetstream_message.hpp"
#include "filter/filter_watch.hpp"
#include "pipeline/message_decoder.hpp"
#include "sources/intake.hpp"
#include "sources/source.hpp"
#include "tables/filter_table.hpp"
#include "transport/zstd_messages.hpp"

namespace skua::sources {

/// Reads the messages of a Jetstream, of both versions. One thread uses it.
class JetstreamReader final : public pipeline::MessageReader {
 public:
  Result<pipeline::ReadMessage> read(const pipeline::AdmittedMessage& message) override;
  void count(pipeline::IntakeCounters& intake) override;

 private:
  event::JetstreamDecoder decoder_;
  event::JetstreamMessage message_;
};

/// A Jetstream (github.com/bluesky-social/jetstream).
class JetstreamSource final : public Source {
 public:
  enum class Version : std::uint8_t { V1, V2 };

  /// If `dictionary` is null, messages come without compression.
  JetstreamSource(transport::Endpoint endpoint,
                  std::shared_ptr<const transport::ZstdDictionary> dictionary)
      : Source(std::move(endpoint)), dictionary_(std::move(dictionary)) {}

  std::string_view kind() const override { return "jetstream"; }
  Proof proof() const override { return Proof::None; }
  std::unique_ptr<Intake> make_intake(IntakeServices services) const override;
  std::unique_ptr<pipeline::AnyDecoder> make_decoder(
      pipeline::DecoderServices services) const override;

  /// Returns the version that the path of the URL shows.
  Version version() const;
  const std::shared_ptr<const transport::ZstdDictionary>& dictionary() const { return dictionary_; }

 private:
  const std::shared_ptr<const transport::ZstdDictionary> dictionary_;
};

/// Takes the messages of a Jetstream into the pipeline. After a lost connection it continues at its
/// last position. The cursor of v1 is a time. Several events may have the same time or arrive in
/// another order, so v1 continues some seconds earlier, and repeated events change nothing. The
/// intake requests only the content that the filter passes, as far as the server supports this, and
/// requests again when the filter changes. See Intake for the threads.
class JetstreamIntake final : public Intake {
 public:
  JetstreamIntake(IntakeServices services, transport::Endpoint endpoint,
                  JetstreamSource::Version version,
                  std::shared_ptr<const transport::ZstdDictionary> dictionary);
  ~JetstreamIntake() override;

  transport::StreamClientOptions stream() override;
  void attach(transport::StreamClient& client) override;
  bool try_accept(transport::RawFrame& frame) override;
  void on_connected(std::uint64_t connection) override;
  void on_disconnected(const transport::Disconnection& end) override;

 protected:
  /// Because of a narrow filter, no message may come for hours.
  bool may_be_silent() const override;

 private:
  /// Returns the lists of the filter for the server, without lists that are too long for the
  /// server.
  tables::FilterContent wanted() const;
  /// Returns the path and query of the next connection, with the current lists of the filter.
  std::string target();
  /// These functions return the query of v1, and of v2.
  std::string query_v1(const tables::FilterContent& asked) const;
  std::string query_v2(const tables::FilterContent& asked) const;
  /// Returns the lists of the filter as a message to a v1 server, which accepts the message on an
  /// open connection.
  std::string options_update() const;
  /// Reconnects if the connection requested other lists than the current ones. Any thread may call
  /// it.
  void ask_anew();
  /// Converts a binary message, which may be compressed, to JSON.
  ErrorCode make_plain(Bytes& bytes);
  void take_error(std::string_view text);
  void take_info(std::string_view text);

  const transport::Endpoint endpoint_;
  const JetstreamSource::Version version_;
  const std::shared_ptr<const transport::ZstdDictionary> dictionary_;
  /// The filter. Null means that everything is requested.
  filter::CurrentFilter* const filter_;
  /// The lists that this connection, or the next one, requests.
  Guarded<tables::FilterContent> asked_;
  transport::ZstdMessages inflate_;
  transport::StreamClient* client_ = nullptr;
  /// Whether the current message was decompressed but not taken. Such a message is offered again.
  bool is_plain_ = false;
  /// Whether this connection has sent a readable message. After that, another dictionary is a
  /// defect of one message, and does not end the connection.
  bool is_readable_ = false;
};

}  // namespace skua::sources
