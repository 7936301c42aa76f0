#include "sources/labeler/discovery/labeler_subscription.hpp"

#include <algorithm>
#include <utility>

#include "sources/labeler/label_decoder.hpp"
#include "sources/labeler/labeler_source.hpp"

namespace skua::sources {
namespace {

/// The messages of a discovered labeler that are in memory at a time. The limits, and one message
/// of the largest size, bound the memory of all labelers together.
constexpr pipeline::InFlightList::Limits kInFlight{.frames = 200, .bytes = std::size_t{1} << 20};
/// The size of the largest message. It suffices because a labeler sends single labels, or some at a
/// time.
constexpr std::size_t kLargestMessage = std::size_t{1} << 20;

}  // namespace

LabelerSubscription::LabelerSubscription(ChosenLabeler labeler, std::optional<std::int64_t> saved,
                                         const SubscriptionServices& services)
    : accounts_(std::make_shared<Accounts>(std::move(labeler.dids))),
      pipeline_(services.runtime,
                pipeline_options(LabelerSource(labeler.endpoint).name(), services), services.pool) {
  const LabelerSource source(std::move(labeler.endpoint));
  intake_ = source.make_intake({.pipeline = pipeline_,
                                .start = saved ? saved : source.first_position(),
                                .save_cursor = services.save_cursor,
                                .is_discovered = true});
  client_ = std::make_unique<transport::StreamClient>(client_options(services), *intake_);
}

LabelerSubscription::~LabelerSubscription() {
  close();
}

void LabelerSubscription::set_accounts(std::vector<std::string> dids) {
  accounts_->with([&](std::vector<std::string>& accounts) { accounts = std::move(dids); });
}

pipeline::PipelineOptions LabelerSubscription::pipeline_options(
    const std::string& name, const SubscriptionServices& services) const {
  const auto speaks_for = [accounts = accounts_](std::string_view src) {
    return accounts->with([&](const std::vector<std::string>& dids) {
      return std::find(dids.begin(), dids.end(), src) != dids.end();
    });
  };
  return {.sources = {name},
          .decode_threads = 1,
          .in_flight = kInFlight,
          .make_decoder =
              [limits = LabelLimits{speaks_for, services.labels_per_second}](
                  pipeline::DecoderServices decoder) {
                const auto* verification = decoder.verification;
                return std::make_unique<LabelDecoder>(
                    std::move(decoder.out),
                    verification != nullptr ? &verification->accounts : nullptr, limits);
              },
          .verification = services.verification,
          .intake = &services.intake};
}

transport::StreamClientOptions LabelerSubscription::client_options(
    const SubscriptionServices& services) {
  transport::StreamClientOptions options = intake_->stream();
  options.ca_file = services.ca_file;
  options.clock = &services.runtime.clocks.latest;
  options.public_addresses_only = !services.allow_private_hosts;
  options.max_frame_bytes = kLargestMessage;
  options.reconnect = services.reconnect;
  options.close_timeout = std::chrono::milliseconds(500);
  return options;
}

}  // namespace skua::sources
