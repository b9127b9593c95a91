// The command `poblano trace`: makes a trace and says what it covers.
#ifndef CLI_CMD_TRACE_H
#define CLI_CMD_TRACE_H

// argv[0]: the command's name. Exit status 0, or 2 with one line on stderr.
int cmd_trace(int argc, char **argv);
#endif
