// The parser of the text form: one instruction a line, `#` starts a comment.
#include "program/program.h"
#include "program/program_text.h"

#include <stdarg.h>
#include <string.h>

enum { MAX_TOKENS = MAX_ARGS + 2, EXPECTED = 160, FOUND = 40 };

typedef struct {
    const char *at, *end;
} span;

// A line being parsed; the first failure fills `expected` and `found`.
typedef struct {
    span tokens[MAX_TOKENS];
    int count;
    char expected[EXPECTED];
    span found;
} line_t;

__attribute__((format(printf, 3, 4))) static bool fail(line_t *l, span found, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(l->expected, sizeof l->expected, format, args);
    va_end(args);
    l->found = found;
    return false;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static size_t length(span s) {
    return (size_t)(s.end - s.at);
}

static bool equals(span s, const char *text) {
    return length(s) == strlen(text) && memcmp(s.at, text, length(s)) == 0;
}

// Takes `text` from the front of the span.
static bool take(span *s, const char *text) {
    size_t n = strlen(text);
    if (length(*s) < n || memcmp(s->at, text, n) != 0) return false;
    s->at += n;
    return true;
}

static int digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 16;
}

// Takes a decimal or 0x number of at most max.
static bool take_number(span *s, uint64_t max, uint32_t *out) {
    int base = take(s, "0x") ? 16 : 10;
    uint64_t value = 0;
    const char *first = s->at;
    for (; s->at < s->end && digit(*s->at) < base; s->at++) {
        value = value * (uint64_t)base + (uint64_t)digit(*s->at);
        if (value > max) return false;
    }
    *out = (uint32_t)value;
    return s->at > first;
}

static bool take_u8(span *s, uint64_t max, uint8_t *out) {
    uint32_t value;
    if (!take_number(s, max, &value)) return false;
    *out = (uint8_t)value;
    return true;
}

static bool take_name(span *s, const char *const *names, int count, uint8_t *out) {
    for (int i = 0; i < count; i++)
        if (take(s, names[i])) {
            *out = (uint8_t)i;
            return true;
        }
    return false;
}

static bool take_node(span *s, uint8_t *x, uint8_t *y) {
    return take_u8(s, NOC_MAX_COORD, x) && take(s, ",") && take_u8(s, NOC_MAX_COORD, y);
}

static void set_field(instr_t *i, const arg_form *a, uint32_t value) {
    char *at = (char *)i + a->offset;
    uint16_t wide = (uint16_t)value;
    if (a->bytes == 1)
        *(uint8_t *)at = (uint8_t)value;
    else
        memcpy(at, &wide, sizeof wide);
}

// ADDR:LINE:SEG, and where the form leaves it open, `:group`.
static bool take_operand(span *s, const arg_form *a, instr_t *i) {
    uint32_t addr, line, seg;
    if (!take_number(s, UINT16_MAX, &addr) || !take(s, ":") || !take_number(s, UINT16_MAX, &line) || !take(s, ":") ||
        !take_number(s, UINT16_MAX, &seg))
        return false;
    bool group = a->kind == ARG_GROUPS || (a->kind == ARG_OPERAND && take(s, ":group"));
    vec_operand of = {(uint16_t)addr, (uint16_t)line, (uint16_t)seg, !group};
    memcpy((char *)i + a->offset, &of, sizeof of);
    return true;
}

// A name that goes into vec.arg, `unit` for each.
static bool take_into_arg(span *s, const char *const *names, int count, int unit, instr_t *i) {
    uint8_t value;
    if (!take_name(s, names, count, &value)) return false;
    i->vec.arg = (uint8_t)(i->vec.arg + unit * value);
    return true;
}

// Takes the value of an operand; the whole span must be used. False: not of this form.
static bool take_value(span s, const arg_form *a, instr_t *i) {
    uint32_t value;
    bool ok = false;
    switch (a->kind) {
    case ARG_SEM:
        ok = take(&s, "s") && take_u8(&s, a->max, &i->sem);
        break;
    case ARG_COUNT:
    case ARG_NUMBER:
    case ARG_ADDR:
        ok = take_number(&s, a->max, &value);
        if (ok) set_field(i, a, value);
        break;
    case ARG_FORMATS:
        ok = take_name(&s, fmt_names, NUM_FMTS, &i->fmt_a) && take(&s, "*") &&
             take_name(&s, fmt_names, NUM_FMTS, &i->fmt_w);
        break;
    case ARG_SCALES:
        ok = take_name(&s, scale_names, 3, &i->scale_a) && take(&s, ",") && take_name(&s, scale_names, 3, &i->scale_w);
        break;
    case ARG_HBM:
        ok = take_name(&s, side_names, 2, &i->to) && take(&s, ":") && take_u8(&s, NOC_MAX_COORD, &i->rect.y0) &&
             take(&s, ":") && take_number(&s, UINT32_MAX, &i->hbm_addr);
        i->to = (uint8_t)(i->to + TO_WEST);
        break;
    case ARG_TILE:
        ok = take_node(&s, &i->rect.x0, &i->rect.y0);
        i->rect.x1 = i->rect.x0;
        i->rect.y1 = i->rect.y0;
        break;
    case ARG_RECT:
        ok = take_node(&s, &i->rect.x0, &i->rect.y0) && take(&s, "..") && take_node(&s, &i->rect.x1, &i->rect.y1);
        break;
    case ARG_ROOT:
        ok = take_node(&s, &i->root.x, &i->root.y);
        break;
    case ARG_OPERAND:
    case ARG_STEPS:
    case ARG_GROUPS:
        ok = take_operand(&s, a, i);
        break;
    case ARG_QUANT_FMT:
        ok = take_into_arg(&s, fmt_names, NUM_FMTS, 1, i);
        break;
    case ARG_QUANT_RULE:
        ok = take_into_arg(&s, rule_names, NUM_RULES, VEC_ARG_RULE, i);
        break;
    }
    return ok && s.at == s.end;
}

