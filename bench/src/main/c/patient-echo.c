/*
 * An echo server that puts up with peers that do not read: what they do not take is kept, a buffer at
 * most, and until it is gone nothing more is received from them. Otherwise as echo-server.c, which is
 * simpler for having none of this. What a well-behaved peer sees of the rest is the machine's doing.
 */
#define _GNU_SOURCE
#include "listen.h"

#include <string.h>

enum { EVENTS = 512, BUFFER_BYTES = 65536 };

struct connection {
    int fd, kept_from, kept_until;
    char *kept;
};

static char buffer[BUFFER_BYTES];

static void watch(int epfd, int operation, struct connection *connection, int what) {
    struct epoll_event event = {.events = what, .data.ptr = connection};
    if (epoll_ctl(epfd, operation, connection->fd, &event) < 0) die("epoll_ctl");
}

static struct connection *connection_of(int fd) {
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) die("calloc");
    connection->fd = fd;
    return connection;
}

static void end(struct connection *connection) {
    close(connection->fd);
    free(connection->kept);
    free(connection);
}

/* Bytes that went, 0 if there was no room, -1 if the peer is gone. */
static int send_some(int fd, const char *from, int bytes) {
    ssize_t sent = send(fd, from, bytes, MSG_NOSIGNAL);
    return sent < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : (int) sent;
}

static void echo(int epfd, struct connection *connection) {
    ssize_t received = recv(connection->fd, buffer, sizeof buffer, 0);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) return;
    int sent = received > 0 ? send_some(connection->fd, buffer, (int) received) : -1;
    if (sent < 0) {
        end(connection);
    } else if (sent < received) {
        connection->kept_from = 0;
        connection->kept_until = (int) received - sent;
        connection->kept = malloc(connection->kept_until);
        if (!connection->kept) die("malloc");
        memcpy(connection->kept, buffer + sent, connection->kept_until);
        watch(epfd, EPOLL_CTL_MOD, connection, EPOLLOUT);
    }
}

static void go_on(int epfd, struct connection *connection) {
    int left = connection->kept_until - connection->kept_from;
    int sent = send_some(connection->fd, connection->kept + connection->kept_from, left);
    if (sent < 0) {
        end(connection);
        return;
    }
    connection->kept_from += sent;
    if (sent < left) return;
    free(connection->kept);
    connection->kept = NULL;
    watch(epfd, EPOLL_CTL_MOD, connection, EPOLLIN);
}

int main(void) {
    struct epoll_event events[EVENTS];
    int fd, epfd = epoll_create1(EPOLL_CLOEXEC);
    if (epfd < 0) die("epoll_create1");
    struct connection *listener = connection_of(listen_anywhere(SOCK_NONBLOCK | SOCK_CLOEXEC));
    watch(epfd, EPOLL_CTL_ADD, listener, EPOLLIN);
    for (;;) {
        int count = epoll_wait(epfd, events, EVENTS, -1);
        if (count < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection == listener) {
                while ((fd = accept_one(listener->fd)) >= 0) watch(epfd, EPOLL_CTL_ADD, connection_of(fd), EPOLLIN);
            } else if (connection->kept) {
                go_on(epfd, connection);
            } else {
                echo(epfd, connection);
            }
        }
    }
}
