/*
 * What the servers have in common: they listen on a free port of the loopback interface and say
 * which on their first line.
 */
#ifndef GYRE_BENCH_LISTEN_H
#define GYRE_BENCH_LISTEN_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

static inline void die(const char *call) {
    perror(call);
    exit(1);
}

/* Flags as of socket(2). */
static inline int listen_anywhere(int flags) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | flags, 0);
    if (fd < 0) die("socket");
    if (bind(fd, (struct sockaddr *) &address, length) < 0) die("bind");
    if (listen(fd, BACKLOG) < 0) die("listen");
    if (getsockname(fd, (struct sockaddr *) &address, &length) < 0) die("getsockname");
    printf("listening %d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

/* Returns the next connection, or -1 if none waits. */
static inline int accept_one(int listener) {
    static const int on = 1;
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0 && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) die("setsockopt");
    return fd;
}

/* For servers that know a connection by its number alone. */
static inline void watch_input(int epfd, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) < 0) die("epoll_ctl");
}

static inline void accept_all(int epfd, int listener) {
    int fd;
    while ((fd = accept_one(listener)) >= 0) watch_input(epfd, fd);
}

#endif
