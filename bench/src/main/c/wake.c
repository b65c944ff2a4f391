/*
 * The floor of a wake-up: one thread sleeps in epoll_wait on an eventfd, another writes to it. Prints the time from before
 * the write to the moment the woken thread reads the clock, in nanoseconds, one a line.
 *
 *     wake SPIN|YIELD WARM-UPS SAMPLES
 *
 * WakeLatency.java does the same, step by step; what is changed here has to be changed there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_NANOS = 50000 };

static int epfd, efd;
static int yielding;

/* On lines of their own: the clock's value is written before the flag, and read after it. */
static _Alignas(128) int64_t stamp_nanos;
static _Alignas(128) atomic_int stamped;

static void die(const char *call) {
    perror(call);
    exit(1);
}

static int64_t nano_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void wait_once(void) {
    if (yielding) {
        sched_yield();
        return;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static void *sleeper(void *unused) {
    (void) unused;
    struct epoll_event events[16];
    for (;;) {
        /* Edge-triggered: the eventfd need not be read. */
        if (epoll_wait(epfd, events, 16, -1) < 0 && errno != EINTR) die("epoll_wait");
        stamp_nanos = nano_time();
        atomic_store(&stamped, 1);
    }
    return NULL;
}

static void pause_awake(void) {
    int64_t until = nano_time() + PAUSE_NANOS;
    while (nano_time() < until) wait_once();
}

static int64_t wake_once(void) {
    static const uint64_t one = 1;
    pause_awake();
    int64_t before = nano_time();
    if (write(efd, &one, sizeof one) != sizeof one) die("write");
    while (!atomic_load(&stamped)) wait_once();
    int64_t latency = stamp_nanos - before;
    atomic_store(&stamped, 0);
    return latency;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: wake SPIN|YIELD WARM-UPS SAMPLES\n");
        return 2;
    }
    yielding = !strcmp(argv[1], "YIELD");
    long warm_ups = atol(argv[2]), samples = atol(argv[3]);
    int64_t *latencies = calloc(samples, sizeof *latencies);
    if (!latencies) die("calloc");

    if ((epfd = epoll_create1(EPOLL_CLOEXEC)) < 0) die("epoll_create1");
    if ((efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) die("eventfd");
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    if (epoll_ctl(epfd, EPOLL_CTL_ADD, efd, &event) < 0) die("epoll_ctl");
    pthread_t thread;
    if ((errno = pthread_create(&thread, NULL, sleeper, NULL))) die("pthread_create");

    for (long i = 0; i < warm_ups; i++) wake_once();
    for (long i = 0; i < samples; i++) latencies[i] = wake_once();
    for (long i = 0; i < samples; i++) printf("%lld\n", (long long) latencies[i]);
    return 0;
}
