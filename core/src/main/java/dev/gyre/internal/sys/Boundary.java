package dev.gyre.internal.sys;

/// Keeps the JIT from inlining a native call into its caller. It does so by never being loaded: C2 does not
/// inline a method with a class in its signature that it does not know, and compiles it on its own.
///
/// Why that is wanted: the JDK makes an object for each call that captures errno. C2 removes it as long as it
/// can inline the object's constructor, and some fifteen calls deep (`MaxInlineLevel`) it no longer
/// tries; whether a call allocates would depend on who makes it, and on what was compiled first. On its
/// own, a call's depth starts at zero. The price is one direct call, next to a system call.
///
/// Use: a last parameter of this type for which null is passed. If something did load this class, an agent
/// say, nothing would break but that.
final class Boundary {
    private Boundary() {}
}
