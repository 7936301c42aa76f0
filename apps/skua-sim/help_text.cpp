#include "help_text.hpp"

#include <fmt/format.h>

#include "serve/fault.hpp"

namespace skua::sim {
namespace {

constexpr const char* kWords =
    R"(Without --serve and --write-capture it simulates: accounts that write, PDSes, a PLC directory, a
relay and a DNS server. Everything depends only on --seed. Posts, profiles and lists have readable texts in
several languages; a reply has the language and the topic of its thread. When ready, it prints one JSON line
with the URLs to stdout. The log has one JSON line for each event (connect, fault, caught_up, disconnect,
request, question, quiet).

A capture is [u32 little-endian length][frame] repeated.

Cursors: cursor=N sends the frames with a seq above N, cursor=0 all frames from the oldest. Without a cursor
a client gets only new frames, or, from a capture, the frames from --live-from on.

Faults, KIND[:ARG]. A fault with a WHEN happens once: before the frame is sent to the first client that
reaches it, or when the relay reaches that point:
{faults}
WHEN is frame:N (from 1), seq:N, or SECONDSs after the start. Tap's channel, Jetstream and the labeler's
stream each count their own messages for frame:N, so use frame numbers in tests with one kind of client.

The account of silent-account is a did:web outside the network ("silent_did" in the first line).

The control server (URL "control") accepts POST /fault {{"kind":"cut","count":1}} (with "arg" if the kind has
one), POST /pause, /resume, /step {{"count":N}}, /dump {{"dir":"DIR"}}, and GET /state; and POST /relay
{{"relay":N,"state":"up|down|silent"}}, with 2 for the relay of --second-relay. "plc" and "hosts" in /state
count the requests to the PLC directory and to each PDS: the total, and the maxima at once and in one second.

POST /record {{"did":DID,"collection":NSID}} commits a new record of an account ("delete":true removes one; with
"rkey" and "value" this one), POST /identity {{"did":DID,"count":N}} publishes its #identity messages, and
POST /labeler-service {{"did":DID,"url":URL}} gives it the address of a labeler in the directory.

With --tap the control server has POST /tap/resync {{"did":DID,"all":true}} (without a DID: all accounts that
have lost commits), GET /tap/stalled?ms=N (accounts whose oldest event has been unacked for N ms), and "tap" in
/state: unacked, in_flight, redelivered...

With --labeler the control server has POST /label {{"uri":URI,"val":VALUE}} (with "neg", "cid", "exp", "cts",
and "broken":"signature|ver|uri|..." for an invalid one; or {{"labels":[...]}} for several in one frame), POST
/labeler/rotate (a new key for labels), POST /labeler {{"state":"up|down|silent"}}, and GET /labels: the current
label of each URI and value.

The DNS server ("dns":"127.0.0.1:PORT", UDP) has the TXT record did=DID of _atproto.HANDLE for every handle
that leads to an account, and no other name.

Examples:
  skua-sim --accounts 500 --rate 200 --seed 7 --dump oracle
  skua-sim --accounts 50 --records 5000 --fault bad-signature@seq:100 --fault-rate cut=0.1
  skua-sim --events 10000 --rate 2000 --fault-rate 429=0.2 --fault-rate cut-download=0.1
  skua-sim --accounts 1000 --records 2000000 --records-spread 2 --hosts 8
  skua-sim --tap --tap-retry 2 --accounts 500 --records 20000 --fault-rate tap-crash=0.1
  skua-sim --labeler --accounts 200 --rate 50 --fault-rate cut=0.1
  skua-sim --jetstream --zstd-dictionary zstd_dictionary --accounts 500
  skua-sim --write-capture big.frames --events 1000000 --accounts 2000 --records 2000000
  skua-sim --serve day.frames --port 2470 --cut-at 100 --stall-at seq:31415:2.5
  skua-sim --serve day.frames --tls --ca-file ca.pem
  skua-sim --serve day.frames --rate 500 --log sim.jsonl --error-at 20:ConsumerTooSlow)";

}  // namespace

std::string help_text() {
  return fmt::format(fmt::runtime(kWords), fmt::arg("faults", describe_faults()));
}

}  // namespace skua::sim
