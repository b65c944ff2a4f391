package dev.gyre.internal.backend;

/// What a request asks for, and what it waits for on kernels that only tell of readiness.
public enum Opcode {
    /// Up to `length` bytes into `address`; zero is the end.
    READ(Kind.READ, "read"),
    /// All `length` bytes from `address`, however many calls it takes.
    WRITE(Kind.WRITE, "write"),
    /// Into the `length` iovecs at `address`; zero is the end.
    READ_VECTOR(Kind.READ, "readv"),
    /// All of the `length` iovecs at `address`, which are used up on the way.
    WRITE_VECTOR(Kind.WRITE, "writev"),
    /// Up to a buffer's worth into a buffer of the loop's own, chosen when there is something to read.
    RECEIVE(Kind.READ, "recv"),
    /// One byte of urgent data into `address`.
    READ_URGENT(Kind.URGENT, "recv(MSG_OOB)"),
    /// One message by the msghdr at `address`.
    RECEIVE_MESSAGE(Kind.READ, "recvmsg"),
    /// One message by the msghdr at `address`.
    SEND_MESSAGE(Kind.WRITE, "sendmsg"),
    /// A connection, not blocking and not inherited; the peer's address into `address` with the length at
    /// `address2`, unless they are zero.
    ACCEPT(Kind.READ, "accept4"),
    /// To the socket address of `length` bytes at `address`.
    CONNECT(Kind.WRITE, "connect"),
    /// All `length` bytes of the file `fd2` from `offset`, or what there is before its end.
    SEND_FILE(Kind.WRITE, "sendfile"),
    /// Up to `length` bytes from this descriptor into the pipe `fd2`, which has room.
    SPLICE_FROM(Kind.READ, "splice"),
    /// Up to `length` bytes to this descriptor out of the pipe `fd2`, which has some.
    SPLICE_TO(Kind.WRITE, "splice"),
    /// Waits until one of the [Ready] bits END, HANGUP and ERROR in `flags` is set. Returns the
    /// bits that are set. Ignores unread input.
    POLL_END(Kind.END, "poll"),
    /// The C string at `address`, with `flags` and mode `length`.
    FILE_OPEN(Kind.FILE, "open"),
    /// Up to `length` bytes at `offset` into `address`; zero is the end.
    FILE_READ(Kind.FILE, "pread"),
    /// All `length` bytes from `address` to `offset`.
    FILE_WRITE(Kind.FILE, "pwrite"),
    /// What was written, to the disk; without its times if `flags` is one.
    FILE_SYNC(Kind.FILE, "fsync"),
    /// Of the C string at `address` relative to `fd`, with `flags`, into the statx at `address2`.
    FILE_STATUS(Kind.FILE, "statx"),
    /// Of `fd`; nothing if that is negative.
    FILE_CLOSE(Kind.FILE, "close");

    /// What a request waits for. The first four are the queues of a descriptor, in the order in which they are
    /// served; files are always ready, and waited for elsewhere.
    public enum Kind {
        URGENT(Readiness.URGENT),
        READ(Readiness.READ),
        WRITE(Readiness.WRITE),
        END(Readiness.END),
        FILE(0);

        /// The set of them all.
        public static final int ALL = Readiness.INTEREST;

        /// The bit of [Readiness] that it waits for; zero for files.
        public final int bit;

        Kind(int bit) {
            this.bit = bit;
        }
    }

    public final Kind kind;

    /// The call as the manual has it, for messages.
    public final String call;

    Opcode(Kind kind, String call) {
        this.kind = kind;
        this.call = call;
    }
}