static const char *describe(const arg_form *a) {
    static const char *const texts[] = {
        [ARG_SEM] = "a semaphore such as s0",
        [ARG_FORMATS] = "e2m1, int4, e4m3, e5m2, int8 or bf16 of activations*weights",
        [ARG_SCALES] = "none, e8m0 or bf16 of activations,weights",
        [ARG_HBM] = "west|east:ROW:HBM_ROW",
        [ARG_TILE] = "a tile X,Y",
        [ARG_RECT] = "tiles X0,Y0..X1,Y1",
        [ARG_ROOT] = "a tile X,Y",
        [ARG_OPERAND] = "ADDR:LINE:SEG or ADDR:LINE:SEG:group",
        [ARG_STEPS] = "ADDR:LINE:SEG",
        [ARG_GROUPS] = "ADDR:LINE:SEG",
        [ARG_QUANT_FMT] = "e2m1, e4m3, e5m2 or int8",
        [ARG_QUANT_RULE] = "floor, even or ceil",
    };
    return a->kind == ARG_COUNT || a->kind == ARG_NUMBER || a->kind == ARG_ADDR ? "a number" : texts[a->kind];
}

static bool parse_arg(line_t *l, span token, const op_form *form, int a, instr_t *i) {
    const arg_form *arg = &form->args[a];
    span value = token;
    if (arg->key) value.at += strlen(arg->key);
    if (take_value(value, arg, i)) return true;
    if (arg->max)
        return fail(l, token, "%s%s, at most %s%u", arg->key ? arg->key : "", describe(arg),
                    arg->kind == ARG_SEM ? "s" : "", arg->max);
    return fail(l, token, "%s%s", arg->key ? arg->key : "", describe(arg));
}

static int find_key(const op_form *form, span token) {
    for (int a = 0; a < form->num_args; a++)
        if (form->args[a].key && take(&token, form->args[a].key)) return a;
    return -1;
}

// The operands behind `engine.op`: those without a key first and in order, the others in any order, each once.
static bool parse_args(line_t *l, const op_form *form, instr_t *i) {
    span nothing = {NULL, NULL};
    bool seen[MAX_ARGS] = {false};
    int t = 1;
    for (int a = 0; a < form->num_args && !form->args[a].key; a++, t++) {
        if (t >= l->count) return fail(l, nothing, "%s", describe(&form->args[a]));
        if (!parse_arg(l, l->tokens[t], form, a, i)) return false;
        seen[a] = true;
    }
    for (; t < l->count; t++) {
        int a = find_key(form, l->tokens[t]);
        if (a < 0) return fail(l, l->tokens[t], "an operand of %s", form->name);
        if (seen[a]) return fail(l, l->tokens[t], "each operand once");
        if (!parse_arg(l, l->tokens[t], form, a, i)) return false;
        seen[a] = true;
    }
    for (int a = 0; a < form->num_args; a++)
        if (!seen[a]) return fail(l, nothing, "%s%s", form->args[a].key, describe(&form->args[a]));
    return true;
}

static bool parse_raw(line_t *l, instr_t *i) {
    span s = l->count == 2 ? l->tokens[1] : (span){NULL, NULL};
    row_t row = {{0}};
    bool ok = length(s) == 64;
    for (int n = 0; ok && n < 64; n++) {
        int d = digit(s.at[n]);
        ok = d < 16;
        row.w[3 - n / 16] = row.w[3 - n / 16] << 4 | ((uint64_t)d & 15);
    }
    *i = isa_unpack(&row);
    row_t again = isa_pack(i);
    if (!ok || memcmp(&row, &again, sizeof row) != 0)
        return fail(l, s, "64 hexadecimal digits, the reserved bits zero (the last 8, of vec the last 45)");
    return true;
}

