#include "repo/errc.hpp"

#include <string>

namespace skua::repo {
namespace {

class RepoCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "skua.repo"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::cbor_truncated:
        return "DAG-CBOR ends in the middle of a value";
      case errc::cbor_trailing_bytes:
        return "bytes follow the end of the DAG-CBOR value";
      case errc::cbor_indefinite_length:
        return "DAG-CBOR with an indefinite length";
      case errc::cbor_not_shortest:
        return "DAG-CBOR with a number or length that is not in its shortest form";
      case errc::cbor_key_not_text:
        return "a DAG-CBOR map with a key that is not text";
      case errc::cbor_key_order:
        return "a DAG-CBOR map whose keys are out of order or doubled";
      case errc::cbor_invalid_utf8:
        return "DAG-CBOR text that is not UTF-8";
      case errc::cbor_bad_tag:
        return "a CBOR tag other than 42";
      case errc::cbor_bad_link:
        return "a link that is not a CID that atproto allows";
      case errc::cbor_float:
        return "a float where none is allowed, or one that is not a finite 64-bit number";
      case errc::cbor_bad_simple:
        return "a CBOR simple value other than false, true and null";
      case errc::cbor_integer_range:
        return "an integer that does not fit 64 bits with sign";
      case errc::cbor_too_deep:
        return "DAG-CBOR that is nested too deeply";
      case errc::cbor_too_large:
        return "DAG-CBOR that is too large";
      case errc::car_truncated:
        return "the CAR ends in the middle of a section";
      case errc::car_bad_header:
        return "the CAR's header is malformed";
      case errc::car_bad_version:
        return "not CAR version 1 (CAR v2 and later are not supported)";
      case errc::car_bad_cid:
        return "a CID in the CAR is not one that atproto allows";
      case errc::car_hash_mismatch:
        return "a block's SHA-256 is not what its CID says";
      case errc::car_not_a_repository:
        return "the CAR is not a repository: its first root must be a commit that is among its "
               "blocks";
      case errc::commit_malformed:
        return "the commit object is malformed";
      case errc::commit_missing:
        return "the commit is not among the blocks";
      case errc::mst_malformed:
        return "a node of the repository's tree is malformed";
      case errc::mst_order:
        return "the keys of the repository's tree are out of order";
      case errc::mst_depth:
        return "a key or node of the repository's tree stands at the wrong depth";
      case errc::mst_too_large:
        return "the repository's tree or a key in it is too large";
      case errc::mst_missing_node:
        return "a node of the repository's tree is not among the blocks";
      case errc::cbor_malformed:
        return "bytes that are not CBOR";
      case errc::car_bad_length:
        return "a section of the CAR has a length that is zero or malformed";
      case errc::record_missing:
        return "a record of the repository is not among the blocks";
      case errc::car_duplicates:
        return "far too many blocks stand in the CAR more than once";
    }
    return "unknown error";
  }
};

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const RepoCategory category;
  return {static_cast<int>(e), category};
}

}  // namespace skua::repo
