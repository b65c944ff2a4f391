/*
 * The other end of a bulk transfer over loopback: sends to a server that receives, or receives from
 * one that sends, and then compares every byte. bulk.h says what is spoken.
 *
 *     bulk-load receive|send PORT PID[,PID...] WARM-UP-BYTES BYTES
 *
 * The word is the server's part. Prints what happened while BYTES went over, as print_difference has
 * it, from before the first of them until the last was received.
 */
#define _GNU_SOURCE
#define LOAD "bulk-load"
#include "load.h"

#include "bulk.h"
#include <sys/time.h>

enum { CHUNK_BYTES = 65536 };

/*
 * Connections for the warm-up, none of which is measured: the kernel gives one with a slow receiver,
 * as a JVM is before it has compiled, buffers of megabytes, which stay, and what goes through those
 * has left the caches when it is read.
 */
enum { WARM_UPS = 6 };

static int fd;
/* One pattern more than a chunk: at whatever offset it begins, all of it is there. */
static unsigned char pattern[CHUNK_BYTES + PATTERN_BYTES], chunk[CHUNK_BYTES];

static size_t smaller(size_t one, uint64_t other) {
    return one < other ? one : other;
}

static void send_all(const void *from, size_t bytes) {
    for (size_t sent = 0; sent < bytes;) {
        ssize_t part = send(fd, (const char *) from + sent, bytes - sent, MSG_NOSIGNAL);
        if (part < 0) die("send");
        sent += part;
    }
}

static size_t receive(size_t most) {
    ssize_t part = recv(fd, chunk, most, 0);
    if (part < 0) die("recv");
    if (part == 0) fail("the server closed the connection");
    return part;
}

static void announce(uint64_t bytes) {
    unsigned char length[LENGTH_BYTES];
    put_length(length, bytes);
    send_all(length, LENGTH_BYTES);
}

static void push(uint64_t bytes) {
    announce(bytes);
    for (uint64_t left = bytes; left > 0;) {
        size_t part = smaller(CHUNK_BYTES, left);
        send_all(pattern, part);
        left -= part;
    }
    unsigned char answer[LENGTH_BYTES];
    for (size_t received = 0; received < LENGTH_BYTES;) {
        size_t part = receive(LENGTH_BYTES - received);
        memcpy(answer + received, chunk, part);
        received += part;
    }
    if (get_length(answer) != bytes) fail("the server got more or less than was sent");
}

static void pull(uint64_t bytes) {
    announce(bytes);
    for (uint64_t received = 0; received < bytes;) {
        size_t part = receive(smaller(CHUNK_BYTES, bytes - received));
        if (memcmp(chunk, pattern + received % PATTERN_BYTES, part)) fail("something else came than should have");
        received += part;
    }
}

static void open_connection(int port) {
    static const struct timeval patience = {.tv_sec = PATIENCE_MILLIS / 1000};
    fd = connect_to(port);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0) die("setsockopt");
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) < 0) die("setsockopt");
}

int main(int argc, char **argv) {
    int receiving = argc == 6 && !strcmp(argv[1], "receive");
    if (argc != 6 || (!receiving && strcmp(argv[1], "send"))) {
        fprintf(stderr, "usage: bulk-load receive|send PORT PID[,PID...] WARM-UP-BYTES BYTES\n");
        return 2;
    }
    void (*transfer)(uint64_t) = receiving ? push : pull;
    int port = (int) number(argv[2], 1, 65535);
    uint64_t warm_up = number(argv[4], 1, INT64_MAX), bytes = number(argv[5], 1, INT64_MAX);
    find_processes(argv[3]);
    fill(pattern, sizeof pattern);
    for (int i = 0; i < WARM_UPS; i++) {
        open_connection(port);
        transfer(warm_up / WARM_UPS + 1);
        close(fd);
    }
    open_connection(port);
    transfer(CHUNK_BYTES);
    struct reading begun = read_clocks_at_rest();
    begun.wall = nanos(CLOCK_MONOTONIC);
    transfer(bytes);
    struct reading ended = read_clocks_at_rest();
    print_difference(begun, ended);
    return 0;
}