static bool parse_instr(line_t *l, instr_t *i) {
    span op = l->tokens[0];
    *i = (instr_t){0};
    if (equals(op, "raw")) return parse_raw(l, i);
    if (equals(op, "end")) {
        *i = (instr_t){.op = OP_END, .engine = ENG_SEQ};
        return l->count == 1 || fail(l, l->tokens[1], "the end of the line");
    }
    if (!take_name(&op, engine_names, NUM_ENGINES, &i->engine) || !take(&op, "."))
        return fail(l, l->tokens[0], "'tile X Y:', 'end', 'raw' or ENGINE.OPERATION of matmul, move, send, recv, vec");
    const op_form *other = NULL; // of this name, of another engine
    for (int f = 0; f < num_op_forms; f++) {
        const op_form *form = &op_forms[f];
        if (!equals(op, form->name)) continue;
        if (form->engine == ENGINE_ANY || form->engine == i->engine) {
            i->op = form->op;
            return parse_args(l, form, i);
        }
        if (!other) other = form;
    }
    if (other) return fail(l, l->tokens[0], "%s.%s", engine_names[other->engine], other->name);
    return fail(l, l->tokens[0], "an operation of %s", engine_names[i->engine]);
}

// Splits a line at spaces, up to a comment.
static bool split(line_t *l, span line) {
    l->count = 0;
    for (const char *at = line.at; at < line.end && *at != '#';) {
        if (is_space(*at)) {
            at++;
            continue;
        }
        span token = {at, at};
        while (token.end < line.end && !is_space(*token.end) && *token.end != '#') token.end++;
        if (l->count == MAX_TOKENS) return fail(l, token, "the end of the line");
        l->tokens[l->count++] = token;
        at = token.end;
    }
    return true;
}

bool program_parse_instr(const char *text, instr_t *out) {
    line_t l;
    return split(&l, (span){text, text + strlen(text)}) && l.count > 0 && parse_instr(&l, out);
}

// `tile X Y:`
static bool parse_tile(line_t *l, node_t *tile) {
    span x = l->count > 1 ? l->tokens[1] : (span){NULL, NULL}, y = l->count > 2 ? l->tokens[2] : x;
    if (l->count != 3 || !take_u8(&x, CFG_TILES_X - 1, &tile->x) || x.at != x.end ||
        !take_u8(&y, CFG_TILES_Y - 1, &tile->y) || !equals(y, ":"))
        return fail(l, (span){l->tokens[0].at, l->tokens[l->count - 1].end}, "'tile X Y:' of a chip of %d x %d tiles",
                    CFG_TILES_X, CFG_TILES_Y);
    return true;
}

// What was found, cut to size and printable.
static void show(span s, char text[FOUND]) {
    size_t n = 0;
    if (s.at == s.end) {
        snprintf(text, FOUND, "the end of the line");
        return;
    }
    text[n++] = '\'';
    for (const char *at = s.at; at < s.end && n < FOUND - 2; at++) text[n++] = *at < ' ' || *at > '~' ? '?' : *at;
    text[n++] = '\'';
    text[n] = '\0';
}

typedef struct {
    program *p;
    node_t tile;
    bool any;  // a tile is open
    bool used; // it has an instruction
} parser;

static bool parse_line(parser *s, line_t *l, span text, uint32_t number) {
    if (!split(l, text)) return false;
    if (l->count == 0) return true;
    if (equals(l->tokens[0], "tile")) {
        if (s->any && !s->used) return fail(l, l->tokens[0], "an instruction of tile %u %u", s->tile.x, s->tile.y);
        if (!parse_tile(l, &s->tile)) return false;
        if (s->p->tiles[s->tile.y * CFG_TILES_X + s->tile.x].count)
            return fail(l, l->tokens[0], "each tile once, tile %u %u is there already", s->tile.x, s->tile.y);
        s->any = true;
        s->used = false;
        return true;
    }
    instr_t instr;
    if (!s->any) return fail(l, l->tokens[0], "'tile X Y:' before the first instruction");
    if (!parse_instr(l, &instr)) return false;
    s->used = true;
    return program_add(s->p, s->tile, &instr, number) || fail(l, l->tokens[0], "memory for another instruction");
}

bool program_parse(program *p, const char *name, const char *text, size_t size, char error[PROGRAM_ERROR]) {
    parser s = {.p = p};
    line_t l;
    char found[FOUND];
    uint32_t number = 0;
    const char *end = size ? text + size : text;
    bool ok = true;
    for (const char *at = text; ok && at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        ok = parse_line(&s, &l, (span){at, newline ? newline : end}, ++number);
        at = newline ? newline + 1 : end;
    }
    if (ok && !s.used)
        ok = fail(&l, (span){NULL, NULL}, s.any ? "an instruction of the last tile" : "'tile X Y:' and a program");
    if (ok) return true;
    show(l.found, found);
    snprintf(error, PROGRAM_ERROR, "%.200s:%u: expected %s, found %s", name, number, l.expected, found);
    return false;
}
