package dev.gyre.internal.time;

/// Who may touch the loop's data. A small interface, so that what is confined need not know the loop.
@FunctionalInterface
public interface Confinement {
    /// Lets the caller pass, or throws.
    ///
    /// @param method the name of the confined method, for the message
    /// @throws WrongThreadException if another thread runs the loop
    void check(String method);
}
