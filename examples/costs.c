/*
 * costs COMMAND...: runs a command and says on stderr how long it took and how much memory it had
 * at its peak.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: costs COMMAND [ARGUMENTS...]\n");
        return 2;
    }
    double start = seconds_now();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        perror("costs");
        return 2;
    }
    fprintf(stderr, "  took %.3f s, %.1f MiB at its peak\n", seconds_now() - start, (double)usage.ru_maxrss / 1024);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
