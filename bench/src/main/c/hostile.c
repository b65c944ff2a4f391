/*
 * Peers of an echo server that behave badly, a quarter of them in each of these ways:
 *
 *     dribble    sends its bytes one at a time, and reads their echoes
 *     gorge      sends as much as it can get rid of, and never reads
 *     silence    connects and says nothing
 *     reset      connects, sends a message, and resets the connection before it is echoed
 *
 *     hostile PORT PEERS PERIOD-MILLIS
 *
 * Each acts once in a period, the peers one after the other all through it. Who has lost its
 * connection makes a new one when it is its turn. Says `ready` when every peer had its turns and those
 * that never read get rid of nothing more, or after 10 seconds if they still do; goes on until it is
 * terminated, and then says what it has done.
 *
 * The pace is a limit on what the machine has to do for them, not on the server: what is asked is
 * whether the server lets a few bytes of theirs keep others waiting. Their addresses are spread
 * over the loopback network, so that a limit on connections of one peer does not keep them out.
 */
#define _GNU_SOURCE
#define LOAD "hostile"
#include "load.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>

enum { MESSAGE_BYTES = 64, GORGE_BYTES = 262144, SOCKET_BUFFER_BYTES = 65536, MAX_PEERS = 10000, ADDRESSES = 200 };
enum manner { DRIBBLE, GORGE, SILENCE, RESET, MANNERS };

static const int64_t STEP_NANOS = 1000000, LATE_NANOS = 50000000, PATIENCE_NANOS = 10000000000;

static int port;
static int *fds;
static long long connected, refused, lost, dribbled, gorged, resets;
static char bytes[GORGE_BYTES];
static volatile sig_atomic_t over;

static void end(int signal) {
    (void) signal;
    over = 1;
}

/* Without waiting: a peer that is not connected yet finds out when it acts. */
static int connect_from(int peer) {
    static const int on = 1, size = SOCKET_BUFFER_BYTES;
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000101 + peer % ADDRESSES)};
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) die("socket");
    /* So that a thousand full buffers are no burden on the machine. */
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size) < 0) die("setsockopt");
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size) < 0) die("setsockopt");
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) die("setsockopt");
    if (setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) < 0) die("setsockopt");
    if (bind(fd, (struct sockaddr *) &from, sizeof from) < 0) die("bind");
    if (connect(fd, (struct sockaddr *) &to, sizeof to) < 0 && errno != EINPROGRESS) {
        refused++;
        close(fd);
        return -1;
    }
    connected++;
    return fd;
}

/* Bytes that went or came, 0 if none could, -1 if the connection is lost. */
static ssize_t outcome(ssize_t result, int end_is_loss) {
    if (result > 0) return result;
    if (result == 0) return end_is_loss ? -1 : 0;
    return errno == EAGAIN || errno == EINTR || errno == ENOTCONN ? 0 : -1;
}

static ssize_t send_some(int fd, int most) {
    return outcome(send(fd, bytes, most, MSG_NOSIGNAL), 0);
}

/* A socket takes less at a time than it has room for once the peer has taken that. */
static ssize_t gorge(int fd) {
    ssize_t part, sent = 0;
    while (sent < GORGE_BYTES && (part = send_some(fd, GORGE_BYTES - sent)) != 0) {
        if (part < 0) return -1;
        sent += part;
    }
    return sent;
}

static ssize_t receive_some(int fd) {
    char echoed[MESSAGE_BYTES];
    return outcome(recv(fd, echoed, sizeof echoed, 0), 1);
}

static void reset(int *fd) {
    static const struct linger at_once = {.l_onoff = 1};
    if (setsockopt(*fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) < 0) die("setsockopt");
    close(*fd);
    *fd = -1;
}

/* Tells whether the connection is there still. */
static int act(int *fd, enum manner manner) {
    ssize_t part;
    switch (manner) {
        case DRIBBLE:
            if (receive_some(*fd) < 0) return 0;
            if ((part = send_some(*fd, 1)) > 0) dribbled += part;
            return part >= 0;
        case GORGE:
            if ((part = gorge(*fd)) > 0) gorged += part;
            return part >= 0;
        case RESET:
            send_some(*fd, MESSAGE_BYTES);
            reset(fd);
            resets++;
            return 1;
        default:
            return receive_some(*fd) >= 0;
    }
}

static void take_turn(int peer) {
    int *fd = &fds[peer];
    if (*fd < 0) {
        *fd = connect_from(peer);
    } else if (!act(fd, peer % MANNERS)) {
        lost++;
        close(*fd);
        *fd = -1;
    }
}

static void sleep_until(int64_t time) {
    struct timespec until = {.tv_sec = time / 1000000000, .tv_nsec = time % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* After so many rounds through all peers. */
static void look_back(int rounds, int64_t since) {
    static long long gorged_before;
    static int ready;
    if (!ready && rounds > 2 && (gorged == gorged_before || since > PATIENCE_NANOS)) {
        ready = 1;
        puts("ready");
        fflush(stdout);
    }
    gorged_before = gorged;
}

static void allow_descriptors(int peers) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) die("getrlimit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0) die("setrlimit");
    if (limit.rlim_max < (rlim_t) peers + 16) fail("the limit on open files (ulimit -Hn) is too low for so many peers");
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: hostile PORT PEERS PERIOD-MILLIS\n");
        return 2;
    }
    port = (int) number(argv[1], 1, 65535);
    int peers = (int) number(argv[2], 1, MAX_PEERS);
    int64_t period = number(argv[3], 1, 10000) * 1000000;
    struct sigaction action = {.sa_handler = end};
    if (sigaction(SIGTERM, &action, NULL) < 0) die("sigaction");
    allow_descriptors(peers);
    fds = malloc(peers * sizeof *fds);
    if (!fds) die("malloc");
    for (int i = 0; i < peers; i++) fds[i] = -1;

    int64_t begun = nanos(CLOCK_MONOTONIC), due = begun;
    for (int64_t turns = 0, steps = 1; !over; steps++) {
        due += STEP_NANOS;
        sleep_until(due);
        int64_t late = nanos(CLOCK_MONOTONIC) - due;
        /* What could not be done in time is left undone: a flood of it would be another test. */
        if (late > LATE_NANOS) due += late;
        for (; turns < steps * STEP_NANOS * peers / period; turns++) {
            if (turns % peers == 0) look_back((int) (turns / peers), due - begun);
            take_turn((int) (turns % peers));
        }
    }
    printf("%lld connections, %lld refused, %lld ended by the server; %lld bytes one at a time, %lld bytes never read, %lld resets\n",
           connected, refused, lost, dribbled, gorged, resets);
    return 0;
}
