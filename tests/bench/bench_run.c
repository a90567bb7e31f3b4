/* `bench_run RUNS COMMAND [ARG ...]`: runs the command RUNS times after one warm-up and prints the medians of wall time
 * (ms), CPU time of all its threads (ms) and the largest peak memory (KiB) on one line. Its output is thrown away. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double tv_ms(struct timeval t)
{
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int runs = argc > 2 ? atoi(argv[1]) : 0;
    double wall[101], cpu[101];
    long rss = 0;
    if (runs < 1 || runs > 100)
        return fprintf(stderr, "usage: %s RUNS COMMAND [ARG ...]\n", argv[0]), 2;
    for (int i = -1; i < runs; i++) {
        double start = now_ms();
        pid_t pid = fork();
        if (pid == 0) {
            int null = open("/dev/null", O_RDWR);
            dup2(null, STDIN_FILENO);
            dup2(null, STDOUT_FILENO);
            execvp(argv[2], argv + 2);
            _exit(127);
        }
        int status;
        struct rusage ru;
        if (pid < 0 || wait4(pid, &status, 0, &ru) < 0 || status)
            return fprintf(stderr, "%s failed\n", argv[2]), 1;
        if (i < 0)
            continue;
        wall[i] = now_ms() - start;
        cpu[i] = tv_ms(ru.ru_utime) + tv_ms(ru.ru_stime);
        rss = ru.ru_maxrss > rss ? ru.ru_maxrss : rss;
    }
    qsort(wall, (size_t)runs, sizeof wall[0], by_value);
    qsort(cpu, (size_t)runs, sizeof cpu[0], by_value);
    printf("%.1f %.1f %ld\n", wall[runs / 2], cpu[runs / 2], rss);
    return 0;
}
