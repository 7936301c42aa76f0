#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/metric.hpp"
#include "records/record.hpp"
#include "verify/errc.hpp"

namespace skua::pipeline {

/// Counts the messages of a source since the start of the process. Any thread may use it.
struct IntakeCounters {
  Counter frames{"frames", "skua_messages_total", "messages", "Messages that were read"};
  Counter bytes{"bytes", "skua_message_bytes_total", "bytes",
                "Size of the messages that were read"};
  Counter commits{"commits", "skua_commits_total", "messages",
                  "#commit messages that were read, and record events of a Tap or a Jetstream"};
  Counter ops{"", "skua_operations_total", "operations", "Record operations that were read"};
  Counter syncs{"syncs", "skua_syncs_total", "messages", "#sync messages that were read"};
  Counter identities{"identities", "skua_identity_messages_total", "messages",
                     "#identity messages that were read"};
  Counter merged_identities{"merged_identities", "skua_merged_identity_messages_total", "messages",
                            "#identity messages that were replaced by a later one of their account "
                            "while they waited"};
  Counter accounts{"accounts", "skua_account_messages_total", "messages",
                   "#account messages that were read"};
  Counter labels{"labels", "skua_labels_total", "labels", "Labels that were read"};
  Counter infos{"infos", "skua_info_messages_total", "messages", "#info messages that were read"};
  Counter errors{"errors", "skua_error_messages_total", "messages", "Error messages of the source"};
  Counter unknown{"unknown", "skua_unknown_messages_total", "messages",
                  "Messages of an unknown type, and labels with an unknown field"};
  Counter ignored_messages{"ignored_messages", "skua_ignored_messages_total", "messages",
                           "Websocket messages of a kind that the source does not use: text of a "
                           "relay or labeler"};
  Counter too_large{"too_large", "skua_too_large_messages_total", "messages",
                    "Messages over the limit of size, which became dead letters with their "
                    "beginning"};
  Counter bad_frames{"", "skua_dead_letter_messages_total", "messages",
                     "Whole messages that became dead letters"};
  Counter bad_ops{"", "skua_dead_letter_operations_total", "operations",
                  "Single operations and labels that became dead letters"};
  Counter unforeseen{"unforeseen", "skua_unforeseen_exceptions_total", "messages",
                     "Messages that became dead letters because of an unexpected exception"};
  Counter altered{"altered", "skua_altered_records_total", "records",
                  "Records of a Tap or a Jetstream whose hash is not their CID: the conversion to "
                  "JSON lost information"};
  Counter filtered{"filtered", "skua_filtered_records_total", "records",
                   "Records that the filter excludes"};
  Counter filtered_messages{"filtered_messages", "skua_filtered_messages_total", "messages",
                            "Messages of accounts that the filter excludes"};

  Counter verified{"verified", "skua_verified_total", "commits, #syncs, labels",
                   "Commits, #syncs and labels that passed verification"};
  Counter broke{"broke", "skua_breaks_total", "commits",
                "Verified commits that do not follow the stored head of their repository"};
  Counter former_keys{"former_keys", "skua_former_key_signatures_total", "commits, labels",
                      "Verified commits and labels that a former key of the account signed"};
  CounterFamily<verify::kReasons> dropped{
      "dropped",
      "skua_dropped_total",
      "messages, labels",
      "Commits, #syncs and labels that were dropped, and all messages of foreign accounts, by "
      "reason (libs/foundation/verify/errc.hpp)",
      "reason",
      [](std::size_t index) { return verify::name_of(static_cast<verify::errc>(index + 1)); }};
  Counter stale_accounts{"stale_accounts", "skua_stale_account_messages_total", "messages",
                         "#account messages that were dropped because the host states another "
                         "status"};
  Counter unsettled_accounts{"unsettled_accounts", "skua_unsettled_account_messages_total",
                             "messages",
                             "#account messages whose host could not be asked: the account is "
                             "hidden, and its records stay until a resync has asked the host"};
  CounterFamily<records::kTypedCollections + 1> collections{
      "",
      "skua_collection_operations_total",
      "operations",
      "Record operations that were decoded, verified and not filtered out, by collection; other: "
      "collections without a table of their own",
      "collection",
      [](std::size_t id) { return id == 0 ? "other" : records::kCollectionNames[id - 1].data(); }};
  Histogram dispatch_latency{
      "dispatch_ms", "skua_dispatch_latency_seconds",
      "Time from the arrival of a message to its events in the queues of the "
      "workers: decoding, verification, and waits for keys and heads"};
  Gauge accounts_waiting{"accounts_waiting", "skua_waiting_accounts", "accounts",
                         "Accounts with parked messages"};
  Gauge frames_held{"frames_held", "skua_held_messages", "messages",
                    "Messages that are held because the local clock seems to be wrong"};

  /// The time at which the host made the newest message, in microseconds, or 0 if there was none.
  /// It is not a metric.
  std::atomic<std::int64_t> newest_time_us{0};

  void drop(verify::errc reason) { dropped.at(verify::index_of(reason)) += 1; }
};

}  // namespace skua::pipeline
