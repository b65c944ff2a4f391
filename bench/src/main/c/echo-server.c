/*
 * The floor of an echo server: level-triggered epoll, one recv and one send an event, and nothing
 * besides. Listens on a free port of the loopback interface, says which, and serves until it is
 * killed.
 *
 * A send that is cut short would break the echo, and the load generator would tell: with one message
 * in flight a connection there is always room.
 *
 * BareEcho.java is the same in Java; what is changed here has to be changed there.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 512, BUFFER_BYTES = 65536, BACKLOG = 1024 };

static const int on = 1;

static void die(const char *call) {
    perror(call);
    exit(1);
}

static void watch(int epfd, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) < 0) die("epoll_ctl");
}

static int listen_anywhere(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) die("socket");
    if (bind(fd, (struct sockaddr *) &address, length) < 0) die("bind");
    if (listen(fd, BACKLOG) < 0) die("listen");
    if (getsockname(fd, (struct sockaddr *) &address, &length) < 0) die("getsockname");
    printf("listening %d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void accept_all(int epfd, int listener) {
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) die("setsockopt");
        watch(epfd, fd);
    }
}

int main(void) {
    static char buffer[BUFFER_BYTES];
    struct epoll_event events[EVENTS];
    int epfd = epoll_create1(EPOLL_CLOEXEC);
    if (epfd < 0) die("epoll_create1");
    int listener = listen_anywhere();
    watch(epfd, listener);
    for (;;) {
        int count = epoll_wait(epfd, events, EVENTS, -1);
        if (count < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                accept_all(epfd, listener);
                continue;
            }
            ssize_t received = recv(fd, buffer, sizeof buffer, 0);
            if (received <= 0 || send(fd, buffer, received, MSG_NOSIGNAL) != received) close(fd);
        }
    }
}
