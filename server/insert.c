/* BF.INSERT, CF.INSERT and CF.INSERTNX: options, then the word ITEMS, then items. */
#include "server_commands.h"

struct insert_arguments {
    struct filter_options options; /* if the filter must be created */
    bool may_create;
    int items; /* index of the first item */
};

/* NULL or the error. */
static const char *read_arguments(RedisModuleString **argv, int argc, const struct insert_calls *calls,
                                  struct insert_arguments *arguments) {
    const char *error = NULL;
    for (int i = 2; !error && i < argc; i++) {
        if (is_word(argv[i], "ITEMS")) {
            arguments->items = i + 1;
            break;
        }
        if (is_word(argv[i], "NOCREATE"))
            arguments->may_create = false;
        else
            error = calls->read_option(argv, argc, &i, &arguments->options);
    }
    return error;
}

int insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, const struct insert_calls *calls) {
    struct insert_arguments arguments = {.options = calls->defaults(), .may_create = true, .items = argc};
    struct named_filter named;
    if (argc < 4) return RedisModule_WrongArity(ctx);
    const char *error = read_arguments(argv, argc, calls, &arguments);
    if (error) return RedisModule_ReplyWithError(ctx, error);
    if (arguments.items == argc) return RedisModule_WrongArity(ctx);
    if (calls->find(&named, ctx, argv[1], &arguments.options, calls->family, arguments.may_create))
        calls->add(&named, argv + arguments.items, argc - arguments.items);
    named_close(&named, calls->event);
    return REDISMODULE_OK;
}
