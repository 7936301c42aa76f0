#include "lexicon/formats.hpp"

#include "atproto/language.hpp"
#include "atproto/syntax.hpp"
#include "atproto/tid.hpp"
#include "atproto/uri.hpp"
#include "base/time.hpp"

namespace skua::lexicon {

const char* format_fault(std::string_view text, Format format) {
  switch (format) {
    case Format::None:
      return nullptr;
    case Format::AtIdentifier:
      return atproto::is_did(text) || atproto::is_handle(text) ? nullptr : "not a DID or handle";
    case Format::AtUri:
      return atproto::parse_at_uri(text) ? nullptr : "not an AT-URI";
    case Format::Cid:
      return atproto::is_cid_text(text) ? nullptr : "not a CID";
    case Format::Datetime:
      return parse_datetime(text) ? nullptr : "not a datetime";
    case Format::Did:
      return atproto::is_did(text) ? nullptr : "not a DID";
    case Format::Handle:
      return atproto::is_handle(text) ? nullptr : "not a handle";
    case Format::Language:
      return atproto::is_language_tag(text) ? nullptr : "not a language tag";
    case Format::Nsid:
      return atproto::is_nsid(text) ? nullptr : "not an NSID";
    case Format::RecordKey:
      return atproto::is_record_key(text) ? nullptr : "not a record key";
    case Format::Tid:
      return atproto::Tid::parse(text) ? nullptr : "not a TID";
    case Format::Uri:
      return atproto::is_uri(text) ? nullptr : "not a URI";
  }
  return nullptr;
}

}  // namespace skua::lexicon
