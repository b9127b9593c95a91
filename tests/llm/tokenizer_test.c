#include "llm/tokenizer.h"

#include "llm/checkpoint.h"

enum { FIRST = TOK_CONTROL + 256 };

static char error[TOK_ERROR];

// Control tokens, all bytes, then these pieces.
static tokenizer *make(checkpoint *k, const char *pieces) {
    static char text[1 << 15];
    int used = snprintf(text, sizeof text,
                        "[{\"piece\":\"<unk>\",\"score\":0},{\"piece\":\"<s>\",\"score\":0},"
                        "{\"piece\":\"</s>\",\"score\":0}");
    for (int i = 0; i < 256; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, ",{\"piece\":\"<0x%02X>\",\"score\":0}", (unsigned)i);
    snprintf(text + used, sizeof text - (size_t)used, "%s]", pieces);
    ck_begin(k);
    ck_write_text(k, "vocab.json", text);
    return tok_open(k->dir, error);
}

#define PIECE(text, score) ",{\"piece\":\"" text "\",\"score\":" #score "}"

static void encodes(const tokenizer *t, const char *text, const uint32_t *want, size_t count) {
    size_t got;
    uint32_t *ids = tok_encode(t, text, &got);
    cr_assert_not_null(ids);
    cr_assert_eq(got, count, "\"%s\": %zu tokens, want %zu", text, got, count);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(ids[i], want[i], "\"%s\"[%zu]: got %u, want %u", text, i, ids[i], want[i]);
    free(ids);
}
#define ENCODES(t, text, ...)                                                                                          \
    encodes(t, text, (uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

// Pieces by score: " a" first, then "bc", "ab", "abc".
Test(tokenizer, joins_the_highest_score_first) {
    checkpoint k;
    tokenizer *t = make(&k, PIECE(" ", -9) PIECE("a", -9) PIECE("b", -9) PIECE("c", -9) PIECE("ab", -3) PIECE("bc", -2)
                                PIECE("abc", -4) PIECE(" a", -1));
    cr_assert(t, "%s", error);
    cr_assert_eq(tok_count(t), FIRST + 8);
    ENCODES(t, "a", FIRST + 7);
    ENCODES(t, "abc", FIRST + 7, FIRST + 5);             // " a", "bc"
    ENCODES(t, "cabc", FIRST + 0, FIRST + 3, FIRST + 6); // "bc", then "a" + "bc" = "abc"
    ENCODES(t, "bab", FIRST + 0, FIRST + 2, FIRST + 4);
    encodes(t, "", NULL, 0);
    tok_close(t);
    ck_end(&k);
}

// Of equals the leftmost; a join in the middle of a run makes room for another.
Test(tokenizer, joins_the_leftmost_of_equals) {
    checkpoint k;
    tokenizer *t = make(&k, PIECE(" ", -9) PIECE("a", -9) PIECE("aa", -1) PIECE("aaaa", -2));
    cr_assert(t, "%s", error);
    ENCODES(t, "aaa", FIRST + 0, FIRST + 2, FIRST + 1);
    ENCODES(t, "aaaa", FIRST + 0, FIRST + 3);
    ENCODES(t, "aaaaaaa", FIRST + 0, FIRST + 3, FIRST + 2, FIRST + 1);
    tok_close(t);
    ck_end(&k);
}

// What is no piece falls into bytes; control tokens and spelt bytes in a text are text.
Test(tokenizer, falls_back_to_bytes) {
    checkpoint k;
    size_t size;
    tokenizer *t = make(&k, PIECE(" ", -9) PIECE("<", -9) PIECE("s", -9) PIECE(">", -9) PIECE("\u00e9", -9));
    cr_assert(t, "%s", error);
    ENCODES(t, "\xc3\xa9", FIRST + 0, FIRST + 4);
    ENCODES(t, "\xe2\x82\xac", FIRST + 0, 3 + 0xe2, 3 + 0x82, 3 + 0xac);
    ENCODES(t, "<s>", FIRST + 0, FIRST + 1, FIRST + 2, FIRST + 3);
    ENCODES(t, "\n\xc3", FIRST + 0, 3 + '\n', 3 + 0xc3); // a character cut short
    ENCODES(t, "\xff\x80s", FIRST + 0, 3 + 0xff, 3 + 0x80, FIRST + 2);
    const char *bytes = tok_bytes(t, 3 + '\n', &size);
    cr_assert(size == 1 && *bytes == '\n');
    bytes = tok_bytes(t, 3, &size);
    cr_assert(size == 1 && *bytes == '\0');
    tok_bytes(t, 1, &size);
    cr_assert_eq(size, 0);
    tok_close(t);
    ck_end(&k);
}

// The definition, word for word: look at all neighbours, join the best, begin again.
typedef struct {
    const char *text;
    double score;
} scored;
static const scored pieces[] = {{" ", -9},   {"a", -9},   {"b", -8},  {"ab", -3},       {"ba", -2},
                                {"aba", -4}, {" a", -1},  {"bb", -5}, {"\xc3\xa9", -1}, {"b\xc3\xa9", -6},
                                {"aa", -2},  {"abaa", 0}, {"bbb", -5}};
enum { PIECES = sizeof pieces / sizeof pieces[0] };

static int piece_of(const char *text, size_t size) {
    for (int i = 0; i < PIECES; i++)
        if (strlen(pieces[i].text) == size && !memcmp(pieces[i].text, text, size)) return i;
    return -1;
}

static size_t slowly(const char *text, uint32_t *ids) {
    size_t ends[256], parts = 0, count = 0, size = strlen(text);
    for (size_t at = 0; at < size; ends[parts++] = at) at += !strncmp(text + at, "\xc3\xa9", 2) ? 2 : 1;
    for (;;) {
        int best = -1, found;
        size_t where = 0;
        for (size_t i = 0; i + 1 < parts; i++) {
            size_t from = i ? ends[i - 1] : 0;
            found = piece_of(text + from, ends[i + 1] - from);
            if (found >= 0 && (best < 0 || pieces[found].score > pieces[best].score)) best = found, where = i;
        }
        if (best < 0) break;
        memmove(&ends[where], &ends[where + 1], (--parts - where) * sizeof *ends);
    }
    for (size_t i = 0; i < parts; i++) {
        size_t from = i ? ends[i - 1] : 0;
        int found = piece_of(text + from, ends[i] - from);
        if (found >= 0) ids[count++] = FIRST + (uint32_t)found;
        for (size_t at = from; found < 0 && at < ends[i]; at++) ids[count++] = 3u + (unsigned char)text[at];
    }
    return count;
}

// Random texts against the definition; any bytes but zero come back behind the space in front.
Test(tokenizer, joins_as_the_definition_does) {
    checkpoint k;
    static const char *const parts[] = {"a", "b", " ", "\xc3\xa9", "\xc3", "\n", "\xff", "a", "b", "a"};
    char list[1024] = "";
    for (int i = 0; i < PIECES; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), ",{\"piece\":\"%s\",\"score\":%g}", pieces[i].text,
                 pieces[i].score);
    tokenizer *t = make(&k, list);
    cr_assert(t, "%s", error);
    for (int n = 0; n < 4000; n++) {
        char text[256] = " ", back[600] = "";
        uint32_t want[256];
        size_t size, at = 0;
        for (uint64_t left = 1 + rng_below(&k.rng, 60); left > 0; left--)
            strcat(text, parts[rng_below(&k.rng, n % 2 ? 10 : 3)]);
        size_t count = slowly(text, want);
        encodes(t, text + 1, want, count);
        for (size_t i = 0; i < count; i++) {
            const char *bytes = tok_bytes(t, want[i], &size);
            memcpy(back + at, bytes, size);
            at += size;
        }
        cr_assert_str_eq(back, text);
    }
    tok_close(t);
    ck_end(&k);
}

Test(tokenizer, refuses_too_long_a_text) {
    checkpoint k;
    size_t count;
    tokenizer *t = make(&k, PIECE(" ", -9));
    char *text = malloc(TOK_MAX_TEXT + 2);
    memset(text, ' ', TOK_MAX_TEXT + 1);
    text[TOK_MAX_TEXT + 1] = '\0';
    cr_assert_null(tok_encode(t, text, &count));
    text[TOK_MAX_TEXT] = '\0';
    uint32_t *ids = tok_encode(t, text, &count);
    cr_assert(ids && count == TOK_MAX_TEXT + 1);
    free(ids);
    free(text);
    tok_close(t);
    ck_end(&k);
}

static void refused(const char *vocabulary, const char *because) {
    checkpoint k;
    ck_begin(&k);
    if (vocabulary) ck_write_text(&k, "vocab.json", vocabulary);
    cr_assert_null(tok_open(k.dir, error));
    cr_assert(strstr(error, because) && strstr(error, "vocab.json: ") && !strchr(error, '\n'), "got \"%s\"", error);
    ck_end(&k);
}

Test(tokenizer, refuses_what_is_no_such_list) {
    checkpoint k;
    refused(NULL, "expected a file that can be read");
    refused("[", "line 1: expected JSON");
    refused("{\"a\": 1}", "expected a list of");
    refused("[]", "expected a list of");
    refused("[{\"piece\": \"a\", \"score\": 0}, {\"piece\": \"b\"}]", "[1]: expected {\"piece\": text");
    refused("[{\"piece\": 1, \"score\": 0}]", "[0]: expected");
    refused("[{\"piece\": \"a\", \"score\": 0}]", "expected a piece <0x00>");
    cr_assert_null(make(&k, PIECE("x", -1) PIECE("y", -2) PIECE("x", -3)));
    cr_assert(strstr(error, "piece \"x\": expected it once"), "%s", error);
    ck_end(&k);
}

// The pieces of the small stories, and a text whose ids are known.
Test(tokenizer, encodes_as_sentencepiece_did) {
    char path[512];
    tokenizer *t = tok_open(shared_model("stories260k", path), error);
    cr_assert(t, "%s", error);
    ENCODES(t, "Once upon a time", 403, 407, 261, 378);
    tok_close(t);
}
