/*
 * Peers that send as fast as the server takes it, and read everything it sends back:
 *
 *     echo         bytes
 *     websocket    masked binary messages of 16 KiB, after the handshake
 *     post         requests POST /echo with a body of 1 MiB
 *
 *     bulk-peers PORT KIND PEERS
 *
 * Prints `ready` once every peer has received something; runs until it is terminated, and then prints
 * how much was sent and received.
 */
#define _GNU_SOURCE
#define LOAD "bulk-peers"
#include "load.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>

enum { MAX_PEERS = 1000, EVENTS = 64, MESSAGE_BYTES = 16384, BODY_BYTES = 1048576, READ_BYTES = 262144 };

struct peer {
    int fd, received;
    size_t offset;
};

static char upgrade[] =
    "GET /ws/echo HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
static char *unit;
static size_t unit_bytes;
static long long sent, received;
static volatile sig_atomic_t over;

static void end(int signal) {
    (void) signal;
    over = 1;
}

/* What a peer sends again and again. */
static void make_unit(const char *kind) {
    static const unsigned char frame[] = {0x82, 0xFE, MESSAGE_BYTES >> 8, MESSAGE_BYTES & 0xFF, 0, 0, 0, 0};
    char head[128];
    int head_bytes = 0;
    size_t body_bytes = MESSAGE_BYTES;
    if (!strcmp(kind, "websocket")) {
        memcpy(head, frame, head_bytes = sizeof frame);
    } else if (!strcmp(kind, "post")) {
        body_bytes = BODY_BYTES;
        head_bytes = snprintf(head, sizeof head, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n",
                              BODY_BYTES);
    } else if (strcmp(kind, "echo")) {
        fail("the kind is one of echo, websocket, post");
    }
    unit_bytes = head_bytes + body_bytes;
    unit = malloc(unit_bytes);
    if (!unit) die("malloc");
    memcpy(unit, head, head_bytes);
    memset(unit + head_bytes, 'x', body_bytes);
}

static int is_retried(void) {
    return errno == EAGAIN || errno == EINTR;
}

static void send_some(struct peer *peer) {
    ssize_t part = send(peer->fd, unit + peer->offset, unit_bytes - peer->offset, MSG_NOSIGNAL);
    if (part < 0 && !is_retried()) die("send");
    if (part <= 0) return;
    sent += part;
    peer->offset = (peer->offset + part) % unit_bytes;
}

/* Returns whether it is the first that this peer receives. */
static int receive_some(struct peer *peer) {
    static char bytes[READ_BYTES];
    ssize_t part = recv(peer->fd, bytes, sizeof bytes, 0);
    if (part == 0) fail("the server closed a connection");
    if (part < 0 && !is_retried()) die("recv");
    if (part <= 0) return 0;
    received += part;
    return !peer->received++;
}

static void shake_hands(int fd) {
    char response[1024];
    size_t length = 0;
    if (send(fd, upgrade, sizeof upgrade - 1, MSG_NOSIGNAL) < 0) die("send");
    do {
        ssize_t part = recv(fd, response + length, sizeof response - 1 - length, 0);
        if (part <= 0) fail("no response to the handshake");
        length += part;
        response[length] = 0;
    } while (!strstr(response, "\r\n\r\n") && length < sizeof response - 1);
    if (strncmp(response, "HTTP/1.1 101", 12)) fail("the server refused the handshake");
}

int main(int argc, char **argv) {
    static struct peer all[MAX_PEERS];
    struct epoll_event events[EVENTS];
    if (argc != 4) {
        fprintf(stderr, "usage: bulk-peers PORT echo|websocket|post PEERS\n");
        return 2;
    }
    int port = (int) number(argv[1], 1, 65535), peers = (int) number(argv[3], 1, MAX_PEERS), waiting = peers;
    struct sigaction action = {.sa_handler = end};
    if (sigaction(SIGTERM, &action, NULL) < 0) die("sigaction");
    make_unit(argv[2]);
    int epfd = epoll_create1(EPOLL_CLOEXEC);
    if (epfd < 0) die("epoll_create1");
    for (int i = 0; i < peers; i++) {
        struct peer *peer = &all[i];
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = peer};
        peer->fd = connect_to(port);
        if (!strcmp(argv[2], "websocket")) shake_hands(peer->fd);
        if (fcntl(peer->fd, F_SETFL, O_NONBLOCK) < 0) die("fcntl");
        if (epoll_ctl(epfd, EPOLL_CTL_ADD, peer->fd, &event) < 0) die("epoll_ctl");
    }
    while (!over) {
        int count = epoll_wait(epfd, events, EVENTS, -1);
        if (count < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < count; i++) {
            struct peer *peer = events[i].data.ptr;
            if (events[i].events & (EPOLLIN | EPOLLERR | EPOLLHUP) && receive_some(peer) && --waiting == 0) {
                puts("ready");
                fflush(stdout);
            }
            if (events[i].events & EPOLLOUT) send_some(peer);
        }
    }
    printf("%lld bytes sent, %lld received\n", sent, received);
    return 0;
}
