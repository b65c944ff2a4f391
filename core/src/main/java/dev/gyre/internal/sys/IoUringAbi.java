package dev.gyre.internal.sys;

/// Constants and struct layouts of io_uring, under their kernel names. They are the same on every
/// architecture, including the call numbers: calls since Linux 5.1 share a table.
public final class IoUringAbi {
    public static final int SYS_io_uring_setup = 425;
    public static final int SYS_io_uring_enter = 426;
    public static final int SYS_io_uring_register = 427;

    public static final int PROT_READ = 1;
    public static final int PROT_WRITE = 2;
    public static final int MAP_SHARED = 1;
    public static final int MAP_POPULATE = 0x8000;
    public static final int MADV_DONTFORK = 10;

    public static final int IORING_SETUP_CQSIZE = 1 << 3;
    public static final int IORING_SETUP_CLAMP = 1 << 4;
    public static final int IORING_SETUP_R_DISABLED = 1 << 6;
    public static final int IORING_SETUP_SUBMIT_ALL = 1 << 7;
    public static final int IORING_SETUP_COOP_TASKRUN = 1 << 8;
    public static final int IORING_SETUP_TASKRUN_FLAG = 1 << 9;
    public static final int IORING_SETUP_SINGLE_ISSUER = 1 << 12;
    public static final int IORING_SETUP_DEFER_TASKRUN = 1 << 13;
    public static final int IORING_SETUP_NO_SQARRAY = 1 << 16;

    public static final int IORING_FEAT_SINGLE_MMAP = 1;
    public static final int IORING_FEAT_NODROP = 1 << 1;
    public static final int IORING_FEAT_EXT_ARG = 1 << 8;
    public static final int IORING_FEAT_RSRC_TAGS = 1 << 10;
    public static final int IORING_FEAT_CQE_SKIP = 1 << 11;

    public static final int IORING_ENTER_GETEVENTS = 1;
    public static final int IORING_ENTER_EXT_ARG = 1 << 3;
    public static final int IORING_ENTER_REGISTERED_RING = 1 << 4;

    public static final int IORING_REGISTER_PROBE = 8;
    public static final int IORING_REGISTER_ENABLE_RINGS = 12;
    public static final int IORING_REGISTER_RING_FDS = 20;
    public static final int IORING_UNREGISTER_RING_FDS = 21;
    public static final int IORING_REGISTER_PBUF_RING = 22;

    public static final int IORING_SQ_CQ_OVERFLOW = 1 << 1;
    public static final int IORING_SQ_TASKRUN = 1 << 2;

    public static final int IOSQE_BUFFER_SELECT = 1 << 5;
    public static final int IOSQE_CQE_SKIP_SUCCESS = 1 << 6;
    public static final int IORING_CQE_F_BUFFER = 1;
    public static final int IORING_CQE_F_MORE = 1 << 1;
    public static final int IORING_CQE_BUFFER_SHIFT = 16;

    public static final int IORING_OP_READV = 1;
    public static final int IORING_OP_WRITEV = 2;
    public static final int IORING_OP_FSYNC = 3;
    public static final int IORING_OP_POLL_ADD = 6;
    public static final int IORING_OP_SENDMSG = 9;
    public static final int IORING_OP_RECVMSG = 10;
    public static final int IORING_OP_ACCEPT = 13;
    public static final int IORING_OP_ASYNC_CANCEL = 14;
    public static final int IORING_OP_CONNECT = 16;
    public static final int IORING_OP_OPENAT = 18;
    public static final int IORING_OP_CLOSE = 19;
    public static final int IORING_OP_STATX = 21;
    public static final int IORING_OP_READ = 22;
    public static final int IORING_OP_WRITE = 23;
    public static final int IORING_OP_SEND = 26;
    public static final int IORING_OP_RECV = 27;
    public static final int IORING_ACCEPT_MULTISHOT = 1;
    public static final int IORING_RECV_MULTISHOT = 1 << 1;
    public static final int IORING_POLL_ADD_MULTI = 1;

    /// Maps both queues at once: see [#IORING_FEAT_SINGLE_MMAP].
    public static final int IORING_OFF_SQ_RING = 0;

