/*
 * A number that somebody measured is a row with the card and the document, so
 * that a reader can go and look, and where two disagree both are there. The
 * differences are worth reading: a chase through an array that fits in the L2
 * measures the L2, a loop that is not unrolled measures the loop.
 *
 * The sources in full: docs/devices.md.
 */
#include "model/latency.h"

#define VOLTA_PAPER  "Jia et al., arXiv 1804.06826"
#define TURING_PAPER "Jia et al., arXiv 1903.07486"
#define ARAFA        "Arafa et al., HPEC 2019 (PPT-GPU)"
#define AMPERE_PAPER "Abdelkhalik et al., arXiv 2208.11174"
#define HUERTA       "Huerta et al., arXiv 2503.20481"
#define NAK          "Mesa NAK"
#define HOPPER_PAPER "Luo et al., arXiv 2501.12084"
#define HOPPER_AGAIN "Johnsonms/NVIDIA-Hopper-Benchmark"
#define FLASH        "FlashGPU-Sim SM90_H200"
#define CHASE        "RRZE gpu-benches"
#define DEWING       "markdewing/AI_kernels"
#define QUICKRUN     "ademeure/QuickRunCUDA"
#define L2_BY_SM     "arXiv 2606.22588"
#define GUIDE        "CUDA Programming Guide"
#define VOLTA_BOARD  "NVIDIA V100 whitepaper"
#define TURING_BOARD "NVIDIA Turing whitepaper"
#define AMPERE_BOARD "NVIDIA A100 whitepaper"
#define HOPPER_BOARD "NVIDIA H100 whitepaper"

#define BY_LOOP "the loop counts too"

