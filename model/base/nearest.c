/*
 * Which known name a misspelt one was meant to be: the one that takes the
 * fewest letters added, dropped, changed or swapped, if they are few enough.
 */
#include "model/base/nearest.h"

#include <strings.h>

enum { LONGEST = 32, BEGINNING = 0, FAR = 99 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* Edit distance with case ignored, at most 32 characters each; larger is 99. */
static int text_distance(const char *a, const char *b)
{
    int rows[3][LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);

    if (n > LONGEST || m > LONGEST)
        return FAR;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];

        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int cost = above[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));

            cost = (int)min_i64(cost, min_i64(row[j - 1], above[j]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                cost = (int)min_i64(cost, two_above[j - 2] + 1);
            row[j] = cost;
        }
    }
    return rows[n % 3][m];
}

int nearest_distance(const char *wanted, const char *candidate)
{
    size_t n = strlen(wanted);

    /* Who typed a beginning meant its end: "occ" lacks six letters, and "L40" is not A40. */
    if (n >= 3 && strncasecmp(wanted, candidate, n) == 0)
        return BEGINNING;
    return text_distance(wanted, candidate);
}

void nearest_try(struct nearest *nearest, const char *candidate)
{
    size_t n = strlen(nearest->wanted);
    int distance = nearest_distance(nearest->wanted, candidate);
    int near = n <= 2 ? 1 : n <= 5 ? 2 : 3;

    if (distance <= near && (size_t)distance < n &&
        (!nearest->best || distance < nearest->distance)) {
        nearest->best = candidate;
        nearest->distance = distance;
    }
}
