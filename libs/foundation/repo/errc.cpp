#include "repo/errc.hpp"

#include <array>

#include "base/result.hpp"

namespace skua::repo {
namespace {

constexpr auto kErrorTexts = std::to_array<ErrorText<errc>>({
    {errc::cbor_truncated, "DAG-CBOR ends in the middle of a value"},
    {errc::cbor_trailing_bytes, "bytes follow the end of the DAG-CBOR value"},
    {errc::cbor_indefinite_length, "DAG-CBOR with an indefinite length"},
    {errc::cbor_not_shortest, "DAG-CBOR with a number or length that is not in its shortest form"},
    {errc::cbor_key_not_text, "a DAG-CBOR map with a key that is not text"},
    {errc::cbor_key_order, "a DAG-CBOR map whose keys are out of order or doubled"},
    {errc::cbor_invalid_utf8, "DAG-CBOR text that is not UTF-8"},
    {errc::cbor_bad_tag, "a CBOR tag other than 42"},
    {errc::cbor_bad_link, "a link that is not a CID that atproto allows"},
    {errc::cbor_float, "a float where none is allowed, or one that is not a finite 64-bit number"},
    {errc::cbor_bad_simple, "a CBOR simple value other than false, true and null"},
    {errc::cbor_integer_range, "an integer that does not fit 64 bits with sign"},
    {errc::cbor_too_deep, "DAG-CBOR that is nested too deeply"},
    {errc::cbor_too_large, "DAG-CBOR that is too large"},
    {errc::car_truncated, "the CAR ends in the middle of a section"},
    {errc::car_bad_header, "the CAR's header is malformed"},
    {errc::car_bad_version, "not CAR version 1 (CAR v2 and later are not supported)"},
    {errc::car_bad_cid, "a CID in the CAR is not one that atproto allows"},
    {errc::car_hash_mismatch, "a block's SHA-256 is not what its CID says"},
    {errc::car_not_a_repository,
     "the CAR is not a repository: its first root must be a commit that is among its blocks"},
    {errc::commit_malformed, "the commit object is malformed"},
    {errc::commit_missing, "the commit is not among the blocks"},
    {errc::mst_malformed, "a node of the repository's tree is malformed"},
    {errc::mst_order, "the keys of the repository's tree are out of order"},
    {errc::mst_depth, "a key or node of the repository's tree stands at the wrong depth"},
    {errc::mst_too_large, "the repository's tree or a key in it is too large"},
    {errc::mst_missing_node, "a node of the repository's tree is not among the blocks"},
    {errc::cbor_malformed, "bytes that are not CBOR"},
    {errc::car_bad_length, "a section of the CAR has a length that is zero or malformed"},
    {errc::record_missing, "a record of the repository is not among the blocks"},
    {errc::car_duplicates, "far too many blocks stand in the CAR more than once"},
});

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const ErrorCategory<kErrorTexts> category("skua.repo");
  return {static_cast<int>(e), category};
}

}  // namespace skua::repo
