/*
 * The floor of a bulk transfer: level-triggered epoll, and calls of one buffer's size for as long as
 * they take or bring all of it. Listens on a free port of the loopback interface, says which, and
 * serves one connection after the other until it is killed. bulk.h says what is spoken.
 *
 *     bulk-server receive|send BUFFER-BYTES
 */
#define _GNU_SOURCE
#include "bulk.h"
#include "listen.h"

static unsigned char *buffer;
static size_t buffer_bytes;

/* Of the connection that is served. */
static int epfd, fd, waits_for;
static unsigned char length[LENGTH_BYTES];
static size_t length_received;
static uint64_t total, left;

/* The connection is over. */
enum { OVER = -1 };

static void wait_for(int events) {
    struct epoll_event event = {.events = events};
    if (waits_for == events) return;
    if (epoll_ctl(epfd, waits_for ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) < 0) die("epoll_ctl");
    waits_for = events;
}

/* Bytes that came or went, 0 if none could, OVER. */
static ssize_t outcome(ssize_t result) {
    if (result > 0) return result;
    return result < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : OVER;
}

static int answer(void) {
    put_length(length, total);
    /* There is room: nothing else is sent on this connection. */
    return send(fd, length, LENGTH_BYTES, MSG_NOSIGNAL) == LENGTH_BYTES ? 0 : OVER;
}

/* Takes what the buffer holds from an offset on: lengths and what they announce. */
static int take(size_t from, size_t until) {
    while (from < until) {
        if (left == 0) {
            length[length_received++] = buffer[from++];
            if (length_received < LENGTH_BYTES) continue;
            length_received = 0;
            total = left = get_length(length);
        } else {
            size_t part = until - from < left ? until - from : left;
            left -= part;
            from += part;
        }
        if (left == 0 && answer() == OVER) return OVER;
    }
    return 0;
}

static int receive(void) {
    ssize_t received;
    do {
        received = outcome(recv(fd, buffer, buffer_bytes, 0));
        if (received == OVER || take(0, received) == OVER) return OVER;
    } while (received == (ssize_t) buffer_bytes);
    return 0;
}

/* Where in the buffer the next byte is follows from how many were sent: it repeats itself. */
static int send_on(void) {
    while (left > 0) {
        size_t offset = (total - left) % buffer_bytes;
        size_t part = buffer_bytes - offset < left ? buffer_bytes - offset : left;
        ssize_t sent = outcome(send(fd, buffer + offset, part, MSG_NOSIGNAL));
        if (sent == OVER) return OVER;
        left -= sent;
        if (sent < (ssize_t) part) {
            wait_for(EPOLLOUT);
            return 0;
        }
    }
    wait_for(EPOLLIN);
    return 0;
}

static int serve_request(void) {
    if (left == 0) {
        ssize_t received = outcome(recv(fd, length + length_received, LENGTH_BYTES - length_received, 0));
        if (received == OVER) return OVER;
        length_received += received;
        if (length_received < LENGTH_BYTES) return 0;
        length_received = 0;
        total = left = get_length(length);
    }
    return send_on();
}

static void serve(int (*work)(void)) {
    struct epoll_event event;
    waits_for = 0;
    left = length_received = 0;
    wait_for(EPOLLIN);
    do {
        if (epoll_wait(epfd, &event, 1, -1) < 0 && errno != EINTR) die("epoll_wait");
    } while (work() != OVER);
    close(fd);
}

int main(int argc, char **argv) {
    int receiving = argc == 3 && !strcmp(argv[1], "receive");
    buffer_bytes = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (argc != 3 || (!receiving && strcmp(argv[1], "send")) || buffer_bytes == 0 || buffer_bytes % PATTERN_BYTES != 0
        || buffer_bytes > MAX_BUFFER_BYTES) {
        fprintf(stderr, "usage: bulk-server receive|send BUFFER-BYTES, a multiple of %d\n", PATTERN_BYTES);
        return 2;
    }
    /* A page: the kernel copies at a third of the pace to where no cache line begins. */
    buffer = aligned_alloc(4096, (buffer_bytes + 4095) / 4096 * 4096);
    epfd = epoll_create1(EPOLL_CLOEXEC);
    if (!buffer || epfd < 0) die("epoll_create1");
    fill(buffer, (int) buffer_bytes);
    int listener = listen_anywhere(SOCK_CLOEXEC);
    while ((fd = accept_one(listener)) >= 0) serve(receiving ? receive : serve_request);
    die("accept4");
}
