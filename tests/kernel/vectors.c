/* Parses each line of the input with the vector instructions of this processor, for test_vectors.py.

   Prints the family and both halves of each text; 0 if the scalar parser would parse it. Each text
   is also parsed close to the end of readable memory: there, the result is the same, or family 0.
   Windows are searched by comparisons and by bisection. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "_vectors.h"
#include "_windows.h"

enum { PAGE = 1 << 16, FAR = 80 };

static unsigned char* border; /* the first byte that cannot be read */

static ParsedBatch parsed(BatchParser parse, const unsigned char* text, int size, int room) {
    ParsedBatch batch;
    int64_t begins[3] = {0, 0, 0}, ends[3] = {size, size, size};
    unsigned char* begin = border - size - room;
    memset(border - FAR - size, '1', FAR + size);
    memcpy(begin, text, size);
    parse(begin, size + room, begins, ends, 3, &batch);
    for (int at = 1; at < 3; at++)
        if (batch.families[at] != batch.families[0]
            || (batch.families[0] && batch.lows[at] != batch.lows[0]))
            exit(2);
    return batch;
}

static void compare(BatchParser parse, const unsigned char* text, int size) {
    ParsedBatch expected = parsed(parse, text, size, FAR);
    for (int room = 0; room < FAR; room++) {
        ParsedBatch near = parsed(parse, text, size, room);
        if (near.families[0]
            && (near.families[0] != expected.families[0] || near.lows[0] != expected.lows[0]))
            exit(3);
    }
    if (expected.families[0] != 6) expected.highs[0] = 0;
    if (expected.families[0] == 0) expected.lows[0] = 0;
    printf("%d %" PRIu64 " %" PRIu64 "\n", expected.families[0], expected.highs[0], expected.lows[0]);
}

static void compare_searches(void) {
    WindowSearch search = choose_window_search();
    uint32_t state = 1;
    for (int turn = 0; turn < 20000; turn++) {
        uint32_t size = turn % 8 ? WINDOW : turn / 8 % WINDOW + 1, step = turn % 3 ? 9 : 1 << 27;
        uint32_t *table = (uint32_t*)border - size, values[2], lows[2] = {0, 0}, others[2] = {0, 0};
        for (uint32_t at = 0; at < size; at++) {
            state = state * 1664525 + 1013904223;
            table[at] = (at ? table[at - 1] : 0) + (at ? (state >> 8) % step : 0);
            if (at && table[at] < table[at - 1]) table[at] = UINT32_MAX;
        }
        values[0] = table[turn % size], values[1] = values[0] - (turn & 1);
        search(table, size, values, 2, lows);
        bisect_windows(table, size, values, 2, others);
        if (memcmp(lows, others, sizeof(lows))) exit(4);
    }
}

int main(void) {
    char line[256];
    BatchParser parse = choose_batch_parser();
    unsigned char* memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + PAGE, PAGE, PROT_NONE)) return 1;
    border = memory + PAGE;
    compare_searches();
    while (fgets(line, sizeof(line), stdin))
        compare(parse, (unsigned char*)line, (int)strcspn(line, "\n"));
    return 0;
}