    public static final int IORING_OFF_SQES = 0x10000000;

    public static final int SIZEOF_IO_URING_PARAMS = 120;
    public static final int OFFSETOF_IO_URING_PARAMS_SQ_ENTRIES = 0;
    public static final int OFFSETOF_IO_URING_PARAMS_CQ_ENTRIES = 4;
    public static final int OFFSETOF_IO_URING_PARAMS_FLAGS = 8;
    public static final int OFFSETOF_IO_URING_PARAMS_FEATURES = 20;
    public static final int OFFSETOF_IO_URING_PARAMS_SQ_HEAD = 40;
    public static final int OFFSETOF_IO_URING_PARAMS_SQ_TAIL = 44;
    public static final int OFFSETOF_IO_URING_PARAMS_SQ_FLAGS = 56;
    public static final int OFFSETOF_IO_URING_PARAMS_SQ_ARRAY = 64;
    public static final int OFFSETOF_IO_URING_PARAMS_CQ_HEAD = 80;
    public static final int OFFSETOF_IO_URING_PARAMS_CQ_TAIL = 84;
    public static final int OFFSETOF_IO_URING_PARAMS_CQ_CQES = 100;

    public static final int SIZEOF_IO_URING_SQE = 64;
    public static final int OFFSETOF_IO_URING_SQE_OPCODE = 0;
    public static final int OFFSETOF_IO_URING_SQE_FLAGS = 1;
    public static final int OFFSETOF_IO_URING_SQE_IOPRIO = 2;
    public static final int OFFSETOF_IO_URING_SQE_FD = 4;
    public static final int OFFSETOF_IO_URING_SQE_OFF = 8;
    public static final int OFFSETOF_IO_URING_SQE_ADDR = 16;
    public static final int OFFSETOF_IO_URING_SQE_LEN = 24;
    public static final int OFFSETOF_IO_URING_SQE_OP_FLAGS = 28;
    public static final int OFFSETOF_IO_URING_SQE_USER_DATA = 32;
    public static final int OFFSETOF_IO_URING_SQE_BUF_GROUP = 40;

    public static final int SIZEOF_IO_URING_CQE = 16;
    public static final int OFFSETOF_IO_URING_CQE_USER_DATA = 0;
    public static final int OFFSETOF_IO_URING_CQE_RES = 8;
    public static final int OFFSETOF_IO_URING_CQE_FLAGS = 12;

    /// The argument of [#IORING_ENTER_EXT_ARG]: a signal mask, its size, and the timeout's address.
    public static final int SIZEOF_IO_URING_GETEVENTS_ARG = 24;

    public static final int OFFSETOF_IO_URING_GETEVENTS_ARG_TS = 16;

    /// The argument of [#IORING_REGISTER_RING_FDS]: a slot, and the descriptor.
    public static final int SIZEOF_IO_URING_RSRC_UPDATE = 16;

    public static final int OFFSETOF_IO_URING_RSRC_UPDATE_DATA = 8;

    /// The result of [#IORING_REGISTER_PROBE]: a header, then an entry for each opcode.
    public static final int SIZEOF_IO_URING_PROBE = 16;

    public static final int OFFSETOF_IO_URING_PROBE_OPS_LEN = 1;
    public static final int SIZEOF_IO_URING_PROBE_OP = 8;
    public static final int OFFSETOF_IO_URING_PROBE_OP_FLAGS = 2;
    public static final int IO_URING_OP_SUPPORTED = 1;

    /// An entry of a provided buffer ring. The ring's tail overlays the first entry.
    public static final int SIZEOF_IO_URING_BUF = 16;

    public static final int OFFSETOF_IO_URING_BUF_LEN = 8;
    public static final int OFFSETOF_IO_URING_BUF_BID = 12;
    public static final int OFFSETOF_IO_URING_BUF_RING_TAIL = 14;

    /// The argument of [#IORING_REGISTER_PBUF_RING].
    public static final int SIZEOF_IO_URING_BUF_REG = 40;

    public static final int OFFSETOF_IO_URING_BUF_REG_ENTRIES = 8;
    public static final int OFFSETOF_IO_URING_BUF_REG_BGID = 12;

    private IoUringAbi() {}
}
