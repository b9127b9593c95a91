#include "llm/tokenizer.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 256, MAX_PIECES = 1 << 22 };
static const uint32_t NONE = UINT32_MAX;

typedef struct {
    char *text;
    size_t size;
    double score;
    uint32_t id;
} piece;

struct tokenizer {
    piece *pieces;  // [count], by id
    piece **sorted; // those that text can hold, by their bytes
    uint32_t count, num_sorted;
    uint32_t byte_ids[BYTES];
};

// ---- vocabulary
static int by_bytes(const char *a, size_t a_size, const char *b, size_t b_size) {
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

static int by_text(const void *a, const void *b) {
    const piece *x = *(piece *const *)a, *y = *(piece *const *)b;
    return by_bytes(x->text, x->size, y->text, y->size);
}

static const piece *find(const tokenizer *t, const char *text, size_t size) {
    uint32_t from = 0, to = t->num_sorted;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        int order = by_bytes(t->sorted[middle]->text, t->sorted[middle]->size, text, size);
        if (order == 0) return t->sorted[middle];
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

// The byte of a piece spelt <0xHH>, otherwise -1.
static int byte_of(const char *text) {
    unsigned value;
    int used = 0;
    return sscanf(text, "<0x%2X>%n", &value, &used) == 1 && used == 6 && !text[6] ? (int)value : -1;
}

static bool add_piece(tokenizer *t, const json_t *o) {
    const json_t *score = json_object_get(o, "score");
    const char *text = json_string_value(json_object_get(o, "piece"));
    if (!text || !json_is_number(score) || !isfinite(json_number_value(score))) return false;
    piece *p = &t->pieces[t->count];
    int byte = byte_of(text);
    p->id = t->count;
    p->score = json_number_value(score);
    if (!(p->text = strdup(text))) return false;
    t->count++;
    p->size = strlen(text);
    if (byte >= 0) {
        t->byte_ids[byte] = p->id;
        p->text[0] = (char)byte;
        p->size = 1;
    } else if (p->id < TOK_CONTROL)
        p->size = 0;
    else if (p->size > 0)
        t->sorted[t->num_sorted++] = p;
    return true;
}

static bool fill(tokenizer *t, const json_t *list, char text[TOK_ERROR / 2]) {
    size_t size = json_array_size(list);
    if (!json_is_array(list) || size == 0 || size > MAX_PIECES) {
        snprintf(text, TOK_ERROR / 2, "expected a list of {\"piece\", \"score\"}");
        return false;
    }
    t->pieces = calloc(size, sizeof *t->pieces);
    t->sorted = calloc(size, sizeof(piece *));
    for (int i = 0; i < BYTES; i++) t->byte_ids[i] = NONE;
    for (size_t i = 0; t->pieces && t->sorted && i < size; i++)
        if (!add_piece(t, json_array_get(list, i))) break;
    if (t->count < size) {
        snprintf(text, TOK_ERROR / 2, "[%u]: expected {\"piece\": text, \"score\": number}", t->count);
        return false;
    }
    qsort(t->sorted, t->num_sorted, sizeof(piece *), by_text);
    for (uint32_t i = 1; i < t->num_sorted; i++)
        if (by_text(&t->sorted[i - 1], &t->sorted[i]) == 0) {
            snprintf(text, TOK_ERROR / 2, "[%u]: piece \"%.40s\": expected it once", t->sorted[i]->id,
                     t->sorted[i]->text);
            return false;
        }
    for (int i = 0; i < BYTES; i++)
        if (t->byte_ids[i] == NONE) {
            snprintf(text, TOK_ERROR / 2, "expected a piece <0x%02X>", (unsigned)i);
            return false;
        }
    return true;
}

tokenizer *tok_open(const char *dir, char error[TOK_ERROR]) {
    char path[4096], text[TOK_ERROR / 2] = "no memory";
    json_error_t at;
    snprintf(path, sizeof path, "%.4000s/vocab.json", dir);
    json_t *list = json_load_file(path, 0, &at);
    tokenizer *t = list ? calloc(1, sizeof *t) : NULL;
    bool ok = t && fill(t, list, text);
    if (!list && at.line < 1)
        snprintf(text, sizeof text, "expected a file that can be read");
    else if (!list)
        snprintf(text, sizeof text, "line %d: expected JSON, %.120s", at.line, at.text);
    json_decref(list);
    if (ok) return t;
    snprintf(error, TOK_ERROR, "%.240s: %.240s", path, text);
    tok_close(t);
    return NULL;
}

void tok_close(tokenizer *t) {
    if (!t) return;
    for (uint32_t i = 0; i < t->count; i++) free(t->pieces[i].text);
    free(t->pieces);
    free(t->sorted);
    free(t);
}

uint32_t tok_count(const tokenizer *t) {
    return t->count;
}

const char *tok_bytes(const tokenizer *t, uint32_t id, size_t *size) {
    *size = t->pieces[id].size;
    return t->pieces[id].text;
}

// ---- joining: parts in a list, possible joins in a heap, those that went stale left in it
typedef struct {
    size_t at, size; // bytes of the text; size 0: joined to the part before
    uint32_t id;     // NONE: no piece
    size_t before, after;
} part;

typedef struct {
    double score;
    size_t left, right, size; // size: of both when found
    uint32_t id;
} join;

typedef struct {
    const tokenizer *t;
    const char *text;
    part *parts;
    join *heap;
    size_t joins, end; // end: the index behind the last part
} work;

static bool sooner(const join *a, const join *b) {
    return a->score > b->score || (a->score == b->score && a->left < b->left);
}

static void push(work *w, join j) {
    size_t i = w->joins++;
    for (; i > 0 && sooner(&j, &w->heap[(i - 1) / 2]); i = (i - 1) / 2) w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = j;
}

static join pop(work *w) {
    join top = w->heap[0], last = w->heap[--w->joins];
    size_t i = 0;
    for (size_t child = 1; child < w->joins; child = 2 * i + 1) {
        if (child + 1 < w->joins && sooner(&w->heap[child + 1], &w->heap[child])) child++;
        if (!sooner(&w->heap[child], &last)) break;
        w->heap[i] = w->heap[child];
        i = child;
    }
    w->heap[i] = last;
    return top;
}

static void consider(work *w, size_t left, size_t right) {
    if (right >= w->end) return;
    const part *a = &w->parts[left], *b = &w->parts[right];
    const piece *p = find(w->t, w->text + a->at, a->size + b->size);
    if (p) push(w, (join){p->score, left, right, a->size + b->size, p->id});
}

// Bytes of the UTF-8 character at text; 1 where it is none. The zero at the end of a text ends a character too.
static size_t character(const char *text) {
    unsigned char first = (unsigned char)text[0];
    size_t size = first >= 0xF0 && first < 0xF8   ? 4
                  : first >= 0xE0 && first < 0xF0 ? 3
                  : first >= 0xC0 && first < 0xE0 ? 2
                                                  : 1;
    for (size_t i = 1; i < size; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80) return 1;
    return size;
}

static void split(work *w, size_t size) {
    for (size_t at = 0; at < size; w->end++) {
        part *p = &w->parts[w->end];
        *p = (part){at, character(w->text + at), NONE, w->end - 1, w->end + 1};
        const piece *found = find(w->t, w->text + at, p->size);
        if (found) p->id = found->id;
        at += p->size;
    }
    for (size_t i = 0; i + 1 < w->end; i++) consider(w, i, i + 1);
}

static void merge(work *w) {
    while (w->joins > 0) {
        join j = pop(w);
        part *a = &w->parts[j.left], *b = &w->parts[j.right];
        if (!a->size || !b->size || a->after != j.right || a->size + b->size != j.size) continue; // stale
        a->size = j.size;
        a->id = j.id;
        a->after = b->after;
        b->size = 0;
        if (a->after < w->end) w->parts[a->after].before = j.left;
        if (j.left > 0) consider(w, a->before, j.left);
        consider(w, j.left, a->after);
    }
}

uint32_t *tok_encode(const tokenizer *t, const char *text, size_t *count) {
    size_t length = strlen(text), size = length + 1;
    *count = 0;
    if (length > TOK_MAX_TEXT) return NULL;
    char *spaced = malloc(size + 1);
    work w = {.t = t, .text = spaced, .parts = malloc(size * sizeof(part)), .heap = malloc(3 * size * sizeof(join))};
    uint32_t *ids = malloc(size * sizeof *ids);
    if (spaced && w.parts && w.heap && ids) {
        spaced[0] = ' ';
        memcpy(spaced + 1, text, length + 1);
        if (length) split(&w, size);
        merge(&w);
        for (size_t i = 0; i < w.end; i = w.parts[i].after) {
            const part *p = &w.parts[i];
            if (p->id != NONE) ids[(*count)++] = p->id;
            for (size_t b = 0; p->id == NONE && b < p->size; b++)
                ids[(*count)++] = t->byte_ids[(unsigned char)spaced[p->at + b]];
        }
    } else {
        free(ids);
        ids = NULL;
    }
    free(spaced);
    free(w.parts);
    free(w.heap);
    return ids;
}
