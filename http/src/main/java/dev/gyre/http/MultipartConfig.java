package dev.gyre.http;

/// The limits of one multipart body. Immutable: each `with` method returns a changed copy.
///
/// ```java
/// var config = MultipartConfig.DEFAULT.withMaxFileBytes(20 << 20).withMaxParts(10);
/// ```
///
/// A body that exceeds a limit is rejected with 413. The limit of the whole request is that of its
/// route, [HttpConfig#maxBody] by default: raise it for routes that receive large files.
///
/// A `with` method throws an [IllegalArgumentException] for a limit below 1.
///
/// **Threads.** Any.
public final class MultipartConfig extends Settings<MultipartConfig> {
    /// The default limits.
    public static final MultipartConfig DEFAULT = new MultipartConfig();

    private int maxParts = 1_000;
    private int maxPartHeaderBytes = 8 << 10;
    private int maxTextBytes = 64 << 10;
    private long maxFileBytes = 1L << 30;

    private MultipartConfig() {}

    /// Returns the maximum number of parts. Default 1 000.
    public int maxParts() {
        return maxParts;
    }

    /// Returns the maximum length of one part's headers. Default 8 KiB.
    public int maxPartHeaderBytes() {
        return maxPartHeaderBytes;
    }

    /// Returns the maximum length of one text part. Default 64 KiB.
    public int maxTextBytes() {
        return maxTextBytes;
    }

    /// Returns the maximum length of one file. Default 1 GiB.
    public long maxFileBytes() {
        return maxFileBytes;
    }

    /// Changes [#maxParts()].
    public MultipartConfig withMaxParts(int parts) {
        return with(copy -> copy.maxParts = Limits.positive("maxParts", parts));
    }

    /// Changes [#maxPartHeaderBytes()].
    public MultipartConfig withMaxPartHeaderBytes(int bytes) {
        return with(copy -> copy.maxPartHeaderBytes = Limits.positive("maxPartHeaderBytes", bytes));
    }

    /// Changes [#maxTextBytes()].
    public MultipartConfig withMaxTextBytes(int bytes) {
        return with(copy -> copy.maxTextBytes = Limits.positive("maxTextBytes", bytes));
    }

    /// Changes [#maxFileBytes()].
    public MultipartConfig withMaxFileBytes(long bytes) {
        return with(copy -> copy.maxFileBytes = Limits.positive("maxFileBytes", bytes));
    }
}
