#include "program/program.h"
#include "program/program_text.h"

#include <stdarg.h>
#include <string.h>

// A text that grows in a buffer of PROGRAM_LINE bytes; every form is far shorter than that.
typedef struct {
    char *text;
    size_t size;
} sink;

__attribute__((format(printf, 2, 3))) static void put(sink *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(s->text + s->size, PROGRAM_LINE - s->size, format, args);
    va_end(args);
    if (n > 0) s->size += (size_t)n;
    if (s->size >= PROGRAM_LINE) s->size = PROGRAM_LINE - 1;
}

static uint32_t field_of(const instr_t *i, const arg_form *a) {
    const char *at = (const char *)i + a->offset;
    uint16_t wide;
    if (a->bytes == 1) return *(const uint8_t *)at;
    memcpy(&wide, at, sizeof wide);
    return wide;
}

static const op_form *form_of(const instr_t *i) {
    for (int f = 0; f < num_op_forms; f++) {
        const op_form *form = &op_forms[f];
        bool engine = form->engine == ENGINE_ANY ? i->engine < NUM_ENGINES : form->engine == i->engine;
        if (form->op == i->op && engine) return form;
    }
    return NULL;
}

static void put_operand(sink *s, const instr_t *i, const arg_form *a) {
    vec_operand of;
    memcpy(&of, (const char *)i + a->offset, sizeof of);
    put(s, "0x%04x:%u:%u%s", of.addr, of.line, of.seg, a->kind == ARG_OPERAND && !of.wide ? ":group" : "");
}

static void put_arg(sink *s, const instr_t *i, const arg_form *a) {
    put(s, " %s", a->key ? a->key : "");
    switch (a->kind) {
    case ARG_SEM:
        put(s, "s%u", i->sem);
        break;
    case ARG_COUNT:
    case ARG_NUMBER:
        put(s, "%u", field_of(i, a));
        break;
    case ARG_ADDR:
        put(s, "0x%04x", field_of(i, a));
        break;
    case ARG_FORMATS:
        put(s, "%s*%s", i->fmt_a < NUM_FMTS ? fmt_names[i->fmt_a] : "?",
            i->fmt_w < NUM_FMTS ? fmt_names[i->fmt_w] : "?");
        break;
    case ARG_SCALES:
        put(s, "%s,%s", i->scale_a < 3 ? scale_names[i->scale_a] : "?", i->scale_w < 3 ? scale_names[i->scale_w] : "?");
        break;
    case ARG_HBM:
        put(s, "%s:%u:0x%x", i->to == TO_WEST || i->to == TO_EAST ? side_names[i->to - TO_WEST] : "?", i->rect.y0,
            i->hbm_addr);
        break;
    case ARG_TILE:
        put(s, "%u,%u", i->rect.x0, i->rect.y0);
        break;
    case ARG_RECT:
        put(s, "%u,%u..%u,%u", i->rect.x0, i->rect.y0, i->rect.x1, i->rect.y1);
        break;
    case ARG_ROOT:
        put(s, "%u,%u", i->root.x, i->root.y);
        break;
    case ARG_OPERAND:
    case ARG_STEPS:
    case ARG_GROUPS:
        put_operand(s, i, a);
        break;
    case ARG_QUANT_FMT:
        put(s, "%s", i->vec.arg % VEC_ARG_RULE < NUM_FMTS ? fmt_names[i->vec.arg % VEC_ARG_RULE] : "?");
        break;
    case ARG_QUANT_RULE:
        put(s, "%s", i->vec.arg / VEC_ARG_RULE < NUM_RULES ? rule_names[i->vec.arg / VEC_ARG_RULE] : "?");
        break;
    }
}

// The text in the operation's own syntax, whether or not it covers the instruction; "" where there is none.
static void print_form(const instr_t *i, char text[PROGRAM_LINE]) {
    sink s = {text, 0};
    text[0] = '\0';
    if (i->op == OP_END && i->engine == ENG_SEQ) put(&s, "end");
    const op_form *form = form_of(i);
    if (!form) return;
    put(&s, "%s.%s", engine_names[i->engine], form->name);
    for (int a = 0; a < form->num_args; a++) put_arg(&s, i, &form->args[a]);
}

static bool print_exact(const instr_t *instr, char text[PROGRAM_LINE]) {
    instr_t back;
    print_form(instr, text);
    return program_parse_instr(text, &back) && isa_equal(instr, &back);
}

bool program_has_form(const instr_t *instr) {
    char text[PROGRAM_LINE];
    return print_exact(instr, text);
}

void program_print_instr(const instr_t *instr, char text[PROGRAM_LINE]) {
    if (print_exact(instr, text)) return;
    row_t row = isa_pack(instr);
    sink s = {text, 0};
    put(&s, "raw ");
    for (int w = ROW_WORDS - 1; w >= 0; w--) put(&s, "%016llx", (unsigned long long)row.w[w]);
}

void program_op_name(const instr_t *instr, char name[32]) {
    const op_form *form = form_of(instr);
    if (instr->op == OP_END && instr->engine == ENG_SEQ)
        snprintf(name, 32, "end");
    else
        snprintf(name, 32, "%s.%s", instr->engine < NUM_ENGINES ? engine_names[instr->engine] : "?",
                 form ? form->name : "?");
}

void program_print(const program *p, FILE *out) {
    char text[PROGRAM_LINE];
    for (int t = 0; t < PROGRAM_TILES; t++) {
        const program_tile *tile = &p->tiles[t];
        if (!tile->count) continue;
        fprintf(out, "tile %d %d:\n", t % CFG_TILES_X, t / CFG_TILES_X);
        for (uint32_t i = 0; i < tile->count; i++) {
            program_print_instr(&tile->instrs[i], text);
            fprintf(out, "    %s\n", text);
        }
    }
}
