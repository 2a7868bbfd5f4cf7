#define _GNU_SOURCE
#include "stress.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint64_t random_next(struct random *self) {
    self->state += 0x9E3779B97F4A7C15u;
    uint64_t mixed = self->state;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

uint64_t random_below(struct random *self, uint64_t limit) { return random_next(self) % limit; }

void random_fill(struct random *self, void *bytes, size_t count) {
    uint8_t *target = bytes;
    while (count > 0) {
        uint64_t word = random_next(self);
        size_t part = count < sizeof word ? count : sizeof word;
        memcpy(target, &word, part);
        target += part;
        count -= part;
    }
}

double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (code != 0) fprintf(stderr, ": %s", strerror(code));
    fputc('\n', stderr);
    exit(1);
}

const char *error_name(int code) {
    static char texts[4][32];
    static int next;
    const char *name = strerrorname_np(code);
    char *text = texts[next++ % 4];
    if (name != NULL)
        snprintf(text, sizeof texts[0], "%s", name);
    else
        snprintf(text, sizeof texts[0], "errno %d", code);
    return text;
}

int in_processes(int count, void (*work)(int number, void *context), void *context, void (*begun)(void)) {
    int started = 0, bad = 0;
    fflush(NULL);
    for (int number = 0; number < count; number++) {
        pid_t child = fork();
        if (child < 0) {
            fprintf(stderr, "fork: %s\n", strerror(errno));
            bad++;
            break;
        }
        if (child == 0) {
            work(number, context);
            fflush(NULL);
            _exit(0);
        }
        started++;
    }
    if (begun != NULL) begun();
    for (int ended = 0; ended < started;) {
        int status;
        if (wait(&status) < 0) {
            if (errno == EINTR) continue;
            break;
        }
        ended++;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) bad++;
    }
    return bad;
}
