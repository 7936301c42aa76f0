#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/guarded.hpp"
#include "base/result.hpp"
#include "filter/current_filter.hpp"
#include "sources/intake.hpp"
#include "sources/jetstream/jetstream_source.hpp"
#include "store/filter_table.hpp"
#include "transport/zstd_messages.hpp"

namespace skua::sources {

/// Takes the messages of a Jetstream into the pipeline. After a lost connection it continues at its
/// last position. The cursor of v1 is a time: v1 continues some seconds earlier, because several
/// events may have the same time or arrive in another order; repeated events change nothing. The
/// server is asked for what the filter passes, as far as the server supports that, and asked again
/// when the filter changes. See Intake for the threads.
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
  /// Of a narrow filter nothing may come for hours.
  bool may_be_silent() const override;

 private:
  /// What a server is asked for now: the filter's lists, but for those that are too long for it.
  store::FilterContent wanted() const;
  /// Path and query of the next connection, with what is wanted now.
  std::string target();
  /// The same of v1 and v2.
  std::string query_v1(const store::FilterContent& asked) const;
  std::string query_v2(const store::FilterContent& asked) const;
  /// What is asked for as a v1 server takes it after the connection stands.
  std::string options_update() const;
  /// The connection is of no use any more if it asked for something else. Any thread.
  void ask_anew();
  /// Makes JSON of a binary message, which may be compressed.
  ErrorCode make_plain(Bytes& bytes);
  void take_error(std::string_view text);
  void take_info(std::string_view text);

  const transport::Endpoint endpoint_;
  const JetstreamSource::Version version_;
  const std::shared_ptr<const transport::ZstdDictionary> dictionary_;
  /// Null: everything is asked for.
  filter::CurrentFilter* const filter_;
  /// What this connection, or the next, asks for.
  Guarded<store::FilterContent> asked_;
  transport::ZstdMessages inflate_;
  transport::StreamClient* client_ = nullptr;
  /// The message at hand was not taken and is decompressed already: it is offered again.
  bool is_plain_ = false;
  /// This connection has sent a message that can be read: one with another dictionary is an
  /// exception.
  bool is_readable_ = false;
};

}  // namespace skua::sources
