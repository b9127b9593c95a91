#include "energy/energy.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static char error[ENERGY_ERROR_SIZE];

static void refused(const char *text, const char *because) {
    const char *path = "build/energy_test.csv";
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    energy_table t;
    cr_assert_not(energy_load(path, &t, error), "read: %s", text);
    cr_assert(strstr(error, because), "got \"%s\", want \"%s\"", error, because);
    remove(path);
}

// Energy is the sum of counts x coefficients; one coefficient changed changes exactly its term.
Test(energy, one_coefficient_changes_its_term_alone) {
    energy_table t, u;
    cr_assert(energy_load("energy/v0.csv", &t, error), "%s", error);
    u = t;
    uint64_t counts[NUM_EVENTS];
    for (int e = 0; e < NUM_EVENTS; e++) counts[e] = (uint64_t)e * 1000 + 1;
    double sum = 0;
    for (int e = 0; e < NUM_EVENTS; e++)
        for (int c = 0; c < t.num_classes; c++)
            if (!strcmp(t.classes[c].name, event_class(e))) sum += (double)counts[e] * t.classes[c].pj;
    cr_assert_eq(sum, energy_total(&t, counts));
    u.classes[u.class_of[EV_SRAM_READS]].pj += 1;
    for (int e = 0; e < NUM_EVENTS; e++) {
        double want = energy_of_event(&t, e, counts[e]) + (e == EV_SRAM_READS ? (double)counts[e] : 0);
        cr_assert_eq(energy_of_event(&u, e, counts[e]), want, "%s.%s", event_unit(e), event_name(e));
    }
}

Test(energy, large_counts_never_wrap) {
    energy_table t;
    cr_assert(energy_load("energy/v0.csv", &t, error), "%s", error);
    double top = energy_of_event(&t, EV_MATMUL_MAC_ISSUED, (UINT64_C(1) << 48) - 1);
    cr_assert(top > 2.1e13 && top < 2.2e13, "got %g pJ", top);
}

Test(energy, damaged_tables_are_refused) {
    energy_table t;
    cr_assert_not(energy_load("/no/such.csv", &t, error));
    refused("mac\n", "expected class,pj");
    refused("mac,x,\n", "expected class,pj");
    refused("mac,-1,\n", ">= 0");
    refused("mac,inf,\n", ">= 0");
    refused("mac,1,\nmac,2,\n", "twice");
    refused("mac,1,\n", "missing");
}
