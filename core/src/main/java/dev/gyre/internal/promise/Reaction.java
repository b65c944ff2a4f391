package dev.gyre.internal.promise;

/// What waits for a promise to settle. It runs as a microtask, for it leads to user code.
interface Reaction extends Runnable {}
