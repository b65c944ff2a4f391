package dev.gyre.http.internal.server;

/// Marks a method that the JIT compiler must not inline: its last parameter is of this type, and
/// always `null`. C2 does not inline a method whose signature names a class that is not loaded, and
/// nothing ever loads this one.
///
/// Inlined into a large caller, such a method would find the inlining budget spent.
final class NotInlined {
    private NotInlined() {}
}
