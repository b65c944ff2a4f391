/*
 * The load on an echo server: connections over loopback, each with one message in flight. Every
 * echo is compared with what was sent, byte by byte, and answered by the next message. No two
 * messages are the same, so that an echo that went to the wrong connection, or came twice, shows.
 *
 *     echo-load PORT PID[,PID...] CONNECTIONS WARM-UPS MESSAGES [BYTES]
 *
 * The first PID is that of the server, or of whatever stands before it; the rest belong to the
 * measurement, too. BYTES are those of a message, 64 if not said otherwise. Prints what happened
 * while MESSAGES were echoed, as print_difference has it.
 *
 * They begin when WARM-UPS have been echoed and the next are under way, and end while as many are:
 * neither an empty beginning nor an empty end is counted.
 */
#define _GNU_SOURCE
#define LOAD "echo-load"
#include "load.h"

#include <sys/epoll.h>

enum { EVENTS = 512, MAX_CONNECTIONS = 10000, MAX_BYTES = 4096 };

struct connection {
    int fd;
    int received;
    uint64_t number, sequence;
    uint64_t sent[MAX_BYTES / 8];
    /* A byte more than was sent: a server that makes bytes up is found out. */
    unsigned char echoed[MAX_BYTES + 1];
};

static long long warm_ups, messages, echoes;
static int in_flight, bytes;
static struct reading begun, ended;

static void complain(const char *what, const struct connection *connection) {
    fprintf(stderr, LOAD ": %s: connection %llu, its message %llu, after %lld echoes\n", what,
            (unsigned long long) connection->number, (unsigned long long) connection->sequence, echoes);
    exit(1);
}

static void send_next(struct connection *connection) {
    connection->sequence++;
    connection->received = 0;
    connection->sent[0] = connection->number;
    connection->sent[1] = connection->sequence;
    uint64_t random = connection->number << 40 ^ connection->sequence;
    for (int i = 2; i < bytes / 8; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        connection->sent[i] = random;
    }
    if (send(connection->fd, connection->sent, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) != bytes) die("send");
    in_flight++;
}

/* Tells whether the whole message is there. */
static int receive(struct connection *connection) {
    ssize_t received =
        recv(connection->fd, connection->echoed + connection->received, bytes + 1 - connection->received, MSG_DONTWAIT);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (received < 0) complain(strerror(errno), connection);
    if (received == 0) complain("the server closed the connection", connection);
    connection->received += (int) received;
    if (connection->received < bytes) return 0;
    if (connection->received > bytes) complain("more came back than was sent", connection);
    if (memcmp(connection->sent, connection->echoed, bytes)) complain("something else came back", connection);
    in_flight--;
    return 1;
}

static void look_at_the_clocks(void) {
    if (echoes == warm_ups) begun = read_clocks();
    if (echoes == warm_ups + messages) ended = read_clocks();
}

static void exchange(int epfd) {
    struct epoll_event events[EVENTS];
    /* What is in flight at the end comes back too: a server is left with nothing half done. */
    while (in_flight > 0) {
        int count = epoll_wait(epfd, events, EVENTS, PATIENCE_MILLIS);
        if (count < 0 && errno != EINTR) die("epoll_wait");
        if (count == 0) {
            fprintf(stderr, LOAD ": the server has gone silent after %lld echoes\n", echoes);
            exit(1);
        }
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (!receive(connection)) continue;
            echoes++;
            look_at_the_clocks();
            if (echoes < warm_ups + messages) send_next(connection);
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 6 && argc != 7) {
        fprintf(stderr, "usage: echo-load PORT PID[,PID...] CONNECTIONS WARM-UPS MESSAGES [BYTES]\n");
        return 2;
    }
    int port = (int) number(argv[1], 1, 65535);
    int connections = (int) number(argv[3], 1, MAX_CONNECTIONS);
    warm_ups = number(argv[4], 0, INT32_MAX);
    messages = number(argv[5], 1, INT32_MAX);
    bytes = argc == 7 ? (int) number(argv[6], 16, MAX_BYTES) & ~7 : 64;
    find_processes(argv[2]);

    struct connection *all = calloc(connections, sizeof *all);
    int epfd = epoll_create1(EPOLL_CLOEXEC);
    if (!all || epfd < 0) die("epoll_create1");
    for (int i = 0; i < connections; i++) {
        all[i].fd = connect_to(port);
        all[i].number = i;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
        if (epoll_ctl(epfd, EPOLL_CTL_ADD, all[i].fd, &event) < 0) die("epoll_ctl");
    }
    look_at_the_clocks();
    for (int i = 0; i < connections; i++) send_next(&all[i]);
    exchange(epfd);
    print_difference(begun, ended);
    return 0;
}
