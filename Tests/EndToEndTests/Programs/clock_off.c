// A machine whose clock is off: preloaded into a daemon, it tells another time of day, by QUIRE_CLOCK_OFF seconds.
//
// How long the machine has run stays as it is, and so do the times that the kernel gives to files: to the program they are
// those of another machine, as on a network share.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long off(void) {
    static long seconds;
    static int known;
    if (!known) {
        const char *text = getenv("QUIRE_CLOCK_OFF");
        seconds = text ? atol(text) : 0;
        known = 1;
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += off();
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &now);
    if (time) *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return result;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *time, int base) { return clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0; }
