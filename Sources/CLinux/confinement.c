// Programs that read what anybody may have written: confined before they start.
//
//   daemon ── fork ─▶ supervisor (the process that is waited for)
//                       └─ fork ─▶ first process of the namespace ── fork ─▶ the program
//
// When the supervisor dies the first process is killed by the kernel, and with it everything in the namespace. Between fork
// and exec only calls that are safe after a fork of a program with threads.
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void limit(int resource, rlim_t value) {
    if (value == 0) return;
    struct rlimit both = {.rlim_cur = value, .rlim_max = value};
    (void)setrlimit(resource, &both);
}

// Waits for the process, and ends as it ended. Children that it left behind are not waited for: they end with the namespace.
static void end_with(pid_t process) {
    int status = 0;
    pid_t ended;
    do {
        ended = waitpid(-1, &status, 0);
    } while (ended != process && (ended > 0 || errno == EINTR));
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128);
}

static void redirect(void) {
    int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0) _exit(127);
    for (int target = 0; target < 3; target++)
        if (dup2(nothing, target) < 0) _exit(127);
    (void)syscall(SYS_close_range, 3U, ~0U, 0U);
}

static void default_signals(void) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < 32; number++) (void)sigaction(number, &standard, NULL);
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

// Whether the processes of the program are counted apart from the user's others.
static int become_nobody(const struct quire_confinement *limits, int own_users) {
    if (geteuid() != 0) return own_users;
    if (setgroups(0, NULL) != 0 || setresgid(limits->group, limits->group, limits->group) != 0 ||
        setresuid(limits->user, limits->user, limits->user) != 0)
        _exit(127);
    return 1;
}

static void run(
    const char *program, char *const arguments[], char *const environment[], const char *directory,
    const struct quire_confinement *limits, int own_users) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setpriority(PRIO_PROCESS, 0, 19);
    limit(RLIMIT_CORE, 1);
    limit(RLIMIT_AS, limits->address_space);
    limit(RLIMIT_FSIZE, limits->file_size);
    limit(RLIMIT_CPU, limits->cpu_seconds);
    limit(RLIMIT_NOFILE, limits->descriptors);
    if (chdir(directory) != 0) _exit(127);
    int counted = become_nobody(limits, own_users);
    if (counted) limit(RLIMIT_NPROC, limits->processes);
    // Changing the user clears it.
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(127);
    execve(program, arguments, environment);
    _exit(127);
}

pid_t quire_spawn_confined(
    const char *program, char *const arguments[], char *const environment[], const char *directory,
    const struct quire_confinement *limits) {
    pid_t supervisor = fork();
    if (supervisor != 0) return supervisor;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    default_signals();
    (void)setsid();
    redirect();
    int own_users = 0;
    if (geteuid() != 0) own_users = unshare(CLONE_NEWUSER) == 0;
    // Each may be refused, and the program is confined by the rest.
    (void)unshare(CLONE_NEWNET);
    (void)unshare(CLONE_NEWIPC);
    int own_processes = unshare(CLONE_NEWPID) == 0;
    pid_t first = fork();
    if (first < 0) _exit(126);
    if (first > 0) end_with(first);
    if (!own_processes) run(program, arguments, environment, directory, limits, own_users);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t inner = fork();
    if (inner < 0) _exit(126);
    if (inner > 0) end_with(inner);
    run(program, arguments, environment, directory, limits, own_users);
    return -1;
}
