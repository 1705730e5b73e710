/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sha256.c: the digest of FIPS 180-4, section 6.2, and RFC 4648's base64 of it.
 *
 * A page names the digests of its own style and script, and a browser then runs nothing else in
 * it. No secret is involved, so that plain loops do.
 */
#include "sha256.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_BYTES 64

struct digest {
    uint32_t words[8];
};

/* Fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
};

static uint32_t turn(uint32_t word, unsigned bits) {
    return (word >> bits) | (word << (32 - bits));
}

static void digest_block(struct digest *digest, const unsigned char block[BLOCK_BYTES]) {
    uint32_t w[64];
    uint32_t s[8];
    memcpy(w, block, BLOCK_BYTES);
    memcpy(s, digest->words, sizeof(s));
    for (size_t i = 0; i < 16; i++)
        w[i] = be32toh(w[i]);
    for (size_t i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] +
               (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >> 3)) +
               (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >> 10));
    for (size_t i = 0; i < 64; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t first = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) + choice +
                         round_constants[i] + w[i];
        uint32_t second = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) + majority;
        memmove(&s[1], &s[0], 7 * sizeof(s[0]));
        s[4] += first;
        s[0] = first + second;
    }
    for (size_t i = 0; i < 8; i++)
        digest->words[i] += s[i];
}

/* @bytes are 32: eleven groups of three, the last of which lacks one. */
static void base64_write(char ret_text[SHA256_BASE64_BYTES], const unsigned char bytes[33]) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < 11; i++) {
        uint32_t group =
            (uint32_t)bytes[3 * i] << 16 | (uint32_t)bytes[3 * i + 1] << 8 | bytes[3 * i + 2];
        for (size_t j = 0; j < 4; j++)
            ret_text[4 * i + j] = letters[(group >> (18 - 6 * j)) & 63];
    }
    ret_text[SHA256_BASE64_BYTES - 2] = '=';
    ret_text[SHA256_BASE64_BYTES - 1] = '\0';
}

char *sha256_base64(char ret_text[SHA256_BASE64_BYTES], const void *data, size_t length) {
    struct digest digest = {{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                             0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
    const unsigned char *at = data;
    size_t left = length;
    for (; left >= BLOCK_BYTES; left -= BLOCK_BYTES, at += BLOCK_BYTES)
        digest_block(&digest, at);

    /* The rest, a single bit, zeros, and the length in bits at the end of a block. */
    unsigned char tail[2 * BLOCK_BYTES] = {0};
    size_t tail_bytes = left < BLOCK_BYTES - 8 ? BLOCK_BYTES : 2 * BLOCK_BYTES;
    uint64_t bits = htobe64((uint64_t)length * 8);
    memcpy(tail, at, left);
    tail[left] = 0x80;
    memcpy(tail + tail_bytes - sizeof(bits), &bits, sizeof(bits));
    for (size_t i = 0; i < tail_bytes; i += BLOCK_BYTES)
        digest_block(&digest, tail + i);

    unsigned char bytes[33] = {0};
    for (size_t i = 0; i < 8; i++) {
        uint32_t word = htobe32(digest.words[i]);
        memcpy(bytes + 4 * i, &word, sizeof(word));
    }
    base64_write(ret_text, bytes);
    return ret_text;
}
