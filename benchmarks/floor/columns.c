/* The least that a row of a column needs: read its text, read each array once, write the values.
   Rows do not depend on one another: the processor reads for many of them at a time. Nothing is
   parsed or searched: the address and the interval of each row are given. */
#include <stdint.h>
#include <string.h>

typedef struct {
    const uint8_t *texts, *starts, *rows; /* rows: 64 bytes for each location; NULL for one field */
    const int32_t *offsets, *ids, *codes;
    const uint32_t *jump, *addresses, *locations; /* jump: NULL without a jump table */
    const uint16_t *links;
    uint8_t *out;
    uint32_t text_size, start_size, jump_shift, row_size;
    int64_t count;
} Columns;

enum { BLOCK = 64 };

static uint64_t read_texts(const Columns *columns, int64_t begin, int64_t end) {
    uint64_t sum = 0, word;
    for (int64_t at = begin; at < end; at++)
        for (uint32_t byte = 0; byte < columns->text_size; byte += 8) {
            memcpy(&word, columns->texts + columns->offsets[at] + byte, 8);
            sum += word;
        }
    return sum;
}

/* Each array for all rows of the block before the next array. */
static uint64_t read_arrays(const Columns *columns, int64_t begin, int64_t end,
                            uint32_t *locations, int32_t *codes) {
    uint64_t sum = 0;
    for (int64_t at = begin; columns->jump && at < end; at++)
        sum += columns->jump[columns->addresses[at] >> columns->jump_shift];
    for (int64_t at = begin; at < end; at++)
        sum += columns->starts[(uint64_t)columns->ids[at] * columns->start_size];
    for (int64_t at = begin; at < end; at++)
        locations[at - begin] = columns->locations[columns->ids[at]];
    for (int64_t at = begin; columns->rows && at < end; at++)
        sum += columns->rows[(uint64_t)locations[at - begin] * 64];
    for (int64_t at = begin; at < end; at++)
        sum += codes[at - begin] = columns->codes[columns->links[locations[at - begin]]];
    return sum;
}

static void write_values(const Columns *columns, int64_t begin, int64_t end,
                         const uint32_t *locations, const int32_t *codes) {
    if (!columns->rows) memcpy(columns->out + 4 * begin, codes, 4 * (end - begin));
    for (uint32_t value = 0; columns->rows && value < columns->row_size; value += 4)
        for (int64_t at = begin; at < end; at++)
            memcpy(columns->out + columns->count * value + 4 * at,
                   columns->rows + (uint64_t)locations[at - begin] * 64 + value, 4);
}

/* Do the first ``steps`` of: read texts, read arrays, write. */
uint64_t run_columns(const Columns *columns, int steps) {
    uint64_t sum = 0;
    uint32_t locations[BLOCK];
    int32_t codes[BLOCK];
    for (int64_t begin = 0; begin < columns->count; begin += BLOCK) {
        int64_t end = begin + BLOCK < columns->count ? begin + BLOCK : columns->count;
        sum += read_texts(columns, begin, end);
        if (steps < 2) continue;
        sum += read_arrays(columns, begin, end, locations, codes);
        if (steps < 3) continue;
        write_values(columns, begin, end, locations, codes);
    }
    return sum;
}
