// poblano sim: RTL and twin agree on a small trace, the report adds up, the result does not depend on the number of
// processes, and bad input is refused.
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#include "cfg.h"
#include "cli/cli.h"
#include "cli/run_line.h"
#include "energy/energy.h"

static char dir[64];

static void make_trace(void) {
    char line[512];
    strcpy(dir, "/tmp/cmd_sim_XXXXXX");
    cr_assert(mkdtemp(dir));
    cr_redirect_stdout();
    snprintf(line, sizeof line,
             "trace --model gpt-oss-20b --phase decode --batch 2 --context 64 --share 0.0001 --out %s/t", dir);
    cr_assert_eq(run_line(cmd_trace, line), 0);
}

static void remove_trace(void) {
    char line[128];
    snprintf(line, sizeof line, "rm -r %s", dir);
    if (system(line)) return;
}

static json_t *simulate(const char *report, const char *more) {
    char line[512], path[128];
    snprintf(line, sizeof line, "sim %s/t --report %s/%s %s", dir, dir, report, more);
    cr_assert_eq(run_line(cmd_sim, line), 0, "%s", line);
    snprintf(path, sizeof path, "%s/%s/report.json", dir, report);
    json_t *root = json_load_file(path, 0, NULL);
    cr_assert(root, "%s", path);
    json_t *run = json_array_get(json_object_get(root, "runs"), 0);
    cr_assert(run);
    return run;
}

static json_int_t number(json_t *run, const char *key) {
    json_t *value = json_object_get(run, key);
    cr_assert(json_is_integer(value), "%s", key);
    return json_integer_value(value);
}

Test(cmd_sim, rtl_and_twin_agree_and_the_report_adds_up, .init = make_trace, .fini = remove_trace) {
    json_t *run = simulate("r", "--backend all --seed 7");
    cr_assert_eq(number(run, "mismatches"), 0);
    cr_assert_eq(number(run, "reference_mismatches"), 0);
    cr_assert_eq(number(run, "cycles"), number(run, "model_cycles"));
    cr_assert_leq(number(run, "bound_cycles"), number(run, "cycles"));
    cr_assert_gt(number(json_object_get(run, "compared"), "result_elements"), 0);
    json_t *counters = json_object_get(run, "counters"), *operators = json_object_get(run, "operators"), *op;
    cr_assert_eq(number(counters, "matmul.mac_useful"), number(run, "useful_macs"));
    // every unit is busy, stalled or idle in every cycle of every tile
    json_int_t units =
        number(counters, "router.busy") + number(counters, "router.stall") + number(counters, "router.idle");
    cr_assert_eq(units, number(run, "cycles") * CFG_TILES_X * CFG_TILES_Y);
    json_int_t cycles = 0;
    size_t i;
    json_array_foreach(operators, i, op) cycles += number(op, "cycles");
    cr_assert_eq(cycles, number(run, "cycles"));
    // energy is the sum of counts times coefficients
    static energy_table energy;
    char error[ENERGY_ERROR_SIZE], name[64];
    cr_assert(energy_load("energy/v0.csv", &energy, error));
    double pj = 0;
    for (int e = 0; e < NUM_EVENTS; e++) {
        snprintf(name, sizeof name, "%s.%s", event_unit(e), event_name(e));
        pj += energy_of_event(&energy, e, (uint64_t)number(counters, name));
    }
    double total = json_real_value(json_object_get(json_object_get(run, "energy_j"), "total"));
    cr_assert_float_eq(total, pj * 1e-12, 1e-9 * total);
    json_t *energy_j = json_object_get(run, "energy_j");
    double hbm_unit = json_real_value(json_object_get(json_object_get(energy_j, "by_unit"), "hbm"));
    cr_assert_float_eq(hbm_unit, json_real_value(json_object_get(json_object_get(energy_j, "by_class"), "hbm_row")),
                       1e-18);
    // bytes from HBM: what the kernels plan, no row more
    json_t *bytes = json_object_get(run, "bytes");
    cr_assert_eq(number(bytes, "hbm"), number(bytes, "hbm_planned"));
}

Test(cmd_sim, does_not_depend_on_processes_seed_or_backend, .init = make_trace, .fini = remove_trace) {
    json_t *a = simulate("a", "--backend twin --workers 1"), *b = simulate("b", "--backend rtl --workers 3 --seed 99");
    cr_assert_eq(number(a, "cycles"), number(b, "cycles"));
    cr_assert(json_equal(json_object_get(a, "counters"), json_object_get(b, "counters")));
    cr_assert(json_equal(json_object_get(a, "operators"), json_object_get(b, "operators")));
    char line[512];
    snprintf(line, sizeof line, "cmp %s/a/power.csv %s/b/power.csv", dir, dir);
    cr_assert_eq(system(line), 0);
}

Test(cmd_sim, waves_are_written, .init = make_trace, .fini = remove_trace) {
    char more[256], path[96];
    snprintf(path, sizeof path, "%s/w.fst", dir);
    snprintf(more, sizeof more, "--backend rtl --waves %s --wave-cycles 200", path);
    simulate("r", more);
    cr_assert_eq(access(path, R_OK), 0);
}

static void refuses(const char *line, const char *because) {
    cr_redirect_stderr();
    refuse_line(cmd_sim, line, because);
}

Test(cmd_sim, refuses_no_trace) {
    refuses("sim --backend twin", "expected a trace");
}
Test(cmd_sim, refuses_a_trace_that_is_not_there) {
    refuses("sim build/no-such-trace", "build/no-such-trace");
}
Test(cmd_sim, refuses_a_truncated_trace, .init = make_trace, .fini = remove_trace) {
    char line[512];
    snprintf(line, sizeof line, "head -c 200 %s/t/trace.json > %s/x && mv %s/x %s/t/trace.json", dir, dir, dir, dir);
    cr_assert_eq(system(line), 0);
    snprintf(line, sizeof line, "sim %s/t", dir);
    refuses(line, "trace.json");
}
Test(cmd_sim, refuses_an_unwritable_report, .init = make_trace, .fini = remove_trace) {
    char line[512];
    snprintf(line, sizeof line, "sim %s/t --report /no/such/folder", dir);
    refuses(line, "/no/such/folder: cannot write");
}
Test(cmd_sim, refuses_missing_coefficients, .init = make_trace, .fini = remove_trace) {
    char line[512];
    snprintf(line, sizeof line, "sim %s/t --energy build/no-such.csv", dir);
    refuses(line, "build/no-such.csv");
}
Test(cmd_sim, refuses_a_bad_number_of_processes, .init = make_trace, .fini = remove_trace) {
    char line[512];
    snprintf(line, sizeof line, "sim %s/t --workers 0", dir);
    refuses(line, "--workers: expected");
}
