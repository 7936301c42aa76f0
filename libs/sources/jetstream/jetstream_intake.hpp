#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/guarded.hpp"
#include "filter/current_filter.hpp"
#include "ingest/pipeline.hpp"
#include "sources/connection_log.hpp"
#include "sources/intake.hpp"
#include "sources/source.hpp"
#include "store/filter_table.hpp"
#include "transport/zstd_messages.hpp"

namespace skua::sources {

/// Takes a Jetstream's events into the pipeline. After a lost connection it goes on where it was; a
/// v1 stream, whose cursor is a time, some seconds before: events may share a time, or come a
/// little out of order, and what comes twice changes nothing. The server is asked for what the
/// filter lets through, as far as a server takes filters, and anew when that changes.
class JetstreamIntake final : public Intake {
 public:
  /// `start` is the cursor of the first connection; nothing: live.
  /// `filter` outlives it; null: everything is asked for.
  JetstreamIntake(ingest::Pipeline& pipeline, JetstreamSource source,
                  std::optional<std::int64_t> start, filter::CurrentFilter* filter = nullptr);
  ~JetstreamIntake() override;

  transport::StreamClientOptions stream() override;
  void attach(transport::StreamClient& client) override;
  bool connected() const override { return words_.connected(); }

  bool try_accept(transport::RawFrame& frame) override;
  std::optional<std::string> wants_end() override { return std::exchange(end_, std::nullopt); }
  void when_room(std::function<void()> wake) override { pipeline_.when_room(std::move(wake)); }
  void on_connected(std::uint64_t connection) override;
  void on_disconnected(const transport::Disconnection& end) override;

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
  void take_error(std::string_view text);

  ingest::Pipeline& pipeline_;
  const JetstreamSource source_;
  filter::CurrentFilter* const filter_;
  /// What this connection, or the next, asks for.
  Guarded<store::FilterContent> asked_;
  ConnectionLog words_;
  transport::ZstdMessages inflate_;
  transport::StreamClient* client_ = nullptr;
  std::optional<std::int64_t> position_;
  /// A message that was not taken, decompressed: it is offered again.
  bool is_plain_ = false;
  std::optional<std::string> end_;
};

}  // namespace skua::sources
