#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "top/model.hpp"
#include "top/page.hpp"

namespace skua::top {

inline constexpr std::chrono::steady_clock::time_point kMadeStart{std::chrono::seconds(10'000)};

inline Answer made_answer(Page page, std::string body, std::chrono::milliseconds at = {},
                          unsigned status = 200) {
  Answer answer;
  answer.page = page;
  answer.at = kMadeStart + at;
  answer.status = status;
  answer.body = std::move(body);
  return answer;
}

inline Answer made_failure(Page page, std::string failure, std::chrono::milliseconds at) {
  Answer answer;
  answer.page = page;
  answer.at = kMadeStart + at;
  answer.failure = std::move(failure);
  return answer;
}

/// A text of the network in a label.
inline std::string made_label(std::string_view text) {
  std::string label;
  for (const char c : text) {
    if (c == '"' || c == '\\') label += '\\';
    label += c == '\n' ? "\\n" : std::string(1, c);
  }
  return label;
}

/// `/metrics` after `events` events. `text` is in the names.
inline std::string made_metrics(int events, std::string_view text = "") {
  const std::string end = made_label(text);
  std::string page = fmt::format(
      "skua_events_total {0}\nskua_rows_total {1}\nskua_dead_letters_total 2\n"
      "skua_connected{{source=\"relay:a{2}\"}} 1\nskua_connected{{source=\"tap:b{2}\"}} 0\n"
      "skua_role{{source=\"relay:a{2}\",role=\"active\"}} 1\n"
      "skua_cursor{{source=\"relay:a{2}\"}} 12345\n"
      "skua_lag_seconds{{source=\"relay:a{2}\"}} 0.5\nskua_lag_seconds{{source=\"tap:b{2}\"}} 9\n"
      "skua_in_flight_messages{{source=\"relay:a{2}\"}} 7\n"
      "skua_messages_total{{source=\"relay:a{2}\"}} {0}\n"
      "skua_verified_total{{source=\"relay:a{2}\"}} {0}\n"
      "skua_waiting_accounts{{source=\"relay:a{2}\"}} 4\n"
      "skua_dropped_total{{source=\"relay:a{2}\",reason=\"old_rev{2}\"}} 3\n"
      "skua_dropped_total{{source=\"relay:a{2}\",reason=\"bad_signature\"}} 0\n"
      "skua_commit_latency_seconds_bucket{{source=\"relay:a{2}\",le=\"0.01\"}} {0}\n"
      "skua_commit_latency_seconds_bucket{{source=\"relay:a{2}\",le=\"+Inf\"}} {0}\n"
      "skua_collection_operations_total{{source=\"relay:a{2}\",collection=\"app.bsky.feed.post\"}} "
      "{0}\n"
      "skua_collection_operations_total{{source=\"relay:a{2}\",collection=\"app.bsky.feed."
      "postgate{2}\"}} 5\n"
      "skua_collection_operations_total{{source=\"relay:a{2}\",collection=\"app.bsky.feed.like\"}} "
      "0\n",
      events, events / 2, end);
  for (const char* kind : {"live", "backfill"}) {
    for (const char* type : {"actor", "like", "social", "post", "metadata"}) {
      for (int i = 0; i < 3; ++i) {
        page += fmt::format(
            "skua_worker_queued_events{{worker=\"{0} {1}{3} {2}\"}} {4}\n"
            "skua_worker_events_total{{worker=\"{0} {1}{3} {2}\"}} {5}\n",
            kind, type, i, end, i * 3'000, events);
      }
    }
  }
  return page;
}

inline std::string made_health(std::string_view text = "", bool is_ready = false) {
  using nlohmann::json;
  const auto with = [&](const char* plain) { return plain + std::string(text); };
  json page = {{"status", is_ready ? "ready" : "not-ready"},
               {"reasons", json::array()},
               {"warnings", json::array()}};
  if (is_ready) return page.dump();
  page["reasons"] = {{{"code", with("source-down")},
                      {"title", with("a source cannot be reached")},
                      {"detail", with("relay:a: no connection for 12 s")},
                      {"cure", with("Check the address and the network.")}},
                     {{"code", "collection-quiet"},
                      {"title", "a collection is quiet"},
                      {"detail", "no events for 10 min: app.bsky.feed.like, app.bsky.feed.post"},
                      {"cure", "Look at the relay."}}};
  page["warnings"] = {{{"code", "dead-letters"},
                       {"title", "there are dead letters"},
                       {"detail", "2 dead letters"},
                       {"cure", "skua dead-letters list"}}};
  return page.dump(-1, ' ', false, json::error_handler_t::replace);
}

inline std::string made_status(double bytes, std::string_view text = "") {
  using nlohmann::json;
  const auto with = [&](const char* plain) { return plain + std::string(text); };
  const json page = {
      {"database_bytes", bytes},
      {"tables",
       {{{"table", with("posts")}, {"rows_estimated", 1'000}, {"bytes", bytes / 2}},
        {{"table", with("likes")}, {"rows_estimated", 2'000}, {"bytes", 8192}}}},
      {"consumers",
       {{{"name", with("post_stats")},
         {"kind", "projection"},
         {"state", "paused"},
         {"lag_seconds", 12.5},
         {"changes_behind", 1'234},
         {"reason", with("a lane failed")}}}},
      {"dead_letters", {{{"error", with("a record is malformed")}, {"count", 17}}}},
      {"backfill",
       {{"jobs",
         {{"queued", 300}, {"running", 20}, {"done", 80}, {"failed", 1}, {"unavailable", 2}}},
        {"is_running", true},
        {"metrics", {{"repositories_per_second", 4.0}}},
        {"hosts",
         {{{"host", with("pds.example")},
           {"queued", 300},
           {"running", 20},
           {"done", 80},
           {"ended_otherwise", 3}}}}}}};
  return page.dump(-1, ' ', false, json::error_handler_t::replace);
}

inline std::string made_latest(std::string_view text = "") {
  using nlohmann::json;
  const auto with = [&](const char* plain) { return plain + std::string(text); };
  const json page = {{"posts",
                      {{{"at", "2026-07-04T14:38:08.085434Z"},
                        {"name", with("alice.test")},
                        {"text", with("Hello")},
                        {"uri", "at://x"}}}},
                     {"dead_letters",
                      {{{"id", 7},
                        {"at", "2026-07-04T14:38:08.085434Z"},
                        {"did", "did:plc:abc"},
                        {"origin", with("relay:a")},
                        {"status", "dead"},
                        {"error", with("a record is malformed")}}}}};
  return page.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// A model that has read all pages twice, ten seconds apart.
inline Model made_model(std::string_view text = "") {
  using namespace std::chrono_literals;
  Model model;
  for (const auto at : {0s, 10s}) {
    const auto events = static_cast<int>(100 + at.count() * 40);
    model.add(made_answer(Page::Health, made_health(text), at, 503));
    model.add(made_answer(Page::Metrics, made_metrics(events, text), at));
    model.add(made_answer(Page::Status,
                          made_status(2e9 + 1e6 * static_cast<double>(at.count()), text), at));
    model.add(made_answer(Page::Latest, made_latest(text), at));
  }
  return model;
}

}  // namespace skua::top
