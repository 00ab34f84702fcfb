/* Several programs at once (MPI 5.0, section 11.8.3): one MPI_COMM_WORLD, arguments and MPI_APPNUM of their own; the hints
 * wdir, path and soft; and everything that is refused, at all ranks and without a hang (sections 11.8.1 and 11.8.4). */
#include "../check.h"

#include <unistd.h>

static char program[4096];

/* Says what it is: its arguments' number, its appnum, the length of its directory's name, its world. */
static int child(int argc, char **argv, MPI_Comm parent)
{
    char directory[4096];
    int *appnum, flag, facts[4];
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag));
    CHECK(flag);
    CHECK(getcwd(directory, sizeof directory) != NULL);
    facts[0] = argc;
    facts[1] = *appnum;
    facts[2] = (int)strlen(directory);
    facts[3] = size;
    CHECK(argc < 3 || (strcmp(argv[2], ":") == 0 && strcmp(argv[3], "") == 0 && strcmp(argv[4], "-n") == 0));
    OK(MPI_Gather(facts, 4, MPI_INT, NULL, 0, MPI_INT, 0, parent));
    OK(MPI_Comm_disconnect(&parent));
    return check_end();
}

static void receive(MPI_Comm inter, int *facts)
{
    OK(MPI_Gather(NULL, 0, MPI_INT, facts, 4, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
    OK(MPI_Comm_disconnect(&inter));
}

static void several(void)
{
    char *commands[] = {program, program}, *long_line[] = {"a", ":", "", "-n", NULL};
    char **lines[] = {MPI_ARGV_NULL, long_line};
    int numbers[] = {1, 2}, codes[3] = {-1, -1, -1}, facts[12] = {0}, count;
    MPI_Info infos[2];
    MPI_Comm inter;
    OK(MPI_Info_create(&infos[0]));
    OK(MPI_Info_set(infos[0], "wdir", "/"));
    infos[1] = MPI_INFO_NULL;
    OK(MPI_Comm_spawn_multiple(2, commands, lines, numbers, infos, 0, MPI_COMM_WORLD, &inter, codes));
    OK(MPI_Comm_remote_size(inter, &count));
    CHECK_EQ(count, 3);
    CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS && codes[2] == MPI_SUCCESS);
    receive(inter, facts);
    if (rank == 0) {
        CHECK(facts[0] == 1 && facts[1] == 0 && facts[2] == 1 && facts[3] == 3);
        CHECK(facts[4] == 5 && facts[5] == 1 && facts[6] > 1 && facts[7] == 3);
        CHECK(facts[8] == 5 && facts[9] == 1);
    }
    infos[1] = infos[0];
    OK(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, numbers, infos, 0, MPI_COMM_WORLD, &inter,
                               MPI_ERRCODES_IGNORE));
    receive(inter, facts);
    CHECK(rank != 0 || (facts[4] == 1 && facts[6] == 1));
    OK(MPI_Info_free(&infos[0]));
}

static void hints(void)
{
    int codes[5], facts[12] = {0}, count;
    char path[5000];
    MPI_Info info;
    MPI_Comm inter;
    char *name = strrchr(program, '/');
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "soft", "1:9:2,8"));
    OK(MPI_Info_set(info, "host", "localhost"));
    snprintf(path, sizeof path, "/nowhere:%.*s", (int)(name - program), program);
    if (strlen(path) < MPI_MAX_INFO_VAL) {
        OK(MPI_Info_set(info, "path", path));
        name++;
    } else {
        name = program;
    }
    for (int i = 0; i < 5; i++) {
        codes[i] = -1;
    }
    OK(MPI_Comm_spawn(name, MPI_ARGV_NULL, 4, info, 0, MPI_COMM_WORLD, &inter, codes));
    OK(MPI_Comm_remote_size(inter, &count));
    CHECK_EQ(count, 3);
    CHECK(codes[2] == MPI_SUCCESS && codes[3] == (rank == 0 ? MPI_ERR_SPAWN : -1) && codes[4] == -1);
    receive(inter, facts);
    OK(MPI_Info_free(&info));
}

/* The root says something that is refused. */
static void refused(int class, const char *key, const char *value)
{
    MPI_Info info;
    MPI_Comm inter = MPI_COMM_SELF;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, value));
    FAILS(class, MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    OK(MPI_Info_free(&info));
}

static void refusals(void)
{
    char text[MPI_MAX_ERROR_STRING], *commands[] = {program, "/nowhere/nothing"};
    int codes[] = {-1, -1, -1}, numbers[] = {2, 1}, code, length;
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter = MPI_COMM_SELF;
    code = MPI_Comm_spawn("/nowhere/nothing", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
    FAILS(MPI_ERR_SPAWN, code);
    OK(MPI_Error_string(code, text, &length));
    CHECK(strstr(text, "/nowhere/nothing") != NULL);
    CHECK(rank != 0 || (codes[0] == MPI_ERR_SPAWN && codes[1] == MPI_ERR_SPAWN && codes[2] == -1));
    FAILS(MPI_ERR_SPAWN, MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, numbers, infos, 0, MPI_COMM_WORLD,
                                                 &inter, MPI_ERRCODES_IGNORE));
    /* No MPI program: it ends before anybody meets it. */
    FAILS(MPI_ERR_SPAWN, MPI_Comm_spawn("true", MPI_ARGV_NULL, 2, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter,
                                        MPI_ERRCODES_IGNORE));
    refused(MPI_ERR_SPAWN, "host", "no-such-host");
    refused(MPI_ERR_SPAWN, "arch", "no-such-machine");
    refused(MPI_ERR_SPAWN, "wdir", "/nowhere");
    refused(MPI_ERR_SPAWN, "soft", "7:9");
    refused(MPI_ERR_INFO_VALUE, "soft", "many");
    refused(MPI_ERR_INFO_VALUE, "file", "/nowhere/hints");
    FAILS(MPI_ERR_ARG, MPI_Comm_spawn(program, MPI_ARGV_NULL, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                      MPI_ERRCODES_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Comm_spawn(NULL, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                      MPI_ERRCODES_IGNORE));
    FAILS(MPI_ERR_ROOT, MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, size, MPI_COMM_WORLD, &inter,
                                       MPI_ERRCODES_IGNORE));
    FAILS(MPI_ERR_COMM, MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_NULL, &inter,
                                       MPI_ERRCODES_IGNORE));
    CHECK(inter == MPI_COMM_SELF);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    check_begin(&argc, &argv);
    snprintf(program, sizeof program, "%s", argv[0]);
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        return child(argc, argv, parent);
    }
    several();
    hints();
    refusals();
    return check_end();
}
