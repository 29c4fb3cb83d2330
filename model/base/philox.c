/*
 * Ten rounds of multiply, keep both halves, and mix: enough to pass every
 * published test, with no state to keep and nothing to seed.
 */
#include "model/base/philox.h"

enum { ROUNDS = 10 };

static const uint32_t MULTIPLIER[2] = { 0xD2511F53u, 0xCD9E8D57u };
static const uint32_t WEYL[2] = { 0x9E3779B9u, 0xBB67AE85u }; /* golden ratio, sqrt(3) - 1 */

struct philox philox4x32(struct philox c, uint32_t key0, uint32_t key1)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t a = (uint64_t)MULTIPLIER[0] * c.word[0];
        uint64_t b = (uint64_t)MULTIPLIER[1] * c.word[2];

        c = (struct philox){ {
            (uint32_t)(b >> 32) ^ c.word[1] ^ key0,
            (uint32_t)b,
            (uint32_t)(a >> 32) ^ c.word[3] ^ key1,
            (uint32_t)a,
        } };
        key0 += WEYL[0];
        key1 += WEYL[1];
    }
    return c;
}
