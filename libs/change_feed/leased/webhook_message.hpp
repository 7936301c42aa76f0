#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "change_feed/leased/leased_batch.hpp"
#include "feed/leases/lease.hpp"
#include "transport/http_client.hpp"

namespace skua::change_feed {

/// The request that delivers a batch to a webhook: a POST of JSON, signed as Standard Webhooks
/// (www.standardwebhooks.com) says. `webhook-id` is equal for each attempt with the same changes.
transport::HttpRequest webhook_request(const std::string& consumer, const std::string& url,
                                       const std::string& secret, const LeasedBatch& batch,
                                       Timestamp now);

/// The signature of a request, as in `webhook-signature`. `secret`: `whsec_` and base64.
std::string webhook_signature(const std::string& secret, const std::string& id,
                              std::int64_t timestamp, const std::string& body);

/// A new secret of a webhook.
std::string new_webhook_secret();

/// The outcome of a delivery to this URL; nothing: the receiver has processed all changes. Readers
/// of the database see the error: it does not have the path and query of the URL, which may contain
/// a secret, though the receiver may repeat them.
std::optional<feed::LeaseFailure> webhook_failure(const Result<transport::HttpAnswer>& answer,
                                                  const LeasedBatch& batch, const std::string& url);

}  // namespace skua::change_feed
