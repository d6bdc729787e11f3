// SPDX-License-Identifier: GPL-3.0-or-later
// A certificate that nobody else trusts, of 127.0.0.1, and its key, which is no secret: for servers
// that tests play. Valid until 2120.
#pragma once

namespace auger::test {

inline constexpr const char* test_certificate =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBbzCCARagAwIBAgIBATAKBggqhkjOPQQDAjAeMRwwGgYDVQQDDBNhdWdlciB0\n"
    "ZXN0IHJlY2VpdmVyMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAe\n"
    "MRwwGgYDVQQDDBNhdWdlciB0ZXN0IHJlY2VpdmVyMFkwEwYHKoZIzj0CAQYIKoZI\n"
    "zj0DAQcDQgAES/dMdaFNp++DiB7kc/pRmPpXOFmC5F7EUfizeeNiCHDO0Om0B97R\n"
    "uNdnYSsZBNo155zuKMCI3Yfw/Qd6GWgGZ6NDMEEwDwYDVR0TAQH/BAUwAwEB/zAP\n"
    "BgNVHREECDAGhwR/AAABMB0GA1UdDgQWBBRJhld1K3J45wiiXGH2b+nyt3CadTAK\n"
    "BggqhkjOPQQDAgNHADBEAiBpqtVe6M/4hzTyF7r29QB9o2UAHxJ7Ns2RCQn6jOoH\n"
    "6QIgY9ChUm6Wjiac4oOra/Yyv/GCRgdNz3xb+Im8xcy2giM=\n"
    "-----END CERTIFICATE-----\n";

inline constexpr const char* test_certificate_key =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7F1FQhdvxuo4YxIX\n"
    "JcrYMbuwWtx5OWPEdFf/yHNfdWqhRANCAARL90x1oU2n74OIHuRz+lGY+lc4WYLk\n"
    "XsRR+LN542IIcM7Q6bQH3tG412dhKxkE2jXnnO4owIjdh/D9B3oZaAZn\n"
    "-----END PRIVATE KEY-----\n";

} // namespace auger::test
