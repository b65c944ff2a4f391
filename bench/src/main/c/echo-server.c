/*
 * The floor of an echo server: level-triggered epoll, one recv and one send an event, and nothing
 * besides. Listens on a free port of the loopback interface, says which, and serves until it is
 * killed.
 *
 * A send that is cut short would break the echo, so it ends the connection, and a load generator
 * that reads would tell: with one message in flight a connection there is always room.
 *
 * BareEcho.java is the same in Java; what is changed here has to be changed there.
 */
#define _GNU_SOURCE
#include "listen.h"

enum { EVENTS = 512, BUFFER_BYTES = 65536 };

int main(void) {
    static char buffer[BUFFER_BYTES];
    struct epoll_event events[EVENTS];
    int epfd = epoll_create1(EPOLL_CLOEXEC);
    if (epfd < 0) die("epoll_create1");
    int listener = listen_anywhere(SOCK_NONBLOCK | SOCK_CLOEXEC);
    watch_input(epfd, listener);
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
