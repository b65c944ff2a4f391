package dev.gyre.internal.backend;

/// The operation of a [Request], and the readiness that it waits for on readiness backends.
public enum Opcode {
    /// Reads up to `length` bytes into `address`. Zero is the end.
    READ(Kind.READ, "read"),
    /// Writes all `length` bytes from `address`, in as many calls as necessary.
    WRITE(Kind.WRITE, "write"),
    /// Reads into the `length` iovecs at `address`. Zero is the end.
    READ_VECTOR(Kind.READ, "readv"),
    /// Writes all of the `length` iovecs at `address`, and advances them on the way.
    WRITE_VECTOR(Kind.WRITE, "writev"),
    /// Reads into a receive buffer of the loop, which is chosen when bytes have arrived.
    RECEIVE(Kind.READ, "recv"),
    /// Reads one byte of urgent data into `address`.
    READ_URGENT(Kind.URGENT, "recv(MSG_OOB)"),
    /// Receives one message by the msghdr at `address`.
    RECEIVE_MESSAGE(Kind.READ, "recvmsg"),
    /// Sends one message by the msghdr at `address`.
    SEND_MESSAGE(Kind.WRITE, "sendmsg"),
    /// Accepts a connection, non-blocking and close-on-exec. Writes the peer's address to `address`
    /// and its length to `address2`, unless they are zero.
    ACCEPT(Kind.READ, "accept4"),
    /// Connects to the socket address of `length` bytes at `address`.
    CONNECT(Kind.WRITE, "connect"),
    /// Sends `length` bytes of the file `fd2` from `offset`, or as many as the file has.
    SEND_FILE(Kind.WRITE, "sendfile"),
    /// Moves up to `length` bytes from this descriptor to the pipe `fd2`, which has room.
    SPLICE_FROM(Kind.READ, "splice"),
    /// Moves up to `length` bytes to this descriptor from the pipe `fd2`, which has some.
    SPLICE_TO(Kind.WRITE, "splice"),
    /// Waits until one of the [Readiness] bits END, HANGUP and ERROR in `flags` is set. Returns the
    /// bits that are set. Ignores unread input.
    POLL_END(Kind.END, "poll"),
    /// Opens the C string at `address`, with `flags` and mode `length`.
    FILE_OPEN(Kind.FILE, "open"),
    /// Reads up to `length` bytes at `offset` into `address`. Zero is the end.
    FILE_READ(Kind.FILE, "pread"),
    /// Writes all `length` bytes from `address` to `offset`.
    FILE_WRITE(Kind.FILE, "pwrite"),
    /// Flushes written data to the disk; without the file's times if `flags` is one.
    FILE_SYNC(Kind.FILE, "fsync"),
    /// Queries the C string at `address` relative to `fd`, with `flags`, into the statx at
    /// `address2`.
    FILE_STATUS(Kind.FILE, "statx"),
    /// Closes `fd`. Does nothing if it is negative.
    FILE_CLOSE(Kind.FILE, "close");

    /// The readiness that a request waits for. The first four are the queues of a descriptor, in
    /// the order in which they are served. Files are always ready, and are executed elsewhere.
    public enum Kind {
        URGENT(Readiness.URGENT),
        READ(Readiness.READ),
        WRITE(Readiness.WRITE),
        END(Readiness.END),
        FILE(0);

        /// The set of all kinds.
        public static final int ALL = Readiness.INTEREST;

        /// The bit of [Readiness], also for sets of kinds; zero for files.
        public final int bit;

        Kind(int bit) {
            this.bit = bit;
        }
    }

    public final Kind kind;

    /// The name of the system call, for messages.
    public final String call;

    Opcode(Kind kind, String call) {
        this.kind = kind;
        this.call = call;
    }
}
