#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "top/model.hpp"

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

/// `/status` of a query database with a node that cannot be read.
inline std::string made_network() {
  return R"({"nodes":[{"name":"west","groups":"0-31","read_up_to":"2026-06-15 12:00:00",
    "age_seconds":3,"references_wait":true,"has_filter":false,"kept":"","problem":null},
    {"name":"east","groups":"32-61","read_up_to":null,"age_seconds":null,"references_wait":false,
    "has_filter":false,"kept":"","problem":"could not connect to server"}],
    "missing_groups":"62-63","move":""})";
}

/// `/status/process` of a process that handles so many events a second. `text` is in the names.
inline std::string made_process(double per_second, std::string_view text = "",
                                bool is_quiet = false) {
  using nlohmann::json;
  const auto with = [&](const char* plain) { return plain + std::string(text); };
  json page = {{"events_per_second", per_second},
               {"rows_per_second", per_second / 2},
               {"lag_seconds", 0.5},
               {"commit_latency_seconds", {{"p50", 0.005}, {"p99", 0.0099}}},
               {"in_flight_messages", 7},
               {"dead_letters", 2},
               {"sources",
                {{{"source", with("relay:a")},
                  {"is_connected", true},
                  {"role", "active"},
                  {"cursor", 12345},
                  {"lag_seconds", 0.5},
                  {"messages_per_second", per_second},
                  {"verified_per_second", per_second},
                  {"waiting_accounts", 4},
                  {"dropped", {{with("old_rev"), 3}}}},
                 {{"source", with("tap:b")},
                  {"is_connected", false},
                  {"role", nullptr},
                  {"cursor", nullptr},
                  {"lag_seconds", nullptr},
                  {"messages_per_second", nullptr},
                  {"verified_per_second", nullptr},
                  {"waiting_accounts", nullptr},
                  {"dropped", json::object()}}}},
               {"collections",
                {{{"collection", "app.bsky.feed.post"},
                  {"operations", 500},
                  {"per_second", per_second},
                  {"is_quiet", is_quiet}},
                 {{"collection", with("app.bsky.feed.postgate")},
                  {"operations", 5},
                  {"per_second", 0.0},
                  {"is_quiet", false}}}}};
  for (const char* kind : {"live", "backfill"}) {
    for (const char* type : {"actor", "like", "social", "post", "metadata"}) {
      for (int i = 0; i < 3; ++i) {
        page["workers"].push_back({{"worker", fmt::format("{} {}{} {}", kind, type, text, i)},
                                   {"queued_events", i * 3'000},
                                   {"events_per_second", per_second}});
      }
    }
  }
  return page.dump(-1, ' ', false, json::error_handler_t::replace);
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
         {"retry_seconds", 7.5},
         {"dead_letters", 3},
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
    model.add(made_answer(Page::Health, made_health(text), at, 503));
    model.add(made_answer(Page::Process, made_process(40, text, true), at));
    model.add(made_answer(Page::Status,
                          made_status(2e9 + 1e6 * static_cast<double>(at.count()), text), at));
    model.add(made_answer(Page::Latest, made_latest(text), at));
  }
  return model;
}

}  // namespace skua::top
