// RTL behind the twin's shape: rtl/sram/sram_bank.sv.
#ifndef TB_SRAM_BANK_DUT_H
#define TB_SRAM_BANK_DUT_H
#include "common/dut.h"
#include "sram/sram_bank.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct sram_bank_dut sram_bank_dut;
sram_bank_dut *sram_bank_dut_new(const dut_options *options);
// One cycle: out and ev before the edge.
void sram_bank_dut_step(sram_bank_dut *d, const sram_bank_in *in, sram_bank_out *out, sram_bank_events *ev);
int sram_bank_dut_errors(const sram_bank_dut *d);
void sram_bank_dut_free(sram_bank_dut *d);
#ifdef __cplusplus
}
#endif
#endif
