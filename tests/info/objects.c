/* Info objects (MPI 5.0, chapter 10): set, get, the order of keys, lengths, overwriting, deletion, duplicates, the
 * longest key and value, and the environment. */
#include "../check.h"

static void check_value(MPI_Info info, const char *key, const char *expected)
{
    char value[MPI_MAX_INFO_VAL + 1] = "?";
    int flag = -1, length = -1, room = sizeof value;
    OK(MPI_Info_get_string(info, key, &room, value, &flag));
    CHECK_EQ(flag, expected != NULL);
    if (expected != NULL) {
        CHECK(strcmp(value, expected) == 0);
        CHECK_EQ(room, strlen(expected) + 1);
        OK(MPI_Info_get_valuelen(info, key, &length, &flag));
        CHECK(flag);
        CHECK_EQ(length, strlen(expected));
        OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag));
        CHECK(flag && strcmp(value, expected) == 0);
    }
}

static void check_keys(MPI_Info info, int count, const char *const *expected)
{
    char key[MPI_MAX_INFO_KEY + 1];
    int found = -1;
    OK(MPI_Info_get_nkeys(info, &found));
    CHECK_EQ(found, count);
    for (int i = 0; i < count; i++) {
        OK(MPI_Info_get_nthkey(info, i, key));
        CHECK(strcmp(key, expected[i]) == 0);
    }
    CHECK(MPI_Info_get_nthkey(info, count, key) != MPI_SUCCESS);
}

static void life(void)
{
    MPI_Info info, twin;
    OK(MPI_Info_create(&info));
    check_keys(info, 0, NULL);
    OK(MPI_Info_set(info, "wood", "oak"));
    OK(MPI_Info_set(info, "metal", "iron"));
    OK(MPI_Info_set(info, "stone", "granite"));
    check_keys(info, 3, (const char *[]){"wood", "metal", "stone"});
    check_value(info, "metal", "iron");
    check_value(info, "Metal", NULL);
    OK(MPI_Info_set(info, "metal", "a longer value than before"));
    check_value(info, "metal", "a longer value than before");
    check_keys(info, 3, (const char *[]){"wood", "metal", "stone"});
    OK(MPI_Info_dup(info, &twin));
    OK(MPI_Info_delete(info, "wood"));
    FAILS(MPI_ERR_INFO_NOKEY, MPI_Info_delete(info, "wood"));
    check_keys(info, 2, (const char *[]){"metal", "stone"});
    check_keys(twin, 3, (const char *[]){"wood", "metal", "stone"});
    check_value(twin, "wood", "oak");
    OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL);
    check_value(twin, "stone", "granite");
    OK(MPI_Info_free(&twin));
}

/* Too little room: the value is cut and the length needed comes back; with no room only the length is asked for. */
static void short_room(void)
{
    MPI_Info info;
    char value[10] = "?????????";
    int flag = 0, room = 4;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "key", "abcdefgh"));
    OK(MPI_Info_get_string(info, "key", &room, value, &flag));
    CHECK(flag && strcmp(value, "abc") == 0 && value[4] == '?');
    CHECK_EQ(room, 9);
    room = 0;
    strcpy(value, "old");
    OK(MPI_Info_get_string(info, "key", &room, value, &flag));
    CHECK(flag && strcmp(value, "old") == 0);
    CHECK_EQ(room, 9);
    OK(MPI_Info_get(info, "key", 2, value, &flag));
    CHECK(flag && strcmp(value, "ab") == 0);
    OK(MPI_Info_free(&info));
}

static void limits(void)
{
    MPI_Info info;
    static char key[MPI_MAX_INFO_KEY + 2], value[MPI_MAX_INFO_VAL + 2];
    memset(key, 'k', MPI_MAX_INFO_KEY - 1);
    memset(value, 'v', MPI_MAX_INFO_VAL - 1);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, value));
    check_value(info, key, value);
    key[MPI_MAX_INFO_KEY - 1] = key[MPI_MAX_INFO_KEY] = 'k';
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, key, "x"));
    value[MPI_MAX_INFO_VAL - 1] = value[MPI_MAX_INFO_VAL] = 'v';
    FAILS(MPI_ERR_INFO_VALUE, MPI_Info_set(info, "k", value));
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, "", "x"));
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, NULL, "x"));
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_delete(info, NULL));
    OK(MPI_Info_free(&info));
}

static void many(void)
{
    MPI_Info info;
    char key[20], value[20];
    int keys = 0;
    OK(MPI_Info_create(&info));
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof key, "key%d", i);
        snprintf(value, sizeof value, "%d", i * i);
        OK(MPI_Info_set(info, key, value));
    }
    OK(MPI_Info_get_nkeys(info, &keys));
    CHECK_EQ(keys, 300);
    check_value(info, "key17", "289");
    check_value(info, "key299", "89401");
    OK(MPI_Info_free(&info));
}

static void environment(int argc, char **argv)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1];
    int flag = 0, room = sizeof value, keys = -1;
    OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &keys));
    CHECK(keys >= 0);
    OK(MPI_Info_get_string(MPI_INFO_ENV, "thread_level", &room, value, &flag));
    CHECK(!flag || strncmp(value, "MPI_THREAD_", 11) == 0);
    OK(MPI_Info_create_env(argc, argv, &info));
    room = sizeof value;
    OK(MPI_Info_get_string(info, "command", &room, value, &flag));
    CHECK(!flag || strstr(value, "objects") != NULL);
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info);
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    life();
    short_room();
    limits();
    many();
    environment(argc, argv);
    return check_end();
}
