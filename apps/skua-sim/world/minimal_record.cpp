#include "minimal_record.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "atproto/data_model.hpp"
#include "event/json_record.hpp"
#include "names.hpp"
#include "record_maker.hpp"
#include "records/record.hpp"
#include "repo/dag_cbor_reader.hpp"

namespace skua::sim {
namespace {

using nlohmann::json;

std::optional<std::string> fault_of(std::string_view nsid, std::string_view rkey,
                                    const json& record) {
  const auto block = event::json_to_dag_cbor(record);
  atproto::Document document;
  if (!block || !repo::read_dag_cbor(*block, document)) return "record: not DAG-CBOR";
  return records::decode_record(nsid, rkey, document).invalid_reason;
}

/// `subject.uri` as the JSON pointer `/subject/uri`.
json::json_pointer pointer_to(std::string_view path) {
  std::string pointer = "/" + std::string(path);
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return json::json_pointer(pointer);
}

/// A value without the fault that a record's invalid reason states in these words; nothing: it has
/// no such fault.
std::optional<json> value_without(std::string_view fault, Random& random, const Subjects& subjects,
                                  const StrongRef& post, Timestamp now) {
  if (fault == "missing" || fault == "must be a string") {
    return random_word(random);
  }
  if (fault == "must be an integer") return random.below(1'000);
  if (fault == "must be a boolean") return random.below(2) == 1;
  if (fault == "must be bytes") return json::binary({1, 2, 3});
  if (fault == "must be a list") return json::array();
  if (fault == "must be an object") return json::object();
  if (fault == "must be a blob") return random_blob(random, "image/jpeg", 900'000);
  if (fault == "not a datetime") return client_datetime(random, now);
  if (fault == "not a DID") return subjects.account(random);
  if (fault == "not a handle") return random_name(random) + ".test";
  if (fault == "not an AT-URI") return post.uri;
  if (fault == "not a CID") return post.cid;
  if (fault == "not a URI") return random_link(random);
  return std::nullopt;
}

}  // namespace

json make_minimal(Random& random, const Subjects& subjects, std::string_view nsid,
                  std::string_view rkey, Timestamp now) {
  // Each field needs a few corrections, and no lexicon requires so many fields.
  constexpr int kMaxCorrections = 200;
  const StrongRef post = subjects.post(random).post;
  json record = {{"$type", nsid}};
  for (int i = 0; i < kMaxCorrections; ++i) {
    const auto fault = fault_of(nsid, rkey, record);
    if (!fault) return record;
    const std::size_t colon = std::min(fault->find(": "), fault->size());
    const auto value =
        value_without(std::string_view(*fault).substr(std::min(colon + 2, fault->size())), random,
                      subjects, post, now);
    if (!value) throw std::logic_error(std::string(nsid) + ": " + *fault);
    record[pointer_to(std::string_view(*fault).substr(0, colon))] = *value;
  }
  throw std::logic_error(std::string(nsid) + ": requires too many fields");
}

}  // namespace skua::sim
