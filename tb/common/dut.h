// What every shim shares: how a Verilated module is made and how its errors are read.
#ifndef TB_DUT_H
#define TB_DUT_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t seed;    // of the random initial values; 0 starts everything from zero
    const char *wave; // FST file to write, or NULL
    uint64_t wave_cycles; // dumped at most; 0: all
} dut_options;

#ifdef __cplusplus
}

#include <memory>
#include <verilated.h>
#ifdef DUT_COVERAGE
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <verilated_cov.h>
#endif

// A Verilated model V with its context. Inputs are set while the clock is low; tick() is the one place that drives it.
template <class V> struct dut_base {
    VerilatedContext context;
    V *top;
    explicit dut_base(const dut_options *o) {
        context.randReset(o && o->seed ? 2 : 0);
        context.randSeed(o && o->seed ? static_cast<int>(o->seed & 0x7fffffff) : 1);
        context.fatalOnError(false);
        context.errorLimit(1 << 30);
        top = new V{&context, ""};
        top->clk_i = 0;
        top->rst_ni = 0;
        for (int i = 0; i < 2; i++) {
            settle();
            tick();
        }
        top->rst_ni = 1;
    }
    ~dut_base() {
        top->final();
#ifdef DUT_COVERAGE
        // one file a model: the points of several contexts cannot be joined in one process
        static int number = 0;
        const char *dir = std::getenv("DUT_COVERAGE_DIR");
        if (dir)
            context.coveragep()->write((std::string(dir) + "/" + top->modelName() + "-" + std::to_string(getpid()) + "-" +
                                        std::to_string(number++) + ".dat")
                                           .c_str());
#endif
        delete top;
    }
    void settle() {
        top->eval();
    }
    void tick() {
        top->clk_i = 1;
        top->eval();
        context.timeInc(1);
        top->clk_i = 0;
        top->eval();
        context.timeInc(1);
    }
    // CHK failures so far.
    int errors() const {
        return context.errorCount();
    }
};
#endif
#endif