/* clang-format off */
#define ROW(what, major, minor, least, most, card, source, note)                                   \
    { LATENCY_##what, major, minor, least, most, card, source, note }

const struct latency_row LATENCY_ROWS[] = {
    /*  what          cc      least    most  measured on     source        note */
    ROW(FMA,           7, 0,      4,      4, "V100",         VOLTA_PAPER,  NULL),
    ROW(INTEGER,       7, 0,      4,      5, "V100",         VOLTA_PAPER,  "IADD3 4, IMAD 5"),
    ROW(HALF,          7, 0,      6,      6, "V100",         VOLTA_PAPER,  NULL),
    ROW(DOUBLE,        7, 0,      8,      8, "V100",         VOLTA_PAPER,  NULL),
    ROW(DOUBLE,        7, 0,      8,      8, "TITAN V",      ARAFA,        NULL),
    ROW(EX2,           7, 0,     16,     16, "TITAN V",      ARAFA,        NULL),
    ROW(RCP,           7, 0,     23,     23, "TITAN V",      ARAFA,        "the fast form"),
    ROW(SHARED,        7, 0,     19,     19, "V100",         VOLTA_PAPER,  NULL),
    ROW(SHARED,        7, 0,     33,     33, "TITAN V",      ARAFA,        NULL),
    ROW(L1,            7, 0,     28,     28, "V100",         VOLTA_PAPER,  NULL),
    ROW(L1,            7, 0,     28,     28, "V100",         CHASE,        NULL),
    ROW(L1,            7, 0,     33,     33, "TITAN V",      ARAFA,        NULL),
    ROW(L1,            7, 0,     36,     36, "V100",         DEWING,       NULL),
    ROW(L2,            7, 0,    193,    193, "V100",         VOLTA_PAPER,  NULL),
    ROW(L2,            7, 0,    212,    212, "V100",         CHASE,        NULL),
    ROW(L2,            7, 0,    213,    213, "TITAN V",      ARAFA,        NULL),
    ROW(L2,            7, 0,    221,    221, "V100",         DEWING,       NULL),
    ROW(MEMORY,        7, 0,    425,    434, "V100",         CHASE,        "grows with the array"),
    ROW(MEMORY,        7, 0,    460,    460, "V100",         DEWING,       NULL),
    ROW(INTEGER_LANES, 7, 0,     64,     64, "cc 7.0",       GUIDE,        NULL),
    ROW(DOUBLE_LANES,  7, 0,     32,     32, "cc 7.0",       GUIDE,        NULL),
    ROW(SPECIAL_LANES, 7, 0,     16,     16, "cc 7.0",       GUIDE,        NULL),
    ROW(TENSOR,        7, 0,   1024,   1024, "V100",         VOLTA_BOARD,  NULL),

    ROW(FMA,           7, 5,      4,      4, "T4",           TURING_PAPER, NULL),
    ROW(INTEGER,       7, 5,      4,      4, "T4",           TURING_PAPER, NULL),
    ROW(HALF,          7, 5,      6,      6, "T4",           TURING_PAPER, NULL),
    ROW(DOUBLE,        7, 5,     45,     45, "T4",           TURING_PAPER, NULL),
    ROW(RCP,           7, 5,     38,     38, "T4",           TURING_PAPER, NULL),
    ROW(L1,            7, 5,     32,     32, "T4",           TURING_PAPER, NULL),
    ROW(L2,            7, 5,    188,    188, "T4",           TURING_PAPER, NULL),
    ROW(MEMORY,        7, 5,    434,    434, "T4",           TURING_PAPER, NULL),
    ROW(INTEGER_LANES, 7, 5,     64,     64, "cc 7.5",       GUIDE,        NULL),
    ROW(DOUBLE_LANES,  7, 5,      2,      2, "cc 7.5",       GUIDE,        NULL),
    ROW(SPECIAL_LANES, 7, 5,     16,     16, "cc 7.5",       GUIDE,        NULL),
    ROW(TENSOR,        7, 5,   1024,   1024, "T4",           TURING_BOARD, NULL),

    ROW(FMA,           8, 0,      4,      4, "A100",         AMPERE_PAPER, NULL),
    ROW(FMA,           8, 0,      4,      4, "cc 8.0",       NAK,          "FMA to FMA; to others 5"),
    ROW(INTEGER,       8, 0,      4,      4, "A100",         AMPERE_PAPER, NULL),
    ROW(HALF,          8, 0,      3,      3, "A100",         AMPERE_PAPER, NULL),
    ROW(HALF,          8, 0,      5,      5, "cc 8.0",       NAK,          NULL),
    ROW(DOUBLE,        8, 0,      5,      5, "A100",         AMPERE_PAPER, NULL),
    ROW(EX2,           8, 0,     14,     14, "A100",         AMPERE_PAPER, NULL),
    ROW(MMA,           8, 0,      8,      8, "A100",         AMPERE_PAPER, "each HMMA of it"),
    ROW(SHARED,        8, 0,     23,     23, "A100",         AMPERE_PAPER, "a store 19"),
    ROW(L1,            8, 0,     33,     33, "A100",         CHASE,        NULL),
    ROW(L1,            8, 0,     39,     39, "A100",         DEWING,       NULL),
    ROW(L2,            8, 0,    200,    200, "A100",         AMPERE_PAPER, NULL),
    ROW(L2,            8, 0,    206,    206, "A100",         CHASE,        NULL),
    ROW(L2,            8, 0,    210,    210, "A100",         DEWING,       NULL),
    ROW(L2_FAR,        8, 0,    391,    406, "A100",         CHASE,        NULL),
    ROW(MEMORY,        8, 0,    531,    552, "A100",         CHASE,        "grows with the array"),
    ROW(MEMORY,        8, 0,    550,    550, "A100",         DEWING,       NULL),
    ROW(INTEGER_LANES, 8, 0,     64,     64, "cc 8.0",       GUIDE,        NULL),
    ROW(DOUBLE_LANES,  8, 0,     32,     32, "cc 8.0",       GUIDE,        NULL),
    ROW(SPECIAL_LANES, 8, 0,     16,     16, "cc 8.0",       GUIDE,        NULL),
    ROW(TENSOR,        8, 0,   2048,   2048, "A100",         AMPERE_BOARD, NULL),

    ROW(FMA,           8, 6,      4,      4, "RTX A6000",    HUERTA,       NULL),
    ROW(FMA,           8, 6,      4,      4, "cc 8.6",       NAK,          "FMA to FMA; to others 5"),
    ROW(INTEGER,       8, 6,      4,      4, "cc 8.6",       NAK,          NULL),
    ROW(HALF,          8, 6,      5,      5, "RTX A6000",    HUERTA,       NULL),
    ROW(HALF,          8, 6,      5,      5, "cc 8.6",       NAK,          NULL),
    ROW(MMA,           8, 6,     13,     18, "cc 8.6",       NAK,          NULL),
    ROW(SHARED,        8, 6,     23,     24, "RTX A6000",    HUERTA,       "23 when all lanes read one address"),
    ROW(L1,            8, 6,     29,     32, "RTX A6000",    HUERTA,       "29 when all lanes read one address"),
    ROW(L1,            8, 6,     33,     33, "A40",          CHASE,        NULL),
    ROW(L2,            8, 6,    250,    250, "A40",          CHASE,        NULL),
    ROW(MEMORY,        8, 6,    545,    557, "A40",          CHASE,        "grows with the array"),
    ROW(INTEGER_LANES, 8, 6,     64,     64, "cc 8.6",       GUIDE,        NULL),
    ROW(DOUBLE_LANES,  8, 6,      2,      2, "cc 8.6",       GUIDE,        NULL),
    ROW(SPECIAL_LANES, 8, 6,     16,     16, "cc 8.6",       GUIDE,        NULL),

    ROW(FMA,           8, 9,      4,      4, "cc 8.9",       NAK,          "FMA to FMA; to others 5"),
    ROW(INTEGER,       8, 9,      4,      4, "cc 8.9",       NAK,          NULL),
    ROW(HALF,          8, 9,      5,      5, "cc 8.9",       NAK,          NULL),
    ROW(MMA,           8, 9,     13,     18, "cc 8.9",       NAK,          NULL),
    ROW(L1,            8, 9,     34,     34, "L40",          CHASE,        NULL),
    ROW(L1,            8, 9,     40,     40, "RTX 4090",     DEWING,       NULL),
    ROW(L2,            8, 9,    274,    285, "L40",          CHASE,        "grows with the array"),
    ROW(L2,            8, 9,    296,    296, "RTX 4090",     DEWING,       NULL),
    ROW(L2,            8, 9,    222,    339, "L40",          L2_BY_SM,     "by SM: the L2 is not at one distance"),
    ROW(MEMORY,        8, 9,    589,    625, "L40",          CHASE,        "grows with the array"),
    ROW(MEMORY,        8, 9,    636,    636, "RTX 4090",     DEWING,       NULL),
    ROW(INTEGER_LANES, 8, 9,     64,     64, "cc 8.9",       GUIDE,        NULL),
    ROW(DOUBLE_LANES,  8, 9,      2,      2, "cc 8.9",       GUIDE,        NULL),
    ROW(SPECIAL_LANES, 8, 9,     16,     16, "cc 8.9",       GUIDE,        NULL),

    ROW(FMA,           9, 0,   4.07,   4.07, "H100 SXM",     HOPPER_AGAIN, BY_LOOP),
    ROW(FMA,           9, 0,      4,      4, "H200",         FLASH,        NULL),
    ROW(INTEGER,       9, 0,   4.12,   4.12, "H100 SXM",     HOPPER_AGAIN, BY_LOOP),
    ROW(INTEGER,       9, 0,      4,      4, "H200",         FLASH,        NULL),
    ROW(INTEGER64,     9, 0,  10.06,  10.06, "H100 SXM",     HOPPER_AGAIN, BY_LOOP),
    ROW(HALF,          9, 0,   8.52,   8.52, "H100 SXM",     HOPPER_AGAIN, BY_LOOP),
    ROW(DOUBLE,        9, 0,   8.04,   8.04, "H100 SXM",     HOPPER_AGAIN, BY_LOOP),
    ROW(DOUBLE,        9, 0,      8,      8, "H200",         FLASH,        NULL),
    ROW(EX2,           9, 0,     27,     27, "H200",         FLASH,        NULL),
    ROW(RCP,           9, 0,     45,     45, "H200",         FLASH,        NULL),
    ROW(MMA,           9, 0,     29,     29, "H200",         FLASH,        NULL),
    ROW(WGMMA,         9, 0,     41,     51, "H200",         FLASH,        "41 with A in registers"),
    ROW(SHARED,        9, 0,     29,     29, "H800 PCIe",    HOPPER_PAPER, NULL),
    ROW(SHARED,        9, 0,     29,     29, "H100 SXM",     HOPPER_AGAIN, NULL),
    ROW(SHARED,        9, 0,     30,     30, "H200",         FLASH,        NULL),
    ROW(L1,            9, 0,     32,     32, "H800 PCIe",    HOPPER_PAPER, NULL),
    ROW(L1,            9, 0,     32,     34, "GH200",        CHASE,        NULL),
    ROW(L1,            9, 0,     39,     39, "H200",         FLASH,        NULL),
    ROW(L1,            9, 0,     40,     40, "H100 SXM",     DEWING,       NULL),
    ROW(L1,            9, 0,  41.12,  41.12, "H100 SXM",     HOPPER_AGAIN, NULL),
    ROW(L2,            9, 0,  264.5,  264.5, "H800 PCIe",    HOPPER_PAPER, NULL),
    ROW(L2,            9, 0, 272.34, 272.34, "H100 SXM",     HOPPER_AGAIN, NULL),
    ROW(L2,            9, 0,    280,    281, "GH200",        CHASE,        NULL),
    ROW(L2,            9, 0,    286,    286, "H200",         FLASH,        "median over SMs"),
    ROW(L2,            9, 0,    291,    291, "H100 SXM",     DEWING,       NULL),
    ROW(L2_FAR,        9, 0,    490,    516, "GH200",        CHASE,        NULL),
    ROW(L2_FAR,        9, 0,    502,    502, "H800 PCIe",    HOPPER_PAPER, NULL),
    ROW(MEMORY,        9, 0,    482,    484, "H100 SXM",     HOPPER_AGAIN, "neighbours help; a random chase gives more"),
    ROW(MEMORY,        9, 0,    642,    689, "GH200",        CHASE,        "grows with the array"),
    ROW(MEMORY,        9, 0,    656,    656, "H800 PCIe",    HOPPER_PAPER, NULL),
    ROW(MEMORY,        9, 0,    690,    690, "GH200",        DEWING,       NULL),
    ROW(MEMORY,        9, 0,    700,    700, "H100 SXM",     DEWING,       NULL),
    ROW(CLUSTER,       9, 0,    193,    193, "H200",         FLASH,        "its own takes 37 the same way"),
    ROW(ARRIVE,        9, 0,      6,      6, "H200",         FLASH,        NULL),
    ROW(TRY_WAIT,      9, 0,     43,     43, "H200",         FLASH,        NULL),
    ROW(INTEGER_LANES, 9, 0,     64,     64, "cc 9.0",       GUIDE,        NULL),
    ROW(INTEGER_LANES, 9, 0,  63.45,  63.45, "H100 SXM",     HOPPER_AGAIN, "126.9 operations a cycle"),
    ROW(DOUBLE_LANES,  9, 0,     64,     64, "cc 9.0",       GUIDE,        NULL),
    ROW(DOUBLE_LANES,  9, 0, 63.125, 63.125, "H100 SXM",     HOPPER_AGAIN, "126.25 FLOP a cycle"),
    ROW(SPECIAL_LANES, 9, 0,     16,     16, "cc 9.0",       GUIDE,        NULL),
    ROW(TENSOR,        9, 0,   4096,   4096, "H100 SXM",     HOPPER_BOARD, NULL),
    ROW(SHARED_BYTES,  9, 0,  127.4,  127.4, "H800 PCIe",    HOPPER_PAPER, NULL),
    ROW(SHARED_BYTES,  9, 0, 127.53, 127.53, "H100 SXM",     HOPPER_AGAIN, NULL),
    ROW(L1_BYTES,      9, 0,  125.8,  125.8, "H800 PCIe",    HOPPER_PAPER, NULL),
    ROW(L1_BYTES,      9, 0,  125.7,  125.7, "H100 SXM",     HOPPER_AGAIN, NULL),
    ROW(L2_BYTES,      9, 0,   4472,   4472, "H800 PCIe",    HOPPER_PAPER, NULL),
    ROW(L2_BYTES,      9, 0,   4207,   4808, "H100 SXM",     HOPPER_AGAIN, "by width of the loads"),
    ROW(MEMORY_RATE,   9, 0,   3010,   3010, "H100 SXM",     HOPPER_AGAIN, NULL),
    ROW(MEMORY_RATE,   9, 0,   3760,   3940, "GH200, H200",  CHASE, NULL),

    ROW(L1,           10, 0,     40,     40, "B200",         DEWING,       NULL),
    ROW(L2,           10, 0,    295,    295, "B200",         DEWING,       NULL),
    ROW(MEMORY,       10, 0,    860,    860, "B200",         DEWING,       NULL),

    ROW(FMA,          10, 3,   4.22,   4.22, "B300",         QUICKRUN,     BY_LOOP),
    ROW(INTEGER,      10, 3,   4.25,   4.25, "B300",         QUICKRUN,     "IMAD"),
    ROW(DOUBLE,       10, 3,  63.68,  63.68, "B300",         QUICKRUN,     NULL),
    ROW(MMA,          10, 3,     20,     20, "B300",         QUICKRUN,     NULL),
    ROW(SHARED,       10, 3,     29,     29, "B300",         QUICKRUN,     NULL),
    ROW(L1,           10, 3,     39,     39, "B300",         DEWING,       NULL),
    ROW(L1,           10, 3,     47,     47, "B300",         QUICKRUN,     NULL),
    ROW(L2,           10, 3,    295,    295, "B300",         DEWING,       NULL),
    ROW(L2,           10, 3,    300,    300, "B300",         QUICKRUN,     NULL),
    ROW(MEMORY,       10, 3,    810,    848, "B300",         DEWING,       "810 with the clock locked"),
    ROW(BARRIER,      10, 3,     24,     86, "B300",         QUICKRUN,     "22 + 2 a warp"),

    ROW(L1,           12, 0,     44,     44, "RTX 5090",     DEWING,       NULL),
    ROW(L2,           12, 0,    352,    352, "RTX PRO 6000", DEWING,       NULL),
    ROW(L2,           12, 0,    360,    360, "RTX 5090",     DEWING,       NULL),
    ROW(MEMORY,       12, 0,    864,    864, "RTX PRO 6000", DEWING,       NULL),
    ROW(MEMORY,       12, 0,    936,    936, "RTX 5090",     DEWING,       NULL),
};
/* clang-format on */

const size_t LATENCY_ROW_COUNT = COUNT(LATENCY_ROWS);

static const struct {
    const char *name, *unit, *text;
} WORDS[] = {
#define X(id, name, unit, text) { name, unit, text },
    LATENCIES(X)
#undef X
};

const char *latency_name(enum latency what)
{
    return WORDS[what].name;
}

const char *latency_unit(enum latency what)
{
    return WORDS[what].unit;
}

const char *latency_text(enum latency what)
{
    return WORDS[what].text;
}

struct latency_range latency_of(int cc_major, int cc_minor, enum latency what)
{
    struct latency_range range = { 0 };

    for (size_t i = 0; i < LATENCY_ROW_COUNT; i++) {
        const struct latency_row *row = &LATENCY_ROWS[i];

        if (row->what != what || row->cc_major != cc_major || row->cc_minor != cc_minor)
            continue;
        if (!range.sources || row->least < range.least)
            range.least = row->least;
        if (!range.sources || row->most > range.most)
            range.most = row->most;
        range.sources++;
    }
    return range;
}

bool latency_is_known(int cc_major, int cc_minor)
{
    for (size_t i = 0; i < LATENCY_ROW_COUNT; i++)
        if (LATENCY_ROWS[i].cc_major == cc_major && LATENCY_ROWS[i].cc_minor == cc_minor)
            return true;
    return false;
}
