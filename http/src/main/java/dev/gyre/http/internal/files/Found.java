package dev.gyre.http.internal.files;

/// What a look at the disk has found.
sealed interface Found permits CachedFile, Found.Nothing, Found.Elsewhere, Found.Listed {
    /// Nothing that is served.
    ///
    /// @param status 403, 404 or 503
    record Nothing(int status) implements Found {}

    /// It is a directory, and those end with a slash.
    record Elsewhere() implements Found {}

    /// It is a directory, and this is what it has.
    ///
    /// @param page HTML
    record Listed(String page) implements Found {}
}
