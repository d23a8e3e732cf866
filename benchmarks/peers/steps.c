/* The least that an answer needs: parse the text, read each array once, copy the bytes.
   Each read needs the one before it. Nothing is searched, and nothing is checked. */
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const uint32_t *jump, *starts, *locations, *networks, *location_offsets, *network_offsets;
    const char *location_texts, *network_texts, *constant;
    uint32_t jump_shift;
    uint32_t constant_size; /* bytes of an answer beside the texts of its rows */
} Arrays;

static uint32_t parse(PyObject *text) {
    const unsigned char *at = PyUnicode_1BYTE_DATA(text);
    uint32_t address = 0, octet = 0;
    for (; *at; at++) {
        if (*at == '.') {
            address = address << 8 | octet;
            octet = 0;
        } else {
            octet = octet * 10 + (*at - '0');
        }
    }
    return address << 8 | octet;
}

/* Do all steps for each address; the sum keeps the compiler from leaving some out. */
uint64_t run(PyObject *addresses, const Arrays *arrays) {
    uint64_t sum = 0;
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(addresses); at++) {
        uint32_t address = parse(PyList_GET_ITEM(addresses, at));
        sum += address;
        uint32_t interval = arrays->jump[address >> arrays->jump_shift];
        interval += arrays->starts[interval] > address && interval > 0 ? -1 : 0;
        uint32_t location = arrays->locations[interval], network = arrays->networks[interval];
        const uint32_t *place = arrays->location_offsets + location;
        const uint32_t *owner = arrays->network_offsets + network;
        uint32_t place_size = place[1] - place[0], owner_size = owner[1] - owner[0];
        sum += arrays->location_texts[place[0]] + arrays->network_texts[owner[0]];
        PyObject *answer = PyBytes_FromStringAndSize(
            NULL, arrays->constant_size + place_size + owner_size);
        if (!answer) return 0;
        char *out = PyBytes_AS_STRING(answer);
        memcpy(out, arrays->constant, arrays->constant_size);
        out += arrays->constant_size;
        memcpy(out, arrays->location_texts + place[0], place_size);
        memcpy(out + place_size, arrays->network_texts + owner[0], owner_size);
        Py_DECREF(answer);
    }
    return sum;
}
