/*
 * What the two ends of a bulk transfer agree on. A length of 8 bytes, the highest first, opens each
 * transfer. A server that receives is then sent as many bytes, and answers with how many it has
 * got, written the same way. A server that sends is asked for as many. A connection may have
 * several transfers, one after the other.
 *
 * Bulk.java is the same in Java.
 */
#ifndef GYRE_BENCH_BULK_H
#define GYRE_BENCH_BULK_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Byte i of a transfer is byte i % PATTERN_BYTES of this. */
enum { PATTERN_BYTES = 16384, LENGTH_BYTES = 8, MAX_BUFFER_BYTES = 1048576 };

static inline void fill(unsigned char *into, int bytes) {
    for (int i = 0; i < bytes; i++) into[i] = (unsigned char) (i % PATTERN_BYTES * 31 + i % PATTERN_BYTES / 256);
}

static inline uint64_t get_length(const void *from) {
    uint64_t length;
    memcpy(&length, from, sizeof length);
    return be64toh(length);
}

static inline void put_length(void *into, uint64_t length) {
    length = htobe64(length);
    memcpy(into, &length, sizeof length);
}

#endif
