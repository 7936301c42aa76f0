#include "transport/throwaway_certificate.hpp"

#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

namespace skua::transport {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* thing) const {
    Free(thing);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<&EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<&X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<&X509_EXTENSION_free>>;
using Bio = std::unique_ptr<BIO, Freed<&BIO_free_all>>;

constexpr long kHour = 3600;
constexpr long kWeek = 7 * 24 * kHour;

void require(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("OpenSSL cannot ") + what);
}

Key make_key() {
  Key key(EVP_EC_gen("P-256"));
  require(key != nullptr, "make an EC key");
  return key;
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  require(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1,
          "add a certificate extension");
}

/// Begins a certificate without extensions and signature. If `issuer` is null, the certificate is
/// its own issuer.
Certificate begin_certificate(const char* common_name, EVP_PKEY* key, X509* issuer) {
  Certificate certificate(X509_new());
  require(certificate != nullptr, "make a certificate");
  std::uint64_t serial = 0;
  require(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1,
          "give random numbers");
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial >> 1);
  // Begins an hour in the past, for clocks that differ.
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kHour);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kWeek);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), issuer != nullptr ? X509_get_subject_name(issuer) : name);
  require(X509_set_pubkey(certificate.get(), key) == 1, "set a certificate's key");
  return certificate;
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string to_pem(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  require(PEM_write_bio_X509(bio.get(), certificate) == 1, "write a certificate");
  return text_of(bio.get());
}

std::string to_pem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  require(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
          "write a key");
  return text_of(bio.get());
}

bool is_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

}  // namespace

ThrowawayCertificate make_throwaway_certificate(const std::vector<std::string>& names) {
  const auto ca_key = make_key();
  const auto ca = begin_certificate("throw-away test authority", ca_key.get(), nullptr);
  add_extension(ca.get(), ca.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(ca.get(), ca.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(ca.get(), ca.get(), NID_subject_key_identifier, "hash");
  require(X509_sign(ca.get(), ca_key.get(), EVP_sha256()) > 0, "sign a certificate");

  std::string alternatives;
  for (const auto& name : names) {
    if (!alternatives.empty()) alternatives += ",";
    alternatives += (is_address(name) ? "IP:" : "DNS:") + name;
  }
  const auto key = make_key();
  const auto certificate = begin_certificate("throw-away test server", key.get(), ca.get());
  add_extension(certificate.get(), ca.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate.get(), ca.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(certificate.get(), ca.get(), NID_ext_key_usage, "serverAuth");
  add_extension(certificate.get(), ca.get(), NID_subject_alt_name, alternatives);
  add_extension(certificate.get(), ca.get(), NID_subject_key_identifier, "hash");
  add_extension(certificate.get(), ca.get(), NID_authority_key_identifier, "keyid");
  require(X509_sign(certificate.get(), ca_key.get(), EVP_sha256()) > 0, "sign a certificate");
  return {to_pem(ca.get()), to_pem(certificate.get()), to_pem(key.get())};
}

}  // namespace skua::transport
