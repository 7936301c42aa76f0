#include "records/record_rules.hpp"

#include <cctype>
#include <stdexcept>
#include <utility>

#include "event/json_event.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::test {
namespace {

/// `facets[0].index` as the JSON pointer `/facets/0/index`.
json::json_pointer pointer_to(const std::string& path) {
  std::string pointer = "/";
  for (const char c : path) {
    if (c == '.' || c == '[') {
      pointer += '/';
    } else if (c != ']') {
      pointer += c;
    }
  }
  return json::json_pointer(pointer);
}

std::string name_of_path(std::string path) {
  for (char& c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return path;
}

}  // namespace

std::string uri_of(std::string_view did, std::string_view collection, std::string_view rkey) {
  return "at://" + std::string(did) + "/" + std::string(collection) + "/" + std::string(rkey);
}

json strong_ref(const std::string& uri) {
  return {{"uri", uri}, {"cid", kCid}};
}

json blob(const std::string& mime_type) {
  return {
      {"$type", "blob"}, {"ref", {{"$link", kBlobCid}}}, {"mimeType", mime_type}, {"size", 1234}};
}

DecodedJson::DecodedJson(std::string_view collection, const json& record, std::string_view rkey) {
  auto block = event::json_to_dag_cbor(record);
  if (!block) throw std::runtime_error(block.error().message());
  block_ = std::move(*block);
  repo::CborOptions options;
  options.allow_floats = true;
  if (const auto read = repo::read_dag_cbor(block_, document_, options); !read) {
    throw std::runtime_error(read.error().message());
  }
  decoded_ = records::decode_record(collection, rkey, document_);
}

std::vector<std::string> references_of(records::Record& record) {
  struct Collector {
    std::vector<std::string>& found;
    void operator()(records::ActorRef& actor) { found.emplace_back(actor.did); }
    void operator()(records::RecordRef& reference) {
      found.push_back(uri_of(reference.did, reference.collection, reference.rkey));
    }
  };
  std::vector<std::string> found;
  records::visit_references(record, Collector{found});
  return found;
}

std::vector<Breach> breaches(std::string_view collection, bool singleton, const json& valid,
                             const std::vector<std::string>& required,
                             const std::vector<std::string>& fields) {
  std::vector<Breach> all;
  for (const std::string& path : required) {
    const auto pointer = pointer_to(path);
    json record = valid;
    record.at(pointer.parent_pointer()).erase(pointer.back());
    all.push_back({"missing_" + name_of_path(path), std::string(collection), singleton, record,
                   path + ": missing"});
  }
  const std::vector<std::pair<std::string, json>> kinds = {{"null", nullptr},
                                                           {"boolean", true},
                                                           {"integer", 7},
                                                           {"text", "text"},
                                                           {"bytes", {{"$bytes", "AQI"}}},
                                                           {"list", json::array({nullptr})},
                                                           {"map", {{"a", 1}}}};
  for (const std::string& path : fields) {
    const json& good = valid.at(pointer_to(path));
    for (const auto& [kind, value] : kinds) {
      // A text may be wrong for its format, but not for its type.
      if (good.type() == value.type() && !(good.contains("$bytes") != value.contains("$bytes")))
        continue;
      if (good.is_number_integer() && value.is_number_integer()) continue;
      json record = valid;
      record.at(pointer_to(path)) = value;
      all.push_back(
          {name_of_path(path) + "_as_" + kind, std::string(collection), singleton, record, path});
    }
  }
  return all;
}

TEST_P(BreaksLexicon, is_kept_whole_with_the_reason) {
  const Breach& breach = GetParam();
  const DecodedJson decoded(breach.collection, breach.record,
                            breach.singleton ? "self" : "3jquh3dxgi52o");
  ASSERT_TRUE(decoded->invalid_reason) << breach.record.dump();
  // The fault is the field itself or, of a list or object of another type, something in it.
  EXPECT_EQ(decoded->invalid_reason->substr(0, breach.reason.size()), breach.reason);
  EXPECT_NE(decoded->invalid_reason->find(": "), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(decoded->record));
  EXPECT_EQ(json::parse(decoded->json), breach.record);
}

}  // namespace skua::test
