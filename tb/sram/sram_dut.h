// RTL behind the twin's shape: rtl/sram/sram.sv.
#ifndef TB_SRAM_DUT_H
#define TB_SRAM_DUT_H
#include "common/dut.h"
#include "sram/sram.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct sram_dut sram_dut;
sram_dut *sram_dut_new(const dut_options *options);
// inject_valid_i, inject_addr_i and inject_flip_i of the next step only.
void sram_dut_inject(sram_dut *d, uint16_t addr, const sram_flip *flip);
// One cycle: rsp and ev before the edge, grants included.
void sram_dut_step(sram_dut *d, const mem_req req[NUM_PORTS], mem_rsp rsp[NUM_PORTS], sram_events *ev);
int sram_dut_errors(const sram_dut *d);
void sram_dut_free(sram_dut *d);
#ifdef __cplusplus
}
#endif
#endif
