package dev.gyre.http.internal.server;

import dev.gyre.http.Headers;

import org.jspecify.annotations.Nullable;

/// Makes other bytes of content before it is sent, and says so in the response's header.
interface Encoding {
    /// Content that is there as a whole.
    ///
    /// @return the same, if this is nothing for it
    byte[] whole(Headers request, ResponseState response, String type, byte[] content);

    /// Content that comes bit by bit.
    ///
    /// @return null, if this is nothing for it
    @Nullable Filter streamed(Headers request, ResponseState response, String type);

    /// What content goes through. Loop thread only.
    interface Filter {
        /// What comes out for what goes in; may be empty.
        byte[] filter(byte[] content, int length);

        /// What it has held back.
        byte[] flush();

        /// The end of it. Nothing is called after this.
        byte[] end();

        /// Instead of the end, if that is not reached.
        void giveUp();
    }
}
