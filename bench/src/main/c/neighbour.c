/*
 * A well-behaved peer of an echo server: one connection, one message of 64 bytes at a time, read as
 * soon as it is there, and a pause between the messages. With `http` it is a client of an HTTP server
 * instead, and a message is a request GET /plaintext.
 *
 *     neighbour PORT PID[,PID...] WARM-UPS MESSAGES PAUSE-MICROS [http]
 *
 * Prints, in nanoseconds, how long an echo took: p50 and p99; then the time that went by and the
 * CPU time that others used of the cores. The first PID is the server's, the rest belong to the
 * measurement, too.
 *
 * Messages have a time at which they are due. One that is sent late since the echo before it was
 * late counts from when it was due: a server that stalls delays all that would have been sent
 * meanwhile. One that is late since this program overslept counts from when it was sent.
 */
#define _GNU_SOURCE
#define LOAD "neighbour"
#include "load.h"

#include <sys/time.h>

enum { MESSAGE_BYTES = 64, MAX_MESSAGES = 10000000 };

static int fd;

static int receive_some(char *into, int most) {
    ssize_t part = recv(fd, into, most, 0);
    if (part < 0) die("recv");
    if (part == 0) fail("the server closed the connection");
    return (int) part;
}

static void echo(uint64_t sequence) {
    uint64_t sent[MESSAGE_BYTES / 8];
    char echoed[MESSAGE_BYTES];
    for (int i = 0; i < MESSAGE_BYTES / 8; i++) sent[i] = sequence * UINT64_C(6364136223846793005) + i;
    if (send(fd, sent, MESSAGE_BYTES, MSG_NOSIGNAL) != MESSAGE_BYTES) die("send");
    for (int received = 0; received < MESSAGE_BYTES;) {
        received += receive_some(echoed + received, MESSAGE_BYTES - received);
    }
    if (memcmp(sent, echoed, MESSAGE_BYTES)) fail("something else came back");
}

static void request(uint64_t sequence) {
    static const char get[] = "GET /plaintext HTTP/1.1\r\nHost: localhost\r\n\r\n", body[] = "Hello, World!";
    char response[1024];
    int received = 0;
    (void) sequence;
    if (send(fd, get, sizeof get - 1, MSG_NOSIGNAL) != sizeof get - 1) die("send");
    do {
        if (received == sizeof response) fail("something else came back");
        received += receive_some(response + received, sizeof response - received);
    } while (!memmem(response, received, body, sizeof body - 1));
    if (memcmp(response, "HTTP/1.1 200 ", 13)) fail("the server refused a request");
}

static void sleep_until(int64_t time) {
    struct timespec until = {.tv_sec = time / 1000000000, .tv_nsec = time % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {}
}

static int by_size(const void *one, const void *other) {
    int64_t a = *(const int64_t *) one, b = *(const int64_t *) other;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    static const struct timeval patience = {.tv_sec = PATIENCE_MILLIS / 1000};
    int http = argc == 7 && !strcmp(argv[6], "http");
    if (argc != 6 && !http) {
        fprintf(stderr, "usage: neighbour PORT PID[,PID...] WARM-UPS MESSAGES PAUSE-MICROS [http]\n");
        return 2;
    }
    void (*exchange)(uint64_t) = http ? request : echo;
    long long warm_ups = number(argv[3], 0, MAX_MESSAGES), messages = number(argv[4], 1, MAX_MESSAGES);
    int64_t pause = number(argv[5], 1, 1000000) * 1000;
    int64_t *took = calloc(messages, sizeof *took);
    if (!took) die("calloc");
    find_processes(argv[2]);
    fd = connect_to((int) number(argv[1], 1, 65535));
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0) die("setsockopt");

    struct reading begun = read_clocks();
    int64_t due = nanos(CLOCK_MONOTONIC), ended = due;
    for (long long i = -warm_ups; i < messages; i++) {
        if (i == 0) {
            begun = read_clocks();
            due = ended = nanos(CLOCK_MONOTONIC);
        }
        due += pause;
        int64_t started = due;
        if (ended < due) {
            sleep_until(due);
            started = nanos(CLOCK_MONOTONIC);
        }
        exchange(i);
        ended = nanos(CLOCK_MONOTONIC);
        if (i >= 0) took[i] = ended - started;
    }
    struct reading over = read_clocks();
    qsort(took, messages, sizeof *took, by_size);
    printf("%lld %lld %lld %lld\n", (long long) took[messages / 2], (long long) took[messages * 99 / 100],
           (long long) (over.wall - begun.wall), (long long) others_nanos(begun, over));
    return 0;
}
