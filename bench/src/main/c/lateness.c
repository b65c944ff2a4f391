/*
 * The floor of a timer: a thread that sleeps in epoll_pwait2, on an epoll with an eventfd that nobody writes to, until a
 * deadline. Prints how late it wakes, in nanoseconds, one a line.
 *
 *     lateness WARM-UPS SAMPLES
 *
 * TimerLateness.java has the same deadlines; what is changed here has to be changed there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

static void die(const char *call) {
    perror(call);
    exit(1);
}

static int64_t nano_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* From 1 to 3 milliseconds, the same sequence everywhere. */
static int64_t next_delay(void) {
    static uint64_t state = 20261115;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 1000000 + (int64_t) ((state >> 33) % 2000000);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "lateness WARM-UPS SAMPLES\n");
        return 2;
    }
    int warm_ups = atoi(argv[1]), samples = atoi(argv[2]);
    int epfd = epoll_create1(EPOLL_CLOEXEC);
    int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET}, events[16];
    if (epfd < 0 || efd < 0 || epoll_ctl(epfd, EPOLL_CTL_ADD, efd, &event) < 0) die("epoll");
    for (int i = 0; i < warm_ups + samples; i++) {
        int64_t deadline = nano_time() + next_delay(), left;
        while ((left = deadline - nano_time()) > 0) {
            struct timespec timeout = {left / 1000000000, left % 1000000000};
            if (epoll_pwait2(epfd, events, 16, &timeout, NULL) < 0 && errno != EINTR) die("epoll_pwait2");
        }
        int64_t late = nano_time() - deadline;
        if (i >= warm_ups) printf("%lld\n", (long long) late);
    }
    return 0;
}
